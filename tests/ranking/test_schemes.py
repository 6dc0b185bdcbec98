"""Routing schemes: tables of grades and answers."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.grades import GOOD, LEVELS, Grade
from ranking.schemes import (
    SCHEMES,
    GoodTillBad,
    IfGood,
    IfGoodWeighted,
    KOverlap,
    Paying,
    Scheme,
    Single,
    formula,
)

P, E, G, F, B = Grade.PERFECT, Grade.EXCELLENT, Grade.GOOD, Grade.FAIR, Grade.BAD

ALL = [
    Single(),
    KOverlap(3),
    IfGood(3),
    GoodTillBad(),
    GoodTillBad(cap=3),
    IfGoodWeighted(),
    Paying(),
]
any_grades = st.lists(st.integers(0, LEVELS - 1), max_size=14)


def test_grades_run_from_bad_to_perfect() -> None:
    assert [int(g) for g in (B, F, G, E, P)] == [0, 1, 2, 3, 4]
    assert GOOD == 2
    assert [g.word for g in Grade] == ["Bad", "Fair", "Good", "Excellent", "Perfect"]


@pytest.mark.parametrize(
    "grades", [(E, G, F), (B,), (G, G, P), (F,), (P, F, G)], ids=lambda grades: str(list(grades))
)
def test_if_good_3_is_complete_exactly_at_the_end_of_the_published_examples(
    grades: tuple[Grade, ...],
) -> None:
    scheme = IfGood(3)
    assert not scheme.wants_more(grades)
    assert all(scheme.wants_more(grades[:n]) for n in range(len(grades)))


@pytest.mark.parametrize(
    "grades", [(E, G, F), (B,), (G, G, P, E, G, B), (F,)], ids=lambda grades: str(list(grades))
)
def test_good_till_bad_is_complete_exactly_at_the_end_of_the_published_examples(
    grades: tuple[Grade, ...],
) -> None:
    scheme = GoodTillBad(cap=11)
    assert not scheme.wants_more(grades)
    assert all(scheme.wants_more(grades[:n]) for n in range(len(grades)))


@pytest.mark.parametrize(
    ("scheme", "grades", "wanted"),
    [
        (Single(), [], 1),
        (Single(), [P], 1),
        (KOverlap(3), [], 3),
        (KOverlap(3), [B, B], 3),
        (KOverlap(3), [B, B, P, P], 4),
        (IfGood(3), [], 1),
        (IfGood(3), [G], 3),
        (IfGood(3), [G, B], 3),
        (IfGood(3), [F, P], 2),
        (IfGood(2), [P], 2),
        (IfGood(1), [P], 1),
        (GoodTillBad(), [], 1),
        (GoodTillBad(), [P, E], 3),
        (GoodTillBad(), [P, F], 2),
        (GoodTillBad(cap=2), [P, P], 2),
        (GoodTillBad(), [G] * 10, 11),
        (GoodTillBad(), [G] * 11, 11),
        (IfGoodWeighted(3), [P], 1),
    ],
)
def test_wanted_counts_all_judgments_the_pair_should_have(
    scheme: Scheme, grades: list[Grade], wanted: int
) -> None:
    assert scheme.wanted(grades) == wanted
    assert scheme.wants_more(grades) == (wanted > len(grades))


def test_a_withdrawn_judgment_reruns_the_rule_on_what_is_left() -> None:
    scheme = IfGood(3)
    assert not scheme.wants_more([G, F, P])
    assert scheme.wants_more([G, P])
    assert not scheme.wants_more([F, P])


@given(grades=any_grades)
def test_every_scheme_stops(grades: list[int]) -> None:
    for scheme in ALL:
        assert scheme.wanted(grades) >= len(grades)
        assert len(grades) < 11 or not scheme.wants_more(grades)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("r", [0.0, 0.27, 1.0, 5.0])
def test_expected_cost_of_if_good_is_the_mean_over_first_judgments(k: int, r: float) -> None:
    good = r / (1 + r)
    mean = good * IfGood(k).wanted([G]) + (1 - good) * IfGood(k).wanted([F])
    assert IfGood(k).expected_cost(r) == pytest.approx(mean)
    assert IfGood(k).expected_cost(r) == pytest.approx(1 / (r + 1) + k * r / (r + 1))


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_expected_cost_of_good_till_bad_is_not_exceeded(chance: float) -> None:
    """All ways five judges can be Good+ or Fair-, each Good+ with the same chance."""
    scheme, cost = GoodTillBad(cap=5), 0.0
    for grades in product((G, F), repeat=5):
        probability = chance ** grades.count(G) * (1 - chance) ** grades.count(F)
        length = next(n for n in range(1, 6) if not scheme.wants_more(grades[:n]))
        cost += probability * length
    assert 1 <= cost <= scheme.expected_cost(chance / (1 - chance)) + 1e-12


def test_expected_cost_reproduces_the_published_overhead() -> None:
    """if-good-3 on Clean07: first judgments Fair- : Good+ = 3.72, labelling overhead 1.41."""
    assert IfGood(3).expected_cost(1 / 3.72) == pytest.approx(1.41, abs=0.02)
    assert Single().expected_cost(1 / 3.72) == IfGoodWeighted().expected_cost(1 / 3.72) == 1
    assert KOverlap(11).expected_cost(1 / 3.72) == 11


def test_registry_makes_every_scheme_by_its_name() -> None:
    names = {"single", "k-overlap", "if-good-k", "good-till-bad", "if-good-x", "if-it-pays"}
    assert set(SCHEMES) == names
    assert SCHEMES["if-good-k"](k=2) == IfGood(2)
    assert all(SCHEMES[name]().name == name for name in SCHEMES)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IfGood(0), r"k must be at least 1\. Got 0 instead\."),
        (lambda: KOverlap(-2), r"k must be at least 1\. Got -2 instead\."),
        (lambda: GoodTillBad(cap=0), r"cap must be at least 1\. Got 0 instead\."),
        (lambda: IfGoodWeighted(0), r"theta must be positive\. Got 0 instead\."),
        (lambda: IfGoodWeighted(float("nan")), r"theta must be positive\. Got nan instead\."),
        (lambda: Paying(0.9), r"per_pair must be at least 1\. Got 0\.9 instead\."),
        (lambda: Paying(price=0), r"price must be positive\. Got 0 instead\."),
        (lambda: Paying(cap=0), r"cap must be at least 1\. Got 0 instead\."),
        (lambda: Paying(k=0), r"k must be at least 1\. Got 0 instead\."),
        (lambda: IfGood(3).expected_cost(-1), r"r must be a ratio of at least 0\. Got -1 instead"),
    ],
)
def test_impossible_settings_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


def test_grades_of_one_pair_tell_the_bounds_of_if_it_pays_only() -> None:
    scheme = Paying(1.4, cap=5)
    assert [scheme.wanted([P] * n) for n in range(4)] == [1, 1, 2, 3]
    assert [scheme.wants_more([P] * n) for n in range(4)] == [True, False, False, False]
    assert scheme.most == 5
    assert (scheme.expected_cost(0.2), Paying(30).expected_cost(0.2)) == (1.4, 11)
    assert Paying(None).expected_cost(0.2) == 1


def test_formula_is_the_expected_cost_where_there_is_one() -> None:
    assert formula(IfGood(3), 0.25) == IfGood(3).expected_cost(0.25)
    assert formula(Paying(1.5), 0.25) == 1.5
    assert formula(IfGood(3), None) is None
    assert formula(Paying(None, 0.01), 0.25) is None


@pytest.mark.parametrize("scheme", [Single(), KOverlap(4), IfGood(3), GoodTillBad(7)])
def test_most_is_what_a_pair_gets_when_everybody_says_perfect(scheme: Scheme) -> None:
    grades: list[Grade] = []
    while scheme.wants_more(grades):
        grades.append(P)
    assert len(grades) == scheme.most


# -- Reasons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "grades", "reason"),
    [
        (Single(), [], "single asks one judge, and nobody has judged."),
        (Single(), [P], "single asks one judge, and one has judged."),
        (KOverlap(3), [], "3-overlap asks 3 judges, and nobody has judged."),
        (KOverlap(3), [B], "3-overlap asks 3 judges, and one has judged."),
        (KOverlap(3), [B, P, E], "3-overlap asks 3 judges, and 3 have judged."),
        (IfGood(3), [], "if-good-3 begins with one judge."),
        (
            IfGood(3),
            [E],
            "The first judgment was Excellent, and if-good-3 then asks 3 judges in all.",
        ),
        (
            IfGood(3),
            [G, B, B],
            "The first judgment was Good, and if-good-3 asked 3 judges in all.",
        ),
        (IfGood(3), [B], "The first judgment was Bad, and if-good-3 asks no more."),
        (IfGood(1), [P], "The first judgment was Perfect, and if-good-1 asks no more."),
        (GoodTillBad(3), [], "good-till-bad-3 begins with one judge."),
        (GoodTillBad(3), [G], "Nobody has said less than Good, and good-till-bad-3 asks on."),
        (GoodTillBad(3), [G, F], "A judgment was Fair, and good-till-bad-3 stops there."),
        (GoodTillBad(3), [G, P, E], "good-till-bad-3 asks at most 3 judges."),
        (IfGoodWeighted(2), [P], "if-good-x2 asks one judge, and one has judged."),
        (Paying(1.5), [], "if-it-pays to 1.5 begins with one judge."),
        (
            Paying(None, 0.01),
            [P],
            "if-it-pays-0.01 asks on where that may change the first 3 of the query.",
        ),
        (Paying(cap=2), [P, B], "if-it-pays to 1.4 asks at most 2 judges."),
    ],
)
def test_scheme_says_why(scheme: Scheme, grades: list[Grade], reason: str) -> None:
    assert scheme.because(grades) == reason


def test_every_scheme_has_its_reason_above() -> None:
    mark = test_scheme_says_why.pytestmark[0]  # type: ignore[attr-defined]
    assert {case[0].name for case in mark.args[1]} == set(SCHEMES)
