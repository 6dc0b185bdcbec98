"""The average grade."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import count_grades
from ranking.aggregation.labels import Labels
from ranking.grades import LEVELS


@dataclass(frozen=True)
class Mean:
    """score = mean of the grades; label = the nearest grade, halves rounded up.

    Rounding is floor(mean + 1/2), reckoned in whole numbers so that no half is missed; up because
    a tie of two grades goes to the more relevant one in the majority vote as well.
    """

    name: ClassVar[str] = "mean"

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; the score is the mean."""
        unique, counts = count_grades(pair, judge, grade)
        number = counts.sum(axis=0)
        total = np.arange(LEVELS) @ counts
        return Labels(unique, (2 * total + number) // (2 * number), total / number)
