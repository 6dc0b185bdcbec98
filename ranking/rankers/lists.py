"""Training data as lists: the rows of every query side by side, checked once.

The rankers take ``X`` (rows × features), ``y`` (one grade per row) and ``qid`` (one query per
row, a query's rows contiguous or not). :meth:`Lists.build` checks them and brings them into one
canonical order, so that the same rows give the same model however the queries are interleaved.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lists:
    """Rows grouped by query; query ``q`` is ``slice(start[q], start[q + 1])``."""

    X: Floats
    y: Ints
    weight: Floats
    start: Ints
    weighted: bool = False

    @classmethod
    def build(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        qid: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        missing_ok: bool = False,
    ) -> "Lists":
        """Check the arrays and sort them by query, keeping the order of a query's rows.

        A row of weight 0 is left out: it is as if it were not there.
        """
        features = as_features(X, missing_ok=missing_ok)
        grades = _as_grades(y, len(features))
        queries = _as_queries(qid, len(features))
        weight = _as_weights(sample_weight, len(features))
        if not weight.all() or np.any(queries[1:] < queries[:-1]):
            order = np.argsort(queries, kind="stable")
            order = order[weight[order] > 0]
            features, grades = features[order], grades[order]
            queries, weight = queries[order], weight[order]
        first = np.flatnonzero(queries[1:] != queries[:-1]) + 1
        start = np.concatenate(([0], first, [len(queries)])).astype(np.int64)
        return cls(features, grades, weight, start, sample_weight is not None)

    @cached_property
    def sizes(self) -> Ints:
        """How many documents each query has."""
        return np.diff(self.start)

    @cached_property
    def segment(self) -> Ints:
        """The number of its query, for every row."""
        return np.repeat(np.arange(len(self.start) - 1), self.sizes)

    def mixed(self) -> npt.NDArray[np.bool_]:
        """For every query, whether its documents have different grades."""
        first = self.start[:-1]
        different: npt.NDArray[np.bool_] = np.maximum.reduceat(self.y, first) > np.minimum.reduceat(
            self.y, first
        )
        return different

    def with_preferences(self) -> "Lists":
        """Only the queries that prefer one document to another: the others teach no order."""
        keep = self.mixed()
        if keep.all():
            return self
        rows = np.repeat(keep, self.sizes)
        start = np.concatenate(([0], np.cumsum(self.sizes[keep])))
        return Lists(self.X[rows], self.y[rows], self.weight[rows], start, self.weighted)

    def shuffled(self, rng: np.random.Generator) -> "Lists":
        """The same lists with the rows of every query in random order."""
        rows = np.lexsort((rng.random(len(self.y)), self.segment))
        return replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows])


def as_features(
    X: npt.ArrayLike, *, missing_ok: bool = False, columns: int | None = None
) -> Floats:
    """``X`` as a C-ordered matrix of float32 or float64, refused if it cannot be learnt from."""
    features = np.asarray(X)
    if features.dtype not in (np.float32, np.float64):
        features = features.astype(np.float64)
    if features.ndim != 2:
        raise ValueError(f"X must have two dimensions. Got {features.ndim} instead.")
    if features.shape[1] == 0:
        raise ValueError("X must have at least 1 feature. Got 0 instead.")
    if columns is not None and features.shape[1] != columns:
        raise ValueError(
            f"X must have the {columns} features of the training data. "
            f"Got {features.shape[1]} instead."
        )
    bad = np.isinf(features) if missing_ok else ~np.isfinite(features)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"X must be finite. Got {features[row, column]} in row {row}, feature {column} instead."
        )
    return np.ascontiguousarray(features)


def _as_grades(y: npt.ArrayLike, rows: int) -> Ints:
    grades = _as_column("y", y, rows)
    if rows == 0:
        raise ValueError("There must be at least 1 row to learn from. Got 0 instead.")
    if grades.dtype.kind not in "biuf":
        raise ValueError(f"y must hold grades. Got values of type {grades.dtype} instead.")
    grades = grades.astype(np.int64) if grades.dtype.kind == "b" else grades
    whole = (grades >= 0) & (grades < LEVELS) & (grades == np.floor(grades))
    if not whole.all():
        raise ValueError(
            f"y must hold whole grades from 0 to {LEVELS - 1}. Got {grades[~whole][0]} instead."
        )
    return grades.astype(np.int64)


def _as_queries(qid: npt.ArrayLike, rows: int) -> npt.NDArray[Any]:
    queries = _as_column("qid", qid, rows)
    if queries.dtype.kind == "f" and np.isnan(queries).any():
        raise ValueError("qid must name a query for every row. Got nan instead.")
    if queries.dtype.kind not in "biufUS":
        queries = queries.astype(str)
    return queries


def _as_weights(weight: npt.ArrayLike | None, rows: int) -> Floats:
    if weight is None:
        return np.ones(rows)
    weights = _as_column("sample_weight", weight, rows).astype(np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ValueError(
            f"sample_weight must be finite and at least 0. Got {weights[wrong][0]} instead."
        )
    if not weights.any():
        raise ValueError("sample_weight must be positive somewhere. Got only zeros instead.")
    return weights


def _as_column(name: str, values: npt.ArrayLike, rows: int) -> npt.NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (rows,):
        raise ValueError(
            f"{name} must have one value for each of the {rows} rows of X. "
            f"Got shape {column.shape} instead."
        )
    return column


def normalise_per_query(X: npt.ArrayLike, qid: npt.ArrayLike) -> Floats:
    """Scale every feature to 0…1 within its query: ``(x − min) / (max − min)``, as LETOR does.

    A feature that is the same for all documents of a query becomes 0. Only the order within a
    query is ever used, so nothing is lost, and queries of different scale become comparable.
    Reference: Qin, Liu, Xu, Li, "LETOR: A benchmark collection for research on learning to rank
    for information retrieval", Information Retrieval 13, 2010, section 3.
    """
    features = as_features(X)
    _, segment = np.unique(_as_queries(qid, len(features)), return_inverse=True)
    if len(features) == 0:
        return features
    order = np.argsort(segment, kind="stable")
    first = np.flatnonzero(np.diff(segment[order], prepend=-1))
    lowest = np.minimum.reduceat(features[order], first)[segment]
    spread = np.maximum.reduceat(features[order], first)[segment] - lowest
    scaled: Floats = (features - lowest) / np.where(spread > 0, spread, 1)
    return scaled


def check_names(names: Sequence[str] | None, columns: int) -> list[str] | None:
    """Feature names as a list, one for every column, or None."""
    if names is None:
        return None
    listed = [str(name) for name in names]
    if len(listed) != columns:
        raise ValueError(
            f"feature_names must have one name for each of the {columns} features. "
            f"Got {len(listed)} instead."
        )
    return listed
