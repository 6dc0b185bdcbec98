"""Each method's own arithmetic, against the formula written out pair by pair."""

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from ranking.rankers import AdaRank, LambdaMART, LambdaRank, ListNet, RankBoost, RankSVM
from ranking.rankers.lambdarank import _batches
from ranking.rankers.linear import Loss
from ranking.rankers.lists import Lists
from ranking.rankers.rankboost import _potential
from tests.ranking.test_rankers import agreement, toy

SEEDS = st.integers(0, 10_000)


def ragged(seed: int) -> tuple[Lists, Any]:
    """A few queries of different length with weights, and scores for their rows."""
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, 5, 40))
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 5, 40)
    y[:2], qid[:2] = (0, 4), 0
    lists = Lists.build(X, y, np.sort(qid), sample_weight=rng.uniform(0.2, 3, 40))
    lists = lists.with_preferences()
    return lists, rng.normal(size=len(lists.y))


def preferences(lists: Lists) -> list[tuple[int, int]]:
    """All (i, j) of one query with i above j in grade."""
    y, query = lists.y, lists.segment
    rows = range(len(y))
    return [(i, j) for i in rows for j in rows if query[i] == query[j] and y[i] > y[j]]


def assert_is_gradient(loss: Loss, scores: Any) -> None:
    def value(at: Any) -> float:
        return loss(at)[0]

    def gradient(at: Any) -> Any:
        return loss(at)[1]

    assert check_grad(value, gradient, scores) < 1e-4


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, truncation=st.sampled_from([1, 3, 100]))
def test_lambdas_are_those_of_all_pairs(seed: int, truncation: int) -> None:
    lists, _ = ragged(seed)
    ranker = LambdaRank(batch_queries=3, truncation=truncation)
    rng = np.random.default_rng(seed)
    X = np.arange(len(lists.y), dtype=np.float32)[:, None]
    for batch in _batches(X, lists, ranker, rng):
        rows = batch.X[:, 0].astype(int)
        scores = rng.normal(size=len(rows)).astype(np.float32)
        wanted = all_pairs(lists, rows, scores, truncation)
        np.testing.assert_allclose(batch.lambdas(scores), wanted, rtol=2e-4, atol=1e-6)


def all_pairs(lists: Lists, rows: Any, scores: Any, truncation: int) -> Any:
    """|ΔNDCG| / (1 + exp(s_i − s_j)) for every pair of the batch, by the formula."""
    y, query, pull = lists.y[rows], lists.segment[rows], np.zeros(len(rows))
    for q in np.unique(query):
        mine = np.flatnonzero(query == q)
        ranks = np.empty(len(mine), dtype=int)
        ranks[np.argsort(-scores[mine], kind="stable")] = np.arange(len(mine))
        place = dict(zip(mine, ranks, strict=True))
        discount = {i: 1 / np.log2(p + 2) if p < truncation else 0.0 for i, p in place.items()}
        best = sorted((2.0 ** y[mine] - 1), reverse=True)[:truncation]
        ideal = sum(gain / np.log2(p + 2) for p, gain in enumerate(best))
        for i in mine:
            for j in mine:
                if y[i] > y[j]:
                    change = (2.0 ** y[i] - 2.0 ** y[j]) * abs(discount[i] - discount[j]) / ideal
                    change /= 1 + np.exp(scores[i] - scores[j])
                    pull[i] += change
                    pull[j] -= change
    return pull * lists.weight[rows] / len(np.unique(query))


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_ranksvm_loss_is_the_squared_hinge_of_all_pairs(seed: int) -> None:
    lists, scores = ragged(seed)
    pairs = preferences(lists)
    count = np.bincount([lists.segment[i] for i, _ in pairs])
    wanted = sum(
        lists.weight[i]
        * lists.weight[j]
        * max(0.0, 1 - (scores[i] - scores[j])) ** 2
        / count[lists.segment[i]]
        for i, j in pairs
    )
    loss = RankSVM()._loss(lists)
    assert loss(scores)[0] == pytest.approx(wanted, rel=1e-9)
    assert_is_gradient(loss, scores)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_listnet_loss_is_the_cross_entropy_of_first_places(seed: int) -> None:
    lists, scores = ragged(seed)
    wanted = 0.0
    for begin, end in zip(lists.start[:-1], lists.start[1:], strict=True):
        w, y, s = lists.weight[begin:end], lists.y[begin:end], scores[begin:end]
        by_grade = w * np.exp(y) / (w * np.exp(y)).sum()
        by_score = w * np.exp(s) / (w * np.exp(s)).sum()
        # ln w is the same whatever the scores are, and left out.
        wanted -= w.mean() * by_grade @ np.log(by_score / w)
    loss = ListNet()._loss(lists)
    assert loss(scores)[0] == pytest.approx(wanted, rel=1e-9)
    assert_is_gradient(loss, scores)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_rankboost_potential_is_the_sum_over_all_pairs(seed: int) -> None:
    lists, scores = ragged(seed)
    wanted, total = np.zeros(len(scores)), 0.0
    for i, j in preferences(lists):
        d = lists.weight[i] * lists.weight[j] * np.exp(scores[j] - scores[i])
        wanted[i] += d
        wanted[j] -= d
        total += d
    np.testing.assert_allclose(_potential(scores, lists), wanted / total, rtol=1e-9, atol=1e-12)


