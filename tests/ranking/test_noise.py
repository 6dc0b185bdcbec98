"""Noise in grades: what is put in is what is measured, and preferences are counted right."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking import noise
from ranking.data import read_letor
from ranking.noise import dnoise, inject, judge_pnoise, pnoise

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-2, 3)), min_size=1, max_size=40
)


def slow_preferences(true, noisy, qid):
    """Wrong and stated preferences, one couple of documents at a time."""
    wrong, stated = 0.0, 0
    for i, j in permutations(range(len(true)), 2):
        if qid[i] == qid[j] and noisy[i] > noisy[j]:
            stated += 1
            wrong += 1.0 if true[i] < true[j] else 0.5 * (true[i] == true[j])
    return wrong, stated


def slow_pnoise(true, noisy, qid):
    wrong, stated = slow_preferences(true, noisy, qid)
    return wrong / stated if stated else math.nan


def test_pnoise_written_out():
    # Query 0, noisy 2 > 1 > 0, truth 1, 1, 3: 2>1 new, 2>0 inverse, 1>0 inverse.
    # Query 1, noisy 4 > 0, truth 4, 0: kept.
    true, noisy, qid = [1, 1, 3, 4, 0], [2, 1, 0, 4, 0], [0, 0, 0, 1, 1]
    assert pnoise(true, noisy, qid) == pytest.approx((2 + 0.5 * 1) / 4)


def test_preferences_lost_to_a_tie_do_not_count():
    assert pnoise([3, 2, 1], [3, 3, 1], [0, 0, 0]) == 0.0


@settings(deadline=None, max_examples=150)
@given(rows=ROWS)
def test_pnoise_is_the_count_over_all_couples(rows):
    true, noisy, qid = np.array(rows).T
    assert pnoise(true, noisy, qid) == pytest.approx(slow_pnoise(true, noisy, qid), nan_ok=True)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, seed=st.integers(0, 999))
def test_pnoise_takes_real_numbers(rows, seed):
    true, noisy, qid = np.array(rows).T
    rng = np.random.default_rng(seed)
    real = true / 3 + (rng.random(len(true)) < 0.5) * rng.random(len(true))
    score = noisy + (rng.random(len(true)) < 0.5) * rng.random(len(true))
    expected = slow_pnoise(real, score, qid)
    assert pnoise(real, score, qid) == pytest.approx(expected, nan_ok=True)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS)
def test_both_ways_to_count_agree(rows):
    true, noisy, qid = np.array(rows).T
    group = np.unique(qid, return_inverse=True)[1]
    table = np.zeros((group.max() + 1, 5, 5), dtype=np.int64)
    np.add.at(table, (group, true, noisy), 1)
    for one, two in zip(
        noise._from_table(table), noise._from_order(true, noisy, group), strict=True
    ):
        np.testing.assert_allclose(one, two)


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, seed=st.integers(0, 999))
def test_pnoise_bounds_and_invariances(rows, seed):
    true, noisy, qid = np.array(rows).T
    value = pnoise(true, noisy, qid)
    order = np.random.default_rng(seed).permutation(len(true))
    again = pnoise(true[order] * 2 - 7, np.exp(noisy[order]), 10**15 * qid[order])
    assert again == pytest.approx(value, nan_ok=True)
    if not math.isnan(value):
        assert 0 <= value <= 1
        assert pnoise(noisy, noisy, qid) == 0.0
        assert pnoise(-noisy, noisy, qid) == 1.0
        assert pnoise(np.zeros_like(true), noisy, qid) == 0.5


@pytest.mark.parametrize("qid", [[0, 1, 2], [0, 0, 1]])
def test_pnoise_without_a_preference_is_nan(qid):
    assert math.isnan(pnoise([0, 1, 2], [3, 3, 3], qid))


def test_dnoise_is_the_share_of_changed_grades():
    assert dnoise([0, 1, 2, 3], [0, 2, 2, 4]) == 0.5
    assert dnoise([1, 1], [1, 1]) == 0.0


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_inject_changes_the_wanted_share(rate, levels):
    rng = np.random.default_rng(7)
    grades = rng.integers(0, levels, 40_000)
    noisy = inject(grades, rate, rng, levels)
    assert dnoise(grades, noisy) == pytest.approx(rate, abs=0.0125 if 0 < rate < 1 else 0)
    assert noisy.min() >= 0
    assert noisy.max() < levels


def test_inject_draws_every_other_grade_alike():
    noisy = inject(np.full(40_000, 2), 1.0, 3)
    shares = np.bincount(noisy, minlength=5) / 40_000
    np.testing.assert_allclose(shares, [0.25, 0.25, 0, 0.25, 0.25], atol=0.011)


def test_inject_is_repeatable_nested_and_leaves_its_input_alone():
    grades = np.arange(1000) % 5
    before = grades.copy()
    little, more = inject(grades, 0.1, 5), inject(grades, 0.4, 5)
    np.testing.assert_array_equal(little, inject(grades, 0.1, np.random.default_rng(5)))
    changed = little != grades
    np.testing.assert_array_equal(more[changed], little[changed])
    np.testing.assert_array_equal(grades, before)


def test_pnoise_rises_with_dnoise_and_ends_at_pure_luck():
    rng = np.random.default_rng(1)
    grades, qid = rng.integers(0, 5, 30_000), np.repeat(np.arange(1500), 20)
    values = [pnoise(grades, inject(grades, rate, rng), qid) for rate in (0, 0.2, 0.4, 0.8)]
    assert values == sorted(values)
    assert values[0] == 0.0
    # At rate 0.8 every grade is drawn uniformly from all five: nothing of the truth is left.
    assert values[-1] == pytest.approx(0.5, abs=0.01)


def slow_judge(pair, judge, grade, qid, who):
    latest = {(p, j): (g, q) for p, j, g, q in zip(pair, judge, grade, qid, strict=True)}
    true, noisy, query = [], [], []
    for (p, j), (g, q) in latest.items():
        others = [h for (o, k), (h, _) in latest.items() if o == p and k != who]
        if j == who and others:
            true.append(sum(others) / len(others))
            noisy.append(g)
            query.append(q)
    return slow_preferences(true, noisy, query)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40
    )
)
def test_judge_pnoise_leaves_the_judge_out(rows):
    pair, judge, grade = np.array(rows).T
    qid = pair // 3 * 100
    found = judge_pnoise(pair, judge, grade, qid)
    assert found.judges.tolist() == sorted(set(judge.tolist()))
    for who, value, n in zip(found.judges, found.pnoise, found.preferences, strict=True):
        wrong, stated = slow_judge(pair, judge, grade, qid, who)
        assert n == stated
        assert value == pytest.approx(wrong / stated if stated else math.nan, nan_ok=True)


def test_judge_pnoise_finds_the_contrary_judge():
    rng = np.random.default_rng(0)
    pair, judge = np.repeat(np.arange(200), 5), np.tile(np.arange(5), 200)
    truth = rng.integers(0, 5, 200)[pair]
    grade = np.clip(truth + rng.integers(-1, 2, 1000), 0, 4)
    grade[judge == 3] = 4 - truth[judge == 3]
    found = judge_pnoise(pair, judge, grade, pair // 10)
    assert found.pnoise.argmax() == 3
    assert found.pnoise[3] > 0.7
    assert np.delete(found.pnoise, 3).max() < 0.4


def test_judge_pnoise_against_gold():
    pair, judge, grade = [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], [4, 2, 0, 0, 2, 4]
    gold = [4.0, 2.0, math.nan, 4.0, 2.0, math.nan]
    found = judge_pnoise(pair, judge, grade, [0] * 6, gold=gold)
    np.testing.assert_array_equal(found.pnoise, [0.0, 1.0])
    np.testing.assert_array_equal(found.preferences, [1, 1])


def test_judge_pnoise_needs_two_documents_of_a_query():
    found = judge_pnoise([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3], [0, 0, 1, 1])
    assert np.isnan(found.pnoise).all()
    np.testing.assert_array_equal(found.preferences, [0, 0])


def test_judge_pnoise_of_one_judge_alone_is_nan():
    found = judge_pnoise([0, 1], [5, 5], [0, 4], [0, 0])
    assert found.judges.tolist() == [5]
    assert np.isnan(found.pnoise).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inject([1, 2], 1.5, 0), r"rate must lie between 0 and 1\. Got 1\.5"),
        (lambda: inject([1, 2], math.nan, 0), r"rate must lie between 0 and 1\. Got nan"),
        (lambda: inject([1, 3], 0.1, 0, levels=3), r"between 0 and 2\. Got 3 instead"),
        (lambda: inject([1, 1], 0.1, 0, levels=1), r"levels must be at least 2\. Got 1"),
        (lambda: inject([0.5], 0.1, 0), r"grades must hold integers\. Got float64"),
        (lambda: inject([], 0.1, 0), r"at least one value\. Got 0"),
        (lambda: dnoise([1, 2], [1]), r"true and noisy must have the same length\. Got 2 and 1"),
        (lambda: dnoise([], []), r"at least one value\. Got 0"),
        (lambda: dnoise([[1]], [[1]]), r"one dimension\. Got 2"),
        (lambda: pnoise([1, 2], [1, 2], [0]), r"must have the same length\. Got 2 and 2 and 1"),
        (lambda: pnoise([1, math.nan], [1, 2], [0, 0]), r"true must hold finite.*Got nan"),
        (lambda: pnoise([1, 2], [1, math.inf], [0, 0]), r"noisy must hold finite.*Got inf"),
        (lambda: pnoise([1, 2], [1, 2], [0.5, 1]), r"qid must hold integers\. Got float64"),
        (lambda: pnoise([1, 2], ["a", "b"], [0, 0]), r"noisy must hold numbers\. Got <U1"),
        (lambda: judge_pnoise([0], [0], [1], [0, 0]), r"pair and qid must have the same length"),
        (lambda: judge_pnoise([0], [0], [7], [0]), r"between 0 and 4\. Got 7"),
        (lambda: judge_pnoise([0], [0], [1], [0], gold=[1, 2]), r"pair and gold must have"),
        (lambda: judge_pnoise([0, 0], [0, 1], [1, 1], [0, 1]), r"must belong to one query"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.real_data
def test_noise_of_real_grades(real_data):
    mslr = read_letor(real_data / "mslr_sample_5grade" / "mslr_union_all.txt.gz")
    noisy = inject(mslr.y, 0.3, 0)
    value = pnoise(mslr.y, noisy, mslr.qid)
    assert dnoise(mslr.y, noisy) == pytest.approx(0.3, abs=0.01)
    assert 0.15 < value < 0.5
    first = mslr.qid == mslr.qid[0]
    assert pnoise(mslr.y[first], noisy[first], mslr.qid[first]) == pytest.approx(
        slow_pnoise(mslr.y[first], noisy[first], mslr.qid[first])
    )
