"""Plans: how to spend a budget of judgments, worked out before a campaign begins. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from annotate.labels import counted
from annotate.models import Campaign
from annotate.models.campaigns import NUMBERS
from ranking.aggregation import Ordinal
from ranking.judgments import FloatArray, IntArray
from ranking.paying import next_judge
from ranking.planning import Option, Weighed, best_by_scheme, prior_of, spend, weigh
from ranking.schemes import GoodTillBad, IfGood, KOverlap, Scheme, Single
from ranking.simulation import SKILLS

MOST_JUDGMENTS = 100_000_000
MOST_QUERIES = 1_000_000
MOST_DOCUMENTS = 1_000
#: Where NDCG may be measured, the usual one first.
DEPTHS = (3, 1, 5, 10)
#: What is weighed: everything that a campaign can be set to, with the numbers that make sense.
SCHEMES: tuple[Scheme, ...] = (
    Single(),
    *(IfGood(k) for k in range(2, 7)),
    GoodTillBad(5),
    GoodTillBad(11),
    KOverlap(2),
    KOverlap(3),
    KOverlap(5),
)
#: How labels are taken to be made, and what a campaign that follows the plan is set to.
AGGREGATOR = "ordinal"
#: Shares of true grades, Bad first, with the words for people.
GRADES: dict[str, tuple[str, tuple[float, ...]]] = {
    "web": ("Web search: few are good", (0.543, 0.304, 0.131, 0.016, 0.006)),
    "good": ("A good engine: many are good", (0.127, 0.185, 0.250, 0.202, 0.236)),
    "even": ("Every grade as often", (0.2, 0.2, 0.2, 0.2, 0.2)),
}
JUDGES: dict[str, str] = {
    "crowd": "Crowd: paid judges, as measured",
    "expert": "Experts: careful judges, as assumed",
}
#: So many judgments of a campaign are enough to know its judges by.
SAMPLE = 20_000
FEWEST_OVERLAPPING = 20
#: The frontier is reckoned at so many budgets, up to this many times the one there is.
STEPS = 24
BEYOND = 1.5


class PlanError(Exception):
    """Why there is no plan, in words for the manager."""


@dataclass(frozen=True)
class Grades:
    """How often each grade is true, Bad first; ``pilot`` pairs were measured, None if assumed."""

    words: str
    shares: tuple[float, ...]
    pilot: int | None = None


@dataclass(frozen=True)
class Judges:
    """P(a judge says j | truth i), row by row."""

    words: str
    confusion: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Ask:
    """What a manager knows before: a budget in judgments, what there is to judge, and by whom."""

    budget: int
    queries: int
    documents: int
    grades: Grades
    judges: Judges
    k: int = DEPTHS[0]
    #: The NDCG that half of the queries, and half of the depth, is taken to cost.
    halving: float = 0.02
    shallowing: float = 0.01
    price: Decimal | None = None
    currency: str = ""

    def money(self, judgments: float) -> float | None:
        return None if self.price is None else round(float(self.price) * judgments, 2)


@dataclass(frozen=True)
class Step:
    """The best that a budget buys, and what some well-known schemes make of it."""

    budget: int
    best: Option
    worth: dict[str, float]


@dataclass(frozen=True)
class Plan:
    """``best``, every other scheme at its best, and what less or more money would buy."""

    ask: Ask
    alternatives: list[Option]
    frontier: list[Step]

    @property
    def best(self) -> Option:
        return self.alternatives[0]

    @property
    def pairs(self) -> int:
        return self.best.queries * self.best.depth


def work_out(ask: Ask) -> Plan:
    """The plan. Raises PlanError if the budget buys not one query."""
    weighed = _weighed(ask.documents, ask.grades.shares, ask.judges.confusion, ask.k)
    best = best_by_scheme(_spent(ask, ask.budget, weighed))
    if not best:
        least = min(ask.documents, 8)
        raise PlanError(
            f"The budget must buy at least one query, {least} judgments. Got {ask.budget} instead."
        )
    return Plan(ask, best, _frontier(ask, weighed))


def _frontier(ask: Ask, weighed: Sequence[Weighed]) -> list[Step]:
    most = max(round(BEYOND * ask.budget), ask.budget + STEPS)
    budgets = sorted({round(most * n / STEPS) for n in range(1, STEPS + 1)} | {ask.budget})
    steps = []
    for budget in budgets:
        if budget and (options := best_by_scheme(_spent(ask, budget, weighed))):
            worth = {option.scheme.label: option.worth for option in options}
            steps.append(Step(budget, options[0], worth))
    return steps


def _spent(ask: Ask, budget: int, weighed: Sequence[Weighed]) -> list[Option]:
    return spend(
        budget,
        ask.queries,
        ask.documents,
        weighed,
        halving=ask.halving,
        shallowing=ask.shallowing,
        pilot=ask.grades.pilot,
    )


@lru_cache(maxsize=128)
def _weighed(
    documents: int,
    shares: tuple[float, ...],
    confusion: tuple[tuple[float, ...], ...],
    k: int,
) -> list[Weighed]:
    """The part that takes time does not depend on the budget."""
    return weigh(documents, shares, confusion, schemes=SCHEMES, aggregator=AGGREGATOR, k=k)


# -- What is known --------------------------------------------------------------------------------


def grades(name: str) -> Grades:
    words, shares = GRADES[name]
    return Grades(words, _whole(shares))


def own_grades(shares: Sequence[float]) -> Grades:
    """Shares in any unit, Bad first."""
    if len(shares) != 5 or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        raise PlanError("Five shares are needed, Bad to Perfect, none below 0 and not all 0.")
    return Grades("As you say", _whole(shares))


def judges(name: str) -> Judges:
    return Judges(JUDGES[name], _rows(SKILLS[name]))


def pilot(campaign: Campaign) -> tuple[Grades, Judges]:
    """Both from a campaign's own judgments. Raises PlanError where too few pairs overlap."""
    pair, judge, grade = _sample(campaign)
    first, made = _first(pair, grade)
    if np.count_nonzero(made > 1) < FEWEST_OVERLAPPING:
        raise PlanError(
            f"At least {FEWEST_OVERLAPPING} pairs with two judgments are needed to know the "
            f"judges of {campaign}. There are {np.count_nonzero(made > 1)}."
        )
    labels = Ordinal().aggregate(pair, judge, grade)
    confusion = next_judge(labels, judge)
    shares = prior_of(np.bincount(first, minlength=5), confusion)
    words = f"{campaign}, from {len(first):,} pairs"
    return Grades(words, _whole(shares), len(first)), Judges(words, _rows(confusion))


