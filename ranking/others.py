"""What the other judges of a pair say: the measure of one judge who has no gold to be held against.

Reference: Niu, Lan, Guo, Cheng, Geng, SIGIR 2014, and Yang, Mityagin, Svore, Markov, SIGIR 2010,
Figure 2, both of which hold a judge against what others said of the same pairs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.aggregation.majority import most_frequent
from ranking.agreement.tally import codes, latest
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments


@dataclass(frozen=True)
class Others:
    """For every judgment, what the other judges of its pair say.

    ``compared`` marks the judgments that have others and that no later one of the same judge and
    pair replaces. Elsewhere ``number`` is 0, ``mean`` is ``nan`` and ``majority`` is -1.
    """

    compared: npt.NDArray[np.bool_]
    number: IntArray
    mean: FloatArray
    majority: IntArray


def others(pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Others:
    """Leave-one-out consensus: mean and majority vote of each pair's other judges.

    The majority is that of :class:`~ranking.aggregation.majority.Majority`, ties and all. A judge
    who judged a pair more than once counts once, with the latest grade.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade, allow_empty=True)
    if not len(pairs):
        nothing = np.empty(0, dtype=np.int64)
        return Others(nothing > 0, nothing, nothing.astype(np.float64), nothing)
    row, size = codes(pairs)
    kept = latest(row, codes(judges)[0])
    if kept is None:
        kept = np.ones(len(row), dtype=np.bool_)
    counts = np.bincount(row[kept] * LEVELS + grades[kept], minlength=size * LEVELS)
    rest = counts.reshape(size, LEVELS)[row]
    rest[np.arange(len(row)), grades] -= kept
    number = np.where(kept, rest.sum(axis=1), 0)
    compared = number > 0
    mean = np.full(len(row), np.nan)
    np.divide(rest @ np.arange(LEVELS), number, out=mean, where=compared)
    majority = np.where(compared, most_frequent(np.ascontiguousarray(rest.T)), -1)
    return Others(compared, number, mean, majority.astype(np.int64))
