"""What every aggregator gives back, and what every aggregator can do."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ranking.judgments import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per pair.

    ``pair``: the ids, sorted, each once. ``grade``: the label, 0 (Bad) to 4 (Perfect). ``score``: a
    number between 0 and 4 to sort by, finer than the grade where the method can tell.
    ``posterior``: pairs × 5, the probability of every grade, or None where the method has none.
    ``confusion``: judges × 5 × 5, ``confusion[w, i, j]`` = P(judge ``judge[w]`` says j | truth i),
    or None; ``judge``: the sorted ids of its first axis.
    """

    pair: IntArray
    grade: IntArray
    score: FloatArray
    posterior: FloatArray | None = None
    confusion: FloatArray | None = None
    judge: IntArray | None = None

    def __len__(self) -> int:
        return len(self.pair)


class Aggregator(Protocol):
    """A way to turn the judgments of a pair into its label."""

    name: ClassVar[str]

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """The label of every pair that has a judgment.

        The three arrays have the same length and are in time order; ids are any integers. Raises
        ``ValueError`` for unequal lengths, grades outside 0…4 and no judgment at all.
        """


def graded(pair: IntArray, grade: npt.NDArray[np.integer]) -> Labels:
    """Labels whose score is the grade itself."""
    return Labels(pair, grade.astype(np.int64), grade.astype(np.float64))
