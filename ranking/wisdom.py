"""Is the aggregate of several judges better than the best of them? Where the truth is known.

Reference: Yang, Mityagin, Svore, Markov, SIGIR 2010, Figure 1.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.aggregation import Majority
from ranking.judgments import FloatArray, IntArray, check_judgments

_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Curve:
    """Agreement with the truth of the majority vote of ``judges`` judges, n = 1, 2, …

    ``accuracy`` is over ``pairs`` pairs that so many judged, in the mean over random choices of
    judges; ``low`` and ``high`` are its 95 % interval over pairs. ``best`` is the judge with the
    highest share of right grades, ``best_accuracy``, of ``best_pairs``; None without a judge who
    judged enough.
    """

    judges: IntArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    pairs: IntArray
    best: int | None
    best_accuracy: float
    best_pairs: int


def crowd_curve(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    draws: int = 20,
    fewest: int = 5,
    rng: np.random.Generator | int = 0,
) -> Curve:
    """The curve of Figure 1 from judgments of pairs whose ``truth``, one per judgment, is known.

    For each n the judges of a pair are drawn without replacement, ``draws`` times. ``fewest`` pairs
    must have n judges, and the best judge must have judged as many. She is picked by the very
    grades she is measured on, which flatters her a little.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade, allow_empty=True)
    known = np.asarray(truth, dtype=np.int64)
    draw = np.random.default_rng(rng)
    rows = []
    number = np.bincount(np.unique(pairs, return_inverse=True)[1]) if len(pairs) else np.empty(0)
    for n in range(1, int(number.max(initial=0)) + 1):
        if np.sum(number >= n) < fewest:
            break
        right = _right(pairs, grades, known, (n, draws, draw))
        error = _Z95 * right.std(ddof=1) / np.sqrt(len(right)) if len(right) > 1 else np.nan
        rows.append((n, right.mean(), right.mean() - error, right.mean() + error, len(right)))
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    best = _best(judges, grades == known, fewest)
    return Curve(
        table[:, 0].astype(np.int64),
        table[:, 1],
        np.clip(table[:, 2], 0, 1),
        np.clip(table[:, 3], 0, 1),
        table[:, 4].astype(np.int64),
        *best,
    )


def _right(
    pair: IntArray, grade: IntArray, truth: IntArray, how: tuple[int, int, np.random.Generator]
) -> FloatArray:
    """For each pair with n judges: how often the majority of n of them, drawn, is right."""
    n, draws, rng = how
    names, row, size = np.unique(pair, return_inverse=True, return_counts=True)
    of_pair = np.zeros(len(names), dtype=np.int64)
    of_pair[row] = truth
    enough = size >= n
    hits = np.zeros(len(names))
    for _ in range(draws):
        order = np.lexsort((rng.random(len(row)), row))
        place = np.empty(len(row), dtype=np.int64)
        place[order] = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
        use = enough[row] & (place < n)
        vote = Majority().aggregate(row[use], place[use], grade[use])
        hits[vote.pair] += vote.grade == of_pair[vote.pair]
    return np.asarray(hits[enough] / draws)


def _best(
    judge: IntArray, right: npt.NDArray[np.bool_], fewest: int
) -> tuple[int | None, float, int]:
    names, who, n = np.unique(judge, return_inverse=True, return_counts=True)
    able = np.flatnonzero(n >= fewest)
    if not len(able):
        return None, float("nan"), 0
    share = np.bincount(who, weights=right, minlength=len(names)) / np.maximum(n, 1)
    first = able[np.lexsort((-n[able], -share[able]))[0]]
    return int(names[first]), float(share[first]), int(n[first])
