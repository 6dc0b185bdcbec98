"""Judge against judge: Cohen's kappa, all couples, the confusion matrix, one judge's histogram."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import cohen_kappa_score

from ranking.agreement import (
    cohen_kappa,
    confusion,
    distribution_test,
    krippendorff_alpha,
    pairwise_kappa,
)

GRADES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)
NO_NUMBER = np.full((5, 5), np.nan)


def crowd(seed, pairs=60, judges=7, share=0.6):
    rng = np.random.default_rng(seed)
    judge, pair = np.nonzero(rng.random((judges, pairs)) < share)
    order = rng.permutation(len(pair))
    truth = rng.integers(0, 5, pairs)
    grade = np.clip(truth[pair] + rng.integers(-1, 2, len(pair)), 0, 4)
    return pair[order], judge[order], grade[order]


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@settings(deadline=None, max_examples=80)
@given(both=GRADES)
def test_cohen_kappa_agrees_with_scikit_learn(weights, both):
    a, b = np.array(both).T
    ours = cohen_kappa(a, b, weights)
    if len({*a, *b}) == 1:
        assert math.isnan(ours.value)
        assert ours.reason == "Both judges gave one and the same grade only."
        return
    theirs = cohen_kappa_score(a, b, labels=range(5), weights=weights)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_cohen_kappa_written_out():
    # Agree on 3 of 4; margins (2, 2) and (1, 3): chance = (2 · 1 + 2 · 3) / 16.
    assert cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]).value == pytest.approx(
        (3 / 4 - 8 / 16) / (1 - 8 / 16)
    )


@settings(deadline=None, max_examples=50)
@given(both=GRADES)
def test_cohen_kappa_does_not_care_who_is_first(both):
    a, b = np.array(both).T
    for weights in (None, "linear", "quadratic"):
        assert cohen_kappa(a, b, weights).value == pytest.approx(
            cohen_kappa(b, a, weights).value, nan_ok=True
        )


def test_cohen_kappa_interval_is_that_of_resampled_pairs():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 80)
    b = np.where(rng.random(80) < 0.7, a, rng.integers(0, 5, 80))
    found = cohen_kappa(a, b, "linear", interval=0.9, rng=3, resamples=4000)
    drawn = rng.integers(0, 80, (2000, 80))
    slow = [cohen_kappa(a[take], b[take], "linear").value for take in drawn]
    low, high = np.quantile(slow, [0.05, 0.95])
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)
    assert (found.pairs, found.judgments) == (80, 160)


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_pairwise_kappa_is_cohen_kappa_of_every_two_judges(weights):
    pair, judge, grade = crowd(1)
    found = pairwise_kappa(pair, judge * 10 + 3, grade, weights)
    assert found.judges.tolist() == [3, 13, 23, 33, 43, 53, 63]
    said = [dict(zip(pair[judge == j], grade[judge == j], strict=True)) for j in range(7)]
    for i in range(7):
        for j in range(7):
            common = sorted(said[i].keys() & said[j].keys())
            assert found.pairs[i, j] == len(common)
            expected = math.nan
            if i != j:
                a, b = ([said[w][p] for p in common] for w in (i, j))
                expected = cohen_kappa(a, b, weights).value
            assert found.kappa[i, j] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found.low).all()


def test_pairwise_kappa_is_nan_where_judges_share_nothing():
    found = pairwise_kappa([0, 0, 1, 1], [0, 1, 2, 3], [1, 2, 3, 3], interval=0.9)
    assert found.pairs.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    assert found.kappa[0, 1] == 0.0
    assert np.isnan(found.kappa[[0, 2, 0], [2, 3, 0]]).all()
    assert np.isnan(found.low).all()


def test_pairwise_kappa_intervals_are_symmetric_and_hold_the_value():
    found = pairwise_kappa(*crowd(2, pairs=200), interval=0.9, rng=5, resamples=400)
    off = ~np.eye(7, dtype=bool)
    assert (found.low[off] < found.kappa[off]).all()
    assert (found.kappa[off] < found.high[off]).all()
    np.testing.assert_array_equal(found.low, found.low.T)
    again = pairwise_kappa(*crowd(2, pairs=200), interval=0.9, rng=5, resamples=400)
    np.testing.assert_array_equal(found.high, again.high)


def test_pairwise_kappa_takes_the_latest_of_a_judges_grades():
    found = pairwise_kappa([0, 0, 1, 1, 0], [0, 1, 0, 1, 0], [4, 1, 2, 2, 1])
    assert found.kappa[0, 1] == 1.0
    assert found.pairs[0, 0] == 2


def test_confusion_written_out():
    # Pair 0: judges say 0, 0, 1 → couples 00 00 01 01 10 10; pair 1: 1, 4 → 14 41.
    rows = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 0], [0, 0, 1, 1, 4, 3])
    found = confusion(*rows, smoothing=1)
    counts = np.zeros((5, 5))
    counts[0, 0], counts[0, 1], counts[1, 0], counts[1, 4], counts[4, 1] = 2, 2, 2, 1, 1
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_allclose(found.matrix[0], [3 / 9, 3 / 9, 1 / 9, 1 / 9, 1 / 9])
    np.testing.assert_allclose(found.matrix[1], [3 / 8, 1 / 8, 1 / 8, 1 / 8, 2 / 8])
    np.testing.assert_allclose(found.matrix[2], np.full(5, 1 / 5))
    assert (found.pairs, found.judgments, found.smoothing) == (2, 5, 1)


def test_confusion_without_smoothing_says_which_rows_are_unknown():
    found = confusion([0, 0], [0, 1], [0, 1], smoothing=0)
    np.testing.assert_array_equal(found.matrix[:2, :2], [[0, 1], [1, 0]])
    assert np.isnan(found.matrix[2:]).all()
    assert found.reason


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), smoothing=st.floats(0.01, 10))
def test_confusion_rows_sum_to_one_and_counts_are_symmetric(seed, smoothing):
    found = confusion(*crowd(seed, pairs=10, judges=4), smoothing=smoothing)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.counts, found.counts.T)
    np.testing.assert_array_equal(np.asarray(found), found.matrix)
    assert not found.reason


def test_confusion_counts_every_couple_of_judges_in_both_orders():
    pair, judge, grade = crowd(3)
    counts = np.zeros((5, 5))
    for p in np.unique(pair):
        said = grade[pair == p]
        for i in range(len(said)):
            for j in range(len(said)):
                counts[said[i], said[j]] += i != j
    np.testing.assert_array_equal(confusion(pair, judge, grade).counts, counts)


def test_confusion_between_two_judges_has_a_direction():
    pair, judge, grade = [0, 0, 1, 1, 1], [5, 6, 5, 6, 7], [0, 1, 0, 2, 4]
    found = confusion(pair, judge, grade, (5, 6), smoothing=0)
    np.testing.assert_array_equal(found.matrix[0], [0, 0.5, 0.5, 0, 0])
    other = confusion(pair, judge, grade, (6, 5), smoothing=0)
    np.testing.assert_array_equal(other.counts, found.counts.T)
    assert (found.pairs, found.judgments) == (2, 4)


def test_confusion_interval_holds_the_matrix():
    found = confusion(*crowd(4, pairs=300), interval=0.95, rng=1)
    assert (found.low <= found.matrix).all()
    assert (found.matrix <= found.high).all()
    assert (found.high - found.low).max() < 0.3
    without = confusion(*crowd(4, pairs=300))
    np.testing.assert_array_equal(without.low, NO_NUMBER)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_kappa([1, 2], [1]), r"a and b must have the same length\. Got 2 and 1"),
        (lambda: cohen_kappa([], []), r"at least one judgment\. Got 0"),
        (lambda: cohen_kappa([1, 7], [1, 1]), r"between 0 and 4\. Got 7"),
        (lambda: cohen_kappa([1], [1], "cubic"), r"Got 'cubic' instead"),
        (lambda: cohen_kappa([1], [1], interval=2), r"interval must lie between 0 and 1\. Got 2"),
        (lambda: pairwise_kappa([1], [1], [9]), r"between 0 and 4\. Got 9"),
        (lambda: confusion([1], [1], [1], smoothing=-1), r"at least 0\. Got -1"),
        (lambda: confusion([1], [1], [1], smoothing=math.nan), r"at least 0\. Got nan"),
        (lambda: confusion([1], [1], [1], (1, 2)), r"judges who judged something\. Got 2"),
        (lambda: confusion([1], [1], [1], (1, 1)), r"two different judges\. Got 1 twice"),
        (lambda: distribution_test([], [1]), r"at least one judgment\. Got 0"),
        (lambda: distribution_test([1], [5]), r"between 0 and 4\. Got 5"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@settings(deadline=None, max_examples=80)
@given(
    one=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    two=st.lists(st.integers(0, 4), min_size=1, max_size=60),
)
def test_distribution_test_agrees_with_scipy(one, two):
    found = distribution_test(one, two)
    used = sorted({*one, *two})
    if len(used) == 1:
        assert math.isnan(found.p)
        assert found.reason == "Both used one and the same grade only."
        return
    table = [[grades.count(g) for g in used] for grades in (one, two)]
    theirs = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.dof == theirs.dof
    assert found.effect == pytest.approx(math.sqrt(theirs.statistic / (len(one) + len(two))))
    assert found.smallest_expected == pytest.approx(theirs.expected_freq.min())
    assert 0 <= found.effect <= 1 + 1e-12


def test_distribution_test_tells_a_generous_judge_from_a_typical_one():
    rng = np.random.default_rng(3)
    reference = rng.integers(0, 5, 300)
    generous = np.minimum(reference + rng.integers(0, 3, 300), 4)
    typical = rng.permutation(reference)
    assert distribution_test(generous, reference).p < 1e-6
    assert distribution_test(typical, reference).effect == pytest.approx(0, abs=1e-9)
    apart = distribution_test([0, 0, 1], [3, 4])
    assert apart.effect == pytest.approx(1.0)
    assert apart.counts.tolist() == [[2, 1, 0, 0, 0], [0, 0, 0, 1, 1]]


@pytest.mark.real_data
def test_confusion_and_alpha_of_real_web_judgments(real_data):
    path = real_data / "web_search_5grade" / "label.csv"
    pair, judge, grade = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64).T
    alpha = krippendorff_alpha(pair, judge, grade, interval=0.95)
    assert 0.3 < alpha.low < alpha.value < alpha.high < 0.8
    assert alpha.high - alpha.low < 0.06
    found = confusion(pair, judge, grade)
    # Judges who saw the same Perfect page mostly call it Perfect too.
    assert found.matrix[4].argmax() == 4
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0)
    couples = pairwise_kappa(pair, judge, grade)
    assert couples.kappa.shape == (len(np.unique(judge)),) * 2
    np.testing.assert_array_equal(couples.pairs, couples.pairs.T)
