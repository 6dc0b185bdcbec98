"""How to spend a budget of judgments: queries × depth × scheme, before money is spent.

Reference: Yilmaz, Robertson, "Deep versus shallow judgments in learning to rank", SIGIR 2009: many
queries judged shallowly beat few judged deeply, 16 documents a query serve as well as 128, and
below 8 it is better to drop queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ranking.grades import LEVELS
from ranking.judgments import FloatArray
from ranking.limits import dataset_limit, scheme_confusion
from ranking.limits.checks import check_confusion, check_counts, check_prior
from ranking.limits.schemes import Vote, outcomes
from ranking.schemes import GoodTillBad, IfGood, KOverlap, Scheme, Single

#: Every query is judged to this depth before any goes deeper.
FIRST_DEPTH = 8
#: Deeper than this the study found nothing to gain.
ENOUGH_DEPTH = 16
#: The schemes that a plan weighs unless it is told which.
USUAL_SCHEMES: tuple[Scheme, ...] = (
    Single(),
    IfGood(2),
    IfGood(3),
    GoodTillBad(),
    KOverlap(2),
    KOverlap(3),
)
#: How many lists, and documents in all, are drawn to find the ceiling of a scheme: long lists
#: differ less from one another, and cost more.
_LISTS = 400
_DOCUMENTS = 8_000
_FEWEST_LISTS = 20
_NORMAL_95 = 1.96
#: Rounds after which the shares of true grades have long settled.
_ROUNDS = 500


@dataclass(frozen=True)
class Weighed:
    """A scheme before anybody says how much may be spent.

    It takes ``per_pair`` judgments of a pair on average, with the variance ``variance`` from pair
    to pair, and leaves the ceiling ``ceiling``.
    """

    scheme: Scheme
    per_pair: float
    variance: float
    ceiling: float


@dataclass(frozen=True)
class Option:
    """One way to spend the budget.

    ``queries`` are judged to ``depth`` documents by ``scheme``, which is expected to take
    ``judgments`` in all (95 %: ``low`` to ``high``), ``per_pair`` each, and leaves the ceiling
    ``ceiling``. ``worth`` is what options are ordered by: the ceiling less what the queries and
    documents that are dropped would have taught. ``gain`` is by how much 1,000 of the judgments
    beyond the first of each pair raise the ceiling; ``nan`` where there are none.
    """

    queries: int
    depth: int
    scheme: Scheme
    judgments: float
    per_pair: float
    ceiling: float
    worth: float
    low: float
    high: float
    gain: float


def tiers(depth: int) -> tuple[int, ...]:
    """The depths to which all queries go before any goes on: 8, 16, 32, … and at last ``depth``.

    ``tiers(50) == (8, 16, 32, 50)``.
    """
    _require_positive("depth", depth)
    steps = [FIRST_DEPTH << n for n in range(tier_of(depth))]
    return (*steps, depth)


def tier_of(position: int) -> int:
    """Which tier the document at ``position``, from 1, of its query belongs to, from 0.

    Positions 1 … 8 are tier 0, 9 … 16 tier 1, 17 … 32 tier 2: judging by falling urgency is
    judging by rising tier.
    """
    _require_positive("position", position)
    return ((position - 1) // FIRST_DEPTH).bit_length()


def plan(
    budget: float,
    queries: int,
    documents: int,
    prior: ArrayLike,
    confusion: ArrayLike,
    *,
    schemes: Sequence[Scheme] = USUAL_SCHEMES,
    aggregator: str | Vote = "ordinal",
    k: int = 10,
    halving: float = 0.02,
    shallowing: float = 0.0,
    pilot: int | None = None,
) -> list[Option]:
    """Every affordable queries × depth × scheme, best first; empty if not one query is.

    ``budget`` judgments may be spent on at most ``queries`` queries of ``documents`` documents
    whose grades are distributed as ``prior``; ``confusion[i][j]`` = P(a judge says j | truth i).
    See :func:`weigh` and :func:`spend`.
    """
    weighed = weigh(documents, prior, confusion, schemes=schemes, aggregator=aggregator, k=k)
    given = {"halving": halving, "shallowing": shallowing}
    return spend(budget, queries, documents, weighed, pilot=pilot, **given)


def weigh(
    documents: int,
    prior: ArrayLike,
    confusion: ArrayLike,
    *,
    schemes: Sequence[Scheme] = USUAL_SCHEMES,
    aggregator: str | Vote = "ordinal",
    k: int = 10,
) -> list[Weighed]:
    """What each scheme costs and how good its labels are, whatever the budget.

    The ceiling is the mean limiting NDCG@``k`` of whole lists of ``documents`` drawn from the
    prior, under :func:`ranking.limits.scheme_confusion`. It tells how good the labels of a scheme
    are and does not depend on depth. Cost and variance are over all outcomes of the scheme.
    """
    _require_positive("documents", documents)
    shares, matrix = check_prior(prior, LEVELS), check_confusion(confusion, LEVELS)
    number = min(_LISTS, max(_FEWEST_LISTS, _DOCUMENTS // documents))
    lists = np.random.default_rng(0).choice(shares.size, (number, documents), p=shares)
    qid = np.repeat(np.arange(number), documents)
    found = []
    for scheme in schemes:
        sequences, chances = outcomes(matrix, scheme)
        made, chance = np.array([len(grades) for grades in sequences]), chances @ shares
        per_pair = round(float(made @ chance), 12)  # always 3 is 3, however chances are summed
        labels = scheme_confusion(matrix, shares, scheme, aggregator)
        ceiling = dataset_limit(lists.ravel(), qid, labels, k).value
        found.append(Weighed(scheme, per_pair, float((made - per_pair) ** 2 @ chance), ceiling))
    return found


def spend(
    budget: float,
    queries: int,
    documents: int,
    weighed: Sequence[Weighed],
    *,
    halving: float = 0.02,
    shallowing: float = 0.0,
    pilot: int | None = None,
) -> list[Option]:
    """Every affordable queries × depth × scheme, best first; empty if not one query is.

    - Depths are the tiers of ``documents``; judgments = queries × depth × judgments per pair.
    - worth = ceiling − ``halving`` · log2(queries available / queries judged) − ``shallowing`` ·
      log2(documents / depth). They are the NDCG that half of the queries, and half of the depth,
      is taken to cost: assumptions to set by experience. The study has the second at 0 down to 16.
    - The interval of the judgments of n pairs is ± 1.96 √(n·v + n²·v/pilot), v the variance from
      pair to pair: chance alone, and, where grades were measured on ``pilot`` pairs, that too.

    Equals are ordered by depth up to 16, then by more queries, then by lower cost.
    """
    _require_positive("budget", budget)
    _require_positive("queries", queries)
    alone = next((one.ceiling for one in weighed if one.per_pair == 1), float("nan"))
    options = []
    for one in weighed:
        for depth in tiers(documents):
            judged = min(queries, int(budget / (depth * one.per_pair) + 1e-9))
            if judged:
                lost = halving * np.log2(queries / judged) + shallowing * np.log2(documents / depth)
                pairs, worth = judged * depth, one.ceiling - float(lost)
                half = _NORMAL_95 * _spread(pairs, one.variance, pilot)
                cost, extra = pairs * one.per_pair, pairs * (one.per_pair - 1)
                gain = 1_000 * (one.ceiling - alone) / extra if extra else float("nan")
                ends = max(cost - half, float(pairs)), cost + half, gain
                about = judged, depth, one.scheme, cost, one.per_pair, one.ceiling, worth
                options.append(Option(*about, *ends))
    return sorted(options, key=_rank)


def _spread(pairs: int, variance: float, pilot: int | None) -> float:
    unsure = pairs * pairs / pilot if pilot else 0.0
    return float(np.sqrt((pairs + unsure) * variance))


def best_by_scheme(options: Sequence[Option]) -> list[Option]:
    """The first option of each scheme, in the order of ``options``."""
    first: dict[str, Option] = {}
    for option in options:
        first.setdefault(option.scheme.label, option)
    return list(first.values())


def prior_of(first: ArrayLike, confusion: ArrayLike) -> FloatArray:
    """The shares of true grades that make first judgments come out as often as ``first`` says.

    ``first[j]`` first judgments were j. Judges who say Good of Bad pages make Good look frequent;
    this takes it back: the most likely π with P(j) = Σ_i π_i C[i][j], by expectation-maximisation
    from equal shares, half a judgment added to every grade.
    """
    counts, matrix = check_counts(first) + 0.5, check_confusion(confusion, LEVELS)
    shares: FloatArray = np.full(LEVELS, 1 / LEVELS)
    for _ in range(_ROUNDS):
        joint = shares[:, None] * matrix
        shares = (joint / np.maximum(joint.sum(axis=0), 1e-300)) @ counts
        shares /= shares.sum()
    return shares


def _rank(option: Option) -> tuple[float, int, int, float]:
    # Rounded, so that options equal but for rounding are told apart by what follows.
    depth = min(option.depth, ENOUGH_DEPTH)
    return (-round(option.worth, 9), -depth, -option.queries, option.judgments)


def _require_positive(name: str, value: float) -> None:
    if not value >= 1:
        raise ValueError(f"{name} must be at least 1. Got {value} instead.")
