"""What each measure says of a list, as arithmetic, and what holds for every list."""

from itertools import pairwise, permutations
from math import isnan, log2, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ranking import metrics

MEASURES = (
    metrics.dcg,
    metrics.ndcg,
    metrics.average_precision,
    metrics.err,
    metrics.precision,
    metrics.mrr,
)
BOUNDED = MEASURES[1:]
DEPTHS = (None, 1, 2, 3, 5, 10)
SCORES = npst.from_dtype(np.dtype(np.float64), allow_nan=False)


@st.composite
def rankings(draw, most=40):
    """Grades, scores with many ties, and query ids in any order."""
    n = draw(st.integers(1, most))
    grades = draw(npst.arrays(np.int64, n, elements=st.integers(0, 4)))
    values = draw(npst.arrays(np.float64, n, elements=st.one_of(st.integers(0, 3), SCORES)))
    qid = draw(npst.arrays(np.int64, n, elements=st.integers(-3, 3)))
    return grades, values, qid


def one(measure, grades, scores=None, **options):
    """The value of a single list, best first unless scores are given."""
    scores = -np.arange(len(grades)) if scores is None else scores
    (value,) = measure(grades, scores, np.zeros(len(grades), dtype=int), **options)
    return value


class TestArithmetic:
    def test_dcg_sums_gains_over_the_logarithm_of_their_place(self):
        assert one(metrics.dcg, [4, 0, 2, 1]) == pytest.approx(15 + 3 / log2(4) + 1 / log2(5))

    def test_dcg_stops_at_k(self):
        assert one(metrics.dcg, [4, 0, 2, 1], k=3) == pytest.approx(15 + 3 / log2(4))

    def test_ndcg_divides_by_the_ideal_order(self):
        ideal = 15 + 3 / log2(3) + 1 / log2(4)
        assert one(metrics.ndcg, [2, 0, 4, 1]) == pytest.approx(
            (3 + 15 / log2(4) + 1 / log2(5)) / ideal
        )

    def test_ndcg_at_k_divides_by_the_ideal_of_the_same_depth(self):
        assert one(metrics.ndcg, [2, 0, 4, 1], k=2) == pytest.approx(3 / (15 + 3 / log2(3)))

    def test_average_precision_counts_good_and_better(self):
        assert one(metrics.average_precision, [2, 1, 4, 0, 3]) == pytest.approx(
            (1 / 1 + 2 / 3 + 3 / 5) / 3
        )

    def test_average_precision_at_k_still_divides_by_all_relevant(self):
        assert one(metrics.average_precision, [2, 1, 4, 0, 3], k=3) == pytest.approx(
            (1 / 1 + 2 / 3) / 3
        )

    def test_relevant_moves_the_line(self):
        assert one(metrics.average_precision, [2, 1, 4], relevant=1) == pytest.approx(1.0)
        assert one(metrics.precision, [2, 1, 4], relevant=3) == pytest.approx(1 / 3)

    def test_err_weighs_each_place_by_the_chance_to_get_there(self):
        assert one(metrics.err, [2, 4, 1]) == pytest.approx(
            3 / 16 + (13 / 16) * (15 / 16) / 2 + (13 / 16) * (1 / 16) * (1 / 16) / 3
        )

    def test_precision_divides_by_k_even_when_the_list_is_shorter(self):
        assert one(metrics.precision, [2, 0, 3], k=5) == pytest.approx(2 / 5)
        assert one(metrics.precision, [2, 0, 3]) == pytest.approx(2 / 3)

    def test_mrr_is_one_over_the_first_relevant_place(self):
        assert one(metrics.mrr, [1, 0, 3, 4]) == pytest.approx(1 / 3)
        assert one(metrics.mrr, [1, 0, 3, 4], k=2) == 0


