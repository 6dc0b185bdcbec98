"""If-it-pays, live: what one more judgment of each pair of a query is worth, and who is asked.

The other schemes look at one pair. This one looks at all pairs of a query, after every judgment of
one of them and in a transaction of its own: the judgment is saved by then and holds no lock. It
locks the pairs of the query in the order of their numbers, as whoever locks several does, then the
campaign's estimate.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.db import OperationalError, transaction
from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from annotate.models import Adjudication, Ask, Campaign, Estimate, Pair, Refusal, Seat
from annotate.prepared import Prepared, as_object, columns
from annotate.routing.beliefs import Believed, believed
from annotate.routing.settling import ROUTED, arrange
from annotate.routing.standing import may_come
from ranking.grades import LEVELS
from ranking.judgments import FloatArray
from ranking.paying import IfItPays, value
from ranking.schemes import Paying

log = logging.getLogger(__name__)


@dataclass
class Stand:
    """How a pair stands in its query."""

    pair: Pair
    final: int | None
    asked: int = 0
    said: list[tuple[int, int]] = field(default_factory=list)  # judge and grade
    seen: set[int] = field(default_factory=set)  # by whoever has or had a seat
    free: int = 0
    held: int = 0

    @property
    def made(self) -> int:
        return len(self.said)

    @property
    def known(self) -> int | None:
        """The grade of a gold pair, or what a manager decided: no judgment can change it."""
        return self.pair.gold if self.pair.gold is not None else self.final

    @property
    def routed(self) -> bool:
        return self.pair.state in ROUTED


@dataclass(frozen=True, eq=False)
class Valued:
    """The pairs of a query that something is known of, and what one more judgment is worth.

    While a pair of the query waits for its first judgment, further ones wait too: only whole lists
    are looked at. ``complete`` is False then, and the values are 0.
    """

    stands: list[Stand]
    posterior: FloatArray
    values: FloatArray
    complete: bool


def valued(stands: Sequence[Stand], known: Believed, scheme: Paying) -> Valued:
    """What everything said so far makes of these pairs."""
    listed = [stand for stand in stands if stand.said or stand.known is not None]
    rows = [(row, *said) for row, stand in enumerate(listed) for said in stand.said]
    document, judge, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    posterior = known.belief.posterior(document, judge, grade, len(listed))
    for row, stand in enumerate(listed):
        if stand.known is not None:
            posterior[row] = np.eye(LEVELS)[stand.known]
    complete = all(stand.said for stand in stands if stand.routed)
    if not complete or not listed:
        return Valued(listed, posterior, np.zeros(len(listed)), complete)
    return Valued(listed, posterior, value(posterior, known.belief.anyone, scheme.k), complete)


# -- After a judgment -----------------------------------------------------------------------------


def follow(campaign: Campaign, pair_id: int) -> None:
    """What a judgment changes beyond its own pair. Call it when the judgment is committed.

    The judgment is safe whatever happens here; what could not be done now, the job will do.
    """
    if campaign.scheme_name != Paying.name:
        return
    try:
        look_at(Pair.objects.values_list("query_id", flat=True).get(pk=pair_id))
    except OperationalError:
        log.warning("The query of pair %s is looked at later.", pair_id, exc_info=True)


def look_at(query_id: int) -> bool:
    """Ask for what is worth it in this query now, and for nothing else. Whether that is new."""
    with transaction.atomic():
        stands = _seated(query_id, _LOCKED)
        if not stands:
            return False
        # Read behind the locks: a change of scheme has come to these pairs, or is still to come.
        campaign = _campaign(stands[0].pair.campaign_id)
        scheme = campaign.scheme
        if not isinstance(scheme, Paying):
            return False
        known = believed(campaign)
        choice = _Choice(campaign, scheme, query_id, valued(stands, known, scheme))
        return choice.write(choice.afforded(known), known.price)


def look(pair: Pair) -> tuple[Valued, Believed]:
    """The query of a pair as it is now, for whoever wants to know. Nothing is locked or changed."""
    scheme = pair.campaign.scheme
    if not isinstance(scheme, Paying):
        raise TypeError(f"The scheme must be if-it-pays. Got {scheme.label} instead.")
    known = believed(pair.campaign)
    return valued(_seated(pair.query_id, _READ), known, scheme), known


@dataclass(frozen=True, eq=False)
class _Choice:
    """Which pairs of a query are to be asked about once more. The pairs are locked."""

    campaign: Campaign
    scheme: Paying
    query_id: int
    found: Valued

    def afforded(self, known: Believed) -> set[int]:
        """The rows of ``found`` to be asked about, within what may be asked for at all.

        Of two queries that would ask for the last judgment, one does.
        """
        chosen = self.best(known)
        again = {row for row, stand in enumerate(self.found.stands) if stand.made and stand.free}
        more = len(chosen - again) - len(again - chosen)
        if known.left is not None and more:
            mine = Estimate.objects.filter(campaign=self.campaign, left__gte=more)
            spent = {"left": F("left") - more, "asked": F("asked") + max(more, 0)}
            if not mine.update(**spent) and more > 0:
                return self.afforded(replace(known, left=0))
        return chosen

    def best(self, known: Believed) -> set[int]:
        """The most valuable ones, as many as may be asked about at the same time."""
        stands, values = self.found.stands, self.found.values
        policy = IfItPays(price=known.price, cap=self.scheme.cap, k=self.scheme.k)
        most = policy.at_once - sum(stand.held > 0 for stand in stands if stand.made)
        if known.left is not None:
            most = min(most, known.left + sum(s.free > 0 for s in stands if s.made))
        if most < 1 or not (values > known.price).any():
            return set()
        able = self._able()
        made = np.array([stand.made for stand in stands])
        chosen = replace(policy, at_once=most).choose(np.where(able, values, 0.0), made)
        return set(np.flatnonzero(chosen & np.array(able)).tolist())

    def _able(self) -> list[bool]:
        """Where another judge may be asked, and one is there who has not seen the pair."""
        judges, refused = may_come(self.campaign), _refused(self.query_id)
        return [
            bool(stand.said and judges - stand.seen - refused[stand.pair.pk])
            and (stand.routed and not stand.held)
            for stand in self.found.stands
        ]

    def write(self, chosen: set[int], price: float) -> bool:
        """Write what is decided otherwise than before, and let the seats follow."""
        asks, moved = [], {}
        for row, stand in enumerate(self.found.stands):
            wanted = stand.made + 1 if row in chosen else stand.made
            if not stand.routed or stand.held or wanted == max(stand.asked, stand.made):
                continue
            worth = float(self.found.values[row])
            asks.append(
                Ask(
                    pair=stand.pair, campaign=self.campaign, wanted=wanted, value=worth, price=price
                )
            )
            moved[stand.pair.pk] = stand.pair
        if asks:
            _keep(asks)
            arrange(list(moved.values()), self.scheme, {ask.pair_id: ask.wanted for ask in asks})
        return bool(asks)


def _keep(asks: list[Ask]) -> None:
    Ask.objects.bulk_create(
        asks,
        update_conflicts=True,
        unique_fields=["pair"],
        update_fields=["wanted", "value", "price"],
    )


# -- Reading --------------------------------------------------------------------------------------


def _rows(query: int) -> QuerySet[Pair, tuple[object, ...]]:
    final = Adjudication.objects.filter(pair=OuterRef("pk")).values("grade")[:1]
    asked = Ask.objects.filter(pair=OuterRef("pk")).values("wanted")[:1]
    pairs = Pair.objects.filter(query=query).exclude(state=Pair.State.LOADING).order_by("pk")
    return pairs.values_list(*columns(Pair), Subquery(final), Subquery(asked))


_READ = Prepared(_rows, int)
_LOCKED = Prepared(lambda query: _rows(query).select_for_update(), int)

_SEATS = Prepared(
    lambda query: (
        Seat.objects.filter(query=query)
        .exclude(state=Seat.State.WITHDRAWN)
        .order_by("pk")
        .values_list("pair_id", "state", "judge_id", "judgment__grade", _running())
    ),
    int,
)
_REFUSED = Prepared(
    lambda query: Refusal.objects.filter(pair__query=query).values_list("pair_id", "judge_id"), int
)
_CAMPAIGN = Prepared(
    lambda campaign: (
        Campaign.objects.order_by().filter(pk=campaign).values_list(*columns(Campaign))
    ),
    int,
)


def _running() -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(Q(leased_until__gt=Now()), output_field=BooleanField())


def _campaign(number: int) -> Campaign:
    return as_object(Campaign, _CAMPAIGN.rows(number)[0])


def _seated(query_id: int, rows: Prepared) -> list[Stand]:
    """The pairs of a query with their judgments and seats."""
    stands: dict[int, Stand] = {}
    for *row, final, asked in rows.rows(query_id):
        pair = as_object(Pair, row)
        stands[pair.pk] = Stand(pair, final, asked or 0)
    for number, state, judge, grade, held in _SEATS.rows(query_id):
        stand = stands.get(number)
        if stand is None:
            continue
        if judge is not None:
            stand.seen.add(judge)
        if grade is not None:
            stand.said.append((judge, grade))
        elif state == Seat.State.OPEN and held:
            stand.held += 1
        elif state == Seat.State.OPEN:
            stand.free += 1
    return list(stands.values())


def _refused(query_id: int) -> defaultdict[int, set[int]]:
    """Who could not judge which pair."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for pair, judge in _REFUSED.rows(query_id):
        found[pair].add(judge)
    return found
