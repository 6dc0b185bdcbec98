"""Judgments dealt to a scheme: who would have been asked, had the scheme been the router.

The judgments of each pair are put in a random order, the same for every scheme, and a scheme takes
them from the front while it wants more. Where it wants more than there are, it takes all.
"""

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranking.aggregation import Aggregator, Ordinal
from ranking.experiments.judged import Judged
from ranking.judgments import FloatArray, IntArray
from ranking.paying import IfItPays, next_judge, value
from ranking.schemes import Scheme

Flags: TypeAlias = npt.NDArray[np.bool_]
#: By how much the price falls when nothing is worth it any more and the budget is not spent.
_CHEAPER = 0.85


@dataclass(frozen=True)
class Budgeted:
    """If-it-pays steered to a budget: the price starts at that of ``policy`` and falls until
    ``budget`` judgments per pair are spent."""

    budget: float
    policy: IfItPays = field(default_factory=lambda: IfItPays(price=0.05))

    def __post_init__(self) -> None:
        if not self.budget >= 1:
            raise ValueError(f"budget must be at least 1. Got {self.budget} instead.")

    @property
    def label(self) -> str:
        return f"{self.policy.name} to {self.budget:g}"


#: Anything that routes: a rule about the grades of a pair, or the one about lists.
Router: TypeAlias = Scheme | IfItPays | Budgeted


