"""What a routing scheme makes of judges: the confusion of its labels, and what they cost."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.aggregation import AGGREGATORS
from ranking.grades import LEVELS
from ranking.limits.checks import check_confusion, check_prior
from ranking.metrics.lists import Floats
from ranking.schemes import Scheme

#: The grades of a pair, the first judgment first, and what label they make.
Vote = Callable[[Sequence[int]], int]
#: A scheme with more open cases than this asks more than some 20 judges, or does not end.
_MOST_OPEN = 50_000


def scheme_confusion(
    confusion: ArrayLike, prior: ArrayLike, scheme: Scheme, aggregator: str | Vote = "majority"
) -> Floats:
    """P(the label is j | truth i) when ``scheme`` asks judges and ``aggregator`` sums them up.

    ``confusion[i][j]`` = P(a judge says j | truth i), judges independent given the truth. Every
    outcome of the scheme is enumerated with its probability. Scheme and aggregator may look at
    which judgment came first, and at nothing else of the order: outcomes that differ in the rest
    of the order are one.

    ``aggregator`` is a function of the grades or a name in ``AGGREGATORS``. For the methods that
    learn a model it is what they say once they have learnt: the only judgment of a pair as it
    stands, otherwise the grade with the highest posterior by ``prior`` and ``confusion``, the
    lower of equals. The result goes into ``limiting_ndcg`` and ``dataset_limit`` as it is.
    """
    matrix, shares = _check(confusion, prior)
    sequences, chances = outcomes(matrix, scheme)
    labels = _labels(sequences, chances, shares, aggregator)
    effective = np.zeros((LEVELS, LEVELS))
    np.add.at(effective.T, labels, chances)
    return effective


def scheme_cost(confusion: ArrayLike, prior: ArrayLike, scheme: Scheme) -> float:
    """Expected judgments per pair: Σ_i prior_i Σ_outcomes P(outcome | i) · its length.

    Exact where ``Scheme.expected_cost`` has only the ratio of first judgments to go by.
    """
    matrix, shares = _check(confusion, prior)
    sequences, chances = outcomes(matrix, scheme)
    return float(np.array([len(grades) for grades in sequences]) @ (chances @ shares))


def outcomes(confusion: Floats, scheme: Scheme) -> tuple[list[tuple[int, ...]], Floats]:
    """Every way a scheme can end, and its probability given each truth (outcomes × grades).

    An outcome stands for all orders of its judgments after the first; their probabilities are
    summed as they meet, so that 11 judgments have 5,005 outcomes and not 48,828,125.
    """
    ended: list[tuple[int, ...]] = []
    chances: list[Floats] = []
    open_now: dict[tuple[int, ...], Floats] = {(): np.ones(LEVELS)}
    while open_now:
        if len(open_now) > _MOST_OPEN:
            raise ValueError(
                f"scheme must come to an end within {_MOST_OPEN:,} open cases. Got {scheme!r} "
                f"instead, which still wants more after {len(next(iter(open_now)))} judgments."
            )
        grown: dict[tuple[int, ...], Floats] = {}
        for grades, chance in open_now.items():
            if not scheme.wants_more(grades):
                ended.append(grades)
                chances.append(chance)
                continue
            for grade in range(LEVELS):
                after = (*grades[:1], *sorted((*grades[1:], grade)))
                grown[after] = grown.get(after, 0.0) + chance * confusion[:, grade]
        open_now = grown
    if ended[0] == ():
        raise ValueError("scheme must want at least one judgment of a pair. Got none instead.")
    return ended, np.array(chances)


def _labels(
    sequences: list[tuple[int, ...]], chances: Floats, prior: Floats, aggregator: str | Vote
) -> NDArray[np.intp]:
    if not isinstance(aggregator, str):
        return _in_range(np.array([aggregator(grades) for grades in sequences]))
    if aggregator not in AGGREGATORS:
        names = ", ".join(AGGREGATORS)
        raise ValueError(f"aggregator must be one of {names}. Got {aggregator!r} instead.")
    method = AGGREGATORS[aggregator]
    if method.aggregate([0], [0], [0]).posterior is not None:
        alone = np.array([len(grades) == 1 for grades in sequences])
        first = np.array([grades[0] for grades in sequences])
        return np.where(alone, first, (chances * prior).argmax(axis=1))
    sizes = [len(grades) for grades in sequences]
    pair = np.repeat(np.arange(len(sizes)), sizes)
    judge = np.arange(pair.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return method.aggregate(pair, judge, np.concatenate(sequences)).grade.astype(np.intp)


def _in_range(labels: NDArray[np.generic]) -> NDArray[np.intp]:
    if labels.dtype.kind not in "iub" or not np.isin(labels, range(LEVELS)).all():
        got = [label for label in labels.tolist() if label not in range(LEVELS)] or labels.dtype
        raise ValueError(f"aggregator must give grades 0 … {LEVELS - 1}. Got {got} instead.")
    return labels.astype(np.intp)


def _check(confusion: ArrayLike, prior: ArrayLike) -> tuple[Floats, Floats]:
    return check_confusion(confusion, LEVELS), check_prior(prior, LEVELS)
