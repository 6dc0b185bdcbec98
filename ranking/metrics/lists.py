"""From flat rows to matrices of lists: grouping, padding, and the stable top of every list.

A sort of all rows by (query, score) costs more than everything else together. Instead, queries of
similar length share one padded matrix, and the first k of each of its rows come from a partition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.grades import LEVELS

Floats = NDArray[np.float64]
#: The grade of a cell that holds no document; as an index it picks a table's last entry.
PAD = -1


@dataclass(frozen=True)
class Lists:
    """Queries as rows of a matrix, documents in input order, the rest of a row is padding."""

    queries: NDArray[np.intp]
    grades: NDArray[np.int8]
    scores: NDArray[Any]


def check_rows(
    grades: ArrayLike, scores: ArrayLike, qid: ArrayLike
) -> tuple[NDArray[np.int8], NDArray[Any], NDArray[Any]]:
    """The three columns as arrays, or a ``ValueError`` that says what is wrong with them."""
    g, s, q = np.asarray(grades), np.asarray(scores), np.asarray(qid)
    if not (g.ndim == s.ndim == q.ndim == 1 and g.size == s.size == q.size):
        shapes = f"{g.shape}, {s.shape} and {q.shape}"
        raise ValueError(
            f"grades, scores and qid must be flat and of equal length. Got shapes {shapes} instead."
        )
    if g.size == 0:
        raise ValueError("grades, scores and qid must hold at least one row. Got none instead.")
    if q.dtype.kind == "f" and np.isnan(q).any():
        raise ValueError("qid must not be NaN. Got NaN instead.")
    return check_grades(g), _check_scores(s), q


def check_grades(grades: ArrayLike) -> NDArray[np.int8]:
    """Grades as small integers; floats are welcome if they are whole (LETOR readers give them)."""
    g = np.asarray(grades)
    if g.dtype.kind not in "iufb":
        raise ValueError(f"grades must be integers. Got an array of {g.dtype} instead.")
    low, high = g.min(), g.max()
    if not (low >= 0 and high < LEVELS):
        got = high if low >= 0 else low
        raise ValueError(f"grades must lie in 0 … {LEVELS - 1}. Got {got} instead.")
    small = g.astype(np.int8)
    if g.dtype.kind == "f" and (small != g).any():
        raise ValueError(f"grades must be integers. Got {g[small != g][0]} instead.")
    return small


def _check_scores(scores: NDArray[Any]) -> NDArray[Any]:
    if scores.dtype.kind not in "iufb":
        raise ValueError(f"scores must be numbers. Got an array of {scores.dtype} instead.")
    s = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    # min() is NaN as soon as one score is, and needs no array of flags.
    if np.isnan(s.min()):
        raise ValueError(f"scores must not be NaN. Got {np.isnan(s).sum()} NaN instead.")
    return s


def check_k(k: int | None) -> None:
    """``k`` is a depth of at least 1, or ``None`` for the whole list."""
    if k is not None and not isinstance(k, int | np.integer):
        raise ValueError(f"k must be a whole number or None. Got {k!r} instead.")
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1. Got {k} instead.")


def lists(
    grades: NDArray[np.int8], scores: NDArray[Any], qid: NDArray[Any]
) -> tuple[int, Iterator[Lists]]:
    """How many queries there are, and all of them in matrices of at most about half padding."""
    if (qid[1:] < qid[:-1]).any():
        order = np.argsort(_narrow(qid), kind="stable")
        grades, scores, qid = grades[order], scores[order], qid[order]
    starts = np.concatenate(([0], np.flatnonzero(qid[1:] != qid[:-1]) + 1))
    lengths = np.diff(starts, append=qid.size)
    return lengths.size, _parts(grades, scores, lengths)


def _narrow(qid: NDArray[Any]) -> NDArray[Any]:
    """The same order in two bytes where they suffice: numpy sorts those by radix."""
    if qid.dtype.kind in "iu":
        low, high = int(qid.min()), int(qid.max())
        if high - low < 2**16:
            return (qid - low).astype(np.uint16)
    return qid


def _parts(
    grades: NDArray[np.int8], scores: NDArray[Any], lengths: NDArray[np.intp]
) -> Iterator[Lists]:
    longest = int(lengths.max())
    if longest == lengths.min():
        shape = (lengths.size, longest)
        yield Lists(np.arange(lengths.size), grades.reshape(shape), scores.reshape(shape))
        return
    size_class = np.frexp(lengths - 0.5)[1]
    for wanted in np.unique(size_class):
        queries = np.flatnonzero(size_class == wanted)
        rows = np.repeat(size_class == wanted, lengths)
        yield _padded(queries, lengths[queries], grades[rows], scores[rows])


def _padded(
    queries: NDArray[np.intp],
    lengths: NDArray[np.intp],
    grades: NDArray[np.int8],
    scores: NDArray[Any],
) -> Lists:
    filled = np.arange(lengths.max()) < lengths[:, None]
    wide_grades = np.full(filled.shape, PAD, dtype=np.int8)
    wide_grades[filled] = grades
    # Padding has the lowest score and stands last, so that a stable order leaves it last even
    # behind documents that were scored -inf.
    wide_scores = np.full(filled.shape, -np.inf, dtype=scores.dtype)
    wide_scores[filled] = scores
    return Lists(queries, wide_grades, wide_scores)


def top(part: Lists, k: int | None) -> NDArray[np.int8]:
    """The grades of the first ``k`` of each list by falling score, ties in input order."""
    grades, scores = part.grades, part.scores
    length = grades.shape[1]
    if k is not None and 2 * k < length:
        cells = np.flatnonzero(_first(scores, k))
        grades = grades.ravel()[cells].reshape(-1, k)
        scores = scores.ravel()[cells].reshape(-1, k)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(grades, order, axis=1)[:, :k]


def _first(scores: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """Which cells are among the ``k`` best of their row, exactly ``k`` of every row."""
    cut = scores.shape[1] - k
    least = np.partition(scores, cut, axis=1)[:, cut, None]
    chosen = scores >= least
    crowded = np.flatnonzero(np.count_nonzero(chosen, axis=1) > k)
    if crowded.size:
        # More documents share the last place than fit: the first of them in input order go in.
        rows, least = scores[crowded], least[crowded]
        above, level = rows > least, rows == least
        room = k - np.count_nonzero(above, axis=1)[:, None]
        chosen[crowded] = above | (level & (np.cumsum(level, axis=1) <= room))
    return chosen


def by_score(part: Lists) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Whole lists by falling score, flat, and where each run of equal scores starts."""
    order = np.argsort(-part.scores, axis=1, kind="stable")
    grades = np.take_along_axis(part.grades, order, axis=1)
    scores = np.take_along_axis(part.scores, order, axis=1)
    new = np.ones(grades.shape, dtype=np.bool_)
    new[:, 1:] = scores[:, 1:] != scores[:, :-1]
    # Padding ties with documents that were scored -inf, but is no document.
    new[:, 1:] |= (grades[:, 1:] == PAD) & (grades[:, :-1] != PAD)
    return grades, np.flatnonzero(new)
