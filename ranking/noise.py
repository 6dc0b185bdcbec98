"""Noise in grades: putting it in, and measuring it by documents and by preferences.

Reference: Niu, Lan, Guo, Cheng, Geng, "What makes data robust: a data analysis in learning to
rank", SIGIR 2014.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.agreement.tally import codes, latest
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

_Values = npt.NDArray[np.float64] | npt.NDArray[np.int64]


@dataclass(frozen=True)
class JudgeNoise:
    """pNoise of every judge, in the order of ``judges``.

    ``preferences`` is the number of preference pairs ``pnoise`` rests on; where it is 0 the value
    is ``nan``.
    """

    judges: IntArray
    pnoise: FloatArray
    preferences: IntArray


def inject(
    grades: npt.ArrayLike, rate: float, rng: np.random.Generator | int, levels: int = LEVELS
) -> IntArray:
    """A copy of ``grades`` where each is replaced, with probability ``rate``, by another grade.

    The other grade is drawn uniformly from the ``levels - 1`` different ones, so :func:`dnoise` of
    the result is ``rate`` on average. A generator that was seeded alike changes the documents of a
    smaller ``rate`` in the same way at a larger one.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1. Got {rate} instead.")
    if levels < 2:
        raise ValueError(f"levels must be at least 2. Got {levels} instead.")
    before = _integers("grades", grades)
    outside = before[(before < 0) | (before >= levels)]
    if len(outside):
        raise ValueError(f"grades must be between 0 and {levels - 1}. Got {outside[0]} instead.")
    draw = np.random.default_rng(rng)
    chosen = draw.random(len(before)) < rate
    step = draw.integers(1, levels, len(before))
    return np.where(chosen, (before + step) % levels, before)


def dnoise(true: npt.ArrayLike, noisy: npt.ArrayLike) -> float:
    """Document noise: the share of grades that differ from the truth."""
    truth, seen = _numbers("true", true), _numbers("noisy", noisy)
    _same_length(true=truth, noisy=seen)
    return float(np.mean(truth != seen))


def pnoise(true: npt.ArrayLike, noisy: npt.ArrayLike, qid: npt.ArrayLike) -> float:
    """Preference noise: ``(N_inverse + N_new / 2) / N_all``, from 0 to 1.

    Over all preferences ``⟨d, e⟩`` that the noisy grades state (``d`` above ``e`` in one query):
    inverse, the truth says the opposite; new, the truth has them tied. Preferences of all queries
    count alike. Both may be real numbers; rows of a query need not be together. ``nan`` when the
    noisy grades state no preference: every query has one document or one grade only.
    """
    truth, seen = _numbers("true", true), _numbers("noisy", noisy)
    query = _integers("qid", qid)
    _same_length(true=truth, noisy=seen, qid=query)
    wrong, stated = _preferences(truth, seen, codes(query)[0])
    return float(wrong.sum() / stated.sum()) if stated.any() else float("nan")


