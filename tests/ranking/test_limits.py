"""The ceiling: check values, independent computations of it, and what must always hold."""

import gzip
from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking import limits, metrics
from ranking.limits.exact import series

C = np.array(
    [
        [0.75, 0.15, 0.07, 0.02, 0.01],
        [0.3, 0.45, 0.2, 0.04, 0.01],
        [0.12, 0.25, 0.45, 0.15, 0.03],
        [0.05, 0.1, 0.25, 0.45, 0.15],
        [0.03, 0.05, 0.12, 0.25, 0.55],
    ]
)
WEB = [0.52, 0.32, 0.13, 0.02, 0.01]
METHODS = ("exact", "gaussian", "simulate")

counts_strategy = st.lists(st.integers(0, 12), min_size=5, max_size=5).filter(
    lambda counts: sum(counts[1:]) > 0
)
depths = st.sampled_from([None, 1, 2, 3, 10])
shares = st.floats(0, 1)
distributions = (
    st.lists(shares, min_size=5, max_size=5)
    .filter(lambda weights: sum(weights) > 1e-3)
    .map(lambda weights: np.array(weights) / sum(weights))
)


def guessing(rate, habit, skill=None):
    """Judges who grade by ``skill`` (no mistakes unless given), but guess by habit at a rate."""
    skill = np.eye(5) if skill is None else skill
    return (1 - rate) * skill + rate * np.tile(habit, (5, 1))


def by_enumeration(counts, confusion, k):
    """The mean over every alternative grading of the list, each with its probability."""
    truth = np.repeat(np.arange(len(counts)), counts)
    others = np.array(list(product(range(len(counts)), repeat=truth.size)))
    chance = np.prod(np.asarray(confusion)[truth, others], axis=1)
    qid = np.repeat(np.arange(len(others)), truth.size)
    values = metrics.ndcg(
        np.tile(truth, len(others)), others.ravel(), qid, k=k, ties="expected", undefined=np.nan
    )
    return chance @ values


def random_case(rng, n):
    confusion = rng.dirichlet(np.full(5, rng.choice([0.3, 1.0, 3.0])), size=5)
    return rng.multinomial(n, rng.dirichlet(np.ones(5))), confusion


class TestExact:
    @pytest.mark.parametrize(
        ("counts", "k", "value"),
        [
            ((10, 6, 3, 1, 0), None, 0.800094849267),
            ((10, 6, 3, 1, 0), 3, 0.637221895234),
            ((52, 33, 13, 2, 1), None, 0.755430773749),
            ((52, 33, 13, 2, 1), 3, 0.483681598366),
        ],
    )
    def test_check_values(self, counts, k, value):
        got = limits.limiting_ndcg(counts, C, k)
        assert got.value == pytest.approx(value, abs=1e-11)
        assert (got.standard_error, got.n, got.left_out) == (0, 1, 0)

    def test_two_documents_by_hand(self):
        # One Perfect, one Bad; the judge turns each into the other with chance 1/4.
        flip = np.eye(5)
        flip[[0, 0, 4, 4], [0, 4, 4, 0]] = [3 / 4, 1 / 4, 3 / 4, 1 / 4]
        first = (3 / 4) * (3 / 4) + 2 * (3 / 4) * (1 / 4) / 2
        want = first + (1 - first) / np.log2(3)
        assert limits.limiting_ndcg((1, 0, 0, 0, 1), flip).value == pytest.approx(want, abs=1e-13)
        assert limits.limiting_ndcg((1, 0, 0, 0, 1), flip, 1).value == pytest.approx(first)

    @given(
        st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
        st.lists(distributions, min_size=5, max_size=5).map(np.array),
        depths,
    )
    @settings(max_examples=60, deadline=None)
    def test_equals_the_mean_over_all_gradings(self, grades, confusion, k):
        counts = np.bincount(grades, minlength=5)
        assert limits.limiting_ndcg(counts, confusion, k).value == pytest.approx(
            by_enumeration(counts, confusion, k), abs=1e-11
        )

    def test_equals_the_mean_over_all_gradings_on_two_and_three_grades(self):
        assert limits.limiting_ndcg((4, 3), [[0.8, 0.2], [0.4, 0.6]], 2).value == pytest.approx(
            by_enumeration((4, 3), [[0.8, 0.2], [0.4, 0.6]], 2), abs=1e-12
        )
        three = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.0, 0.5, 0.5]]
        assert limits.limiting_ndcg((3, 2, 2), three).value == pytest.approx(
            by_enumeration((3, 2, 2), three, None), abs=1e-12
        )

    @pytest.mark.parametrize("n", [1, 2, 9, 33, 120, 1251])
    @pytest.mark.parametrize("k", [1, 2, 3, 10, 50, None])
    def test_discount_is_the_sum_of_exponentials_at_every_place(self, n, k):
        k = n if k is None else min(k, n)
        points, weights = series(n, k)
        places = np.arange(n)
        want = np.where(places < k, 1 / np.log2(places + 2), 0)
        got = (points ** places[:, None] @ weights).real
        np.testing.assert_allclose(got, want, rtol=0, atol=1.1e-13)

    @pytest.mark.parametrize("n", [40, 150, 700])
    def test_depth_of_the_whole_list_is_the_whole_list(self, n):
        # All but the last place: another set of points must give nearly the same sum.
        rng = np.random.default_rng(n)
        counts, confusion = random_case(rng, n)
        whole, nearly = (limits.limiting_ndcg(counts, confusion, k).value for k in (None, n - 1))
        assert limits.limiting_ndcg(counts, confusion, n).value == whole
        assert abs(whole - nearly) < 1 / np.log2(n + 1)
        assert limits.limiting_ndcg(counts, confusion, n + 5).value == pytest.approx(whole)

    def test_is_that_of_a_single_grade_when_all_have_the_same(self):
        assert limits.limiting_ndcg((0, 0, 700, 0, 0), C, 3).value == pytest.approx(1, abs=1e-11)
        assert limits.limiting_ndcg((0, 0, 700, 0, 0), np.eye(5)).value == pytest.approx(1)


