"""The consensus of the others, and schemes replayed on judgments made under another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.aggregation import AGGREGATORS
from ranking.agreement import cohen_kappa, pooled_kappa
from ranking.others import others
from ranking.replay import replay
from ranking.schemes import GoodTillBad, IfGood, IfGoodWeighted, KOverlap, Single

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40
)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS)
def test_others_are_everybody_else_with_her_latest_grade(rows):
    latest = {(pair, judge): (index, grade) for index, (pair, judge, grade) in enumerate(rows)}
    found = others(*np.array(rows).T)
    for index, (pair, judge, _) in enumerate(rows):
        rest = [g for (p, j), (_, g) in latest.items() if p == pair and j != judge]
        if latest[pair, judge][0] != index or not rest:
            assert not found.compared[index]
            assert (found.number[index], found.majority[index]) == (0, -1)
            assert np.isnan(found.mean[index])
            continue
        assert found.compared[index]
        assert found.number[index] == len(rest)
        assert found.mean[index] == pytest.approx(np.mean(rest))
        vote = AGGREGATORS["majority"].aggregate([0] * len(rest), range(len(rest)), rest)
        assert found.majority[index] == vote.grade[0]


def test_others_of_nothing_are_nothing():
    assert len(others([], [], []).compared) == 0


# -- Replay ---------------------------------------------------------------------------------------

#: (E,G,F) (B) (G,G,P) (F) (F) (P,F,G): complete under if-good-3.
GRADES = [[3, 2, 1], [0], [2, 2, 4], [1], [1], [4, 1, 2]]


def in_turns(lists):
    """First judgments of all pairs, then second ones, and so on."""
    rows = [
        (pair, grades[n]) for n in range(9) for pair, grades in enumerate(lists) if n < len(grades)
    ]
    return [pair for pair, _ in rows], [grade for _, grade in rows]


@pytest.mark.parametrize(
    ("scheme", "judgments", "short", "missing", "good", "fair"),
    [
        (Single(), 6, 0, 0, 3, 3),
        (IfGood(2), 9, 0, 0, 5, 4),
        (IfGood(3), 12, 0, 0, 7, 5),
        # Three pairs have one judgment of the three it wants.
        (KOverlap(3), 12, 3, 6, 7, 5),
        # (E,G,F) and (P,F) are complete, (G,G,P) wants a fourth at least.
        (GoodTillBad(11), 11, 1, 1, 6, 5),
        (IfGoodWeighted(3), 6, 0, 0, 9, 3),
    ],
)
def test_replay_written_out(scheme, judgments, short, missing, good, fair):
    found = replay(*in_turns(GRADES), scheme)
    assert (found.pairs, found.judgments) == (6, judgments)
    assert (found.short, found.missing) == (short, missing)
    assert (found.good, found.fair) == (good, fair)
    assert found.labelling == judgments / 6
    assert found.training == (good + fair) / 6
    assert found.ratio == fair / good


def test_ratio_without_a_good_row_is_undefined():
    assert np.isnan(replay([1, 2], [0, 1], Single()).ratio)


@settings(deadline=None, max_examples=60)
@given(
    lists=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=12),
    scheme=st.sampled_from([Single(), KOverlap(2), IfGood(3), GoodTillBad(4)]),
)
def test_replay_is_the_walk_over_every_pair(lists, scheme):
    found = replay(*in_turns(lists), scheme)
    used = 0
    for grades in lists:
        taken = []
        while len(taken) < len(grades) and scheme.wants_more(taken):
            taken.append(grades[len(taken)])
        used += len(taken)
    assert found.judgments == used
    assert found.short == sum(scheme.wants_more(grades) for grades in lists)


# -- Pooled kappa ---------------------------------------------------------------------------------


def test_pooled_kappa_of_two_judges_is_the_kappa_of_both_orders():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 80), rng.integers(0, 5, 80)
    pair, judge = np.r_[np.arange(80), np.arange(80)], np.r_[np.zeros(80, int), np.ones(80, int)]
    for weights in (None, "linear", "quadratic"):
        found = pooled_kappa(pair, judge, np.r_[a, b], weights, interval=0.95, resamples=50)
        both = cohen_kappa(np.r_[a, b], np.r_[b, a], weights)
        assert found.value == pytest.approx(both.value, abs=1e-12)
        assert found.low <= found.value <= found.high
        assert (found.pairs, found.judgments) == (80, 160)


def test_pooled_kappa_says_why_there_is_none():
    assert pooled_kappa([1, 2], [1, 1], [0, 1]).reason == "There is only one judge."
    assert pooled_kappa([1, 2], [1, 2], [0, 1]).reason == "No pair was judged by two judges."
