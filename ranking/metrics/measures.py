"""The measures: DCG, NDCG, average precision, ERR, precision and reciprocal rank."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.grades import GOOD, LEVELS
from ranking.metrics import ties as tied
from ranking.metrics.lists import Floats, Lists, check_k, check_rows, lists, top

Ties = Literal["stable", "expected"]
#: 2^g − 1 for every grade; the last entry is for padding.
GAINS: Floats = np.append(2.0 ** np.arange(LEVELS) - 1.0, 0.0)
#: The chance that a document of grade g ends the search, (2^g − 1) / 2^4.
STOPS: Floats = GAINS / 2.0 ** (LEVELS - 1)


def dcg(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    ties: Ties = "stable",
) -> Floats:
    """Discounted cumulative gain, Σ_{i≤k} (2^grade(i) − 1) / log2(1 + i).

    ``ties="stable"`` leaves documents of equal score in input order; ``ties="expected"`` gives
    the expected value over random order among them. A query whose grades are all Bad has 0.

    Reference: Järvelin, Kekäläinen, TOIS 2002; the gain 2^g − 1 is of Burges et al., ICML 2005.
    """

    def measure(part: Lists) -> Floats:
        return _dcg(part, k, ties)

    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def ndcg(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    ties: Ties = "stable",
    undefined: float = np.nan,
) -> Floats:
    """DCG@k divided by the DCG@k of the ideal order, between 0 and 1.

    Where all grades of a query are Bad it is not defined and is ``undefined``: ``nan``, or 0 or
    1 as some peers have it. ``summary`` and ``compare`` leave ``nan`` out and count it.

    Reference: Järvelin, Kekäläinen, TOIS 2002; ties: McSherry, Najork, ECIR 2008.
    """

    def measure(part: Lists) -> Floats:
        return _ratio(_dcg(part, k, ties), _ideal_dcg(part.grades, k), undefined)

    _check_undefined(undefined)
    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def average_precision(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    relevant: int = GOOD,
    ties: Ties = "stable",
    undefined: float = np.nan,
) -> Floats:
    """Precision at the place of every relevant document, summed and divided by their number R.

    AP@k = (1/R) Σ_{i≤k} [relevant(i)] · precision@i. Relevant is a grade of at least
    ``relevant``. R counts the whole list, whatever ``k`` is (trec_eval's ``map_cut``). Where
    nothing is relevant it is ``undefined``. Its mean over queries is MAP.

    Reference: Buckley, Voorhees, SIGIR 2000; ties: McSherry, Najork, ECIR 2008.
    """

    def measure(part: Lists) -> Floats:
        count = np.count_nonzero(part.grades >= relevant, axis=1)
        if ties == "expected":
            return _ratio(tied.precisions(part, k, relevant), count, undefined)
        hits = top(part, k) >= relevant
        places = np.arange(1, hits.shape[1] + 1)
        total = (np.cumsum(hits, axis=1) * hits / places).sum(axis=1)
        return _ratio(total, count, undefined)

    _check_relevant(relevant)
    _check_undefined(undefined)
    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def err(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    ties: Ties = "stable",
) -> Floats:
    """Expected reciprocal rank: the mean of 1/place where a reader stops who goes down the list.

    ERR@k = Σ_{i≤k} (1/i) · R_i · Π_{j<i} (1 − R_j) with R = (2^grade − 1) / 16. A query whose
    grades are all Bad has 0.

    Reference: Chapelle, Metzler, Zhang, Grinspan, CIKM 2009.
    """

    def measure(part: Lists) -> Floats:
        return _stopping(part, k, STOPS, ties)

    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def precision(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    relevant: int = GOOD,
    ties: Ties = "stable",
) -> Floats:
    """The share of relevant documents among the first ``k``.

    It is divided by ``k`` even where the list is shorter (trec_eval's ``P_k``); without ``k`` by
    the length of the list.
    """

    def measure(part: Lists) -> Floats:
        size = np.count_nonzero(part.grades >= 0, axis=1) if k is None else k
        if ties == "expected":
            found = tied.linear(part, k, _hits(relevant), np.ones(part.grades.shape[1]))
        else:
            found = np.count_nonzero(top(part, k) >= relevant, axis=1).astype(np.float64)
        share: Floats = found / size
        return share

    _check_relevant(relevant)
    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def mrr(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    k: int | None = None,
    *,
    relevant: int = GOOD,
    ties: Ties = "stable",
    undefined: float = np.nan,
) -> Floats:
    """1 / place of the first relevant document, 0 if it is below ``k``; one value per query.

    Where nothing is relevant in the whole list it is ``undefined``. Its mean over queries is the
    mean reciprocal rank.

    Reference: Voorhees, TREC-8 1999.
    """

    def measure(part: Lists) -> Floats:
        count = np.count_nonzero(part.grades >= relevant, axis=1)
        value = _stopping(part, k, _hits(relevant), ties)
        return np.where(count > 0, value, undefined)

    _check_relevant(relevant)
    _check_undefined(undefined)
    return _per_query(grades, scores, qid, measure=measure, k=k, ties=ties)


def _per_query(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    *,
    measure: Callable[[Lists], Floats],
    k: int | None,
    ties: str,
) -> Floats:
    check_k(k)
    if ties not in ("stable", "expected"):
        raise ValueError(f'ties must be "stable" or "expected". Got {ties!r} instead.')
    count, parts = lists(*check_rows(grades, scores, qid))
    values = np.empty(count)
    for part in parts:
        values[part.queries] = measure(part)
    return values


def discounts(n: int) -> Floats:
    """1 / log2(1 + i) for the places i = 1 … n."""
    return np.asarray(1.0 / np.log2(np.arange(2, n + 2)), dtype=np.float64)


def _dcg(part: Lists, k: int | None, ties: str) -> Floats:
    if ties == "expected":
        return tied.linear(part, k, GAINS, discounts(part.grades.shape[1]))
    first = top(part, k)
    value: Floats = GAINS[first] @ discounts(first.shape[1])
    return value


def _ideal_dcg(grades: NDArray[np.int8], k: int | None) -> Floats:
    """The DCG of the best order, from how many documents have each grade: no sort needed."""
    length = grades.shape[1]
    reach = np.append(0.0, np.cumsum(discounts(length)))
    reach = reach[np.minimum(np.arange(length + 1), length if k is None else k)]
    ideal = np.zeros(grades.shape[0])
    for grade in range(1, LEVELS):
        # A document of grade g gains the steps 1 … g, so each step counts all that reach it.
        reached = np.count_nonzero(grades >= grade, axis=1)
        ideal += (GAINS[grade] - GAINS[grade - 1]) * reach[reached]
    return ideal


def _stopping(part: Lists, k: int | None, stops: Floats, ties: str) -> Floats:
    """Σ 1/place · chance to stop there, for a reader who stops at grade g with ``stops[g]``."""
    if ties == "expected":
        alive = tied.survival(part, k, stops)
    else:
        alive = np.cumprod(1.0 - stops[top(part, k)], axis=1, dtype=np.float64)
    stopped = -np.diff(alive, axis=1, prepend=1.0)
    value: Floats = stopped @ (1.0 / np.arange(1, stopped.shape[1] + 1))
    return value


def _hits(relevant: int) -> Floats:
    return np.append(np.arange(LEVELS) >= relevant, 0.0)


def _ratio(value: Floats, by: NDArray[np.floating] | NDArray[np.intp], undefined: float) -> Floats:
    ratio = np.full(value.shape, undefined, dtype=np.float64)
    np.divide(value, by, out=ratio, where=by > 0)
    return ratio


def _check_undefined(undefined: float) -> None:
    if not (np.isnan(undefined) or undefined in (0, 1)):
        raise ValueError(f"undefined must be nan, 0 or 1. Got {undefined} instead.")


def _check_relevant(relevant: int) -> None:
    if not 1 <= relevant < LEVELS:
        raise ValueError(f"relevant must lie in 1 … {LEVELS - 1}. Got {relevant} instead.")
