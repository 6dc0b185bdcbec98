"""The first judgment alone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import relabel
from ranking.aggregation.labels import Labels, graded
from ranking.judgments import check_judgments


@dataclass(frozen=True)
class First:
    """label = the grade given first; later judgments are ignored. The baseline of every scheme."""

    name: ClassVar[str] = "first"

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; the score is the grade."""
        pairs, _, grades = check_judgments(pair, judge, grade)
        unique, index = relabel(pairs)
        label = np.empty(len(unique), dtype=np.int64)
        # The last of several writes to one place stays, so writing backwards keeps the first.
        label[index[::-1]] = grades[::-1]
        return graded(unique, label)
