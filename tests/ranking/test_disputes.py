"""Where judges differ, and whether several beat the best of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.disputes import disputes, worst_groups
from ranking.simulation import SKILLS, draw
from ranking.wisdom import crowd_curve

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40
)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS)
def test_disputes_are_the_mean_over_couples(rows):
    latest = {(pair, judge): grade for pair, judge, grade in rows}
    by_pair: dict[int, list[int]] = {}
    for (pair, _), grade in latest.items():
        by_pair.setdefault(pair, []).append(grade)
    shared = {pair: grades for pair, grades in by_pair.items() if len(grades) > 1}
    found = disputes(*np.array(rows).T)
    assert found.pair.tolist() == sorted(shared)
    for index, pair in enumerate(found.pair.tolist()):
        couples = list(permutations(shared[pair], 2))
        assert found.judgments[index] == len(shared[pair])
        assert found.apart[index] == pytest.approx(np.mean([abs(a - b) for a, b in couples]))
        assert found.equal[index] == pytest.approx(np.mean([a == b for a, b in couples]))
        extremes = (min(shared[pair]), max(shared[pair]))
        assert (found.low[index], found.high[index]) == extremes


def test_nothing_is_not_disputed():
    assert len(disputes([], [], []).pair) == 0
    assert len(worst_groups(np.empty(0, int), np.empty(0))[0]) == 0


def test_one_unlucky_pair_does_not_put_a_query_on_top():
    group = np.array([1, 2, 2, 2, 2, 2, 3, 3])
    apart = np.array([3.0, 2.5, 2.5, 2.5, 2.5, 2.5, 0.0, 0.0])
    names, mean, n = worst_groups(group, apart)
    assert names.tolist() == [2, 1, 3]
    assert mean.tolist() == [2.5, 3.0, 0.0]
    assert n.tolist() == [5, 1, 2]


def gold(seed, judges=11, pairs=400):
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.integers(0, 5, pairs), judges)
    pair, judge = np.divmod(np.arange(pairs * judges), judges)
    return pair, judge, draw(truth, SKILLS["crowd"], rng), truth


def test_many_judges_beat_the_best_one():
    found = crowd_curve(*gold(0))
    assert found.judges.tolist() == list(range(1, 12))
    assert found.accuracy[0] == pytest.approx(0.55, abs=0.05)
    assert found.accuracy[-1] > found.best_accuracy + 0.05 > found.accuracy[0] + 0.05
    assert (found.low <= found.accuracy).all()
    assert (found.accuracy <= found.high).all()
    assert set(found.pairs.tolist()) == {400}


def test_all_judges_of_all_pairs_need_no_draw():
    pair, judge, grade, truth = gold(1, judges=3, pairs=50)
    found = crowd_curve(pair, judge, grade, truth)
    votes = [np.bincount(grade[pair == one], minlength=5) for one in range(50)]
    tied = [np.flatnonzero(vote == vote.max())[::-1] for vote in votes]
    label = [grades[(len(grades) + 1) // 2 - 1] for grades in tied]
    assert found.accuracy[-1] == pytest.approx(np.mean(label == truth[::3]))


def test_best_judge_must_have_judged_enough():
    pair, judge = [1, 2, 3, 4, 5, 1], [7, 7, 7, 7, 7, 8]
    found = crowd_curve(pair, judge, [0, 1, 2, 3, 3, 0], [0, 1, 2, 3, 4, 0])
    assert (found.best, found.best_accuracy, found.best_pairs) == (7, 0.8, 5)
    assert found.judges.tolist() == [1]
    assert crowd_curve([], [], [], []).best is None
