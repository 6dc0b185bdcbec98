"""What the functions about limits require of their input."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.metrics.lists import Floats

#: How far a row of probabilities may be from 1 and still be taken for rounding.
_SLACK = 1e-6


def check_confusion(confusion: ArrayLike, levels: int | None = None) -> Floats:
    """A square matrix whose rows are distributions; rounding in their sums is evened out."""
    matrix = np.array(confusion, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"confusion must be a square matrix. Got shape {matrix.shape} instead.")
    if levels is not None and matrix.shape[0] != levels:
        raise ValueError(
            f"confusion must have a row for each of the {levels} grades. "
            f"Got {matrix.shape[0]} instead."
        )
    if not (matrix >= 0).all():
        got = matrix[~(matrix >= 0)][0]
        raise ValueError(f"confusion must hold probabilities. Got {got} instead.")
    sums = matrix.sum(axis=1)
    if not (np.abs(sums - 1) <= _SLACK).all():
        row = int(np.argmax(np.abs(sums - 1)))
        raise ValueError(f"Rows of confusion must sum to 1. Got {sums[row]:.6g} in row {row}.")
    return np.asarray(matrix / sums[:, None], dtype=np.float64)


def check_prior(prior: ArrayLike, levels: int) -> Floats:
    """A distribution over the grades."""
    shares = np.array(prior, dtype=np.float64)
    if shares.shape != (levels,):
        raise ValueError(
            f"prior must have a share for each of the {levels} grades. "
            f"Got shape {shares.shape} instead."
        )
    if not ((shares >= 0).all() and abs(shares.sum() - 1) <= _SLACK):
        raise ValueError(f"prior must be shares that sum to 1. Got {shares.tolist()} instead.")
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def check_counts(counts: ArrayLike) -> NDArray[np.intp]:
    """How many documents have each grade, at least one in all."""
    given = np.asarray(counts)
    if given.ndim != 1 or given.size < 2:
        raise ValueError(f"counts must have one number per grade. Got shape {given.shape} instead.")
    whole = _whole("counts", given)
    if (whole < 0).any() or whole.sum() < 1:
        raise ValueError(
            f"counts must be at least 0 and hold a document. Got {given.tolist()} instead."
        )
    return whole


def check_grades(
    y: ArrayLike, qid: ArrayLike, levels: int
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Two flat columns of equal length, grades in range."""
    given, queries = np.asarray(y), np.asarray(qid)
    if given.ndim != 1 or given.shape != queries.shape:
        raise ValueError(
            "y and qid must be flat and of equal length. "
            f"Got shapes {given.shape} and {queries.shape} instead."
        )
    if given.size == 0:
        raise ValueError("y and qid must hold at least one row. Got none instead.")
    if queries.dtype.kind == "f" and np.isnan(queries).any():
        raise ValueError("qid must not be NaN. Got NaN instead.")
    grades = _whole("y", given)
    if grades.min() < 0 or grades.max() >= levels:
        got = grades.max() if grades.min() >= 0 else grades.min()
        raise ValueError(f"y must lie in 0 … {levels - 1}. Got {got} instead.")
    return grades, queries


def _whole(name: str, values: NDArray[Any]) -> NDArray[np.intp]:
    if values.dtype.kind not in "iufb" or not np.isfinite(values).all():
        raise ValueError(f"{name} must hold whole numbers. Got {values.tolist()[:5]} instead.")
    whole = values.astype(np.intp)
    if (whole != values).any():
        raise ValueError(f"{name} must hold whole numbers. Got {values[whole != values][0]}.")
    return whole