class TestMethodsAgree:
    def test_exact_is_within_four_standard_errors_of_simulation_on_fifty_matrices(self):
        rng = np.random.default_rng(21)
        for case in range(50):
            counts, confusion = random_case(rng, int(rng.integers(2, 150)))
            counts[4] += 1
            k = (None, 1, 3, 10)[case % 4]
            exact = limits.limiting_ndcg(counts, confusion, k)
            drawn = limits.limiting_ndcg(
                counts, confusion, k, method="simulate", rng=rng, runs=4_000
            )
            assert drawn.standard_error < 0.02
            assert abs(exact.value - drawn.value) <= 4 * drawn.standard_error + 1e-12

    def test_simulation_is_that_of_documents_drawn_and_sorted_one_by_one(self):
        rng = np.random.default_rng(22)
        truth = np.repeat(np.arange(5), (10, 6, 3, 1, 1))
        runs = 20_000
        other = (rng.random((runs, truth.size, 1)) > np.cumsum(C, axis=1)[truth]).sum(axis=2)
        ties = rng.random(other.shape)
        qid = np.repeat(np.arange(runs), truth.size)
        values = metrics.ndcg(np.tile(truth, runs), (other + ties).ravel(), qid, k=5)
        want = metrics.summary(values)
        got = limits.limiting_ndcg((10, 6, 3, 1, 1), C, 5, method="simulate", runs=runs)
        error = np.hypot(want.standard_error, got.standard_error)
        assert abs(got.value - want.mean) < 4 * error
        # Ties are not drawn but reckoned, so the draws differ less from each other.
        assert got.standard_error < want.standard_error

    @pytest.mark.parametrize("n", [300, 500, 1000])
    def test_gaussian_is_close_for_long_lists(self, n):
        rng = np.random.default_rng(n)
        for _ in range(10):
            counts = rng.multinomial(n, WEB)
            exact = limits.limiting_ndcg(counts, C).value
            close = limits.limiting_ndcg(counts, C, method="gaussian")
            assert close.value == pytest.approx(exact, abs=0.002)
            assert close.standard_error == 0

    def test_gaussian_gets_closer_as_lists_get_longer(self):
        errors = []
        for times in (1, 5, 25):
            counts = np.array([10, 6, 3, 1, 0]) * times
            exact, close = (
                limits.limiting_ndcg(counts, C, method=method).value
                for method in ("exact", "gaussian")
            )
            errors.append(abs(exact - close))
        assert errors[0] < 0.02
        assert errors[2] < errors[1] < errors[0]

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("k", [None, 1, 3])
    def test_judges_who_agree_leave_no_gap(self, method, k):
        got = limits.limiting_ndcg((30, 8, 4, 2, 1), np.eye(5), k, method=method)
        assert got.value == pytest.approx(1, abs=1e-12)

    def test_the_same_seed_draws_the_same(self):
        one, same, other = (
            limits.limiting_ndcg((5, 4, 3, 2, 1), C, method="simulate", rng=seed, runs=50)
            for seed in (1, 1, 2)
        )
        assert one == same
        assert one != other


