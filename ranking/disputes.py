"""Where judges differ: pair by pair and query by query."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.agreement.tally import codes, latest
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

#: A group with few pairs is held nearer to the average, as if so many average pairs were in it.
PRIOR_PAIRS = 3.0


@dataclass(frozen=True)
class Disputes:
    """Every pair with two judges or more, sorted by its id.

    ``apart`` is the mean distance in grades between two of its judges and ``equal`` the share of
    its couples of judges who said the same; ``low`` and ``high`` are its extreme grades.
    """

    pair: IntArray
    judgments: IntArray
    apart: FloatArray
    equal: FloatArray
    low: IntArray
    high: IntArray


def disputes(pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Disputes:
    """How far the judges of each pair lie apart: ``Σ_kl r_k r_l |k - l| / (m (m - 1))``.

    ``r_k`` of the ``m`` judges of a pair said ``k``; a judge counts once, with the latest grade.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade, allow_empty=True)
    if not len(pairs):
        none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
        return Disputes(none, none, nothing, nothing, none, none)
    names, row = np.unique(pairs, return_inverse=True)
    kept = latest(row, codes(judges)[0])
    if kept is not None:
        row, grades = row[kept], grades[kept]
    table = np.bincount(row * LEVELS + grades, minlength=len(names) * LEVELS)
    counts = table.reshape(-1, LEVELS)
    two = counts.sum(axis=1) > 1
    names, counts = names[two], counts[two]
    m = counts.sum(axis=1)
    level = np.arange(LEVELS)
    far = np.abs(level[:, None] - level)
    couples = m * (m - 1.0)
    given = counts > 0
    return Disputes(
        names,
        m,
        ((counts @ far) * counts).sum(axis=1) / couples,
        (counts * (counts - 1)).sum(axis=1) / couples,
        given.argmax(axis=1),
        LEVELS - 1 - given[:, ::-1].argmax(axis=1),
    )


def worst_groups(group: IntArray, apart: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Groups of pairs (queries) from worst to best: their ids, mean ``apart`` and pairs.

    The order is that of ``(Σ apart + 3 a) / (n + 3)`` with ``a`` the mean of all pairs, so that
    one unlucky pair does not put a query on top.
    """
    if not len(group):
        return group, apart, group
    names, row, n = np.unique(group, return_inverse=True, return_counts=True)
    total = np.bincount(row, weights=apart)
    shrunk = (total + PRIOR_PAIRS * apart.mean()) / (n + PRIOR_PAIRS)
    order = np.argsort(-shrunk, kind="stable")
    return names[order], (total / n)[order], n[order].astype(np.int64)
