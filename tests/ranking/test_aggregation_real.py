"""Aggregators on real judgments with known truth: 9,328 of web pages, 3,600 of articles."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from ranking.aggregation import AGGREGATORS
from ranking.schemes import IfGood, KOverlap, Scheme, Single

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("REAL_DATA" not in os.environ, reason="REAL_DATA names no folder."),
]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DRAWS = 20
#: Documents of a pseudo-query: the judged pages have no query ids, so they are grouped at random.
DEPTH = 20
SCHEMES: dict[str, Scheme] = {
    "single": Single(),
    "if-good-2": IfGood(2),
    "if-good-3": IfGood(3),
    "all": KOverlap(99),
}


@cache
def web() -> tuple[Ints, dict[int, int]]:
    """Rows of pair, judge, grade; and the truth by pair."""
    folder = Path(os.environ["REAL_DATA"]) / "web_search_5grade"
    truth = pd.read_csv(folder / "truth.csv")
    return (
        pd.read_csv(folder / "label.csv").to_numpy(),
        dict(zip(truth["item"], truth["truth"], strict=True)),
    )


def collect(scheme: Scheme, rng: np.random.Generator) -> Ints:
    """What the scheme would have collected had the judges come in this random order."""
    rows, _ = web()
    rows = rows[rng.permutation(len(rows))]
    grades: dict[int, list[int]] = {}
    kept = np.zeros(len(rows), dtype=bool)
    for n, (pair, _, grade) in enumerate(rows.tolist()):
        so_far = grades.setdefault(pair, [])
        if scheme.wants_more(so_far):
            so_far.append(grade)
            kept[n] = True
    return rows[kept]


def ndcg_at_3(truth: Ints, score: Floats, rng: np.random.Generator) -> float:
    """Mean NDCG@3 of random pseudo-queries, equal scores in random order (expected value)."""
    queries = len(truth) // DEPTH
    rows = rng.permutation(len(truth))[: queries * DEPTH].reshape(queries, DEPTH)
    gain, score = np.exp2(truth[rows]) - 1.0, np.round(score[rows], 9)
    above = (score[:, None, :] > score[:, :, None]).sum(axis=2)
    equal = (score[:, None, :] == score[:, :, None]).sum(axis=2)
    upto = np.concatenate([[0], np.cumsum(1 / np.log2([2, 3, 4])), np.zeros(DEPTH - 3)])
    upto[4:] = upto[3]
    discount = (upto[above + equal] - upto[above]) / equal
    ideal = -np.sort(-gain, axis=1)[:, :3] @ (1 / np.log2([2, 3, 4]))
    return float(((gain * discount).sum(axis=1) / ideal).mean())


@cache
def quality(scheme: str) -> dict[str, tuple[float, float]]:
    """Accuracy and NDCG@3 of every aggregator, over the same draws."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in AGGREGATORS}
    for seed in range(DRAWS):
        rows = collect(SCHEMES[scheme], np.random.default_rng(seed))
        for name, aggregator in AGGREGATORS.items():
            labels = aggregator.aggregate(*rows.T)
            truth = np.array([web()[1].get(pair, -1) for pair in labels.pair.tolist()])
            known = truth >= 0
            right = float(np.mean(labels.grade[known] == truth[known]))
            rng = np.random.default_rng(1000 + seed)
            found[name].append((right, ndcg_at_3(truth[known], labels.score[known], rng)))
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    return {name: (float(mean[0]), float(mean[1])) for name, mean in means.items()}


def test_models_beat_majority_with_all_judgments() -> None:
    right = {name: accuracy for name, (accuracy, _) in quality("all").items()}
    assert min(right["dawid-skene"], right["ordinal"]) > max(right["majority"], 0.73)
    assert right["ordinal"] > right["dawid-skene"]


@pytest.mark.parametrize("name", list(AGGREGATORS))
def test_one_judgment_per_pair_is_never_made_worse(name: str) -> None:
    accuracy, ndcg = quality("single")[name]
    raw_accuracy, raw_ndcg = quality("single")["first"]
    assert raw_accuracy == pytest.approx(0.55, abs=0.01)
    assert accuracy >= raw_accuracy
    assert ndcg >= raw_ndcg - 1e-9


@pytest.mark.parametrize("scheme", ["if-good-2", "if-good-3"])
@pytest.mark.parametrize("rival", ["mean", "dawid-skene"])
def test_ordinal_is_best_where_good_pairs_are_judged_again(scheme: str, rival: str) -> None:
    accuracy, ndcg = quality(scheme)["ordinal"]
    rival_accuracy, rival_ndcg = quality(scheme)[rival]
    assert accuracy >= rival_accuracy
    assert ndcg >= rival_ndcg


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_ordinal_is_never_worse_than_the_first_judgment_or_the_mean(scheme: str) -> None:
    accuracy, ndcg = quality(scheme)["ordinal"]
    for rival in ("first", "mean"):
        assert accuracy >= quality(scheme)[rival][0]
        assert ndcg >= quality(scheme)[rival][1]


@pytest.mark.parametrize("condition", ["High", "NoHigh"])
@pytest.mark.parametrize("each", [1, 2, 3, 15])
def test_ordinal_holds_on_a_hundred_newspaper_articles(condition: str, each: int) -> None:
    """120 pairs × 15 judges with three grades: too little to learn much from, enough to drift."""
    folder = Path(os.environ["REAL_DATA"]) / "nyt_topical_relevance"
    parts = [pd.read_csv(file) for file in folder.glob(f"Pilot_3P-Doc-{condition}__*.csv.gz")]
    rows = pd.concat(parts).dropna(subset="relevance")
    experts = pd.read_csv(folder / "reviewers_pilot_aggregated_judgments.csv.gz")
    truth = 2 * experts.set_index(["topic", "document_id"])["reviewers_rel"].sort_index()
    rows["pair"] = truth.index.get_indexer(pd.MultiIndex.from_frame(rows[truth.index.names]))
    rows["judge"] = pd.factorize(rows["worker"])[0]
    words = {"not_relevant": 0, "relevant": 2, "highly_relevant": 4}
    rows["grade"] = rows["relevance"].map(words)
    right = {"first": 0.0, "ordinal": 0.0}
    for seed in range(DRAWS):
        drawn = rows.sample(frac=1, random_state=seed).groupby("pair").head(each)
        for name in right:
            labels = AGGREGATORS[name].aggregate(drawn["pair"], drawn["judge"], drawn["grade"])
            right[name] += float(np.mean(labels.grade == truth.to_numpy())) / DRAWS
    assert right["ordinal"] >= right["first"]


def test_random_order_of_ties_is_expected_not_drawn() -> None:
    """One query of twenty, all scores equal: every document has the mean discount of the top 3."""
    truth = np.array([4] + [0] * (DEPTH - 1))
    value = ndcg_at_3(truth, np.zeros(DEPTH), np.random.default_rng(0))
    assert value == pytest.approx((1 + 1 / np.log2(3) + 1 / 2) / DEPTH)
