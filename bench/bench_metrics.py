"""NDCG@10 of ten thousand lists beside ranx, pytrec_eval and scikit-learn."""

import warnings
from collections.abc import Callable

import numpy as np
import pytrec_eval
import ranx
from sklearn.metrics import ndcg_score

from bench import Result, best_of
from ranking.metrics import ndcg

QUERIES, DOCUMENTS, K = 10_000, 100, 10


def run() -> list[Result]:
    """The same grades and scores for all; peers get their own structures ready made."""
    rng = np.random.default_rng(0)
    grades = rng.choice(5, (QUERIES, DOCUMENTS), p=[0.55, 0.25, 0.12, 0.05, 0.03])
    # pytrec_eval holds scores in single precision: no two of a list may be equal there.
    scores = rng.permuted(np.tile(np.arange(DOCUMENTS) / DOCUMENTS, (QUERIES, 1)), axis=1)
    flat = grades.ravel(), scores.ravel(), np.repeat(np.arange(QUERIES), DOCUMENTS)
    gains = 2**grades - 1
    peers, values = {}, {}
    for name, work in (
        ("ranx (warm)", _ranx(gains, scores)),
        ("pytrec_eval", _pytrec_eval(gains, scores)),
        ("scikit-learn", lambda: ndcg_score(gains, scores, k=K)),
    ):
        values[name] = work()
        peers[name] = best_of(work, 3)
    ours = float(np.nanmean(ndcg(*flat, k=K)))
    assert all(abs(value - ours) < 1e-9 for value in values.values()), (ours, values)
    order = rng.permutation(flat[0].size)
    shuffled = tuple(column[order] for column in flat)
    return [
        Result(
            f"NDCG@{K}, {QUERIES:,} queries × {DOCUMENTS}",
            best_of(lambda: ndcg(*flat, k=K), 10),
            peers,
            "≥ 8× ranx",
            f"same mean to 1e-9 ({ours:.4f}); no compile time",
        ),
        Result(
            "the same, rows of all queries shuffled",
            best_of(lambda: ndcg(*shuffled, k=K)),
            {"ranx (warm)": peers["ranx (warm)"]},
        ),
        _ragged(rng),
    ]


def _ragged(rng: np.random.Generator) -> Result:
    lengths = rng.integers(1, 2 * DOCUMENTS, QUERIES)
    qid = np.repeat(np.arange(QUERIES), lengths)
    grades, scores = rng.integers(0, 5, qid.size), rng.random(qid.size)
    starts = np.cumsum(lengths)[:-1]
    parts = zip(np.split(2**grades - 1, starts), np.split(scores, starts), strict=True)
    names = [str(d) for d in range(2 * DOCUMENTS)]
    relevance, found = {}, {}
    for q, (gain, score) in enumerate(parts):
        relevance[str(q)] = dict(zip(names, gain.tolist(), strict=False))
        found[str(q)] = dict(zip(names, score.tolist(), strict=False))
    peer = _evaluate(ranx.Qrels(relevance), ranx.Run(found))
    peer()
    return Result(
        f"NDCG@{K}, {QUERIES:,} queries × 1 … {2 * DOCUMENTS - 1}",
        best_of(lambda: ndcg(grades, scores, qid, k=K)),
        {"ranx (warm)": best_of(peer, 3)},
    )


def _dicts(values: np.ndarray) -> dict[str, dict[str, float]]:
    names = [str(d) for d in range(DOCUMENTS)]
    return {str(q): dict(zip(names, row, strict=True)) for q, row in enumerate(values.tolist())}


def _evaluate(qrels: ranx.Qrels, run: ranx.Run) -> Callable[[], float]:
    def work() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(ranx.evaluate(qrels, run, f"ndcg@{K}", save_results_in_run=False))

    return work


def _ranx(gains: np.ndarray, scores: np.ndarray) -> Callable[[], float]:
    return _evaluate(ranx.Qrels(_dicts(gains)), ranx.Run(_dicts(scores)))


def _pytrec_eval(gains: np.ndarray, scores: np.ndarray) -> Callable[[], float]:
    evaluator = pytrec_eval.RelevanceEvaluator(_dicts(gains), {f"ndcg_cut.{K}"})
    found = _dicts(scores)

    def work() -> float:
        values = evaluator.evaluate(found)
        return float(np.mean([query[f"ndcg_cut_{K}"] for query in values.values()]))

    return work
