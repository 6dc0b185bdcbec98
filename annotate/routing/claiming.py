"""Claims: which seat a judge gets next."""

import uuid
from collections.abc import Callable, Collection
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.models import Campaign, Document, Pair, Query, Refusal, Seat, Standing, User
from annotate.prepared import Prepared, as_object, columns
from annotate.routing import gold
from annotate.routing.settling import lapse
from annotate.routing.standing import budget_left, welcome_standing

T = TypeVar("T")

#: How many seats a judge may hold: the one before her eyes and the next one.
HOLD = 2

#: How many free seats are looked at in a first step, and how many times as many in each further
#: one. A judge's own pairs waiting for others may head the list by the hundred thousand; her
#: cursor passes such a window once, not at every claim.
WINDOW = 300
GROWTH = 4


class _LapsedError(Exception):
    """The claim met a lease that ran out. Whether its seat is still wanted is to be seen first."""

    def __init__(self, pair_id: int) -> None:
        super().__init__(pair_id)
        self.pair_id = pair_id


class _MovedError(Exception):
    """A seat she held was taken from her while the claim looked at it: it is to look again."""


class _Found(NamedTuple):
    """A seat as the search sees it: its lease may run, be nearly over, or have run out."""

    pk: int
    pair_id: int
    query_id: int
    position: int
    active: bool
    worn: bool
    lapsed: bool


def claim(campaign: Campaign, judge: User, besides: Collection[int] = ()) -> Seat | None:
    """Lease the next seat to this judge, or say that there is none for her now.

    A seat she holds already comes first, so that a reload shows the same pair; ``besides`` names
    the seats she has before her, where she wants the one after.
    """
    found = _fresh(campaign, lambda: _claim(campaign, judge, besides))
    return next(iter(found), None)


def hold(campaign: Campaign, judge: User) -> list[Seat]:
    """The pair to judge now and the one after it, as far as there are any for her."""
    return _fresh(campaign, lambda: fill_up(welcome_standing(campaign, judge), judge))


def _fresh(campaign: Campaign, work: Callable[[], T]) -> T:
    """Do it in a transaction; where it meets leases that ran out, look after these first."""
    while True:
        try:
            with transaction.atomic():
                return work()
        except _LapsedError as met:
            # Outside of the claim, whose seat is free again: pairs are locked before seats.
            lapse(campaign, met.pair_id)
        except _MovedError:
            continue


def _claim(campaign: Campaign, judge: User, besides: Collection[int]) -> list[Seat]:
    standing = welcome_standing(campaign, judge)
    if campaign.state != Campaign.State.OPEN:
        return []
    held = _held(standing, judge)
    hers = next((found for found in held if found.pk not in besides), None)
    if hers is not None:
        seat = _keep(standing, judge, hers)
    else:
        seat = _take(standing, judge) if len(held) < HOLD else None
    return _seats([seat], judge) if seat else []


def fill_up(standing: Standing, judge: User) -> list[Seat]:
    """Keep what she holds and take what is missing. The caller holds the lock of her standing."""
    if standing.campaign.state != Campaign.State.OPEN:
        return []
    held = _held(standing, judge)
    kept = [seat for found in held[:HOLD] if (seat := _keep(standing, judge, found))]
    for _ in range(HOLD - len(held)):
        seat = _take(standing, judge)
        if seat is None:
            break
        kept.append(seat)
    return _seats(kept, judge)


def try_to_fill_up(standing: Standing, judge: User) -> list[Seat] | None:
    """In the transaction of something else that must not fail; None where it has to be later."""
    try:
        return fill_up(standing, judge)
    except (_LapsedError, _MovedError):
        return None


# -- What she holds -------------------------------------------------------------------------------


def _held(standing: Standing, judge: User) -> list[_Found]:
    rows = _held_by(standing.campaign.lease_minutes).rows(standing.campaign_id, judge.pk)
    return [_Found(*row) for row in rows]


@cache
def _held_by(minutes: int) -> Prepared:
    def build(campaign: int, judge: int) -> QuerySet[Seat, tuple[object, ...]]:
        mine = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)
        order = F("leased_until").asc(nulls_last=True)
        return mine.order_by(order, "position").values_list(
            *("pk", "pair_id", "query_id", "position"),
            _is(leased_until__gt=Now()),
            _is(leased_until__lt=now_plus(minutes=minutes / 2)),
            _is(leased_until__lt=Now()),
        )

    return Prepared(build, int, int)


def _is(**condition: object) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(Q(**condition), output_field=BooleanField())


def _keep(standing: Standing, judge: User, found: _Found) -> int | None:
    """Her lease goes on, with the same token: her other tabs keep working."""
    if not found.active:
        if not budget_left(standing.campaign):
            return None
        _require_fresh(found)
    if not found.active or found.worn:
        _renewing(standing.campaign.lease_minutes).run(found.pk, judge.pk)
    return found.pk


def _require_fresh(found: _Found) -> None:
    """A free seat is wanted; one whose lease just ran out may not be any more."""
    if found.lapsed and found.position != gold.POSITION:
        raise _LapsedError(found.pair_id)


@cache
def _renewing(minutes: int) -> Prepared:
    longer = {"leased_until": now_plus(minutes=minutes)}
    return Prepared(
        lambda seat, judge: (Seat.objects.filter(pk=seat, judge=judge), longer), int, int
    )


@cache
def _leasing(minutes: int) -> Prepared:
    longer = now_plus(minutes=minutes)
    return Prepared(
        lambda seat, judge, token: (
            Seat.objects.filter(pk=seat),
            {"judge": judge, "token": token, "leased_until": longer},
        ),
        int,
        int,
        uuid.UUID,
    )


# -- What is free ---------------------------------------------------------------------------------


