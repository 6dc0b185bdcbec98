"""What another judgment is worth to the ranking of its query."""

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.limits.checks import check_confusion
from ranking.metrics.measures import discounts

#: 2^g − 1 for every grade.
_GAINS: FloatArray = np.exp2(np.arange(LEVELS, dtype=np.float64)) - 1.0
#: How many judgments of the same document are weighed together: one answer alone often cannot
#: overturn an order that two or three can.
AHEAD = (1, 2, 3)
#: No probability is taken to be smaller, so that no answer is impossible.
FLOOR = 1e-9
#: A rise this small, as a share of the list's DCG, is rounding.
_ROUNDING = 1e-12
#: How many numbers are held at once.
_CELLS = 4_000_000


def value(
    posterior: npt.ArrayLike,
    confusion: npt.ArrayLike,
    k: int = 3,
    *,
    ahead: tuple[int, ...] = AHEAD,
) -> FloatArray:
    """What one more judgment of each document is worth, as a share of the query's ideal DCG@k.

    ``posterior``: documents × 5, or queries × documents × 5 where a row of zeros stands for a
    document that is not there. ``confusion[i][j]`` = P(the next judge says j | truth i).

      D(x) = Σ_{i≤k} x_(i) / log2(1 + i), x sorted from high to low
      rise_m(d) = Σ_a P(a | p_d, m answers) · D(x with x_d given a) − D(x)
      value(d) = max_{m in ahead} rise_m(d) / m  /  E[ideal DCG@k]

    It is never negative, and 0 where no answer can change who the first k are or their order.
    """
    lists = _as_lists(posterior)
    chance = check_confusion(confusion, LEVELS)
    require_whole("k", k)
    if not ahead or min(ahead) < 1:
        raise ValueError(f"ahead must hold numbers of at least 1. Got {ahead} instead.")
    most = max(len(_answers(m)[1]) for m in ahead) * lists.shape[1] * min(k, lists.shape[1])
    step = max(1, _CELLS // max(1, most * LEVELS))
    parts = [
        _value(lists[start : start + step], chance, k, ahead)
        for start in range(0, len(lists), step)
    ]
    found = np.concatenate(parts) if parts else np.zeros(lists.shape[:2])
    return found[0] if np.ndim(posterior) == 2 else found


def expected_ideal_dcg(posterior: npt.ArrayLike, k: int = 3) -> FloatArray:
    """E[DCG@k of the ideal order] of each query, exactly; one number for one query.

    A document of grade g gains the steps 2^0 … 2^(g−1), and the ideal order puts the N_g documents
    that reach step g first, so with R(n) = Σ_{i≤min(n, k)} 1 / log2(1 + i)

      E[ideal] = Σ_{g=1..4} 2^(g−1) · Σ_n P(N_g = n) · R(n),

    N_g being Poisson-binomial: every document reaches g with its own probability.
    """
    lists = _as_lists(posterior)
    require_whole("k", k)
    return _ideal(lists, k)


def _as_lists(posterior: npt.ArrayLike) -> FloatArray:
    given = np.asarray(posterior, dtype=np.float64)
    lists = given[None] if given.ndim == 2 else given
    if lists.ndim != 3 or lists.shape[2] != LEVELS:
        raise ValueError(
            f"posterior must be documents × {LEVELS} or queries × documents × {LEVELS}. "
            f"Got shape {given.shape} instead."
        )
    total = lists.sum(axis=2)
    if not ((lists >= 0).all() and ((np.abs(total - 1) < 1e-6) | (total == 0)).all()):
        raise ValueError("Rows of posterior must be probabilities that sum to 1, or all be 0.")
    return lists


def _value(lists: FloatArray, chance: FloatArray, k: int, ahead: tuple[int, ...]) -> FloatArray:
    gain = lists @ _GAINS
    order = np.argsort(-gain, axis=1, kind="stable")
    best = np.take_along_axis(gain, order, axis=1)
    best = np.pad(best, ((0, 0), (0, k + 1)))  # places behind the last document gain nothing
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(gain.shape[1])[None, :], axis=1)
    now = best[:, :k] @ discounts(k)
    # The first k of the others: whoever stands behind the document moves up by one.
    behind = np.arange(k) >= place[..., None]
    others = best[np.arange(len(best))[:, None, None], np.arange(k) + behind]
    log_chance = np.log(np.maximum(chance, FLOOR))
    worth = np.zeros(gain.shape)
    for m in ahead:
        counts, ways = _answers(m)
        likelihood = ways[:, None] * np.exp(counts @ log_chance.T)
        said = lists @ likelihood.T
        moved = (lists * _GAINS) @ likelihood.T / np.maximum(said, 1e-300)
        rise = (said * _inserted(others, moved)).sum(axis=2) - now[:, None] * said.sum(axis=2)
        np.maximum(worth, np.where(rise > _ROUNDING * now[:, None], rise / m, 0.0), out=worth)
    return worth / np.maximum(_ideal(lists, k), FLOOR)[:, None]


def _inserted(others: FloatArray, moved: FloatArray) -> FloatArray:
    """DCG@k when a document of gain ``moved`` (queries × documents × answers) takes its place
    among the first k ``others`` (queries × documents × k)."""
    k = others.shape[2]
    discount = np.append(discounts(k), 0.0)
    total = np.zeros(moved.shape)
    above = np.zeros(moved.shape, dtype=np.intp)
    for i in range(k):
        other = others[:, :, i, None]
        stays = other >= moved
        total += other * np.where(stays, discount[i], discount[i + 1])
        above += stays
    result: FloatArray = total + moved * discount[above]
    return result


@cache
def _answers(m: int) -> tuple[IntArray, FloatArray]:
    """The different outcomes of m judgments as counts of each grade, and the orders of each."""
    outcomes = list(combinations_with_replacement(range(LEVELS), m))
    counts = np.array([np.bincount(o, minlength=LEVELS) for o in outcomes], dtype=np.int64)
    ways = [factorial(m) / prod(factorial(n) for n in row) for row in counts.tolist()]
    return counts, np.array(ways)


def _ideal(lists: FloatArray, k: int) -> FloatArray:
    reach = lists[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1]  # P(grade ≥ 1 … 4)
    number = np.zeros((len(lists), LEVELS - 1, k + 1))
    number[..., 0] = 1.0
    for document in range(lists.shape[1]):
        p = np.minimum(reach[:, document, :, None], 1.0)
        came = number * p
        number -= came
        number[..., 1:] += came[..., :-1]
        number[..., -1] += came[..., -1]  # k or more are all the same to the first k places
    reward = number @ np.append(0.0, np.cumsum(discounts(k)))
    result: FloatArray = reward @ np.diff(_GAINS)
    return result


def require_whole(name: str, number: int) -> None:
    """Raise unless a setting is at least 1."""
    if number < 1:
        raise ValueError(f"{name} must be at least 1. Got {number} instead.")
