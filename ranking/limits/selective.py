"""How judges differ, from judgments that a scheme asked for because of the first one.

Under if-good-k only pairs whose first judgment was Good+ have a second. Counting all couples alike
would say that whatever one judge calls Bad another calls Good, because no couple of two Bad
judgments was ever asked for; the ceiling would come out far too low.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

_SMOOTHING = 0.5


@dataclass(frozen=True)
class Selective:
    """P(another judge says j | one judge says i), with the limits of every cell.

    ``couples`` counts the first and second judgments behind it, first in rows; ``asked`` are the
    rows that were seen, the others follow from them.
    """

    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    couples: IntArray
    asked: npt.NDArray[np.bool_]


def judge_confusion(
    pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike, asked: npt.ArrayLike
) -> FloatArray | None:
    """P(another judge says j | one judge says i), whatever the first judgment led to.

    The judgments are in time order. ``asked[i]`` says whether a pair whose first judgment is ``i``
    gets a second: whether it is asked for must depend on the first alone. Then the second is an
    honest draw given the first, ``P(j | i) = (N_ij + ½) / Σ_l (N_il + ½)``, and with ``F_i`` the
    share of first judgments ``J_ij = F_i P(j | i)`` is the joint share. Judges are exchangeable, so
    ``J`` is symmetric: ``J_ij = J_ji`` gives the rows of grades nobody asked about, up to the block
    between those grades themselves. There the rest ``R_i`` of each row is spread independently,
    ``R_i R_j / Σ R``: no more agreement than is known.

    None where no pair has two judgments that were asked for.
    """
    table, known = _table(pair, judge, grade, asked)
    return _matrix(table, known) if table[:, :LEVELS].any() else None


def selective_confusion(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    asked: npt.ArrayLike,
    *,
    interval: float = 0.95,
    rng: int | np.random.Generator = 0,
    resamples: int = 1000,
) -> Selective | None:
    """:func:`judge_confusion` with percentile limits from resampling the pairs.

    A pair is told by its first and second grade alone, so resampling the pairs is one multinomial
    draw over the kinds of pairs. None where no pair has two judgments that were asked for.
    """
    table, known = _table(pair, judge, grade, asked)
    if not table[:, :LEVELS].any():
        return None
    total = int(table.sum())
    generator = np.random.default_rng(rng)
    draws = generator.multinomial(total, table.ravel() / total, size=resamples)
    found = np.array([_matrix(draw.reshape(table.shape), known) for draw in draws])
    edge = (1 - interval) / 2
    low, high = np.quantile(found, [edge, 1 - edge], axis=0)
    return Selective(_matrix(table, known), low, high, table[:, :LEVELS], known)


def _table(
    pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike, asked: npt.ArrayLike
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Pairs by their first grade (rows) and their second; the last column has those without."""
    pairs, _, grades = check_judgments(pair, judge, grade)
    first, second = _first_two(pairs, grades)
    known = np.asarray(asked, dtype=np.bool_)
    if known.shape != (LEVELS,):
        raise ValueError(f"asked must have {LEVELS} values. Got shape {known.shape} instead.")
    column = np.where((second >= 0) & known[first], second, LEVELS)
    cells = np.bincount(first * (LEVELS + 1) + column, minlength=LEVELS * (LEVELS + 1))
    return cells.reshape(LEVELS, LEVELS + 1), known


def _matrix(table: IntArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    counts, share = table[:, :LEVELS] + _SMOOTHING, table.sum(axis=1) + _SMOOTHING
    joint = np.where(known[:, None], share[:, None] * counts / counts.sum(1, keepdims=True), 0.0)
    both = known[:, None] & known[None, :]
    joint = np.where(both, (joint + joint.T) / 2, np.maximum(joint, joint.T))
    hidden = np.flatnonzero(~known)
    if len(hidden):
        rest = np.maximum(share[hidden] - joint[hidden].sum(axis=1), _SMOOTHING)
        joint[np.ix_(hidden, hidden)] = np.outer(rest, rest) / rest.sum()
    matrix: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return matrix


def _first_two(pair: IntArray, grade: IntArray) -> tuple[IntArray, IntArray]:
    """The first and the second grade of every pair; −1 where there is no second."""
    order = np.argsort(pair, kind="stable")
    ids, grades = pair[order], grade[order]
    start = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    size = np.diff(np.r_[start, len(ids)])
    second = np.full(len(start), -1, dtype=np.int64)
    second[size > 1] = grades[start[size > 1] + 1]
    return grades[start], second
