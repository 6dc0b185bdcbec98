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
from ranking.limits import dataset_limit, scheme_confusion, scheme_cost
from ranking.limits.checks import check_prior
from ranking.limits.schemes import Vote
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
#: How many lists are drawn from the grade distribution to find the ceiling of a scheme.
_LISTS = 400


@dataclass(frozen=True)
class Option:
    """One way to spend the budget.

    ``queries`` are judged to ``depth`` documents by ``scheme``, which is expected to take
    ``judgments`` in all, ``per_pair`` each, and leaves the ceiling ``ceiling``. ``worth`` is what
    options are ordered by: the ceiling less what the queries that are dropped would have taught.
    """

    queries: int
    depth: int
    scheme: Scheme
    judgments: float
    per_pair: float
    ceiling: float
    worth: float


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
) -> list[Option]:
    """Every affordable queries × depth × scheme, best first; empty if not one query is.

    ``budget`` judgments may be spent on at most ``queries`` queries of ``documents`` documents
    whose grades are distributed as ``prior``; ``confusion[i][j]`` = P(a judge says j | truth i).

    - Depths are the tiers of ``documents``.
    - judgments = queries × depth × :func:`ranking.limits.scheme_cost`.
    - The ceiling is the mean limiting NDCG@``k`` of whole lists of ``documents`` drawn from the
      prior, under :func:`ranking.limits.scheme_confusion`. It tells how good the labels of a
      scheme are and does not depend on depth.
    - worth = ceiling − ``halving`` · log2(queries available / queries judged). ``halving``, the
      NDCG that half of the queries is taken to cost, is an assumption to set by experience.

    Equals are ordered by depth up to 16, then by more queries, then by lower cost.
    """
    _require_positive("budget", budget)
    _require_positive("queries", queries)
    _require_positive("documents", documents)
    shares = check_prior(prior, LEVELS)
    lists = np.random.default_rng(0).choice(shares.size, (_LISTS, documents), p=shares)
    qid = np.repeat(np.arange(_LISTS), documents)
    options = []
    for scheme in schemes:
        per_pair = scheme_cost(confusion, shares, scheme)
        labels = scheme_confusion(confusion, shares, scheme, aggregator)
        ceiling = dataset_limit(lists.ravel(), qid, labels, k).value
        for depth in tiers(documents):
            judged = min(queries, int(budget / (depth * per_pair) + 1e-9))
            if judged:
                worth = ceiling - halving * float(np.log2(queries / judged))
                cost = judged * depth * per_pair
                options.append(Option(judged, depth, scheme, cost, per_pair, ceiling, worth))
    return sorted(options, key=_rank)


def _rank(option: Option) -> tuple[float, int, int, float]:
    # Rounded, so that options equal but for rounding are told apart by what follows.
    depth = min(option.depth, ENOUGH_DEPTH)
    return (-round(option.worth, 9), -depth, -option.queries, option.judgments)


def _require_positive(name: str, value: float) -> None:
    if not value >= 1:
        raise ValueError(f"{name} must be at least 1. Got {value} instead.")
