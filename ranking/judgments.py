"""Judgments as arrays: the one place where they are checked.

Judgments travel as three equal-length integer arrays in time order: ``pair`` and ``judge`` hold any
integer ids, ``grade`` holds 0 (Bad) to 4 (Perfect).
"""

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def check_judgments(
    pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike, *, allow_empty: bool = False
) -> tuple[IntArray, IntArray, IntArray]:
    """The three arrays as ``int64``, or a ``ValueError`` that says what is wrong with them.

    Nothing is copied when the arrays are ``int64`` already, and nothing is ever changed. The same
    judge may judge a pair more than once: every row counts as one judgment.
    """
    pairs, judges, grades = (
        _integers(name, values)
        for name, values in (("pair", pair), ("judge", judge), ("grade", grade))
    )
    if not len(pairs) == len(judges) == len(grades):
        raise ValueError(
            "pair, judge and grade must have the same length. "
            f"Got {len(pairs)}, {len(judges)} and {len(grades)} instead."
        )
    if len(grades):
        check_grades(grades)
    elif not allow_empty:
        raise ValueError("There must be at least one judgment. Got 0 instead.")
    return pairs, judges, grades


def check_grades(grades: IntArray) -> None:
    """Raise unless every grade of a non-empty array lies between Bad (0) and Perfect (4)."""
    low, high = int(grades.min()), int(grades.max())
    if low < 0 or high >= LEVELS:
        wrong = low if low < 0 else high
        raise ValueError(f"Grades must be between 0 and {LEVELS - 1}. Got {wrong} instead.")


def _integers(name: str, values: npt.ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension. Got {array.ndim} instead.")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers. Got {array.dtype} instead.")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must fit in 64 signed bits. Got {array.max()} instead.")
    return array.astype(np.int64, copy=False)
