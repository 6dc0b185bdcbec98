"""Does one judge use the grades as others do? The test behind the featured-judges figure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from ranking.grades import LEVELS
from ranking.judgments import IntArray, check_judgments


@dataclass(frozen=True)
class DistributionTest:
    """Chi-square test of two histograms of grades.

    ``effect`` is Cramér's V, from 0 (same shares) to 1 (no grade in common). ``counts`` has the
    judge's histogram in row 0 and the reference's in row 1. ``smallest_expected`` below 5 means
    that the p-value is rough. ``reason`` says why the test is undefined, and is empty otherwise.
    """

    statistic: float
    p: float
    dof: int
    effect: float
    counts: IntArray
    smallest_expected: float
    reason: str = ""


def distribution_test(
    judge_grades: npt.ArrayLike, reference_grades: npt.ArrayLike
) -> DistributionTest:
    """Whether two sets of grades have the same shares of Bad … Perfect.

    ``χ² = Σ (observed - expected)² / expected`` over the 2 × 5 table without the grades nobody
    used, ``expected = row total · column total / N``, with (grades used - 1) degrees of
    freedom;
    ``V = √(χ² / N)``. The two sets need not have the same size. When the reference is the majority
    vote of the *same* pairs the sets are positively related, which makes the test conservative:
    a difference it finds is there. ``nan`` when only one grade was used by both.

    References: K. Pearson 1900; H. Cramér, *Mathematical Methods of Statistics*, 1946,
    section 21.9.
    """
    counts = np.stack([_histogram(judge_grades), _histogram(reference_grades)])
    used = counts[:, counts.any(axis=0)].astype(np.float64)
    n = used.sum()
    expected = np.outer(used.sum(axis=1), used.sum(axis=0)) / n
    smallest = float(expected.min())
    dof = used.shape[1] - 1
    if dof == 0:
        nan = float("nan")
        reason = "Both used one and the same grade only."
        return DistributionTest(nan, nan, 0, nan, counts, smallest, reason)
    statistic = float(((used - expected) ** 2 / expected).sum())
    p = float(chdtrc(dof, statistic))
    return DistributionTest(statistic, p, dof, float(np.sqrt(statistic / n)), counts, smallest)


def _histogram(grades: npt.ArrayLike) -> IntArray:
    values = np.asarray(grades)
    _, _, checked = check_judgments(np.arange(values.size), np.arange(values.size), values)
    return np.bincount(checked, minlength=LEVELS).astype(np.int64)
