"""The most frequent grade."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import count_grades
from ranking.aggregation.labels import Labels, graded
from ranking.grades import LEVELS
from ranking.judgments import IntArray


@dataclass(frozen=True)
class Majority:
    """label = the most frequent grade; of m tied grades, sorted from most to least relevant, number
    ceil(m/2) counted from 1.

    {G, G, F, F, B} → Good; {P, E, G} → Excellent; {P, E, G, F} → Excellent.

    Reference: Yang, Mityagin, Svore, Markov, SIGIR 2010 (there mv-k).
    """

    name: ClassVar[str] = "majority"

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; the score is the grade."""
        unique, counts = count_grades(pair, judge, grade)
        return graded(unique, most_frequent(counts))


def most_frequent(counts: IntArray) -> npt.NDArray[np.int8]:
    """The winning grade of every column of a 5 × pairs table of counts, ties as above."""
    tied = (counts == counts.max(axis=0)).view(np.int8)
    place = (tied.sum(axis=0, dtype=np.int8) + 1) // 2
    # Walking down from Perfect, the label is where the place-th tied grade is met: it lies as far
    # below Perfect as there are grades at which fewer than that many have been seen.
    seen = np.zeros_like(place)
    label: npt.NDArray[np.int8] = np.full_like(place, LEVELS - 1)
    for row in tied[:0:-1]:
        seen += row
        label -= (seen < place).view(np.int8)
    return label
