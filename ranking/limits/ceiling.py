"""The ceiling of a list and of a data set: the best nDCG that other judges' labels allow.

Reference: the study of assessor disagreement and limiting nDCG, SIGIR 2012; ``exact`` is ours.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.limits.approximate import gaussian_dcg, simulated_dcg
from ranking.limits.checks import check_confusion, check_counts, check_grades
from ranking.limits.exact import expected_dcg
from ranking.metrics.lists import Floats, check_k
from ranking.metrics.measures import discounts

Method = Literal["exact", "gaussian", "simulate"]
Seed = np.random.Generator | int | None
METHODS = ("exact", "gaussian", "simulate")


@dataclass(frozen=True)
class Limit:
    """A ceiling, and how far chance in its computation may have moved it (0 unless simulated).

    ``n`` queries went into it; ``left_out`` had only Bad documents and no defined nDCG.
    """

    value: float
    standard_error: float
    n: int = 1
    left_out: int = 0


def limiting_ndcg(
    counts: ArrayLike,
    confusion: ArrayLike,
    k: int | None = None,
    method: Method = "exact",
    *,
    rng: Seed = 0,
    runs: int = 10_000,
) -> Limit:
    """The expected nDCG@k, for the testing judge, of a list perfect for the training judge.

    ``counts[i]`` documents have the testing judge's grade i, Bad first. ``confusion[i][j]`` is
    the chance that the training judge says j where the testing judge says i.

    E[nDCG@k] = (1/Z) Σ_i n_i (2^i − 1) Σ_j C[i][j] · D(i, j),

    D(i, j) the expected discount of a document of truth i and alternative grade j when all are
    sorted by alternative grade, ties at random. ``exact`` errs by less than 1e-12, ``gaussian``
    is the study's closed form for long lists, ``simulate`` is the mean of ``runs`` draws.
    A list of Bad documents only has the value ``nan`` and ``left_out`` 1.
    """
    numbers = check_counts(counts)[None, :]
    matrix = check_confusion(confusion, numbers.shape[1])
    means, errors = _limits(numbers, matrix, k, method=method, rng=rng, runs=runs)
    undefined = bool(np.isnan(means[0]))
    return Limit(float(means[0]), float(errors[0]), 1 - undefined, int(undefined))


def query_limits(
    y: ArrayLike,
    qid: ArrayLike,
    confusion: ArrayLike,
    k: int | None = None,
    *,
    method: Method = "exact",
    rng: Seed = 0,
    runs: int = 10_000,
) -> Floats:
    """The ceiling of every query, in the order of ``np.unique(qid)``; ``nan`` where all are Bad.

    It stands beside what ``metrics.ndcg`` gives for the same queries.
    """
    means, _, query = _of_rows(y, qid, confusion, k=k, method=method, rng=rng, runs=runs)
    return means[query]


def dataset_limit(
    y: ArrayLike,
    qid: ArrayLike,
    confusion: ArrayLike,
    k: int | None = None,
    *,
    method: Method = "exact",
    rng: Seed = 0,
    runs: int = 10_000,
) -> Limit:
    """The mean ceiling over the queries of a data set, ``y`` being the testing judge's grades.

    Queries with the same number of documents of each grade are computed once. Queries with Bad
    documents only are left out and counted. ``standard_error`` is that of the simulation; how
    much queries differ says ``metrics.summary(query_limits(…))``.
    """
    means, errors, query = _of_rows(y, qid, confusion, k=k, method=method, rng=rng, runs=runs)
    times = np.bincount(query, minlength=means.size)
    defined = ~np.isnan(means)
    n = int(times[defined].sum())
    left_out = int(times.sum()) - n
    if n == 0:
        return Limit(np.nan, np.nan, 0, left_out)
    weights = times[defined] / n
    error = float(np.sqrt(np.sum((weights * errors[defined]) ** 2)))
    return Limit(float(weights @ means[defined]), error, n, left_out)


def _of_rows(
    y: ArrayLike,
    qid: ArrayLike,
    confusion: ArrayLike,
    *,
    k: int | None,
    method: str,
    rng: Seed,
    runs: int,
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Ceilings and errors of every different list, and which of them each query has."""
    matrix = check_confusion(confusion)
    levels = matrix.shape[0]
    grades, queries = check_grades(y, qid, levels)
    code = _codes(queries)
    numbers = np.bincount(code * levels + grades, minlength=(code.max() + 1) * levels)
    different, query = np.unique(numbers.reshape(-1, levels), axis=0, return_inverse=True)
    means, errors = _limits(different, matrix, k, method=method, rng=rng, runs=runs)
    return means, errors, query.ravel()


def _codes(qid: NDArray[Any]) -> NDArray[np.intp]:
    """0, 1, … for the queries in the order of ``np.unique``, without a sort if it is there."""
    if (qid[1:] < qid[:-1]).any():
        return np.unique(qid, return_inverse=True)[1].astype(np.intp)
    return np.append(0, np.cumsum(qid[1:] != qid[:-1])).astype(np.intp)


def _limits(
    counts: NDArray[np.intp], confusion: Floats, k: int | None, *, method: str, rng: Seed, runs: int
) -> tuple[Floats, Floats]:
    check_k(k)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}. Got {method!r} instead.")
    if runs < 2:
        raise ValueError(f"runs must be at least 2. Got {runs} instead.")
    gains: Floats = np.exp2(np.arange(confusion.shape[0], dtype=np.float64)) - 1.0
    longest = int(counts.sum(axis=1).max())
    reach = np.append(0.0, np.cumsum(discounts(longest)))
    reach = reach[np.minimum(np.arange(longest + 1), longest if k is None else k)]
    ideal = _ideal(counts, gains, reach)
    means, errors = np.full(ideal.size, np.nan), np.zeros(ideal.size)
    rows = np.flatnonzero(ideal)
    if method == "exact":
        means[rows] = expected_dcg(counts[rows], confusion, gains, k)
    elif method == "gaussian":
        means[rows] = [gaussian_dcg(counts[row], confusion, gains, reach) for row in rows]
    else:
        generator = np.random.default_rng(rng)
        for row in rows:
            means[row], errors[row] = simulated_dcg(
                counts[row], confusion, gains, reach, runs=runs, rng=generator
            )
    ideal[ideal == 0] = np.nan
    # No order beats the ideal one or loses anything; only rounding can say so.
    return np.clip(means / ideal, 0.0, 1.0), errors / np.nan_to_num(ideal, nan=1.0)


def _ideal(counts: NDArray[np.intp], gains: Floats, reach: Floats) -> Floats:
    """The DCG of the best order of every row: each gain step counts all that reach it."""
    at_least = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    value: Floats = reach[at_least] @ np.diff(gains, prepend=0.0)
    return value
