"""Folds by query: all rows of a query are on the same side."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.judgments import IntArray


@dataclass(frozen=True, eq=False)
class Fold:
    """Row numbers, ascending, of what to train on, to validate on and to test on."""

    train: IntArray
    validate: IntArray
    test: IntArray


def folds(
    qid: npt.ArrayLike, n: int = 5, *, rng: np.random.Generator | int | None = None
) -> list[Fold]:
    """Deal the queries into ``n`` parts and rotate them: ``n - 2`` train, one validates, one tests.

    Without ``rng`` the parts are runs of queries in order of appearance; with one the queries are
    shuffled first. Parts differ by at most one query. See :func:`rotation`.
    """
    query = _integers("qid", qid)
    _, first, code = np.unique(query, return_index=True, return_inverse=True)
    if n < 3:
        raise ValueError(f"n must be at least 3: train, validate, test. Got {n} instead.")
    if len(first) < n:
        raise ValueError(f"There must be at least n = {n} queries. Got {len(first)} instead.")
    order = np.argsort(first)
    if rng is not None:
        order = np.random.default_rng(rng).permutation(order)
    part = np.empty(len(first), dtype=np.int64)
    part[order] = np.arange(len(first)) * n // len(first)
    return rotation(part[code])


def rotation(part: npt.ArrayLike) -> list[Fold]:
    """The standard rotation of parts that are given, such as the S1 … S5 of LETOR.

    ``part`` is the part of each row, in the order of its values. Fold 1 of five trains on parts 1,
    2, 3, validates on 4 and tests on 5; fold 2 trains on 2, 3, 4, validates on 5, tests on 1; and
    so on. With five parts these are the folds of the LETOR data sets.
    """
    names, code = np.unique(_integers("part", part), return_inverse=True)
    n = len(names)
    if n < 3:
        raise ValueError(f"There must be at least 3 parts: train, validate, test. Got {n} instead.")
    found = []
    for turn in range(n):
        place = (code - turn) % n
        train, validate, test = place < n - 2, place == n - 2, place == n - 1
        found.append(Fold(*(np.flatnonzero(side) for side in (train, validate, test))))
    return found


def _integers(name: str, values: npt.ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension. Got {array.ndim} instead.")
    if not array.size:
        raise ValueError(f"{name} must hold at least one value. Got 0 instead.")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers. Got {array.dtype} instead.")
    return array.astype(np.int64, copy=False)
