"""Ids to indices and judgments to counts, in linear time wherever the ids allow it."""

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import IntArray, check_judgments

#: Ids that span at most this many times as many integers as there are judgments are looked up in a
#: table; ids spread more widely are sorted.
_SPREAD = 4
#: A table this short is always worth it.
_SMALL = 1 << 16


def relabel(ids: IntArray) -> tuple[IntArray, IntArray]:
    """The sorted unique ids, and for every row the index of its id among them.

    The same as ``np.unique(ids, return_inverse=True)``, without sorting where a table will do.
    """
    low = int(ids.min())
    span = int(ids.max()) - low + 1
    if span > max(_SPREAD * len(ids), _SMALL):
        unique, index = np.unique(ids, return_inverse=True)
        return unique, index.astype(np.int64, copy=False)
    offset = ids - low
    present = np.zeros(span, dtype=np.bool_)
    present[offset] = True
    unique = np.flatnonzero(present) + low
    if len(unique) == span:
        return unique, offset
    return unique, (np.cumsum(present) - 1)[offset]


def count_grades(
    pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike
) -> tuple[IntArray, IntArray]:
    """The sorted pair ids, and 5 × pairs: how many judgments of each grade a pair has.

    Grades come first so that sums and maxima over them run along whole rows of memory.
    """
    pairs, _, grades = check_judgments(pair, judge, grade)
    unique, index = relabel(pairs)
    cell = grades * len(unique)
    cell += index
    counts = np.bincount(cell, minlength=LEVELS * len(unique))
    return unique, counts.reshape(LEVELS, len(unique))