def test_rankboost_takes_a_weight_of_two_for_the_row_twice() -> None:
    X, y, qid = toy(queries=10)
    X = np.round(X, 1)
    twice = np.concatenate((np.arange(len(y)), np.arange(0, len(y), 3)))
    weight = np.ones(len(y))
    weight[::3] = 2
    weighted = RankBoost(n_estimators=20).fit(X, y, qid, weight)
    repeated = RankBoost(n_estimators=20).fit(X[twice], y[twice], qid[twice])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_rankboost_stops_when_no_step_helps() -> None:
    ranker = RankBoost().fit(np.ones((4, 2)), [0, 1, 2, 3], [0, 0, 0, 0])
    assert ranker.best_iteration_ == 0
    assert not ranker.predict(np.ones((3, 2))).any()


def test_rankboost_ends_with_the_step_that_settles_every_pair() -> None:
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 50)
    X = np.stack((rng.normal(size=100), y + rng.uniform(0, 0.5, 100)), axis=1)
    ranker = RankBoost().fit(X, y, np.repeat(np.arange(10), 10))
    assert ranker.best_iteration_ == 1
    assert agreement(y, ranker.predict(X), np.repeat(np.arange(10), 10)) == 1


def test_rankboost_stays_finite_over_many_rounds() -> None:
    X, y, qid = toy(queries=3, docs=5)
    scores = RankBoost(n_estimators=3000).fit(X, y, qid).predict(X)
    assert np.isfinite(scores).all()
    assert agreement(y, scores, qid) == 1


def test_lambdarank_says_so_when_it_diverges() -> None:
    with (
        pytest.raises(ValueError, match=r"learning_rate must be small enough"),
        np.errstate(all="ignore"),
    ):
        LambdaRank(learning_rate=1e38).fit(*toy())


def test_adarank_uses_a_feature_that_counts_against_relevance() -> None:
    X, y, qid = toy()
    assert AdaRank().fit(X, 4 - y, qid).coef_[0] < 0


def test_adarank_adds_a_second_feature_where_one_is_not_enough() -> None:
    X, y, qid = toy(queries=60)
    one = agreement(y, X[:, 0], qid)
    assert agreement(y, AdaRank().fit(X, y, qid).predict(X), qid) > one + 0.05


def test_lambdamart_tells_lightgbm_gains_truncation_and_weights() -> None:
    X, y, qid = toy()
    ranker = LambdaMART(n_estimators=3, truncation=7, min_child_samples=5)
    text = ranker.fit(X, y, qid).to_bytes().decode()
    for setting in ("[label_gain: 0,1,3,7,15]", "[lambdarank_truncation_level: 7]"):
        assert setting in text
    for setting in ("[deterministic: 1]", "[num_threads: 1]", "[objective: lambdarank]"):
        assert setting in text


def test_lightgbm_itself_reads_our_model_file(tmp_path: Any) -> None:
    X, y, qid = toy()
    ranker = LambdaMART(n_estimators=10, min_child_samples=5).fit(X, y, qid, eval_set=toy(1))
    ranker.save(tmp_path / "model.txt")
    booster = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(booster.predict(X), ranker.predict(X))


def test_lambdamart_learns_what_lightgbm_learns_when_called_directly() -> None:
    X, y, qid = toy()
    ranker = LambdaMART(n_estimators=10, min_child_samples=5).fit(X, y, qid)
    parameters = ranker.lightgbm_parameters()
    data = lgb.Dataset(X, label=y, group=np.full(30, 12), params=parameters)
    raw = lgb.train(parameters, data, num_boost_round=10)
    np.testing.assert_array_equal(raw.predict(X), ranker.predict(X))


@pytest.mark.parametrize("scale", ["log", "none"])
@pytest.mark.parametrize("ranker", [LambdaRank, RankSVM, ListNet, AdaRank])
def test_other_scales_learn_too(ranker: Any, scale: str) -> None:
    X, y, qid = toy(queries=60)
    X = np.exp(3 * X) if scale == "log" else X
    assert agreement(y, ranker(scale=scale).fit(X, y, qid).predict(X), qid) > 0.85


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one of standard, log, none\. Got cubic instead"):
        ListNet(scale="cubic").fit(*toy())


def test_a_validation_set_in_the_order_of_its_grades_does_not_reward_ties() -> None:
    X, y, qid = toy()
    order = np.lexsort((-y, qid))
    ranker = RankBoost(n_estimators=30).fit(X, y, qid, eval_set=(X[order], y[order], qid[order]))
    assert ranker.history_[0] < max(ranker.history_)
    assert ranker.best_iteration_ > 5
