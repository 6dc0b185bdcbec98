"""What a judgment is worth: against enumeration, and what the rule does with it."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.aggregation import Mean, Ordinal
from ranking.paying import (
    IfItPays,
    expected_ideal_dcg,
    next_judge,
    price_for,
    price_left,
    value,
)
from ranking.simulation import SKILLS

CROWD = SKILLS["crowd"] / SKILLS["crowd"].sum(axis=1, keepdims=True)
EXPERT = SKILLS["expert"] / SKILLS["expert"].sum(axis=1, keepdims=True)
GAINS = [0, 1, 3, 7, 15]
MSLR = [0.52, 0.32, 0.13, 0.02, 0.01]


def posteriors(seed: int, documents: int, spread: float = 0.5) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(5, spread), documents)


def dcg(gains: list[float], k: int) -> float:
    return sum(g / log2(i + 2) for i, g in enumerate(sorted(gains, reverse=True)[:k]))


def expected_gain(row: np.ndarray) -> float:
    return sum(p * g for p, g in zip(row, GAINS, strict=True))


def enumerated_ideal(posterior: np.ndarray, k: int) -> float:
    """The ideal DCG of every possible truth, with its probability."""
    total = 0.0
    for truth in product(range(5), repeat=len(posterior)):
        chance = np.prod([posterior[d, g] for d, g in enumerate(truth)])
        total += chance * dcg([GAINS[g] for g in truth], k)
    return total


def enumerated_value(posterior: np.ndarray, confusion: np.ndarray, k: int, ahead: tuple) -> list:
    """Every answer in every order, one after the other, by Bayes' rule."""
    gains = [expected_gain(row) for row in posterior]
    values = []
    for d in range(len(posterior)):
        rises = []
        for m in ahead:
            total = 0.0
            for answers in product(range(5), repeat=m):
                joint = posterior[d].copy()
                for said in answers:
                    joint = joint * confusion[:, said]
                moved = expected_gain(joint / joint.sum())
                total += joint.sum() * dcg([*gains[:d], moved, *gains[d + 1 :]], k)
            rises.append((total - dcg(gains, k)) / m)
        values.append(max(0.0, *rises) / enumerated_ideal(posterior, k))
    return values


# -- Value ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_value_is_what_enumerating_all_answers_gives(seed: int, k: int) -> None:
    posterior = posteriors(seed, 4)
    expected = enumerated_value(posterior, CROWD, k, (1, 2, 3))
    assert value(posterior, CROWD, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ahead", [(1,), (2,), (1, 3)])
def test_value_looks_only_as_far_ahead_as_told(ahead: tuple[int, ...]) -> None:
    posterior = posteriors(3, 3)
    expected = enumerated_value(posterior, EXPERT, 2, ahead)
    assert value(posterior, EXPERT, 2, ahead=ahead) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 5), st.sampled_from([0.1, 1, 10]))
@settings(max_examples=60, deadline=None)
def test_value_is_never_negative_and_one_at_most(
    seed: int, documents: int, k: int, spread: float
) -> None:
    found = value(posteriors(seed, documents, spread), CROWD, k)
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_value_is_zero_for_a_single_document() -> None:
    assert value(posteriors(0, 1), CROWD).tolist() == [0.0]


def test_value_is_zero_when_the_grades_are_certain() -> None:
    assert value(np.eye(5)[[4, 3, 1, 0, 0]], CROWD).tolist() == [0.0] * 5


def test_value_is_zero_where_no_answer_reaches_the_top() -> None:
    """Three are Perfect for sure; the fourth is Bad or Fair and the top three never change."""
    posterior = np.vstack([np.eye(5)[[4, 4, 4]], [0.5, 0.5, 0, 0, 0]])
    assert value(posterior, CROWD, 3).tolist() == [0.0] * 4


def test_value_is_zero_when_the_judge_answers_blindly() -> None:
    blind = np.tile([0.1, 0.2, 0.3, 0.2, 0.2], (5, 1))
    assert value(posteriors(1, 6), blind).tolist() == [0.0] * 6