class TestProperties:
    @given(counts_strategy, st.lists(distributions, min_size=5, max_size=5), depths)
    @settings(deadline=None)
    def test_bounds(self, counts, rows, k):
        value = limits.limiting_ndcg(counts, rows, k).value
        assert 0 <= value <= 1

    @given(counts_strategy, distributions, shares, shares, depths)
    @settings(deadline=None)
    def test_a_better_matrix_never_lowers_the_limit(self, counts, habit, one, other, k):
        """Better is closer to the identity: judges who guess less often and else see the truth."""
        worse, better = sorted((one, other), reverse=True)
        assert (
            limits.limiting_ndcg(counts, guessing(worse, habit), k).value
            <= limits.limiting_ndcg(counts, guessing(better, habit), k).value + 1e-11
        )

    @given(counts_strategy, distributions, shares, st.floats(0, 3), depths)
    @settings(deadline=None)
    def test_guessing_never_helps_an_ordered_matrix(self, counts, habit, rate, skill, k):
        """Rows in likelihood-ratio order: a higher truth is ever more likely to be graded high."""
        grade = np.arange(5)
        ordered = np.exp(skill * np.outer(grade, grade - 4.0))
        ordered /= ordered.sum(axis=1, keepdims=True)
        assert (
            limits.limiting_ndcg(counts, guessing(rate, habit, ordered), k).value
            <= limits.limiting_ndcg(counts, ordered, k).value + 1e-11
        )

    @given(counts_strategy, distributions, depths)
    @settings(deadline=None)
    def test_pure_guessing_is_a_random_order(self, counts, habit, k):
        truth = np.repeat(np.arange(5), counts)
        want = metrics.ndcg(truth, truth * 0, truth * 0, k=k, ties="expected")[0]
        assert limits.limiting_ndcg(counts, guessing(1, habit), k).value == pytest.approx(
            want, abs=1e-11
        )


@pytest.fixture(scope="module")
def rows():
    """Sixty lists of 1 to 299 documents, shuffled, at least one with Bad documents only."""
    rng = np.random.default_rng(31)
    qid = rng.permutation(np.repeat(np.arange(60) * 7 - 100, rng.integers(1, 300, 60)))
    y = rng.choice(5, qid.size, p=WEB)
    y[qid == -100] = 0
    return y, qid


class TestDataset:
    @pytest.mark.parametrize("k", [None, 3, 10])
    def test_is_the_mean_over_its_queries(self, rows, k):
        y, qid = rows
        alone = [
            limits.limiting_ndcg(np.bincount(y[qid == q], minlength=5), C, k).value
            for q in np.unique(qid)
        ]
        np.testing.assert_allclose(limits.query_limits(y, qid, C, k), alone, rtol=1e-12)
        got = limits.dataset_limit(y, qid, C, k)
        defined = ~np.isnan(alone)
        assert got.value == pytest.approx(np.nanmean(alone), rel=1e-12)
        assert (got.n, got.left_out) == (defined.sum(), (~defined).sum())
        assert got.left_out >= 1

    def test_every_method_gives_the_same_within_its_error(self, rows):
        exact = limits.dataset_limit(*rows, C)
        drawn = limits.dataset_limit(*rows, C, method="simulate", runs=400)
        assert abs(drawn.value - exact.value) < 4 * drawn.standard_error
        close = limits.dataset_limit(*rows, C, method="gaussian")
        assert close.value == pytest.approx(exact.value, abs=0.01)

    def test_sorted_and_shuffled_rows_are_the_same(self, rows):
        y, qid = rows
        order = np.argsort(qid, kind="stable")
        assert limits.dataset_limit(y[order], qid[order], C) == limits.dataset_limit(y, qid, C)

    @pytest.mark.real_data
    def test_real_web_grades_have_the_limit_that_drawing_finds(self, real_data):
        path = real_data / "mslr_sample_5grade" / "mslr_union_all.txt.gz"
        with gzip.open(path, "rt") as lines:
            heads = [line.split(" ", 2)[:2] for line in lines]
        y = np.array([int(grade) for grade, _ in heads])
        qid = np.array([int(query.removeprefix("qid:")) for _, query in heads])
        exact = limits.dataset_limit(y, qid, C, 10)
        drawn = limits.dataset_limit(y, qid, C, 10, method="simulate", runs=500)
        assert abs(drawn.value - exact.value) < 4 * drawn.standard_error
        undefined = np.isnan(metrics.ndcg(y, y, qid))
        assert (exact.n, exact.left_out) == ((~undefined).sum(), undefined.sum())

    def test_nothing_but_bad_documents_has_no_limit(self):
        got = limits.dataset_limit([0, 0, 0], [1, 1, 2], C)
        assert isnan(got.value)
        assert (got.n, got.left_out) == (0, 2)