class TestEdges:
    @pytest.mark.parametrize("measure", [metrics.ndcg, metrics.average_precision, metrics.mrr])
    @pytest.mark.parametrize("ties", ["stable", "expected"])
    def test_a_list_without_anything_to_find_is_undefined(self, measure, ties):
        assert isnan(one(measure, [0, 0], ties=ties))
        assert one(measure, [0, 0], ties=ties, undefined=0) == 0
        assert one(measure, [0, 0], ties=ties, undefined=1) == 1

    @pytest.mark.parametrize("measure", [metrics.dcg, metrics.err, metrics.precision])
    def test_a_list_of_bad_documents_is_worth_nothing_where_that_is_defined(self, measure):
        assert one(measure, [0, 0]) == 0

    def test_fair_alone_defines_ndcg_but_not_average_precision(self):
        assert one(metrics.ndcg, [1]) == 1
        assert isnan(one(metrics.average_precision, [1]))

    def test_equal_scores_stay_in_input_order(self):
        grades = [0, 4, 2] * 20
        assert one(metrics.dcg, grades, np.zeros(60), k=2) == pytest.approx(15 / log2(3))
        assert one(metrics.dcg, grades, np.r_[np.zeros(59), 1.0], k=3) == pytest.approx(
            3 + 15 / log2(4)
        )

    def test_documents_scored_minus_infinity_stand_before_padding(self):
        grades, scores = [4, 0, 0, 0, 0, 0], [-np.inf, 1, -np.inf, -np.inf, 1, 1]
        assert metrics.mrr(grades, scores, [1, 0, 0, 0, 0, 0]).tolist()[1] == 1
        assert metrics.mrr(grades[::-1], scores, [0, 0, 0, 0, 0, 1], ties="expected")[1] == 1
        grades = [0, 4, 4, 0, 0, 0, 0, 0, 0]
        scores = [-np.inf, -np.inf, *[1.0] * 7]
        value = metrics.precision(grades, scores, [0, 0, 1, 1, 1, 1, 1, 1, 1], ties="expected", k=1)
        assert value[0] == pytest.approx(1 / 2)

    def test_one_value_per_query_in_the_order_of_unique(self):
        qid = np.array(["b", "a", "b", "a"])
        assert metrics.mrr([4, 0, 0, 4], [2, 2, 1, 1], qid).tolist() == [1 / 2, 1]

    @pytest.mark.parametrize("far", [1, 70_000, 2**62])
    def test_query_ids_may_lie_far_apart(self, far):
        qid = np.array([far, -far, far, 0])
        assert metrics.mrr([0, 4, 4, 0], [2, 2, 1, 1], qid, undefined=0).tolist() == [1, 0, 1 / 2]

    def test_whole_floats_are_grades(self):
        assert one(metrics.mrr, [0.0, 4.0]) == 1 / 2

    def test_small_unsigned_scores_are_not_negated_into_nonsense(self):
        assert one(metrics.mrr, [0, 4], np.array([0, 1], dtype=np.uint8)) == 1


class TestBadInput:
    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (([0, 1], [1.0], [0, 0]), r"equal length. Got shapes \(2,\), \(1,\) and \(2,\)"),
            (([[0]], [[1.0]], [[0]]), "must be flat"),
            (([], [], []), "at least one row. Got none"),
            (([5], [1.0], [0]), r"grades must lie in 0 … 4. Got 5 instead."),
            (([-1], [1.0], [0]), r"grades must lie in 0 … 4. Got -1 instead."),
            (([1.5], [1.0], [0]), "grades must be integers. Got 1.5"),
            (([nan], [1.0], [0]), "grades must lie in 0 … 4. Got nan"),
            ((["a"], [1.0], [0]), "grades must be integers"),
            (([1, 2], [1.0, nan], [0, 0]), "scores must not be NaN. Got 1 NaN instead."),
            (([1], ["x"], [0]), "scores must be numbers"),
            (([1], [1.0], [nan]), "qid must not be NaN"),
        ],
    )
    @pytest.mark.parametrize("measure", MEASURES)
    def test_says_the_requirement_and_what_came(self, measure, rows, message):
        with pytest.raises(ValueError, match=message):
            measure(*rows)

    @pytest.mark.parametrize("measure", MEASURES)
    def test_depth_and_ties_are_checked(self, measure):
        with pytest.raises(ValueError, match=r"k must be at least 1. Got 0 instead."):
            measure([1], [1], [1], k=0)
        with pytest.raises(ValueError, match=r"k must be a whole number or None. Got 2.5 instead."):
            measure([1], [1], [1], k=2.5)
        with pytest.raises(ValueError, match=r"Got 'random' instead."):
            measure([1], [1], [1], ties="random")

    def test_switches_are_checked(self):
        with pytest.raises(ValueError, match=r"undefined must be nan, 0 or 1. Got 0.5 instead."):
            metrics.ndcg([1], [1], [1], undefined=0.5)
        with pytest.raises(ValueError, match=r"relevant must lie in 1 … 4. Got 0 instead."):
            metrics.mrr([1], [1], [1], relevant=0)


