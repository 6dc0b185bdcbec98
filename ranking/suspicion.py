"""Judges who do not judge: random clickers, one-grade clickers and copiers.

Everything is told from the judgments alone. A judge who is merely harsh, generous or less skilled
is not suspected: she still follows what others see, only from another place.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import bdtrc
from scipy.stats import norm

from ranking.agreement import pairwise_kappa
from ranking.agreement.tally import codes, latest
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments
from ranking.others import others

#: With fewer judgments that others judged too, nobody is suspected.
FEWEST = 20
#: Judges who share fewer pairs are not held against each other.
FEWEST_SHARED = 8
#: How sure it has to be, over all judges or all couples of judges together.
LEVEL = 0.05
#: Random: she follows the others less than half as well as the judge in the middle does, and surely
#: less than nine tenths as well.
HALF, SURELY = 0.5, 0.9
#: How often the grades are put on the scale of what the others say when one says them.
SCALINGS = 2
#: A judge counts among the others by how well she follows them, and never for nothing.
LEAST_R, MOST_R = 0.02, 0.95
#: Constant: nearly all her grades are one and the same.
NEARLY_ALL = 0.9
#: Copiers: kappa of the two. Careful people hardly reach it on five grades.
NEARLY_ONE = 0.9


@dataclass(frozen=True)
class Suspect:
    """A judge and why she is suspected.

    ``kind`` is ``"random"``, ``"constant"`` or ``"copier"``. ``value`` is what was seen and
    ``expected`` what an honest judge would show: for random the correlation of her grades with
    those of the others, and that of the judge in the middle; for constant the share of her one
    grade ``grade``, and its share among the others on the same pairs; for a copier the share of
    equal grades with judge ``other``, and what their agreement with the rest lets expect. ``n``
    counts the judgments, or shared pairs, behind it, and ``p`` is the chance of as much by luck.
    """

    judge: int
    kind: str
    value: float
    expected: float
    n: int
    p: float
    grade: int | None = None
    other: int | None = None


def suspects(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    held: npt.ArrayLike | None = None,
) -> list[Suspect]:
    """Judges who grade at random, always alike, or like another judge: sorted by judge.

    - *constant*: at least 90 % of her grades are one grade, and a binomial test says that it is
      more than the others gave it on the same pairs;
    - *random*: the correlation ``r`` of her grades with the mean of the others lies below half the
      median ``r`` of all judges, and surely (Fisher's z) below nine tenths of it. Grades are scored
      by what the others say in the mean where one says them, so that a crowd which confuses
      Perfect and Good still tells them from Bad; and the others count by ``r / (1 − r²)`` of a
      first round, so that spammers hide nobody;
    - *copier*: she and another judge agree with a kappa of at least 0.9, and surely (binomial test)
      more often than their agreement with the rest lets expect, ``a_i a_j / ā``.

    ``held`` marks the judgments that are held against the others in *random*; without it all are. A
    judgment that decided whether others are asked follows them less well than theirs do, and is no
    fault of who gave it.

    Each judge is suspected of one thing, in this order. A judge needs 20 judgments of pairs that
    others judged too, a couple 8 shared pairs. Levels are corrected for the number of tests.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade, allow_empty=True)
    if not len(pairs):
        return []
    names, who = np.unique(judges, return_inverse=True)
    mask = np.ones(len(pairs), bool) if held is None else np.asarray(held, dtype=np.bool_)
    view = _View(pairs, who, grades, len(names), mask)
    found = {suspect.judge: suspect for suspect in (*view.constant(), *view.random())}
    for suspect in view.copiers(set(found)):
        found.setdefault(suspect.judge, suspect)
    return [_named(found[index], names) for index in sorted(found)]


