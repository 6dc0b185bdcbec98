"""The most relevant grade anybody gave."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import count_grades
from ranking.aggregation.labels import Labels, graded
from ranking.grades import LEVELS


@dataclass(frozen=True)
class Highest:
    """label = max of the grades.

    Reference: Yang, Mityagin, Svore, Markov, SIGIR 2010 (there highest-k).
    """

    name: ClassVar[str] = "highest"

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; the score is the grade."""
        unique, counts = count_grades(pair, judge, grade)
        return graded(unique, LEVELS - 1 - np.argmax(counts[::-1] > 0, axis=0))