def by_enumeration(measure, grades, scores, k):
    """The mean over every order of the documents that their scores allow."""
    orders = [
        order
        for order in permutations(range(len(grades)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return np.mean([one(measure, [grades[i] for i in order], k=k) for order in orders])


class TestProperties:
    @given(rankings(), st.sampled_from(BOUNDED), st.sampled_from(DEPTHS), st.booleans())
    @settings(deadline=None)
    def test_bounds(self, rows, measure, k, expected):
        values = measure(*rows, k=k, ties="expected" if expected else "stable")
        assert values.shape == np.unique(rows[2]).shape
        defined = values[~np.isnan(values)]
        assert (defined >= 0).all()
        assert (defined <= 1 + 1e-12).all()

    @given(rankings(), st.sampled_from(MEASURES), st.sampled_from(DEPTHS), st.booleans())
    @settings(deadline=None)
    def test_each_query_alone_gives_what_all_together_give(self, rows, measure, k, expected):
        ties = "expected" if expected else "stable"
        grades, scores, qid = rows
        alone = [
            measure(grades[qid == q], scores[qid == q], qid[qid == q], k=k, ties=ties)[0]
            for q in np.unique(qid)
        ]
        np.testing.assert_allclose(measure(*rows, k=k, ties=ties), alone, rtol=1e-12, atol=1e-15)

    @given(rankings(), st.sampled_from(MEASURES), st.sampled_from(DEPTHS))
    @settings(deadline=None)
    def test_only_the_order_of_the_scores_counts(self, rows, measure, k):
        grades, scores, qid = rows
        ranks = np.unique(scores, return_inverse=True)[1]
        for ties in ("stable", "expected"):
            np.testing.assert_array_equal(
                measure(grades, 3 * ranks**3 - 7.0, qid, k=k, ties=ties),
                measure(grades, scores, qid, k=k, ties=ties),
            )

    @given(rankings(), st.sampled_from(MEASURES), st.randoms())
    @settings(deadline=None)
    def test_expected_value_does_not_depend_on_input_order(self, rows, measure, random):
        order = list(range(rows[0].size))
        random.shuffle(order)
        np.testing.assert_allclose(
            measure(*(column[order] for column in rows), ties="expected"),
            measure(*rows, ties="expected"),
            rtol=1e-12,
        )

    @given(rankings(most=6), st.sampled_from(MEASURES), st.sampled_from(DEPTHS))
    @settings(deadline=None)
    def test_expected_value_is_the_mean_over_all_orders(self, rows, measure, k):
        grades, scores, _ = rows
        assert one(measure, grades, scores, k=k, ties="expected") == pytest.approx(
            by_enumeration(measure, grades, scores, k), nan_ok=True
        )

    @given(rankings(), st.sampled_from(DEPTHS))
    @settings(deadline=None)
    def test_sorting_by_the_grades_themselves_is_ideal(self, rows, k):
        grades, _, qid = rows
        values = metrics.ndcg(grades, grades, qid, k=k, undefined=1)
        np.testing.assert_allclose(values, 1.0, rtol=1e-12)

    @given(rankings(), st.sampled_from(MEASURES))
    @settings(deadline=None)
    def test_inputs_are_left_alone(self, rows, measure):
        copies = [column.copy() for column in rows]
        for column in rows:
            column.flags.writeable = False
        for k in DEPTHS:
            measure(*rows, k=k)
            measure(*rows, k=k, ties="expected")
        for column, copy in zip(rows, copies, strict=True):
            np.testing.assert_array_equal(column, copy)


class TestSummary:
    def test_mean_and_standard_error_leave_nan_out(self):
        got = metrics.summary([1.0, nan, 0.0, 0.5])
        assert got.mean == pytest.approx((1 + 0 + 0.5) / 3)
        assert got.standard_error == pytest.approx((0.25 / 3) ** 0.5)
        assert (got.n, got.left_out) == (3, 1)

    def test_the_mean_of_nothing_is_not_a_number(self):
        got = metrics.summary([nan])
        assert isnan(got.mean)
        assert (got.n, got.left_out) == (0, 1)
        assert isnan(metrics.summary([0.5]).standard_error)
        with pytest.raises(ValueError, match=r"Got shape \(1, 1\) instead."):
            metrics.summary([[1.0]])
