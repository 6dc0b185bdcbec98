"""The middle grade."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import count_grades
from ranking.aggregation.labels import Labels, graded


@dataclass(frozen=True)
class Median:
    """label = the lower median: of n sorted grades, number ceil(n/2) counted from the lowest."""

    name: ClassVar[str] = "median"

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; the score is the grade."""
        unique, counts = count_grades(pair, judge, grade)
        upto = np.cumsum(counts, axis=0)
        # The median is the lowest grade that half of the judgments do not exceed.
        return graded(unique, np.argmax(2 * upto >= upto[-1], axis=0))