def test_value_rises_with_uncertainty() -> None:
    """A Good document beside one whose expected gain stays 3 while its spread grows."""
    found = []
    for share in (0.0, 0.1, 0.2):
        unsure = np.array([0.8 * share, 0.0, 1 - share, 0.0, 0.2 * share])
        posterior = np.vstack([np.eye(5)[2], unsure])
        found.append(value(posterior, EXPERT, 1, ahead=(1,))[1] * expected_ideal_dcg(posterior, 1))
    assert found[0] == 0
    assert found[0] < found[1] < found[2]


def test_many_queries_at_once_are_each_what_they_are_alone() -> None:
    lists = np.random.default_rng(5).dirichlet(np.full(5, 0.4), (300, 12))
    together = value(lists, CROWD)
    assert together.shape == (300, 12)
    for query in (0, 150, 299):
        assert together[query] == pytest.approx(value(lists[query], CROWD), abs=1e-15)


def test_rows_of_zeros_stand_for_documents_that_are_not_there() -> None:
    posterior = posteriors(7, 4)
    padded = np.vstack([posterior, np.zeros((3, 5))])
    assert value(padded, CROWD)[:4] == pytest.approx(value(posterior, CROWD), abs=1e-15)
    assert value(padded, CROWD)[4:].tolist() == [0.0] * 3
    assert expected_ideal_dcg(padded) == pytest.approx(expected_ideal_dcg(posterior), abs=1e-12)


def test_value_does_not_change_its_input() -> None:
    posterior = posteriors(0, 5)
    before = posterior.copy()
    value(posterior, CROWD)
    assert (posterior == before).all()


