"""One-coin: every judge has one number, how often he is right."""

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
from ranking.grades import LEVELS
from ranking.judgments import FloatArray


@dataclass(frozen=True)
class OneCoin:
    """P(w says j | truth i) = s_w if i = j, else (1 − s_w)/4, with every skill s_w learnt by EM.

    s_w = mean posterior of what w said. The prior over the grades is uniform, as in the reference;
    ``learn_prior=True`` learns it as crowd-kit does. Learning it is off because with two or three
    judgments a pair the learnt prior takes everything: 0.33 instead of 0.64 of labels were right
    on the five-grade web judgments with two judgments a pair.

    Guard: a pair with one judgment keeps it, with certainty (see `Votes.take_at_word`).

    Use it when judges do little each, too little for a confusion matrix, and differ in care.

    Reference: Zhang, Chen, Zhou, Jordan, "Spectral methods meet EM: a provably optimal algorithm
    for crowdsourcing", JMLR 17, 2016.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    learn_prior: bool = False
    name: ClassVar[str] = "one-coin"

    def __post_init__(self) -> None:
        require_settings(self.iterations, self.tolerance)

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; with posterior and confusion."""
        votes = cast_votes(pair, judge, grade)
        uniform = np.full(LEVELS, 1 / LEVELS)

        def maximise(posterior: FloatArray) -> tuple[FloatArray, FloatArray]:
            prior = mean_row(posterior) if self.learn_prior else uniform
            return _chances(votes.tally(posterior)), prior

        posterior, chance = iterate(votes, maximise, self.iterations, self.tolerance)
        votes.take_at_word(posterior)
        return to_labels(votes, posterior, chance)


def _chances(tally: FloatArray) -> FloatArray:
    """judges × 5 said × 5 true, from each judge's share of right judgments."""
    skill = np.einsum("wii->w", tally) / tally.sum(axis=(1, 2))
    skill = np.clip(skill, (LEVELS - 1) * FLOOR, 1 - (LEVELS - 1) * FLOOR)
    chance = np.empty_like(tally)
    chance[:] = ((1 - skill) / (LEVELS - 1))[:, None, None]
    chance[:, np.arange(LEVELS), np.arange(LEVELS)] = skill[:, None]
    return chance
