"""Dawid-Skene: every judge has a confusion matrix of his own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.em import (
    FLOOR,
    cast_votes,
    iterate,
    mean_row,
    require_settings,
    to_labels,
)
from ranking.aggregation.labels import Labels
from ranking.judgments import FloatArray


@dataclass(frozen=True)
class DawidSkene:
    """P(truth i | judgments) ∝ π_i · Π_w C_w[i, said by w], with π and every C_w learnt by EM.

    Maximum likelihood, started from the vote shares: C_w[i, j] = (expected judgments j of w where
    the truth is i) / (expected judgments of w where the truth is i), no count below 1e-10;
    π = mean posterior. A row for which a judge has no evidence is uniform over the grades he uses.

    Guard: a pair with one judgment keeps it, with certainty (see `Votes.take_at_word`). Where every
    pair has two judgments or more this changes nothing, and labels equal crowd-kit's.

    Use it when judges do much and pairs have several judgments; `ordinal` needs less of both.

    Reference: Dawid, Skene, "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28(1), 1979.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    name: ClassVar[str] = "dawid-skene"

    def __post_init__(self) -> None:
        require_settings(self.iterations, self.tolerance)

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; with posterior and confusion."""
        votes = cast_votes(pair, judge, grade)

        def maximise(posterior: FloatArray) -> tuple[FloatArray, FloatArray]:
            return _chances(votes.tally(posterior)), mean_row(posterior)

        posterior, chance = iterate(votes, maximise, self.iterations, self.tolerance)
        votes.take_at_word(posterior)
        return to_labels(votes, posterior, chance)


def _chances(tally: FloatArray) -> FloatArray:
    """judges × 5 said × 5 true, every column a distribution over the grades the judge uses."""
    used = tally.sum(axis=2, keepdims=True) > 0
    floored = np.maximum(tally, FLOOR * used)
    return np.asarray(floored / floored.sum(axis=1, keepdims=True))
