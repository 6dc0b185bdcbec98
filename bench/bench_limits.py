"""The ceiling of a data set like MSLR, exact, beside a simulation with a thousand draws."""

import numpy as np

from bench import Result, best_of
from ranking.limits import dataset_limit

QUERIES, DOCUMENTS, DRAWS = 10_000, 120, 1_000
#: The grade distribution of MSLR-WEB10K, and a confusion of web judges.
PRIOR = [0.52, 0.32, 0.13, 0.02, 0.01]
CONFUSION = [
    [0.75, 0.15, 0.07, 0.02, 0.01],
    [0.3, 0.45, 0.2, 0.04, 0.01],
    [0.12, 0.25, 0.45, 0.15, 0.03],
    [0.05, 0.1, 0.25, 0.45, 0.15],
    [0.03, 0.05, 0.12, 0.25, 0.55],
]


def run() -> list[Result]:
    """The whole list and the first ten; the simulation is vectorised over its draws.

    Two simulations: ours draws how many documents change grade and reckons the ties, the plain
    one draws every document and sorts. The plain one is timed on a tenth of the queries.
    """
    rng = np.random.default_rng(0)
    y = rng.choice(5, QUERIES * DOCUMENTS, p=PRIOR)
    qid = np.repeat(np.arange(QUERIES), DOCUMENTS)
    return [_measure(y, qid, k) for k in (None, 10)]


def _measure(y: np.ndarray, qid: np.ndarray, k: int | None) -> Result:
    exact = dataset_limit(y, qid, CONFUSION, k)
    drawn = {}

    def simulate() -> None:
        drawn["limit"] = dataset_limit(y, qid, CONFUSION, k, method="simulate", runs=DRAWS)

    tenth = slice(0, QUERIES // 10 * DOCUMENTS)
    plain = best_of(lambda: _plain(y[tenth].reshape(-1, DOCUMENTS), k), 1) * 10
    peers = {
        f"simulation by counts, {DRAWS:,} draws": best_of(simulate, 1),
        f"simulation by documents, {DRAWS:,} draws": plain,
    }
    apart = abs(drawn["limit"].value - exact.value) / drawn["limit"].standard_error
    assert apart < 5, (exact, drawn)
    return Result(
        f"limiting NDCG{'' if k is None else f'@{k}'}, {QUERIES:,} queries × {DOCUMENTS}",
        best_of(lambda: dataset_limit(y, qid, CONFUSION, k)),
        peers,
        "≥ 20×, exact",
        f"{exact.value:.6f}; the simulation is {apart:.1f} of its standard errors away",
    )


def _plain(lists: np.ndarray, k: int | None) -> float:
    """Draw an alternative grade for every document, sort by it with random ties, evaluate."""
    rng = np.random.default_rng(1)
    discounts = 1 / np.log2(np.arange(2, DOCUMENTS + 2))
    discounts[k or DOCUMENTS :] = 0
    steps = np.cumsum(CONFUSION, axis=1)[:, :-1]
    total = 0.0
    for truth in lists:
        other = (rng.random((DRAWS, DOCUMENTS, 1)) > steps[truth]).sum(axis=2)
        order = np.argsort(-(other + rng.random(other.shape)), axis=1)
        gains = 2.0**truth - 1
        total += float((gains[order] @ discounts).mean() / (np.sort(gains)[::-1] @ discounts))
    return total / len(lists)