@dataclass(frozen=True, eq=False)
class Deal:
    """The judgments of every pair in the order they would come; −1 behind the last.

    ``judge`` and ``grade`` are pairs × most judgments of a pair, ``number`` how many each has,
    ``query`` the query of each pair or −1 for one that belongs to none.
    """

    judge: IntArray
    grade: IntArray
    number: IntArray
    query: IntArray
    truth: IntArray

    def taken(self, used: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """pair, judge and grade of the first ``used`` judgments of each pair, first ones first."""
        turn, pair = np.nonzero(np.arange(self.grade.shape[1])[:, None] < used)
        return pair, self.judge[pair, turn], self.grade[pair, turn]


def deal(judged: Judged, rng: np.random.Generator | int, *, shuffle: bool = True) -> Deal:
    """Shuffle the judgments of every pair, or leave them in the order they were made."""
    generator = np.random.default_rng(rng)
    order = generator.permutation(len(judged.pair)) if shuffle else np.arange(len(judged.pair))
    order = order[np.argsort(judged.pair[order], kind="stable")]
    pair = judged.pair[order]
    number = np.bincount(pair, minlength=len(judged))
    turn = np.arange(len(pair)) - np.repeat(np.cumsum(number) - number, number)
    judge = np.full((len(judged), int(number.max())), -1, dtype=np.int64)
    grade = judge.copy()
    judge[pair, turn], grade[pair, turn] = judged.judge[order], judged.grade[order]
    return Deal(judge, grade, number, judged.queries(generator), judged.truth)


def used(dealt: Deal, router: Router, model: Aggregator | None = None) -> IntArray:
    """How many judgments of each pair the router takes; ``model`` is what if-it-pays believes."""
    if isinstance(router, IfItPays):
        return paid(dealt, router, model or Ordinal())
    if isinstance(router, Budgeted):
        return paid(dealt, router.policy, model or Ordinal(), router.budget)
    return wanted(dealt.grade, dealt.number, router)


def wanted(grade: IntArray, number: IntArray, scheme: Scheme) -> IntArray:
    """How many grades each row gives up to a scheme, first to last.

    The scheme is asked once about every different beginning, whatever number of pairs share it, so
    100,000 pairs take no longer than the histories that they have.
    """
    taken = np.zeros(len(grade), dtype=np.int64)
    rows, code = np.arange(len(grade)), np.zeros(len(grade), dtype=np.int64)
    for turn in range(grade.shape[1] + 1):
        _, first, code = np.unique(code, return_index=True, return_inverse=True)
        beginnings = grade[rows[first], :turn].tolist()
        more = np.array([scheme.wants_more(grades) for grades in beginnings], dtype=np.bool_)
        goes_on = more[code] & (number[rows] > turn)
        rows, code = rows[goes_on], code[goes_on]
        if not len(rows):
            break
        taken[rows] += 1
        code = code * 8 + grade[rows, turn]
    return taken


def short(dealt: Deal, router: Router, taken: IntArray) -> int:
    """How many pairs have given all they have while the router still wants more of them.

    While there are any, what the router costs and what it reaches are both less than they would
    be. If-it-pays is not asked pair by pair: every pair counts that gave all and is below its cap.
    """
    out = taken == dealt.number
    if isinstance(router, IfItPays | Budgeted):
        cap = router.cap if isinstance(router, IfItPays) else router.policy.cap
        return int(np.count_nonzero(out & (dealt.number < cap) & (taken > 1)))
    rows, number = np.unique(dealt.grade[out], axis=0, return_counts=True)
    more = [router.wants_more([grade for grade in row if grade >= 0]) for row in rows.tolist()]
    return int(number[np.array(more, dtype=np.bool_)].sum())


def paid(dealt: Deal, policy: IfItPays, model: Aggregator, budget: float | None = None) -> IntArray:
    """How many judgments of each pair if-it-pays takes, re-estimated after every round of answers.

    One judgment for every pair, then rounds: the model labels what there is, every query asks about
    its most valuable documents, until no query has one whose value is above the price. With a
    ``budget`` per pair the price then falls, until the budget is spent or nothing is left to ask.
    """
    lists = Padded(dealt.query)
    limit = np.where(dealt.query >= 0, np.minimum(dealt.number, policy.cap), 1)
    taken = np.ones(len(limit), dtype=np.int64)
    most = np.inf if budget is None else round(budget * len(limit))
    while True:
        worth = values(dealt, lists, taken, (policy, model))
        able = np.where(lists.spread(taken < limit), worth, 0.0)
        if budget is not None and 0 < able.max() <= policy.price:
            policy = replace(policy, price=able.max() * _CHEAPER)
        asked = lists.gather(policy.choose(able, lists.spread(taken))) & (taken < limit)
        asked = _within(asked, lists.gather(able), most - taken.sum())
        if not asked.any():
            return taken
        taken = taken + asked


def _within(asked: Flags, worth: FloatArray, left: float) -> Flags:
    """The most valuable of those asked for, no more than are left to spend."""
    if asked.sum() <= left:
        return asked
    kept = np.zeros(len(asked), dtype=np.bool_)
    kept[np.argsort(np.where(asked, -worth, np.inf), kind="stable")[: int(left)]] = True
    return kept


def values(
    dealt: Deal, lists: "Padded", taken: IntArray, how: tuple[IfItPays, Aggregator]
) -> FloatArray:
    """What one more judgment of each document is worth now, queries × documents."""
    pair, judge, grade = dealt.taken(taken)
    labels = how[1].aggregate(pair, judge, grade)
    if labels.posterior is None:
        raise ValueError(f"model must give a posterior, as ordinal does. Got {how[1]} instead.")
    return value(lists.spread(labels.posterior), next_judge(labels, judge), how[0].k)


class Padded:
    """Rows of pairs as queries × documents, and back; pairs of query −1 are left out."""

    def __init__(self, query: IntArray) -> None:
        order = np.argsort(query, kind="stable")
        self.rows = order[query[order] >= 0]
        sorted_query = query[self.rows]
        names, self.line, size = np.unique(sorted_query, return_inverse=True, return_counts=True)
        self.column = np.arange(len(self.rows)) - np.repeat(np.cumsum(size) - size, size)
        self.shape = (len(names), int(size.max()))
        self.pairs = len(query)

    def spread(self, values: FloatArray | IntArray | np.ndarray) -> np.ndarray:
        """One value (or row of values) per pair, laid out by query; 0 where there is no pair."""
        table = np.zeros((*self.shape, *values.shape[1:]), dtype=values.dtype)
        table[self.line, self.column] = values[self.rows]
        return table

    def gather(self, table: np.ndarray) -> np.ndarray:
        """One value per pair, 0 for pairs without a query."""
        values = np.zeros(self.pairs, dtype=table.dtype)
        values[self.rows] = table[self.line, self.column]
        return values
