"""How judges differ, from judgments that were asked for because of the first one."""

import numpy as np
import pytest

from ranking.agreement import confusion
from ranking.limits import limiting_ndcg
from ranking.limits.selective import judge_confusion, selective_confusion
from ranking.schemes import SCHEMES, Scheme
from ranking.simulation import SKILLS

PRIOR = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
EXPERT = np.asarray(SKILLS["expert"])
JOINT = (EXPERT * PRIOR[:, None]).T @ EXPERT
BETWEEN = JOINT / JOINT.sum(axis=1, keepdims=True)


def judged(scheme: Scheme, pairs: int = 40_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judgments of simulated experts, as the scheme asks for them."""
    rng = np.random.default_rng(5)
    draws = rng.random((pairs, 11, 1)) > EXPERT.cumsum(1)[rng.choice(5, pairs, p=PRIOR)][:, None]
    rows = []
    for number, grades in enumerate(draws.sum(axis=2).clip(0, 4).tolist()):
        given: list[int] = []
        while not given or scheme.wants_more(given):
            given.append(grades[len(given)])
        rows += [(number, seat, grade) for seat, grade in enumerate(given)]
    table = np.array(rows)
    return table[:, 0], table[:, 1], table[:, 2]


def asked(scheme: Scheme) -> list[bool]:
    return [scheme.wants_more([grade]) for grade in range(5)]


@pytest.mark.parametrize(
    "scheme",
    [SCHEMES["if-good-k"](k=3), SCHEMES["k-overlap"](k=3), SCHEMES["good-till-bad"](cap=11)],
    ids=lambda scheme: scheme.label,
)
def test_ceiling_is_that_of_the_true_confusion_whatever_the_scheme(scheme: Scheme) -> None:
    matrix = judge_confusion(*judged(scheme), asked(scheme))
    assert matrix is not None
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    np.testing.assert_allclose(matrix[2:], BETWEEN[2:], atol=0.03)
    np.testing.assert_allclose(matrix[:2, 2:], BETWEEN[:2, 2:], atol=0.03)
    counts = [10, 6, 3, 1, 0]
    for k in (1, 3, 10):
        truth = limiting_ndcg(counts, BETWEEN, k).value
        assert limiting_ndcg(counts, matrix, k).value == pytest.approx(truth, abs=0.02)


def test_all_couples_alike_would_say_far_too_little() -> None:
    scheme = SCHEMES["if-good-k"](k=3)
    alike = np.asarray(confusion(*judged(scheme)))
    truth = limiting_ndcg([10, 6, 3, 1, 0], BETWEEN, 3).value
    assert limiting_ndcg([10, 6, 3, 1, 0], alike, 3).value < truth - 0.1


def test_worked_example() -> None:
    """Firsts: two Perfect (one has a second, Bad), one Bad. Only Perfect is asked about."""
    matrix = judge_confusion([1, 2, 3, 1], [1, 1, 1, 2], [4, 4, 0, 0], [False] * 4 + [True])
    assert matrix is not None
    share = np.array([1.5, 0.5, 0.5, 0.5, 2.5])
    row = np.array([1.5, 0.5, 0.5, 0.5, 0.5]) / 3.5
    np.testing.assert_allclose(matrix[4], row)
    rest = np.maximum(share[:4] - 2.5 * row[:4], 0.5)
    bad = np.append(rest[0] * rest / rest.sum(), 2.5 * row[0])
    np.testing.assert_allclose(matrix[0], bad / bad.sum())


def test_without_a_second_judgment_nothing_is_known() -> None:
    assert judge_confusion([1, 2], [1, 1], [4, 0], [True] * 5) is None
    assert judge_confusion([1, 1], [1, 2], [0, 0], [False] * 4 + [True]) is None


def test_asked_must_name_every_grade() -> None:
    with pytest.raises(ValueError, match="asked must have 5 values"):
        judge_confusion([1, 1], [1, 2], [0, 0], [True])


def test_intervals_hold_the_truth_and_shrink_with_pairs() -> None:
    scheme = SCHEMES["if-good-k"](k=3)
    few = selective_confusion(*judged(scheme, 2_000), asked(scheme), resamples=200)
    many = selective_confusion(*judged(scheme, 20_000), asked(scheme), resamples=200)
    assert few is not None
    assert many is not None
    seen = slice(2, None)
    assert np.mean((few.low <= BETWEEN)[seen] & (few.high >= BETWEEN)[seen]) >= 0.8
    assert np.median((few.high - few.low)[seen]) > 2 * np.median((many.high - many.low)[seen])
    matrix = judge_confusion(*judged(scheme, 2_000), asked(scheme))
    np.testing.assert_array_equal(few.matrix, matrix)
    assert few.couples[:2].sum() == 0
    assert few.asked.tolist() == [False, False, True, True, True]


def test_intervals_are_the_same_every_time_and_missing_without_couples() -> None:
    one = selective_confusion([1, 1, 2], [1, 2, 1], [4, 3, 0], [True] * 5, resamples=50)
    two = selective_confusion([1, 1, 2], [1, 2, 1], [4, 3, 0], [True] * 5, resamples=50)
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.low, two.low)
    assert selective_confusion([1, 2], [1, 1], [4, 0], [True] * 5) is None
