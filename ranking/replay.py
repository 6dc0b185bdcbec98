"""A scheme on judgments that were made under another one: what it would have asked for.

The grades of each pair are dealt to the scheme in the order they came. The same scheme objects
route live, so a campaign replayed under its own scheme gives back its own cost.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.grades import GOOD, LEVELS
from ranking.judgments import IntArray, check_judgments
from ranking.schemes import IfGoodWeighted, Scheme

#: Stands behind the last grade of a pair that has fewer judgments than another.
_NONE = LEVELS


@dataclass(frozen=True)
class Replay:
    """What one scheme would have cost.

    ``judgments`` are those it would have used of the ones there are. ``short`` counts the pairs
    for which it wanted more than were made, and ``missing`` how many more at least: while it is
    above 0 the cost is a lower bound. ``good`` and ``fair`` are the weighted training rows when
    every judgment is one.
    """

    pairs: int
    judgments: int
    short: int
    missing: int
    good: float
    fair: float

    @property
    def labelling(self) -> float:
        """Judgments per pair."""
        return self.judgments / self.pairs

    @property
    def training(self) -> float:
        """Training rows per pair, weights counted."""
        return (self.good + self.fair) / self.pairs

    @property
    def ratio(self) -> float:
        """Fair- : Good+ of the training rows; ``nan`` without a Good+ row."""
        return self.fair / self.good if self.good else float("nan")


def replay(pair: npt.ArrayLike, grade: npt.ArrayLike, scheme: Scheme) -> Replay:
    """Deal the judgments of every pair, in the order of the rows, to a scheme."""
    histories, freq = histories_of(pair, grade)
    return replay_histories(histories, freq, scheme)


def histories_of(pair: npt.ArrayLike, grade: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """The distinct sequences of grades, padded with 5, and how many pairs have each.

    There are few of them however many pairs there are: several schemes can be tried on them at
    next to no cost.
    """
    pairs, _, grades = check_judgments(pair, pair, grade)
    order = np.argsort(pairs, kind="stable")
    sorted_pairs, sorted_grades = pairs[order], grades[order]
    starts = np.flatnonzero(np.r_[True, sorted_pairs[1:] != sorted_pairs[:-1]])
    number = np.diff(np.r_[starts, len(pairs)])
    table = np.full((len(starts), int(number.max())), _NONE, dtype=np.uint8)
    row = np.repeat(np.arange(len(starts)), number)
    table[row, np.arange(len(pairs)) - np.repeat(starts, number)] = sorted_grades
    spelt = table.view(np.dtype((np.void, table.shape[1]))).ravel()
    _, first, freq = np.unique(spelt, return_index=True, return_counts=True)
    return table[first].astype(np.int64), freq.astype(np.int64)


def replay_histories(histories: IntArray, freq: IntArray, scheme: Scheme) -> Replay:
    """:func:`replay` of sequences that :func:`histories_of` found."""
    judgments = short = missing = 0
    good = fair = 0.0
    weight = scheme.theta if isinstance(scheme, IfGoodWeighted) else 1.0
    for history, times in zip(histories.tolist(), freq.tolist(), strict=True):
        grades = [grade for grade in history if grade != _NONE]
        used = _used(grades, scheme)
        judgments += times * used
        relevant = sum(grade >= GOOD for grade in grades[:used])
        good += times * weight * relevant
        fair += times * (used - relevant)
        if used == len(grades) and scheme.wants_more(grades):
            short += times
            missing += times * (scheme.wanted(grades) - used)
    return Replay(int(freq.sum()), judgments, short, missing, good, fair)


def _used(grades: list[int], scheme: Scheme) -> int:
    used = 0
    while used < len(grades) and scheme.wants_more(grades[:used]):
        used += 1
    return used