def _take(standing: Standing, judge: User) -> int | None:
    """Lease a seat that is new to her."""
    campaign = standing.campaign
    if not budget_left(campaign):
        return None
    golden = gold.next_seat(standing, judge, campaign)
    found = None if golden else _first_free(standing, judge)
    if golden is None and found is None:
        _look_after_lapsed(campaign)
        return None
    seat = golden.pk if golden else found.pk  # type: ignore[union-attr]
    _leasing(campaign.lease_minutes).run(seat, judge.pk, uuid.uuid4())
    if found and standing.query_id != found.query_id:
        Standing.objects.filter(pk=standing.pk).update(query=found.query_id)
        standing.query_id = found.query_id
    return seat


def _look_after_lapsed(campaign: Campaign) -> None:
    """Nothing for her: then at least no seat that nobody wants keeps a pair open."""
    seat = _free().filter(campaign=campaign, leased_until__isnull=False).first()
    if seat is not None:
        raise _LapsedError(seat.pair_id)


def _first_free(standing: Standing, judge: User) -> _Found | None:
    """The first seat in the order of judging; the query she is on is finished first."""
    if gold.barred(standing):
        return None
    row = None
    if standing.query_id:
        row = _HERE.first(standing.campaign_id, standing.query_id, judge.pk)
    found = _Found(*row) if row else _search(standing, judge)
    if found is not None:
        _require_fresh(found)
    return found


def _search(standing: Standing, judge: User) -> _Found | None:
    """Window by window from her cursor; once round, so that nothing behind it is missed."""
    campaign = standing.campaign_id
    start, wrapped, width = standing.cursor, standing.cursor < 0, WINDOW
    while True:
        # Two plain statements and no join over the window: PostgreSQL would turn it round.
        end = _window(width).first(campaign, start)
        row = _WITHIN.first(campaign, start, end[0] if end else gold.POSITION, judge.pk)
        if row is not None or (end is None and wrapped):
            break
        start, wrapped = (end[0], wrapped) if end else (-1, True)
        width *= GROWTH
    if row is not None and width > WINDOW:  # a long way is not gone twice
        start = row[3] - 1
    if start != standing.cursor:
        Standing.objects.filter(pk=standing.pk).update(cursor=start)
        standing.cursor = start
    return _Found(*row) if row else None


@cache
def _window(width: int) -> Prepared:
    """The position where so many free seats end. Those that share it are all within."""

    def build(campaign: int, start: int) -> QuerySet[Seat, tuple[object, ...]]:
        free = _free().filter(campaign=campaign, position__gt=start)
        return free.order_by("position", "ordinal").values_list("position")[width - 1 : width]

    return Prepared(build, int, int)


def _free() -> QuerySet[Seat]:
    """Open seats nobody holds. Gold seats are made for one judge and never lie free."""
    return Seat.objects.filter(
        Q(leased_until__isnull=True) | Q(leased_until__lt=Now()),
        state=Seat.State.OPEN,
        position__lt=gold.POSITION,
    )


def _hers(seats: QuerySet[Seat], judge: int) -> QuerySet[Seat]:
    """Without the pairs this judge has judged, holds or refused."""
    known = Seat.objects.filter(pair=OuterRef("pair"), judge=judge)
    refused = Refusal.objects.filter(pair=OuterRef("pair"), judge=judge)
    return seats.filter(~Exists(known), ~Exists(refused)).order_by("position", "ordinal")


def _lock(seats: QuerySet[Seat]) -> QuerySet[Seat, tuple[Any, ...]]:
    """The first of them that no other claim is just taking."""
    no = _is(pk__isnull=True)
    lapsed = _is(leased_until__isnull=False)
    found = seats.select_for_update(skip_locked=True)
    return found.values_list("pk", "pair_id", "query_id", "position", no, no, lapsed)[:1]


_HERE = Prepared(
    lambda campaign, query, judge: _lock(
        _hers(_free().filter(campaign=campaign, query=query), judge)
    ),
    int,
    int,
    int,
)

_WITHIN = Prepared(
    lambda campaign, start, end, judge: _lock(
        _hers(
            _free().filter(campaign=campaign, position__gt=start, position__lte=end),
            judge,
        )
    ),
    int,
    int,
    int,
    int,
)


# -- What is shown --------------------------------------------------------------------------------


def _seats(wanted: list[int], judge: User) -> list[Seat]:
    """These seats with their pairs, queries and documents, in this order.

    What she holds was read without a lock, so that claims never wait for one another: it may be
    withdrawn in the meantime.
    """
    if not wanted:
        return []
    seats = [_seat(row) for row in _SHOWN.rows(wanted[0], wanted[-1])]
    hers = [s for s in seats if s.judge_id == judge.pk and s.state == Seat.State.OPEN]
    if len(hers) < len(wanted):
        raise _MovedError
    return sorted(hers, key=lambda seat: wanted.index(seat.pk))


_PARTS: tuple[tuple[type[Seat | Pair | Query | Document], str], ...] = (
    (Seat, ""),
    (Pair, "pair__"),
    (Query, "pair__query__"),
    (Document, "pair__document__"),
)

_SHOWN = Prepared(
    lambda first, second: Seat.objects.filter(pk__in=[first, second]).values_list(
        *(name for model, prefix in _PARTS for name in columns(model, prefix))
    ),
    int,
    int,
)


def _seat(row: tuple[object, ...]) -> Seat:
    parts, start = [], 0
    for model, _ in _PARTS:
        end = start + len(columns(model))
        parts.append(as_object(model, row[start:end]))
        start = end
    seat, pair, query, document = parts
    pair.query, pair.document, seat.pair = query, document, pair  # type: ignore[union-attr]
    return seat  # type: ignore[return-value]