class TestEdgesAndBadInput:
    @pytest.mark.parametrize("method", METHODS)
    def test_a_list_of_bad_documents_is_undefined_and_said_so(self, method):
        got = limits.limiting_ndcg((5, 0, 0, 0, 0), C, method=method, runs=10)
        assert isnan(got.value)
        assert (got.n, got.left_out) == (0, 1)

    @pytest.mark.parametrize("method", METHODS)
    def test_one_document_is_always_in_its_place(self, method):
        assert limits.limiting_ndcg((0, 1, 0, 0, 0), C, method=method).value == pytest.approx(1)

    @pytest.mark.parametrize(
        ("counts", "confusion", "message"),
        [
            ((1, 2, 3), C, "a row for each of the 3 grades. Got 5 instead."),
            ((1, 2, 3, 4, 5), C[:4], r"square matrix. Got shape \(4, 5\) instead."),
            ((1, 2, 3, 4, 5), 0.9 * C, "must sum to 1. Got 0.9 in row"),
            ((1, 2, 3, 4, 5), 2 * np.eye(5) - 0.2, "must hold probabilities. Got -0.2 instead."),
            ((1, 2, 3, 4, 5), C * np.nan, "must hold probabilities. Got nan instead."),
            ((1, -2, 3, 4, 5), C, "counts must be at least 0"),
            ((0, 0, 0, 0, 0), C, "hold a document"),
            ((1, 1.5, 0, 0, 0), C, "counts must hold whole numbers. Got 1.5"),
            ([[1, 2]], C, r"one number per grade. Got shape \(1, 2\)"),
        ],
    )
    def test_says_the_requirement_and_what_came(self, counts, confusion, message):
        with pytest.raises(ValueError, match=message):
            limits.limiting_ndcg(counts, confusion)

    def test_rounded_rows_are_evened_out(self):
        rounded = np.full((3, 3), 0.3333333)
        assert limits.limiting_ndcg((2, 2, 2), rounded).value == pytest.approx(
            limits.limiting_ndcg((2, 2, 2), np.full((3, 3), 1 / 3)).value, abs=1e-12
        )

    def test_switches_are_checked(self):
        with pytest.raises(ValueError, match=r"k must be at least 1. Got 0 instead."):
            limits.limiting_ndcg((1, 1), np.eye(2), 0)
        with pytest.raises(ValueError, match=r"exact, gaussian, simulate. Got 'magic' instead."):
            limits.limiting_ndcg((1, 1), np.eye(2), method="magic")
        with pytest.raises(ValueError, match=r"runs must be at least 2. Got 1 instead."):
            limits.limiting_ndcg((1, 1), np.eye(2), method="simulate", runs=1)

    @pytest.mark.parametrize(
        ("y", "qid", "message"),
        [
            ([1, 2], [1], r"equal length. Got shapes \(2,\) and \(1,\) instead."),
            ([], [], "at least one row. Got none instead."),
            ([5], [1], r"y must lie in 0 … 4. Got 5 instead."),
            ([-1], [1], r"y must lie in 0 … 4. Got -1 instead."),
            ([0.5], [1], "y must hold whole numbers. Got 0.5"),
            ([np.nan], [1], "y must hold whole numbers"),
            ([1], [np.nan], "qid must not be NaN"),
        ],
    )
    def test_rows_are_checked(self, y, qid, message):
        with pytest.raises(ValueError, match=message):
            limits.dataset_limit(y, qid, C)

    def test_inputs_are_left_alone(self):
        y, qid, matrix = np.array([1, 0, 4]), np.array([2, 1, 2]), C.copy()
        for array in (y, qid, matrix):
            array.flags.writeable = False
        limits.dataset_limit(y, qid, matrix, 2)
        np.testing.assert_array_equal(matrix, C)
