"""Judgments counted by kind of pair: all that the coefficients need to know.

Two pairs with the same number of judgments of every grade are alike to every coefficient. There
are few such kinds (126 for five judges and five grades) however many pairs there are, so the
formulas and their resamples work on kinds and not on pairs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

#: Whole numbers up to here are exact as floats.
_EXACT = 2**53


@dataclass(frozen=True)
class Tally:
    """How many pairs (``freq``) have which number of judgments per grade (``counts``)."""

    counts: FloatArray
    freq: IntArray
    one_judge: bool

    @property
    def reason(self) -> str:
        """Why no agreement can be computed, or nothing."""
        if self.one_judge:
            return "There is only one judge."
        return "" if self.pairs else "No pair was judged by two judges."

    @property
    def overlapping(self) -> npt.NDArray[np.bool_]:
        """The kinds with at least two judgments."""
        return np.asarray(self.counts.sum(axis=1) >= 2)

    @property
    def pairs(self) -> int:
        """Pairs with at least two judgments."""
        return int(self.freq[self.overlapping].sum())

    @property
    def judgments(self) -> int:
        """Judgments of pairs with at least two."""
        two = self.overlapping
        return int(self.freq[two] @ self.counts[two].sum(axis=1))


def tally(pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Tally:
    """Count checked judgments by kind of pair, each judge of a pair once, with the latest grade."""
    pairs, judges, grades = check_judgments(pair, judge, grade)
    one_judge = bool(judges.min() == judges.max())
    row, _ = codes(pairs)
    kept = latest(row, codes(judges)[0])
    if kept is not None:
        row, grades = row[kept], grades[kept]
    counts, freq = _kinds(row, grades)
    return Tally(counts, freq, one_judge)


def codes(ids: IntArray) -> tuple[IntArray, int]:
    """Small non-negative codes for ids and their number; ids in a narrow range are only shifted."""
    low = int(ids.min())
    size = int(ids.max()) - low + 1
    if size <= 4 * len(ids) + 1024:
        return (ids - low if low else ids), size
    names, code = np.unique(ids, return_inverse=True)
    return code, len(names)


def latest(pair: IntArray, judge: IntArray) -> npt.NDArray[np.bool_] | None:
    """Which rows no later row of the same pair and judge replaces; None when that is all of them.

    ``pair`` and ``judge`` are codes. Repeats are rare, so they are looked for by sorting the bare
    keys, which is several times as fast as sorting rows, and rows are sorted only to drop some.
    """
    judges = int(judge.max()) + 1
    key = pair * judges + judge
    narrow = (int(pair.max()) + 1) * judges < 2**31
    ordered = np.sort(key.astype(np.int32) if narrow else key)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    rows = np.argsort(key, kind="stable")
    repeated = key[rows[1:]] == key[rows[:-1]]
    kept = np.ones(len(key), dtype=np.bool_)
    kept[rows[:-1][repeated]] = False
    return kept


def _kinds(row: IntArray, grade: IntArray) -> tuple[FloatArray, IntArray]:
    """The distinct counts per grade and how many pairs have them."""
    base = int(np.bincount(row).max()) + 1
    if base**LEVELS > _EXACT:
        table = np.bincount(row * LEVELS + grade, minlength=(int(row.max()) + 1) * LEVELS)
        counts, freq = np.unique(table.reshape(-1, LEVELS), axis=0, return_counts=True)
        judged = counts.any(axis=1)
        return counts[judged].astype(np.float64), freq[judged]
    # One number per pair spells its counts: digit g in this base counts the judgments of grade g.
    spelt = np.bincount(row, weights=(float(base) ** np.arange(LEVELS))[grade]).astype(np.int64)
    if base**LEVELS <= 4 * len(row) + 1024:
        found = np.bincount(spelt)
        found[0] = 0
        kind = np.flatnonzero(found)
        freq = found[kind]
    else:
        kind, freq = np.unique(spelt[spelt > 0], return_counts=True)
    digits = kind[:, None] // base ** np.arange(LEVELS) % base
    return digits.astype(np.float64), freq
