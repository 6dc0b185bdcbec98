"""What the model-based aggregators share: votes as a sparse matrix, and the loop of EM.

Votes are one row per pair and one column per (judge, grade said), so that for a table L with
``L[(w, j), i] = log P(w says j | truth i)`` the log-likelihoods of all pairs are one product
``votes @ L``, and the expected confusion counts of all judges are ``votes.T @ posterior``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ranking.aggregation.counting import relabel
from ranking.aggregation.labels import Labels
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

#: No expected count and no prior is taken to be smaller, so that nothing is ruled out for good.
FLOOR = 1e-10

#: From the posterior (pairs × 5) to ``chance[w, j, i]`` = P(w says j | truth i) and ``prior[i]``.
Maximise = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Votes:
    """Judgments ready for the models: sorted ids and the pairs × (judges·5) matrix of counts."""

    pair: IntArray
    judge: IntArray
    matrix: sparse.csr_array[np.float64]

    @cached_property
    def number(self) -> FloatArray:
        """How many judgments each pair has."""
        return np.asarray(self.matrix @ np.ones(self.matrix.shape[1]))

    @cached_property
    def alone(self) -> tuple[IntArray, IntArray]:
        """The rows of the pairs that have one judgment, and the grade it gave."""
        row = np.flatnonzero(self.number == 1)
        said = self.matrix.indices[self.matrix.indptr[row]] % LEVELS
        return row, said.astype(np.int64)

    def shares(self) -> FloatArray:
        """pairs × 5: the share of a pair's judgments that each grade has."""
        counts = self.matrix @ np.tile(np.eye(LEVELS), (len(self.judge), 1))
        counts /= self.number[:, None]
        return counts

    def tally(self, posterior: FloatArray) -> FloatArray:
        """judges × 5 said × 5 true: the expected number of judgments of each kind."""
        return np.asarray(self.matrix.T @ posterior).reshape(-1, LEVELS, LEVELS)

    def take_at_word(self, posterior: FloatArray) -> None:
        """Set the posterior of the pairs with one judgment to certainty that it is right.

        One judgment fits any truth with some mistake of its judge, so an EM that may choose both
        drifts; held at its word it neither drifts nor misleads the estimates of the judges.
        """
        row, said = self.alone
        posterior[row] = 0.0
        posterior[row, said] = 1.0


def cast_votes(pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike) -> Votes:
    """Check the judgments and lay them out; repeated (pair, judge, grade) rows are counted."""
    pairs, judges, grades = check_judgments(pair, judge, grade)
    judge_ids, cell = relabel(judges)
    cell *= LEVELS
    cell += grades
    pair_ids, row = relabel(pairs)
    columns, rows = cell.astype(np.int32), row.astype(np.int32)
    del cell, row
    shape = (len(pair_ids), len(judge_ids) * LEVELS)
    votes = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    return Votes(pair_ids, judge_ids, votes.tocsr())


def mean_row(table: FloatArray) -> FloatArray:
    """The mean over pairs, column by column: numpy sums a tall narrow table slowly, and a product
    with ones would wait for threads that a busy machine does not have."""
    return np.array([column.sum() for column in table.T]) / len(table)


def expect(votes: Votes, chance: FloatArray, prior: FloatArray) -> tuple[FloatArray, float]:
    """The posterior over the grades of every pair (pairs × 5), and the log-likelihood.

    A chance may be 0 only for a grade the judge never gives.
    """
    table = np.log(np.maximum(chance, np.finfo(np.float64).tiny)).reshape(-1, LEVELS)
    posterior = votes.matrix @ table
    posterior += np.log(np.maximum(prior, FLOOR))
    top = _over_columns(np.maximum, posterior)
    posterior -= top[:, None]
    np.exp(posterior, out=posterior)
    total = _over_columns(np.add, posterior)
    posterior /= total[:, None]
    return posterior, float(top.sum() + np.log(total, out=total).sum())


def _over_columns(combine: np.ufunc, table: FloatArray) -> FloatArray:
    """``combine.reduce(table, axis=1)``, faster, for few columns and many rows."""
    result = table[:, 0].copy()
    for column in table.T[1:]:
        combine(result, column, out=result)
    return result


def iterate(
    votes: Votes, maximise: Maximise, iterations: int, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Run EM from the vote shares; the last posterior as `expect` gave it, and the last chances.

    Pairs with one judgment teach what that judgment says. Stops early when the log-likelihood per
    judgment moves by no more than ``tolerance``.
    """
    enough = tolerance * float(votes.number.sum())
    posterior, fit = votes.shares(), -np.inf
    for _ in range(iterations):
        votes.take_at_word(posterior)
        chance, prior = maximise(posterior)
        last = fit
        posterior, fit = expect(votes, chance, prior)
        if abs(fit - last) <= enough:
            break
    return posterior, chance


def to_labels(votes: Votes, posterior: FloatArray, chance: FloatArray) -> Labels:
    """Labels from a posterior: the most probable grade (the lower of equals), and as score
    log2 Σ_g p_g·2^g, the grade whose gain 2^g − 1 is the expected gain.

    Sorting by that score maximises the expected DCG, which sorting by the expected grade does not.
    """
    score = np.log2(posterior @ np.exp2(np.arange(LEVELS)))
    return Labels(
        pair=votes.pair,
        grade=posterior.argmax(axis=1),
        score=np.clip(score, 0.0, LEVELS - 1.0),
        posterior=posterior,
        confusion=np.ascontiguousarray(chance.transpose(0, 2, 1)),
        judge=votes.judge,
    )


def require_settings(iterations: int, tolerance: float) -> None:
    """Raise unless the settings of `iterate` make sense."""
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1. Got {iterations} instead.")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be at least 0. Got {tolerance} instead.")
