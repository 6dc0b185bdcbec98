"""What is believed of the judges and of grades at large: enough for the posterior of any pair.

A full fit takes all judgments; the posterior of the few documents of one query then takes theirs
alone. So a router can look at a query again after every answer.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranking.aggregation import Ordinal
from ranking.aggregation.em import Votes, cast_votes, expect, mean_row
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments
from ranking.paying.policy import next_judge

#: Judge, truth and grade of judgments whose truth is known.
Known: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]

#: No probability is taken to be smaller, so that nothing is ruled out for good.
_FLOOR = 1e-10
#: How close another grade may come to the one that all judges of a pair gave, as in ``ordinal``.
_CLOSE = 0.99
#: A pair with one judgment teaches that its judge is right. So many such pairs are heard for each
#: pair that has several, and so many in any case: with all of a hundred thousand nobody would
#: seem to err any more, and nothing would be worth asking.
_ALONE, _ALONE_FIRST = 3, 300
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Belief:
    """Prior over the grades, and P(judge says j | truth i) of known judges and of anyone else.

    ``judge``: sorted ids; ``confusion``: judges × 5 × 5, ``anyone``: 5 × 5, [truth, said].
    """

    prior: FloatArray
    anyone: FloatArray
    judge: IntArray
    confusion: FloatArray

    def posterior(
        self, document: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike, documents: int
    ) -> FloatArray:
        """documents × 5: P(grade | what was said). ``document`` counts from 0, one per judgment.

        A document without a judgment has the prior. As in ``ordinal``, where all judgments agree
        no other grade is more probable than theirs.
        """
        rows, judges, grades = check_judgments(document, judge, grade, allow_empty=True)
        fit = np.tile(np.log(np.maximum(self.prior, _FLOOR)), (documents, 1))
        np.add.at(fit, rows, self._log_chance(judges, grades))
        chance = np.exp(fit - fit.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        counts = np.zeros((documents, LEVELS))
        np.add.at(counts, (rows, grades), 1.0)
        return _unanimous_kept(chance, counts)

    def _log_chance(self, judges: IntArray, grades: IntArray) -> FloatArray:
        """judgments × 5: log P(said | truth)."""
        chance = self.matrices(judges)[np.arange(len(judges)), :, grades]
        result: FloatArray = np.log(np.maximum(chance, _FLOOR))
        return result

    def matrices(self, judges: IntArray) -> FloatArray:
        """judges × 5 × 5: what is believed of each; of one who is new, what is of anyone."""
        place = np.searchsorted(self.judge, judges)
        known = place < len(self.judge)
        known[known] = self.judge[place[known]] == judges[known]
        all_of_them = np.concatenate([self.confusion, self.anyone[None]])
        result: FloatArray = all_of_them[np.where(known, place, len(self.judge))]
        return result


def at_first() -> Belief:
    """Before anybody judged: every grade alike, and judges who err mostly by one grade."""
    levels = np.arange(LEVELS)
    steps = Ordinal().falloff ** np.abs(levels[:, None] - levels)
    anyone = steps / steps.sum(axis=1, keepdims=True)
    empty = np.empty((0, LEVELS, LEVELS))
    return Belief(np.full(LEVELS, 1 / LEVELS), anyone, np.empty(0, dtype=np.int64), empty)


def believe(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    known: Known | None = None,
) -> Belief:
    """What all judgments teach, by the model of ``ordinal``.

    ``known``: judge, truth and grade of judgments of gold pairs, whose truth is no guess; they are
    counted as they are, beside what the judge is believed to do. The prior over grades is that of
    ``ordinal``, of all pairs; of those with one judgment a share is enough to learn the judges.
    """
    pairs, judges, grades = check_judgments(pair, judge, grade, allow_empty=True)
    gold = _check_known(known)
    if not len(pairs):
        first = at_first()
        return _taught(first, np.zeros((0, LEVELS)), gold)
    kept = _heard(pairs)
    rough, behind = _fitted(pairs[kept], judges[kept], grades[kept])
    taught = _taught(rough, behind, gold)
    prior = _prior(cast_votes(pairs, judges, grades), taught)
    return Belief(prior, taught.anyone, taught.judge, taught.confusion)


def _fitted(pair: IntArray, judge: IntArray, grade: IntArray) -> tuple[Belief, FloatArray]:
    """The judges by ``ordinal``, without a prior, and judges × 5: how much is behind each row."""
    model = Ordinal()
    labels = model.aggregate(pair, judge, grade)
    votes, anyone = cast_votes(pair, judge, grade), next_judge(labels, judge)
    posterior = np.array(labels.posterior)
    votes.take_at_word(posterior)
    behind = votes.tally(posterior).sum(axis=1) + model.shrink
    none: FloatArray = np.empty(0)
    return Belief(none, anyone, votes.judge, np.array(labels.confusion)), behind


def _heard(pairs: IntArray) -> npt.NDArray[np.bool_]:
    """Which judgments teach about judges: all of pairs with several, of the others not too many."""
    ids, place, number = np.unique(pairs, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(number == 1)
    most = max(_ALONE_FIRST, _ALONE * (len(ids) - len(alone)))
    wanted = number > 1
    if len(alone) > most:
        alone = alone[np.linspace(0, len(alone) - 1, most).astype(np.int64)]
    wanted[alone] = True
    kept: npt.NDArray[np.bool_] = wanted[place]
    return kept


def _check_known(known: Known | None) -> tuple[IntArray, IntArray, IntArray]:
    nobody: Known = ([], [], [])
    judge, truth, grade = nobody if known is None else known
    judges, truths, grades = check_judgments(judge, truth, grade, allow_empty=True)
    check_judgments(judges, judges, truths, allow_empty=True)
    return judges, truths, grades


def _taught(
    belief: Belief, behind: FloatArray, gold: tuple[IntArray, IntArray, IntArray]
) -> Belief:
    """The belief with gold judgments; ``behind``: the weight of each judge's rows so far."""
    judge, truth, grade = gold
    if not len(judge):
        return belief
    everyone = np.union1d(belief.judge, judge)
    old = np.searchsorted(everyone, belief.judge)
    weight = np.full((len(everyone), LEVELS), Ordinal().shrink)
    weight[old] = behind
    confusion = np.tile(belief.anyone, (len(everyone), 1, 1))
    confusion[old] = belief.confusion
    counts = confusion * weight[:, :, None]
    np.add.at(counts, (np.searchsorted(everyone, judge), truth, grade), 1.0)
    work = counts.sum(axis=(1, 2))
    confusion = counts / counts.sum(axis=2, keepdims=True)
    anyone = np.tensordot(work / work.sum(), confusion, axes=1)
    return Belief(belief.prior, anyone, everyone.astype(np.int64), confusion)


def _prior(votes: Votes, belief: Belief) -> FloatArray:
    """λ·(mean posterior) + (1 − λ)·(share of each grade), λ = the share of second opinions."""
    said = mean_row(votes.shares())
    overlap = 1 - len(votes.pair) / float(votes.number.sum())
    chance = belief.matrices(votes.judge).transpose(0, 2, 1)
    prior = said
    for _ in range(_ROUNDS):
        posterior, _ = expect(votes, chance, prior)
        prior = overlap * mean_row(posterior) + (1 - overlap) * said
    return prior


def _unanimous_kept(posterior: FloatArray, counts: FloatArray) -> FloatArray:
    """Cap the other grades of unanimously judged documents just below the grade that was said."""
    row = np.flatnonzero((counts > 0).sum(axis=1) == 1)
    said = counts[row].argmax(axis=1)
    capped = np.minimum(posterior[row], _CLOSE * posterior[row, said][:, None])
    capped[np.arange(len(row)), said] = posterior[row, said]
    posterior[row] = capped / capped.sum(axis=1, keepdims=True)
    return posterior