class _View:
    """The judgments from each judge's side; judges are 0, 1, 2, …"""

    def __init__(
        self,
        pair: IntArray,
        who: IntArray,
        grade: IntArray,
        size: int,
        held: npt.NDArray[np.bool_],
    ) -> None:
        self.size = size
        row, self.pairs = codes(pair)
        kept = latest(row, who)
        rest = others(pair, who, grade)
        self.row, self.who, self.grade = (
            values if kept is None else values[kept] for values in (row, who, grade)
        )
        self.held = held if kept is None else held[kept]
        use = rest.compared
        self.compared = (row[use], who[use], grade[use], rest.number[use])

    def constant(self) -> list[Suspect]:
        row, who, grade, number = self.compared
        hers = np.bincount(who * LEVELS + grade, minlength=self.size * LEVELS)
        hers = hers.reshape(self.size, LEVELS)
        total = hers.sum(axis=1)
        favourite = hers.argmax(axis=1)
        given = np.bincount(row * LEVELS + grade, minlength=self.pairs * LEVELS)
        of_favourite = given[row * LEVELS + favourite[who]] - (grade == favourite[who])
        share = _per_judge(who, of_favourite / number, self.size)
        found = []
        for index in np.flatnonzero(total >= FEWEST):
            n, times = int(total[index]), int(hers[index, favourite[index]])
            p = _at_least(times, n, share[index])
            if times >= NEARLY_ALL * n and p < LEVEL / self.size:
                about = (times / n, float(share[index]), n, p, int(favourite[index]))
                found.append(Suspect(int(index), "constant", *about))
        return found

    def random(self) -> list[Suspect]:
        r, n = self._follows()
        able = np.flatnonzero((n >= FEWEST) & ~np.isnan(r))
        if not len(able):
            return []
        usual = float(np.median(r[able]))
        below = np.arctanh(SURELY * usual) - np.arctanh(r[able])
        p = norm.sf(below * np.sqrt(np.maximum(n[able] - 3, 1)))
        return [
            Suspect(int(index), "random", float(r[index]), usual, int(n[index]), float(chance))
            for index, chance in zip(able, p, strict=True)
            if r[index] < HALF * usual and chance < LEVEL / self.size
        ]

    def _follows(self) -> tuple[FloatArray, IntArray]:
        """How well each judge's grades follow those of the others: r, and over how many."""
        alone = np.ones(len(self.row))
        score = self.grade.astype(np.float64)
        for _ in range(SCALINGS):
            use, mean = self._rest(score, alone)
            score = _per_judge(self.grade[use], mean, LEVELS)[self.grade]
        r = np.clip(np.nan_to_num(self._correlated(score, alone)[0]), LEAST_R, MOST_R)
        return self._correlated(score, (r / (1 - r**2))[self.who])

    def _correlated(self, score: FloatArray, weight: FloatArray) -> tuple[FloatArray, IntArray]:
        use, mean = self._rest(score, weight)
        held = self.held[use]
        use, mean = use[held], mean[held]
        n = np.bincount(self.who[use], minlength=self.size)
        return _correlations(self.who[use], score[use], mean, self.size), n

    def _rest(self, value: FloatArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
        """The judgments of pairs that others judged too, and the others' mean of each."""
        use = np.flatnonzero(np.bincount(self.row, minlength=self.pairs)[self.row] > 1)
        whole, sums = (
            np.bincount(self.row, weights=w, minlength=self.pairs) for w in (weight, weight * value)
        )
        row, own = self.row[use], weight[use]
        return use, (sums[row] - own * value[use]) / (whole[row] - own)

    def copiers(self, known: set[int]) -> list[Suspect]:
        shared, equal = self._couples()
        free = np.array([index not in known for index in range(self.size)])
        kappa = pairwise_kappa(self.row, self.who, self.grade).kappa
        alike = (shared >= FEWEST_SHARED) & free[:, None] & free & (kappa >= NEARLY_ONE)
        tests = max(int(np.sum(np.triu(shared >= FEWEST_SHARED, 1))), 1)
        expected = _expected(shared, equal)
        found = []
        for one, two in zip(*np.nonzero(alike), strict=True):
            n, times = int(shared[one, two]), int(equal[one, two])
            p = _at_least(times, n, expected[one, two])
            if p < LEVEL / tests:
                about = (times / n, float(expected[one, two]), n, p)
                found.append(Suspect(int(one), "copier", *about, other=int(two)))
        return sorted(found, key=lambda suspect: suspect.p)

    def _couples(self) -> tuple[FloatArray, FloatArray]:
        """Judges × judges: the pairs both judged, and those both gave the same grade."""
        shape, ones = (self.pairs, self.size), np.ones(len(self.row))
        seen = csr_array((ones, (self.row, self.who)), shape=shape)
        equal = np.zeros((self.size, self.size))
        for level in range(LEVELS):
            at = self.grade == level
            said = csr_array((ones[at], (self.row[at], self.who[at])), shape=shape)
            equal += (said.T @ said).toarray()
        shared = (seen.T @ seen).toarray()
        np.fill_diagonal(shared, 0)
        np.fill_diagonal(equal, 0)
        return shared, equal


def _expected(shared: FloatArray, equal: FloatArray) -> FloatArray:
    """How often two judges should agree, by how often each agrees with everybody else."""
    rest, agreed = (table.sum(axis=1)[:, None] - table for table in (shared, equal))
    overall = equal.sum() / max(shared.sum(), 1)
    own = np.divide(agreed, rest, out=np.full_like(rest, overall), where=rest > 0)
    product = own * own.T / max(overall, 1e-9)
    return np.asarray(np.clip(np.maximum(product, np.maximum(own, own.T)), 0.01, 0.97))


def _correlations(who: IntArray, x: FloatArray, y: FloatArray, size: int) -> FloatArray:
    """Pearson's r of each judge's rows; ``nan`` where one of the two never changes."""
    dx = x - _per_judge(who, x, size)[who]
    dy = y - _per_judge(who, y, size)[who]
    xy, xx, yy = (np.bincount(who, weights=w, minlength=size) for w in (dx * dy, dx * dx, dy * dy))
    scale = np.sqrt(xx * yy)
    r = np.divide(xy, scale, out=np.full(size, np.nan), where=scale > 1e-9)
    return np.asarray(np.clip(r, -0.999, 0.999))


def _per_judge(who: IntArray, values: FloatArray, size: int) -> FloatArray:
    """The mean of each judge's rows (or each grade's), 0 where there are none."""
    n = np.maximum(np.bincount(who, minlength=size), 1)
    return np.asarray(np.bincount(who, weights=values, minlength=size) / n)


def _at_least(times: int, n: int, share: float) -> float:
    """The chance of so many successes or more."""
    return float(bdtrc(times - 1, n, share)) if times else 1.0


def _named(suspect: Suspect, names: IntArray) -> Suspect:
    """With the ids that came in."""
    other = None if suspect.other is None else int(names[suspect.other])
    fields = {**vars(suspect), "judge": int(names[suspect.judge]), "other": other}
    return Suspect(**fields)
