"""Simulated judges err as their matrix says."""

import numpy as np
import pytest

from ranking.simulation import SKILLS, draw


@pytest.mark.parametrize("skill", sorted(SKILLS))
def test_draws_follow_the_matrix(skill: str) -> None:
    matrix = SKILLS[skill] / SKILLS[skill].sum(axis=1, keepdims=True)
    for truth in range(5):
        judged = draw(np.full(200_000, truth), SKILLS[skill], np.random.default_rng(truth))
        shares = np.bincount(judged, minlength=5) / len(judged)
        assert shares == pytest.approx(matrix[truth], abs=0.005)


def test_a_perfect_judge_never_errs() -> None:
    truth = np.tile(np.arange(5), (3, 40))
    assert np.array_equal(draw(truth, np.eye(5), np.random.default_rng(0)), truth)


def test_a_seed_gives_the_same_draws() -> None:
    truth = np.arange(5)
    first, second = (draw(truth, SKILLS["crowd"], np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)


def test_no_pair_gives_no_judgment() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert draw(empty, SKILLS["expert"], np.random.default_rng(0)).shape == (0,)


def test_matrix_and_grades_are_checked() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="confusion must be 5 by 5"):
        draw(np.array([0]), np.eye(4), rng)
    with pytest.raises(ValueError, match="Rows of confusion must sum to 1"):
        draw(np.array([0]), np.full((5, 5), 0.3), rng)
    with pytest.raises(ValueError, match="Grades must be between 0 and 4"):
        draw(np.array([5]), np.eye(5), rng)
