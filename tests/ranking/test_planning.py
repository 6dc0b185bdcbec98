"""Tiers and plans: what the arithmetic of a budget must give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.limits import dataset_limit, scheme_confusion, scheme_cost
from ranking.planning import best_by_scheme, plan, prior_of, spend, tier_of, tiers, weigh
from ranking.schemes import GoodTillBad, IfGood, KOverlap, Single
from ranking.simulation import draw
from tests.ranking.test_limits import WEB, C


@pytest.mark.parametrize(
    ("depth", "want"),
    [
        (1, (1,)),
        (8, (8,)),
        (9, (8, 9)),
        (16, (8, 16)),
        (50, (8, 16, 32, 50)),
        (128, (8, 16, 32, 64, 128)),
    ],
)
def test_tiers_double_up_to_the_depth(depth, want):
    assert tiers(depth) == want


@pytest.mark.parametrize(
    ("position", "tier"), [(1, 0), (8, 0), (9, 1), (16, 1), (17, 2), (32, 2), (33, 3), (129, 5)]
)
def test_tier_of_a_position(position, tier):
    assert tier_of(position) == tier


@given(st.integers(1, 5_000), st.integers(1, 5_000))
def test_a_position_is_within_its_tier(position, depth):
    if position <= depth:
        ends = (0, *tiers(depth))
        assert ends[tier_of(position)] < position <= ends[tier_of(position) + 1]


def test_an_option_costs_queries_times_depth_times_judgments_per_pair():
    (option,) = plan(1_000, 40, 8, WEB, C, schemes=[IfGood(3)])
    per_pair = scheme_cost(C, WEB, IfGood(3))
    assert (option.queries, option.depth, option.scheme) == (40, 8, IfGood(3))
    assert option.per_pair == pytest.approx(per_pair)
    assert option.judgments == pytest.approx(40 * 8 * per_pair)
    assert option.worth == option.ceiling


def test_the_ceiling_is_that_of_the_labels_on_lists_of_the_prior():
    (option,) = plan(1e6, 10, 8, WEB, C, schemes=[KOverlap(3)], aggregator="majority", k=3)
    rng = np.random.default_rng(1)
    y = rng.choice(5, 4_000 * 8, p=WEB)
    labels = scheme_confusion(C, WEB, KOverlap(3), "majority")
    want = dataset_limit(y, np.repeat(np.arange(4_000), 8), labels, 3).value
    assert option.ceiling == pytest.approx(want, abs=0.02)


def test_dropping_half_of_the_queries_costs_one_halving():
    (all_judged,) = plan(80, 10, 8, WEB, C, schemes=[Single()], halving=0.05)
    (half_judged,) = plan(40, 10, 8, WEB, C, schemes=[Single()], halving=0.05)
    assert (all_judged.queries, half_judged.queries) == (10, 5)
    assert half_judged.worth == pytest.approx(all_judged.worth - 0.05)


def test_half_of_the_depth_costs_one_shallowing():
    options = plan(1e6, 10, 16, WEB, C, schemes=[Single()], shallowing=0.03)
    assert [o.depth for o in options] == [16, 8]
    assert options[0].worth == options[0].ceiling
    assert options[1].worth == pytest.approx(options[0].worth - 0.03)


def test_a_small_budget_goes_to_breadth():
    best = plan(1_600, 200, 128, WEB, C, schemes=[Single()])[0]
    assert (best.queries, best.depth) == (200, 8)


def test_a_larger_budget_goes_to_sixteen_and_no_deeper():
    best = plan(1e6, 200, 128, WEB, C, schemes=[Single()])[0]
    assert (best.queries, best.depth) == (200, 16)


@pytest.mark.parametrize(
    ("halving", "want"), [(0.0, [KOverlap(3), IfGood(3)]), (0.1, [IfGood(3), KOverlap(3)])]
)
def test_what_a_dropped_query_is_worth_decides_between_breadth_and_better_labels(halving, want):
    # The budget buys 16 documents of all 200 queries by if-good-3, of half of them by 3-overlap.
    options = plan(16 * 200 * 1.5, 200, 16, WEB, C, halving=halving)
    found = [o for o in options if o.depth == 16 and o.scheme in want]
    assert [o.scheme for o in found] == want
    assert {o.scheme: o.queries for o in found} == {IfGood(3): 200, KOverlap(3): 100}


def test_second_opinions_on_good_documents_are_better_labels_than_single_ones():
    options = plan(1e6, 200, 16, WEB, C, schemes=[Single(), IfGood(2), IfGood(3)])
    assert [o.scheme for o in options if o.depth == 16] == [IfGood(3), IfGood(2), Single()]


@given(st.integers(1, 20_000), st.integers(1, 300), st.integers(1, 60), st.sampled_from([1, 3, 10]))
@settings(max_examples=25, deadline=None)
def test_every_option_is_affordable_and_the_best_comes_first(budget, queries, documents, k):
    options = plan(budget, queries, documents, WEB, C, k=k, schemes=[Single(), IfGood(2)])
    assert all(o.judgments <= budget + 1e-6 for o in options)
    assert all(1 <= o.queries <= queries and o.depth in tiers(documents) for o in options)
    worths = [o.worth for o in options]
    assert worths == pytest.approx(sorted(worths, reverse=True), abs=1e-8)


def test_a_budget_that_buys_no_query_has_no_options():
    assert plan(7, 10, 8, WEB, C) == []


def test_judgments_of_a_scheme_that_always_asks_the_same_are_certain():
    (option,) = plan(1e6, 40, 8, WEB, C, schemes=[KOverlap(3)])
    assert (option.low, option.judgments, option.high) == (960, 960, 960)


def test_the_interval_holds_what_judges_who_draw_from_the_matrix_would_make():
    (option,) = plan(1e6, 40, 8, WEB, C, schemes=[IfGood(3)])
    rng = np.random.default_rng(0)
    first = draw(rng.choice(5, (2_000, 320), p=WEB), C, rng)
    made = np.where(first >= 2, 3, 1).sum(axis=1)
    inside = np.mean((option.low <= made) & (made <= option.high))
    assert inside == pytest.approx(0.95, abs=0.02)


def test_a_small_pilot_leaves_the_cost_open():
    sure, unsure = (plan(1e6, 40, 8, WEB, C, schemes=[IfGood(3)], pilot=n)[0] for n in (None, 320))
    # As many pairs in the pilot as in the plan: twice the variance.
    assert unsure.high - unsure.judgments == pytest.approx(
        np.sqrt(2) * (sure.high - sure.judgments)
    )
    assert unsure.judgments == sure.judgments


def test_gain_is_what_a_thousand_further_judgments_add_to_the_ceiling():
    good, single = spend(1e6, 50, 8, weigh(8, WEB, C, schemes=[IfGood(3), Single()]))
    further = 50 * 8 * (good.per_pair - 1)
    assert good.gain == pytest.approx((good.ceiling - single.ceiling) / further * 1_000)
    assert np.isnan(single.gain)


def test_the_best_of_each_scheme_comes_once_and_in_order():
    options = plan(5_000, 200, 50, WEB, C)
    best = best_by_scheme(options)
    assert best[0] == options[0]
    assert [o.scheme.label for o in best] == list(dict.fromkeys(o.scheme.label for o in options))


def test_weighing_needs_no_budget_and_spending_no_judges():
    weighed = weigh(16, WEB, C, schemes=[Single(), GoodTillBad(3)], k=3)
    options = plan(900, 30, 16, WEB, C, schemes=[Single(), GoodTillBad(3)], k=3)
    assert repr(spend(900, 30, 16, weighed)) == repr(options)  # nan is not equal to itself


def test_the_shares_of_true_grades_are_found_behind_what_judges_say():
    rng = np.random.default_rng(0)
    first = np.bincount(draw(rng.choice(5, 200_000, p=WEB), C, rng).ravel(), minlength=5)
    said = first / first.sum()
    found = prior_of(first, C)
    assert found == pytest.approx(WEB, abs=0.02)
    assert np.abs(found - WEB).sum() < np.abs(said - WEB).sum() / 2


def test_without_mistakes_the_shares_are_what_was_said():
    assert prior_of([6, 3, 1, 0, 0], np.eye(5)) == pytest.approx(
        np.array([6.5, 3.5, 1.5, 0.5, 0.5]) / 12.5
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 8, WEB, C), r"budget must be at least 1. Got 0 instead."),
        ((float("nan"), 10, 8, WEB, C), r"budget must be at least 1. Got nan instead."),
        ((10, 0, 8, WEB, C), r"queries must be at least 1. Got 0 instead."),
        ((10, 10, 0, WEB, C), r"documents must be at least 1. Got 0 instead."),
        ((10, 10, 8, [1, 1, 0, 0, 0], C), "prior must be shares that sum to 1"),
        ((10, 10, 8, WEB, C[:, :4]), "square matrix"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(*arguments)


def test_positions_and_depths_count_from_one():
    with pytest.raises(ValueError, match=r"position must be at least 1. Got 0 instead."):
        tier_of(0)
    with pytest.raises(ValueError, match=r"depth must be at least 1. Got 0 instead."):
        tiers(0)