def judge_pnoise(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    qid: npt.ArrayLike,
    *,
    gold: npt.ArrayLike | None = None,
) -> JudgeNoise:
    """:func:`pnoise` of each judge against the consensus of the others.

    ``qid`` is the query of each judgment's pair. The truth of a judgment is the mean grade of the
    *other* judges of that pair (leave-one-out), or ``gold``, one value per judgment with ``nan``
    where there is none. Judgments without a truth do not count. A judge who judged a pair more than
    once counts once, with the latest grade. ``nan`` for a judge whose grades state no preference
    between documents of one query that have a truth: it takes at least two such documents.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade)
    query = _integers("qid", qid)
    _same_length(pair=pairs, qid=query)
    (row, size), (query, queries) = codes(pairs), codes(query)
    _one_query_each(row, size, query)
    names, who = np.unique(judges, return_inverse=True)
    kept = latest(row, who)
    if kept is None:
        kept = np.ones(len(row), dtype=np.bool_)
    truth = _others(row, grades, kept) if gold is None else _numbers("gold", gold, nan=True)
    _same_length(pair=pairs, gold=truth)
    use = kept & ~np.isnan(truth)
    lists, list_code = np.unique(who[use] * queries + query[use], return_inverse=True)
    wrong, stated = _preferences(truth[use], grades[use], list_code)
    owner = lists // queries
    errors, total = _sums(owner, wrong, len(names)), _sums(owner, stated, len(names))
    value = np.divide(errors, total, out=np.full(len(names), np.nan), where=total > 0)
    return JudgeNoise(names, value, total.astype(np.int64))


def _others(row: IntArray, grade: IntArray, kept: npt.NDArray[np.bool_]) -> FloatArray:
    """Mean grade of the pair's other judges; ``nan`` where there is none.

    Equal means are equal floats, whatever the number of judges: the division of two whole numbers
    is rounded once.
    """
    count = np.bincount(row, weights=kept)[row] - 1.0
    total = np.bincount(row, weights=grade * kept)[row] - grade
    mean: FloatArray = np.full(len(row), np.nan)
    np.divide(total, count, out=mean, where=kept & (count > 0))
    return mean


def _preferences(truth: _Values, noisy: _Values, group: IntArray) -> tuple[FloatArray, FloatArray]:
    """Per group: ``N_inverse + N_new / 2`` and ``N_all``, by the cheaper of two ways to count."""
    if not len(group):
        return np.zeros(0), np.zeros(0)
    groups = int(group.max()) + 1
    true_code, true_size = _ranks(truth)
    noisy_code, noisy_size = _ranks(noisy)
    if groups * true_size * noisy_size <= 8 * len(group) + 4096:
        key = (group * true_size + true_code) * noisy_size + noisy_code
        table = np.bincount(key, minlength=groups * true_size * noisy_size)
        return _from_table(table.reshape(groups, true_size, noisy_size))
    return _from_order(true_code, noisy_code, group)


def _from_table(table: IntArray) -> tuple[FloatArray, FloatArray]:
    """Count preferences from how often each truth (axis 1) met each noisy grade (axis 2)."""
    below = table.cumsum(axis=2) - table
    same = (table * below).sum(axis=(1, 2))
    stated = (table * below.sum(axis=1, keepdims=True)).sum(axis=(1, 2))
    better = below[:, ::-1].cumsum(axis=1)[:, ::-1] - below
    inverse = (table * better).sum(axis=(1, 2))
    return inverse + 0.5 * same, stated.astype(np.float64)


def _from_order(truth: IntArray, noisy: IntArray, group: IntArray) -> tuple[FloatArray, FloatArray]:
    """Count preferences with rows sorted by group and truth, one noisy rank of a group at a time.

    Against the documents of one noisy rank, the documents ranked below it in its group are counted
    up to every row: those after the row's tie in truth are inverse, those within it are new.
    """
    order = np.lexsort((truth, group))
    group, truth, rank = group[order], truth[order], _rank_in_group(noisy[order], group[order])
    n = len(group)
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    ends = np.r_[starts[1:], n]
    list_of = np.repeat(np.arange(len(starts)), ends - starts)
    ties = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (truth[1:] != truth[:-1])])
    tie_ends = np.r_[ties[1:], n]
    tie_of = np.repeat(np.arange(len(ties)), tie_ends - ties)
    wrong, stated = np.zeros(n), np.zeros(n)
    for level in range(1, int(rank.max()) + 1):
        seen = np.r_[0, np.cumsum(rank < level)]
        at = np.flatnonzero(rank == level)
        first, last = seen[ties[tie_of[at]]], seen[tie_ends[tie_of[at]]]
        end = seen[ends[list_of[at]]]
        wrong[at] = (end - last) + 0.5 * (last - first)
        stated[at] = end - seen[starts[list_of[at]]]
    return _sums(group, wrong), _sums(group, stated)


def _sums(group: IntArray, values: FloatArray, groups: int = 0) -> FloatArray:
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)


def _rank_in_group(values: IntArray, group: IntArray) -> IntArray:
    """Dense rank of each value among the different values of its group, from 0."""
    order = np.lexsort((values, group))
    v, g = values[order], group[order]
    fresh = np.r_[True, g[1:] != g[:-1]]
    higher = np.r_[False, v[1:] != v[:-1]] & ~fresh
    climbed = np.cumsum(higher)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = climbed - climbed[np.flatnonzero(fresh)[np.cumsum(fresh) - 1]]
    return rank


def _ranks(values: _Values) -> tuple[IntArray, int]:
    """Codes that keep the order of the values, and how many there are."""
    if values.dtype.kind == "i":
        return codes(values.astype(np.int64, copy=False))
    different, code = np.unique(values, return_inverse=True)
    return code, len(different)


def _numbers(name: str, values: npt.ArrayLike, *, nan: bool = False) -> _Values:
    """One dimension of at least one finite number, as int64 or float64."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension. Got {array.ndim} instead.")
    if not array.size:
        raise ValueError(f"{name} must hold at least one value. Got 0 instead.")
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f":
        raise ValueError(f"{name} must hold numbers. Got {array.dtype} instead.")
    wrong = array[np.isinf(array) if nan else ~np.isfinite(array)]
    if len(wrong):
        raise ValueError(f"{name} must hold finite numbers. Got {wrong[0]} instead.")
    return array.astype(np.float64, copy=False)


def _integers(name: str, values: npt.ArrayLike) -> IntArray:
    array = _numbers(name, values)
    if array.dtype.kind != "i":
        raise ValueError(f"{name} must hold integers. Got {array.dtype} instead.")
    return array.astype(np.int64, copy=False)


def _same_length(**arrays: _Values) -> None:
    lengths = [len(array) for array in arrays.values()]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"{' and '.join(arrays)} must have the same length. "
            f"Got {' and '.join(map(str, lengths))} instead."
        )


def _one_query_each(row: IntArray, size: int, query: IntArray) -> None:
    of_pair = np.zeros(size, dtype=np.int64)
    of_pair[row] = query
    if (of_pair[row] != query).any():
        raise ValueError("Every pair must belong to one query. Got a pair with two instead.")