def _sample(campaign: Campaign) -> tuple[IntArray, IntArray, IntArray]:
    """Judgments that count, pair by pair and in time order within a pair."""
    rows = counted(campaign).order_by("pair_id", "judged_at", "pk")
    table = np.array(
        list(rows.values_list("pair_id", "judge_id", "judgment__grade")[:SAMPLE]), dtype=np.int64
    ).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _first(pair: IntArray, grade: IntArray) -> tuple[IntArray, IntArray]:
    """The first grade of every pair, and how many it has; pairs stand together."""
    _, start, made = np.unique(pair, return_index=True, return_counts=True)
    return grade[start], made


def _rows(matrix: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(_whole(row) for row in matrix.tolist())


def _whole(shares: Sequence[float] | FloatArray) -> tuple[float, ...]:
    """Summing to 1, though what was printed was rounded."""
    values = np.asarray(shares, dtype=np.float64)
    return tuple((values / values.sum()).tolist())


# -- From a plan to a campaign --------------------------------------------------------------------

#: The fields of a new campaign that a plan fills in.
FILLED = ("scheme_name", "k", "cap", "aggregator", "budget", "price", "currency")


def settings(plan: Plan) -> dict[str, Any]:
    """What a campaign that follows the plan is set to, with the plan in two numbers."""
    scheme = plan.best.scheme
    number = NUMBERS.get(scheme.name)
    fields = {"scheme_name": scheme.name, "aggregator": AGGREGATOR, "budget": plan.ask.budget}
    if number:
        fields[number] = getattr(scheme, number)
    if plan.ask.price is not None:
        fields |= {"price": plan.ask.price, "currency": plan.ask.currency}
    return fields | {"queries": plan.best.queries, "depth": plan.best.depth}


def prefilled(sent: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The same out of an address: fields for the form, and the plan in a sentence."""
    initial = {name: sent[name][:20] for name in FILLED if name in sent}
    size = [sent.get(name, "") for name in ("queries", "depth")]
    if not all(text.isdecimal() and len(text) < 8 for text in size):
        return initial, ""
    queries, depth = map(int, size)
    return initial, (
        f"Your plan: load {queries:,} queries with their first {depth:,} documents each, "
        f"{queries * depth:,} pairs."
    )
