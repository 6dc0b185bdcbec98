"""If-it-pays: what is believed of the judges, made anew from all judgments; a job.

Nothing is locked while judgments are read and judges are estimated. Then the queries where
something else is worth asking for now are looked at one by one, as after a judgment.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, Subquery
from django.db.models.functions import Greatest, Now

from annotate import jobs
from annotate.models import Adjudication, Campaign, Estimate, Job, Pair, Seat
from annotate.routing.beliefs import as_json, from_json
from annotate.routing.settling import ROUTED
from annotate.routing.standing import may_come
from annotate.routing.worth import look_at
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.paying import Belief, believe, list_values, price_left
from ranking.schemes import Paying

CHUNK = 50_000

#: So often the job says how far it is.
KEEP = 20

#: A price is a little above the value it is taken from, however that is rounded elsewhere.
_ABOVE = 1 + 1e-6

_UNKNOWN = -1
Flags = npt.NDArray[np.bool_]


def estimate(job: Job) -> None:
    """The job: estimate the judges, steer the price, and ask for what is worth it now."""
    scheme = job.campaign.scheme
    if not isinstance(scheme, Paying):
        jobs.finish(job, f"{scheme.label} asks without it.")
        return
    jobs.keep(job, 0.05, "Reading judgments")
    asked = _asked(job.campaign)
    pool = _Pool.of(job.campaign)
    jobs.keep(job, 0.2, f"Estimating judges from {len(pool.grade)} judgments")
    belief = from_json(as_json(pool.belief()))  # as everybody else will read it
    worth = pool.values(belief, scheme.k)
    price, left = _steered(scheme, pool, worth)
    with transaction.atomic():
        _write(job.campaign, len(pool.grade), belief, (price, _still(left, asked)))
        jobs.keep(job, 0.5, "Looking at queries")
    _look(job, pool.to_look_at(worth, price, left))
    with transaction.atomic():
        jobs.finish(job, f"{len(pool.grade)} judgments; a further one must be worth {price:.2g}.")


def _look(job: Job, queries: list[int]) -> None:
    """One by one, in the order in which what may be asked for is given out."""
    for number, query in enumerate(queries):
        look_at(query)
        if number % KEEP == 0:
            jobs.keep(job, 0.5 + 0.5 * number / len(queries), "Looking at queries")


def _asked(campaign: Campaign) -> int:
    known = Estimate.objects.filter(campaign=campaign).values_list("asked", flat=True)
    return known.first() or 0


def _still(left: int | None, asked: int) -> Any:
    """What is left less what was asked for since the pairs were read: some of it twice, at worst,
    which the next estimate makes good."""
    return left if left is None else Greatest(left - (F("asked") - asked), 0)


def _write(campaign: Campaign, judgments: int, belief: Belief, steered: tuple[float, Any]) -> None:
    price, left = steered
    fields: dict[str, Any] = {"judgments": judgments, "price": price, "left": left}
    fields |= {"belief": as_json(belief), "token": uuid.uuid4(), "created_at": Now()}
    old = Estimate.objects.filter(campaign=campaign)
    if not old.exists():  # nothing is asked for before: what is left is none
        begun = {**fields, "version": 0, "left": 0}
        Estimate.objects.get_or_create(campaign=campaign, defaults=begun)
    old.update(version=F("version") + 1, **fields)


def _steered(scheme: Paying, pool: "_Pool", worth: FloatArray) -> tuple[float, int | None]:
    """What a judgment must be worth, and how many may be asked for until the next estimate.

    The budget of a query counts when all of its pairs have their first judgment. What is left of
    it buys the most valuable judgments.
    """
    if scheme.per_pair is None:
        return scheme.price, None
    ours = pool.routed & pool.complete
    left = int(scheme.per_pair * ours.sum()) - int((pool.made + pool.open)[ours].sum())
    able = pool.able(scheme.cap)
    # What lies open and nobody holds may give way to what is worth more.
    free = int(pool.free[able & (pool.free > 0)].sum())
    price = price_left(worth[able], max(left + free, 0))
    return price * _ABOVE, max(left, 0)


@dataclass(frozen=True, eq=False)
class _Pool:
    """The pairs of a campaign and the judgments that count, as arrays."""

    campaign: Campaign
    pair: IntArray
    query: IntArray
    routed: Flags
    known: IntArray
    gold: Flags
    row: IntArray  # of each judgment: its pair's place above
    judge: IntArray
    grade: IntArray
    free: IntArray
    held: IntArray

    @classmethod
    def of(cls, campaign: Campaign) -> "_Pool":
        pairs = _table(_pairs(campaign), 5)
        # Open seats before judgments: what is judged in between counts twice rather than not.
        free, held = _open(campaign, pairs[:, 0])
        done = _table(_judgments(campaign), 3)
        # A pair that came meanwhile is left to the next estimate.
        place = np.searchsorted(pairs[:, 0], done[:, 0])
        there = place < len(pairs)
        there[there] = pairs[place[there], 0] == done[there, 0]
        return cls(
            campaign,
            pair=pairs[:, 0],
            query=pairs[:, 1],
            routed=pairs[:, 2] == 1,
            known=pairs[:, 4],
            gold=pairs[:, 3] == 1,
            row=place[there],
            judge=done[there, 1],
            grade=done[there, 2],
            free=free,
            held=held,
        )

    @cached_property
    def made(self) -> IntArray:
        return np.bincount(self.row, minlength=len(self.pair))

    @property
    def open(self) -> IntArray:
        return self.free + self.held

    @cached_property
    def complete(self) -> Flags:
        """Pairs of queries where every pair has its first judgment."""
        _, place = np.unique(self.query, return_inverse=True)
        waiting = np.bincount(place, weights=self.routed & (self.made == 0))
        flags: Flags = waiting[place] == 0
        return flags

    @cached_property
    def listed(self) -> Flags:
        """Pairs that something is known of."""
        return np.asarray(((self.made > 0) | (self.known != _UNKNOWN)) & self.complete)

    def able(self, cap: int) -> Flags:
        """Pairs that may go to another judge now."""
        most = min(cap, len(may_come(self.campaign)))
        able = self.routed & self.listed & (self.made > 0) & (self.made < most)
        return np.asarray(able & (self.held == 0))

    def belief(self) -> Belief:
        """Gold pairs tell what judges do where the truth is known, and nothing of grades."""
        gold = self.gold[self.row]
        known = (self.judge[gold], self.known[self.row[gold]], self.grade[gold])
        return believe(self.row[~gold], self.judge[~gold], self.grade[~gold], known)

    def values(self, belief: Belief, k: int) -> FloatArray:
        """What one more judgment of each pair is worth; 0 where the list is not whole."""
        posterior = belief.posterior(self.row, self.judge, self.grade, len(self.pair))
        certain = self.known != _UNKNOWN
        posterior[certain] = np.eye(LEVELS)[self.known[certain]]
        worth = np.zeros(len(self.pair))
        some = self.listed
        if some.any():
            worth[some] = list_values(self.query[some], posterior[some], belief.anyone, k)
        return worth

    def to_look_at(self, worth: FloatArray, price: float, left: int | None) -> list[int]:
        """The queries where another pair than now should be asked about, in good order."""
        able = self.able(self.campaign.scheme.most)
        further = (self.free > 0) & (self.made > 0) & self.routed
        worthy = np.where(able & (worth > price), worth, 0.0)
        queries, place = np.unique(self.query, return_inverse=True)
        best, asked, held = (np.zeros(len(queries)) for _ in range(3))
        np.maximum.at(best, place, worthy)
        np.add.at(asked, place, further)
        np.add.at(held, place, (self.held > 0) & (self.made > 0))
        settled = np.zeros(len(queries), dtype=np.bool_)  # the best one is the one asked about
        at_best = further & (worthy > 0) & (worthy == best[place])
        settled[place[at_best]] = True
        idle = (best > 0) & (asked == 0) & (held == 0)
        if left is not None and left + asked.sum() < 1:
            idle[:] = False
        wanted = idle | ((asked > 0) & ~(settled & (asked == 1)))
        # First where something may be given up: what that frees, the others can have.
        order = np.lexsort((-best, asked == 0))
        return [int(query) for query in queries[order[wanted[order]]]]


# -- Reading --------------------------------------------------------------------------------------


def _pairs(campaign: Campaign) -> Iterator[tuple[int, ...]]:
    """Number, query, whether it is routed, whether it is gold, and the grade if that is known."""
    final = Adjudication.objects.filter(pair=OuterRef("pk")).values("grade")[:1]
    rows = Pair.objects.filter(campaign=campaign).exclude(state=Pair.State.LOADING)
    values = rows.order_by("pk").values_list("pk", "query_id", "state", "gold", Subquery(final))
    for pair, query, state, gold, decided in values.iterator(chunk_size=CHUNK):
        known = decided if gold is None else gold
        is_known = _UNKNOWN if known is None else known
        yield pair, query, state in ROUTED, gold is not None, is_known


def _judgments(campaign: Campaign) -> Iterator[tuple[int, int | None, int | None]]:
    done = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE)
    rows = done.order_by("pk").values_list("pair_id", "judge_id", "judgment__grade")
    return rows.iterator(chunk_size=CHUNK)


def _open(campaign: Campaign, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """How many open seats of each pair nobody holds, and somebody. Read at one moment."""
    lease = ExpressionWrapper(Q(leased_until__gt=Now()), output_field=BooleanField())
    seats = Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN).order_by()
    rows = seats.values_list("pair_id", lease).iterator(chunk_size=CHUNK)
    found = _table(((pair, bool(held)) for pair, held in rows), 2)
    place = np.searchsorted(pairs, found[:, 0])
    there = place < len(pairs)
    there[there] = pairs[place[there]] == found[there, 0]
    held = found[there, 1] == 1
    size = len(pairs)
    return (
        np.bincount(place[there][~held], minlength=size),
        np.bincount(place[there][held], minlength=size),
    )


def _table(rows: Iterator[tuple[Any, ...]], width: int) -> IntArray:
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    return numbers.reshape(-1, width)