@pytest.mark.parametrize(
    ("posterior", "k", "message"),
    [
        (np.full((3, 4), 0.25), 3, r"documents × 5 .* Got shape \(3, 4\) instead\."),
        (np.full((3, 5), 0.3), 3, "must be probabilities that sum to 1"),
        (np.full((3, 5), 0.2), 0, r"k must be at least 1\. Got 0 instead\."),
    ],
)
def test_value_refuses(posterior: np.ndarray, k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value(posterior, CROWD, k)


def test_value_refuses_to_look_nowhere() -> None:
    with pytest.raises(ValueError, match=r"ahead must hold numbers of at least 1\. Got \(0,\)"):
        value(posteriors(0, 3), CROWD, ahead=(0,))


# -- Ideal ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("documents", [1, 2, 5])
def test_ideal_is_what_enumerating_all_truths_gives(documents: int, k: int) -> None:
    posterior = posteriors(11, documents)
    expected = enumerated_ideal(posterior, k)
    assert expected_ideal_dcg(posterior, k) == pytest.approx(expected, abs=1e-12)


def test_ideal_of_known_grades_is_their_dcg() -> None:
    lists = np.eye(5)[[[0, 4, 2, 3], [1, 0, 0, 0]]]
    best = [15 + 7 / log2(3) + 3 / 2, 1.0]
    assert expected_ideal_dcg(lists, 3) == pytest.approx(best, abs=1e-12)


# -- The rule -------------------------------------------------------------------------------------


def test_a_document_without_a_judgment_is_asked_about_first() -> None:
    policy = IfItPays(price=0.5)
    assert policy.choose([0.0, 0.0], [0, 1]).tolist() == [True, False]


def test_only_the_most_valuable_of_a_query_is_asked_about() -> None:
    policy = IfItPays(price=0.01)
    assert policy.choose([0.02, 0.03, 0.005], [1, 1, 1]).tolist() == [False, True, False]


def test_at_once_lets_more_be_asked_about() -> None:
    policy = IfItPays(price=0.01, at_once=2)
    assert policy.choose([0.02, 0.03, 0.005], [1, 1, 1]).tolist() == [True, True, False]


def test_what_is_at_its_cap_makes_room_for_the_next() -> None:
    policy = IfItPays(price=0.01, cap=3)
    assert policy.choose([0.02, 0.03], [1, 3]).tolist() == [True, False]


def test_a_value_equal_to_the_price_does_not_pay() -> None:
    assert not IfItPays(price=0.01).choose([0.01], [1]).any()


def test_asks_goes_through_the_value() -> None:
    lists = np.stack([posteriors(0, 6), posteriors(1, 6)])
    policy = IfItPays(price=1e-4, k=2)
    chosen = policy.asks(lists, CROWD, np.ones((2, 6), dtype=int))
    assert chosen.sum(axis=1).tolist() == [1, 1]
    assert chosen.argmax(axis=1).tolist() == value(lists, CROWD, 2).argmax(axis=1).tolist()


def test_the_reason_says_what_the_judgment_is_worth() -> None:
    policy = IfItPays(price=0.002)
    assert policy.because(0.013, 1) == (
        "Another judgment is worth 1.3 % of the best NDCG@3, more than its price of 0.20%."
    )
    assert "not more than its price" in policy.because(0.001, 2)
    assert policy.because(0.5, 11) == "if-it-pays asks at most 11 judges, and 11 have judged."
    assert policy.because(0.0, 0) == "Every pair gets one judgment first."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"price": 0.0}, r"price must be positive\. Got 0\.0 instead\."),
        ({"cap": 0}, r"cap must be at least 1\. Got 0 instead\."),
        ({"at_once": 0}, r"at_once must be at least 1\. Got 0 instead\."),
    ],
)
def test_the_rule_refuses_settings_without_sense(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IfItPays(**wrong)


def test_choose_refuses_counts_of_other_documents() -> None:
    with pytest.raises(ValueError, match=r"Got shapes \(2,\) and \(3,\) instead\."):
        IfItPays().choose([0.1, 0.2], [1, 1, 1])


# -- The next judge -------------------------------------------------------------------------------


def test_the_next_judge_is_the_mean_of_all_by_their_work() -> None:
    judge = np.array([7, 7, 7, 9])
    labels = Ordinal().aggregate([0, 1, 2, 0], judge, [4, 0, 2, 3])
    assert labels.confusion is not None
    expected = (3 * labels.confusion[0] + labels.confusion[1]) / 4
    assert next_judge(labels, judge) == pytest.approx(expected)


def test_the_next_judge_cannot_be_told_from_plain_labels() -> None:
    with pytest.raises(ValueError, match="must come with confusion matrices"):
        next_judge(Mean().aggregate([0], [0], [1]), [0])


# -- Price ----------------------------------------------------------------------------------------


def cost_at(price: float, confusion: np.ndarray, queries: int, rng: int) -> float:
    """Judgments per pair of lists of 20 at a price, the rule itself asking, known judges."""
    draw = np.random.default_rng(rng)
    truth = draw.choice(5, (queries, 20), p=MSLR)
    made = np.zeros(truth.shape, dtype=int)
    fit = np.tile(np.log(MSLR), (queries, 20, 1))
    policy = IfItPays(price=price)
    while True:
        posterior = np.exp(fit - fit.max(axis=2, keepdims=True))
        asked = policy.asks(posterior / posterior.sum(axis=2, keepdims=True), confusion, made)
        if not asked.any():
            return float(made.mean())
        for place in zip(*np.nonzero(asked), strict=True):
            fit[place] += np.log(confusion[:, draw.choice(5, p=confusion[truth[place]])])
        made += asked


@pytest.mark.parametrize("budget", [1.2, 1.45, 2.0])
def test_the_price_for_a_budget_spends_that_budget(budget: float) -> None:
    price = price_for(budget, MSLR, CROWD, rng=1)
    assert cost_at(price, CROWD, 60, rng=2) == pytest.approx(budget, abs=0.15)


def test_a_larger_budget_has_a_lower_price() -> None:
    prices = [price_for(budget, MSLR, EXPERT) for budget in (1.1, 1.5, 2.5, 6.0)]
    assert prices == sorted(prices, reverse=True)
    assert prices[-1] > 0


def test_a_price_is_the_same_for_the_same_seed() -> None:
    assert price_for(1.4, MSLR, CROWD, rng=3) == price_for(1.4, MSLR, CROWD, rng=3)


@pytest.mark.parametrize("budget", [1.0, 11.5])
def test_a_budget_must_be_possible(budget: float) -> None:
    with pytest.raises(ValueError, match=f"up to the cap 11. Got {budget} instead"):
        price_for(budget, MSLR, CROWD)


def test_the_rest_of_a_budget_buys_the_most_valuable() -> None:
    values = [0.1, 0.4, 0.2, 0.3]
    price = price_left(values, 2)
    assert [v > price for v in values] == [False, True, False, True]
    assert price_left(values, 9) < min(values)
    assert price_left(values, 0) == max(values)


def test_what_is_left_cannot_be_less_than_nothing() -> None:
    with pytest.raises(ValueError, match=r"judgments must be at least 0\. Got -1 instead\."):
        price_left([0.1], -1)
