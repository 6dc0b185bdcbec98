"""What a scheme makes of its judges, enumerated, drawn and by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ranking.aggregation import AGGREGATORS
from ranking.limits import limiting_ndcg, scheme_confusion, scheme_cost
from ranking.schemes import GoodTillBad, IfGood, IfGoodWeighted, KOverlap, Single
from tests.ranking.test_limits import WEB, C, distributions

PLAIN = ("first", "highest", "majority", "mean", "median")
matrices = st.lists(distributions, min_size=5, max_size=5).map(np.array)


def by_sequences(confusion, scheme, vote, longest):
    """Every sequence of judgments in every order, without any merging."""
    effective, cost = np.zeros((5, 5)), np.zeros(5)
    for grades in product(range(5), repeat=longest):
        n = next(n for n in range(1, longest + 1) if not scheme.wants_more(grades[:n]))
        if any(grades[n:]):
            continue  # The judgments after the end are none: each ending is counted once.
        chance = np.prod(confusion[:, grades[:n]], axis=1)
        effective[:, vote(grades[:n])] += chance
        cost += n * chance
    return effective, cost


def vote_of(name):
    def vote(grades):
        labels = AGGREGATORS[name].aggregate([0] * len(grades), range(len(grades)), grades)
        return int(labels.grade[0])

    return vote


@pytest.mark.parametrize("name", [*PLAIN, "dawid-skene", "one-coin", "ordinal"])
@pytest.mark.parametrize("scheme", [Single(), IfGoodWeighted(), KOverlap(1), IfGood(1)])
def test_one_judgment_is_the_label(scheme, name):
    np.testing.assert_allclose(scheme_confusion(C, WEB, scheme, name), C, rtol=1e-14)
    assert scheme_cost(C, WEB, scheme) == pytest.approx(1)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("scheme", [KOverlap(3), IfGood(2), IfGood(3), GoodTillBad(4)])
def test_equals_the_sum_over_all_sequences(scheme, name):
    effective, cost = by_sequences(C, scheme, vote_of(name), 4)
    np.testing.assert_allclose(scheme_confusion(C, WEB, scheme, name), effective, rtol=1e-12)
    assert scheme_cost(C, WEB, scheme) == pytest.approx(cost @ WEB)


def test_highest_of_two_by_hand():
    half = np.full((5, 5), 1 / 5)
    got = scheme_confusion(half, WEB, KOverlap(2), "highest")
    np.testing.assert_allclose(got, np.tile([(2 * j + 1) / 25 for j in range(5)], (5, 1)))


@given(matrices, distributions, st.sampled_from([Single(), KOverlap(3), IfGood(4), GoodTillBad()]))
@settings(max_examples=30, deadline=None)
def test_rows_are_distributions(confusion, prior, scheme):
    for name in (*PLAIN, "ordinal"):
        got = scheme_confusion(confusion, prior, scheme, name)
        assert (got >= 0).all()
        np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-12)


@given(matrices, distributions, st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_cost_of_if_good_is_the_formula_of_the_study(confusion, prior, k):
    good = prior @ confusion[:, 2:].sum(axis=1)
    if good < 1 - 1e-9:
        want = IfGood(k).expected_cost(good / (1 - good))
        assert scheme_cost(confusion, prior, IfGood(k)) == pytest.approx(want)


def test_good_till_bad_to_eleven_costs_a_geometric_series_and_less_than_the_bound():
    good = C[:, 2:].sum(axis=1)
    want = WEB @ sum(good**n for n in range(11))
    got = scheme_cost(C, WEB, GoodTillBad())
    assert got == pytest.approx(want)
    first = WEB @ good
    assert got < GoodTillBad().expected_cost(first / (1 - first))


def test_the_median_of_eleven_is_that_of_the_binomial_distribution():
    # It is at most j when six or more of the eleven are.
    got = scheme_confusion(C, WEB, KOverlap(11), "median")
    at_most = binom.sf(5, 11, np.cumsum(C, axis=1).clip(max=1))
    np.testing.assert_allclose(np.cumsum(got, axis=1), at_most, rtol=1e-9)


def test_three_opinions_where_good_nearly_reach_three_everywhere_at_half_the_price():
    counts = (52, 33, 13, 2, 1)
    one, some, all_three = (
        limiting_ndcg(counts, scheme_confusion(C, WEB, scheme, "majority"), 10).value
        for scheme in (Single(), IfGood(3), KOverlap(3))
    )
    assert one + 0.15 < some < all_three < some + 0.02
    assert scheme_cost(C, WEB, IfGood(3)) < 1.5


def test_drawn_judgments_give_the_same_labels():
    rng = np.random.default_rng(41)
    runs, truth = 40_000, 3
    drawn = rng.choice(5, (runs, 3), p=C[truth])
    kept = np.where(drawn[:, :1] >= 2, 3, 1)
    mask = np.arange(3) < kept
    labels = AGGREGATORS["majority"].aggregate(
        np.repeat(np.arange(runs), kept[:, 0]), np.tile(np.arange(3), (runs, 1))[mask], drawn[mask]
    )
    share = np.bincount(labels.grade, minlength=5) / runs
    want = scheme_confusion(C, WEB, IfGood(3), "majority")[truth]
    assert (np.abs(share - want) < 4 * np.sqrt(want * (1 - want) / runs) + 1e-9).all()


def test_a_model_that_has_learnt_says_the_most_probable_grade():
    got = scheme_confusion(C, WEB, KOverlap(2), "dawid-skene")
    want = np.zeros((5, 5))
    for a, b in product(range(5), repeat=2):
        posterior = np.array(WEB) * C[:, a] * C[:, b]
        want[:, posterior.argmax()] += C[:, a] * C[:, b]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_model_is_most_often_right():
    def right(name):
        return np.diag(scheme_confusion(C, WEB, KOverlap(5), name)) @ WEB

    assert all(right("ordinal") > right(name) for name in PLAIN)


def test_an_aggregator_may_be_a_function():
    got = scheme_confusion(C, WEB, KOverlap(3), max)
    np.testing.assert_allclose(got, scheme_confusion(C, WEB, KOverlap(3), "highest"), rtol=1e-14)


class Endless:
    name = "endless"

    def wants_more(self, grades):
        return True


class Never:
    name = "never"

    def wants_more(self, grades):
        return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((C, WEB, Single(), "oracle"), "aggregator must be one of first, .* Got 'oracle' instead."),
        (
            (C, WEB, Single(), lambda grades: 7),
            r"give grades 0 … 4. Got \[7, 7, 7, 7, 7\] instead.",
        ),
        ((C, WEB, Single(), lambda grades: 0.5), "give grades 0 … 4"),
        ((C, [0.5, 0.5], Single(), "first"), r"each of the 5 grades. Got shape \(2,\) instead."),
        ((C, [0.5] * 5, Single(), "first"), "shares that sum to 1"),
        ((C[:4, :4], WEB, Single(), "first"), "must sum to 1|each of the 5 grades"),
        ((C, WEB, Endless(), "first"), "come to an end within 50,000 open cases"),
        ((C, WEB, Never(), "first"), "at least one judgment of a pair"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        scheme_confusion(*arguments)
