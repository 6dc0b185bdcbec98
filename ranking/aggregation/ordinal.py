"""Ordinal: pooled confusion, per-judge attention, and deviations shrunk by how much a judge did."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.em import (
    Votes,
    cast_votes,
    iterate,
    mean_row,
    require_settings,
    to_labels,
)
from ranking.aggregation.labels import Labels
from ranking.grades import LEVELS
from ranking.judgments import FloatArray

#: How close another grade may come, in the posterior, to the one that all judges of a pair gave.
_CLOSE = 0.99


@dataclass(frozen=True)
class Ordinal:
    """The default: Dawid-Skene's posterior from judges who borrow from each other.

    A judgment is either attentive, with probability a_w, and then follows the confusion matrix P
    that all judges share, or it follows the habit h_w of its judge whatever the truth:

      T_w[i, j] = a_w·P[i, j] + (1 − a_w)·h_w[j]
      C_w[i, j] = (n_w[i, j] + shrink·T_w[i, j]) / (n_w[i] + shrink)

    n_w are the expected counts of judge w, so a judge who did much has a matrix of his own and a
    judge who did little has nearly T_w. P has a Dirichlet prior of ``pool_weight`` judgments a row
    that falls off as ``falloff``^|i − j| (this is where the order of the grades comes in), a_w a
    uniform prior; h_w is drawn to the common habit of all judges by ``habit_weight`` judgments. The
    attention of the average judge is not learnt: with a hundred pairs it fell to nothing, and all
    agreement with it.

    The prior over grades is π = λ·(mean posterior) + (1 − λ)·(share of each grade among the
    judgments, averaged over pairs), λ = 1 − pairs/judgments = the share of judgments that are
    second opinions: freely learnt where pairs overlap much, and never where it cannot be learnt.
    A uniform π, the simpler choice, breaks down where grades are far from uniform, as they are in
    most search data: it splits Bad among the other grades.

    Guards: a pair with one judgment teaches what it says (`Votes.take_at_word`), and where all the
    judgments of a pair agree no grade is more probable than that one, so that the label is what was
    said; the score still tells how much its judges are worth.

    Related: Hovy et al., "Learning whom to trust with MACE", NAACL 2013 (attention and habit, with
    attentive judges always right); Kim, Ghahramani, "Bayesian classifier combination", AISTATS 2012
    (Dirichlet priors on confusion).
    """

    iterations: int = 30
    tolerance: float = 1e-6
    shrink: float = 10.0
    pool_weight: float = 100.0
    falloff: float = 0.35
    habit_weight: float = 5.0
    name: ClassVar[str] = "ordinal"

    def __post_init__(self) -> None:
        require_settings(self.iterations, self.tolerance)
        for setting in ("shrink", "pool_weight", "habit_weight"):
            if not getattr(self, setting) > 0:
                raise ValueError(
                    f"{setting} must be positive. Got {getattr(self, setting)} instead."
                )
        if not 0 < self.falloff < 1:
            raise ValueError(f"falloff must lie between 0 and 1. Got {self.falloff} instead.")

    def aggregate(self, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Labels:
        """See :class:`~ranking.aggregation.labels.Aggregator`; with posterior and confusion."""
        votes = cast_votes(pair, judge, grade)
        fit = _Fit(self, votes)
        posterior, chance = iterate(votes, fit.maximise, self.iterations, self.tolerance)
        _keep_unanimous(votes, posterior)
        return to_labels(votes, posterior, chance)


@dataclass(eq=False)
class _Fit:
    """What is believed about the judges between two steps. Tables are [judge,] said, true."""

    settings: Ordinal
    votes: Votes
    ladder: FloatArray = field(init=False)
    pool: FloatArray = field(init=False)
    attention: FloatArray = field(init=False)
    habit: FloatArray = field(init=False)
    said: FloatArray = field(init=False)
    overlap: float = field(init=False)

    def __post_init__(self) -> None:
        judges, levels = len(self.votes.judge), np.arange(LEVELS)
        steps = self.settings.falloff ** np.abs(levels[:, None] - levels)
        self.ladder = self.pool = steps / steps.sum(axis=0)
        self.attention = np.full(judges, 0.5)
        self.habit = np.full((judges, LEVELS), 1 / LEVELS)
        self.said = mean_row(self.votes.shares())
        self.overlap = 1 - len(self.votes.pair) / float(self.votes.number.sum())

    def maximise(self, posterior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """One step of the inner EM over attention, then the shrunk matrices and the prior."""
        tally = self.votes.tally(posterior)
        self._attend(tally)
        weighted = tally + self.settings.shrink * self._target()
        prior = self.overlap * mean_row(posterior) + (1 - self.overlap) * self.said
        return weighted / weighted.sum(axis=1, keepdims=True), prior

    def _target(self) -> FloatArray:
        """T: what a judge is expected to do before his own matrix is looked at."""
        attentive = self.attention[:, None, None] * self.pool
        return attentive + ((1 - self.attention)[:, None] * self.habit)[:, :, None]

    def _attend(self, tally: FloatArray) -> None:
        """Split every count into attentive and habitual, and learn from each part its own."""
        attentive = tally * (self.attention[:, None, None] * self.pool) / self._target()
        habitual = (tally - attentive).sum(axis=2)
        number, common = habitual.sum(axis=1), habitual.sum(axis=0) + 1
        drawn = habitual + self.settings.habit_weight * common / common.sum()
        self.habit = drawn / (number + self.settings.habit_weight)[:, None]
        looked = attentive.sum(axis=(1, 2))
        self.attention = (looked + 1) / (looked + number + 2)
        pooled = attentive.sum(axis=0) + self.settings.pool_weight * self.ladder
        self.pool = pooled / pooled.sum(axis=0)


def _keep_unanimous(votes: Votes, posterior: FloatArray) -> None:
    """Cap the other grades of unanimously judged pairs just below the grade that was said."""
    shares = votes.shares()
    row, said = np.nonzero(shares == 1)
    kept = posterior[row, said]
    capped = np.minimum(posterior[row], _CLOSE * kept[:, None])
    capped[np.arange(len(row)), said] = kept
    posterior[row] = capped / capped.sum(axis=1, keepdims=True)
