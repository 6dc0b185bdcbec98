"""The paired tests, against arithmetic and scipy."""

from math import isnan, nan

import numpy as np
import pytest
from scipy import stats

from ranking.metrics import compare


def test_means_difference_and_what_was_left_out():
    got = compare([1.0, 0.5, nan, 0.25], [0.5, 0.25, 1.0, nan])
    assert (got.mean_a, got.mean_b, got.difference) == (0.75, 0.375, 0.375)
    assert (got.n, got.left_out) == (2, 2)


def test_t_test_is_that_of_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.random(40), rng.random(40)
    assert compare(a, b).t_test_p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-12)


def test_few_queries_are_permuted_in_every_way():
    # Signs of (1, 2, 3): |sum| is 6 in two of the eight ways.
    assert compare([1, 2, 3], [0, 0, 0]).randomisation_p == 2 / 8
    # Signs of (3, -1, 1): |sum| is 3 or more in six of the eight ways.
    assert compare([3, 0, 1], [0, 1, 0]).randomisation_p == 6 / 8


def test_many_queries_are_permuted_at_random_and_agree_with_the_t_test():
    rng = np.random.default_rng(2)
    b = rng.random(300)
    a = b + rng.normal(0.02, 0.15, 300)
    got = compare(a, b, draws=20_000)
    error = 4 * np.sqrt(got.t_test_p * (1 - got.t_test_p) / 20_000)
    assert got.randomisation_p == pytest.approx(got.t_test_p, abs=error + 0.005)


def test_randomisation_p_is_that_of_scipy_for_a_skewed_sample():
    d = np.random.default_rng(3).exponential(1, 12) - 0.6
    want = stats.permutation_test(
        (d,), np.sum, permutation_type="samples", alternative="two-sided", n_resamples=np.inf
    )
    assert compare(d, np.zeros(12)).randomisation_p == pytest.approx(want.pvalue)


def test_bootstrap_interval_covers_the_normal_one():
    rng = np.random.default_rng(4)
    d = rng.normal(0.1, 1.0, 500)
    got = compare(d, np.zeros(500))
    half = 1.96 * d.std(ddof=1) / np.sqrt(500)
    assert got.low == pytest.approx(d.mean() - half, abs=half * 0.06)
    assert got.high == pytest.approx(d.mean() + half, abs=half * 0.06)


def test_a_wider_interval_holds_the_narrower():
    d = np.random.default_rng(5).normal(0, 1, 50)
    wide, narrow = (compare(d, np.zeros(50), interval=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_equal_measurements_do_not_differ():
    got = compare([0.5, 0.25], [0.5, 0.25])
    assert (got.t_test_p, got.randomisation_p, got.low, got.high) == (1, 1, 0, 0)


def test_swapping_the_two_turns_the_difference_round():
    rng = np.random.default_rng(6)
    a, b = rng.random(12), rng.random(12)
    there, back = compare(a, b), compare(b, a)
    assert there.difference == pytest.approx(-back.difference)
    assert there.t_test_p == pytest.approx(back.t_test_p)
    assert there.randomisation_p == back.randomisation_p


def test_the_same_seed_gives_the_same_answer():
    rng = np.random.default_rng(7)
    a, b = rng.random(200), rng.random(200)
    assert compare(a, b, rng=1) == compare(a, b, rng=1)
    assert compare(a, b, rng=1) != compare(a, b, rng=2)


def test_nothing_can_be_said_of_fewer_than_two_queries():
    one = compare([1.0], [0.5])
    assert one.difference == 0.5
    assert all(isnan(p) for p in (one.t_test_p, one.randomisation_p, one.low, one.high))
    none = compare([nan], [0.5])
    assert (none.n, none.left_out) == (0, 1)
    assert isnan(none.difference)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"same queries. Got 1 and 2 instead."):
        compare([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"interval must lie between 0 and 1. Got 95 instead."):
        compare([1.0], [1.0], interval=95)
    with pytest.raises(ValueError, match=r"draws must be at least 1. Got 0 instead."):
        compare([1.0], [1.0], draws=0)
