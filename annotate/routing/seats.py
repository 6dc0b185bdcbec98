"""Seats: made, leased, kept and given back."""

import uuid
from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.models import Campaign, Pair, Refusal, Seat, Standing, User
from annotate.routing import gold
from annotate.routing.errors import RoutingError
from annotate.routing.settling import new_seat
from annotate.routing.standing import budget_left, locked_standing, require_welcome

BATCH = 2000

#: How many seats a judge may hold: the one before her eyes and the next one.
HOLD = 2

#: How many free seats are looked at in one step. A judge's own pairs waiting for others may head
#: the list by the thousand; her cursor passes such a window once, not at every claim.
WINDOW = 300


def open_seats(campaign: Campaign) -> int:
    """Give every pair that has none the seats its scheme wants first. Returns how many pairs."""
    wanted = campaign.scheme.wanted(())
    seated = 0
    while True:
        with transaction.atomic():
            new = Pair.objects.filter(campaign=campaign, state=Pair.State.OPEN, seats__isnull=True)
            pairs = list(new[:BATCH])
            Seat.objects.bulk_create(
                new_seat(pair, ordinal) for pair in pairs for ordinal in range(1, wanted + 1)
            )
        seated += len(pairs)
        if len(pairs) < BATCH:
            return seated


# -- Claim ----------------------------------------------------------------------------------------


def claim(campaign: Campaign, judge: User, besides: Collection[int] = ()) -> Seat | None:
    """Lease the next seat to this judge, or say that there is none for her now.

    A seat she holds already comes first, so that a reload shows the same pair; ``besides`` names
    the seats she has before her, where she wants the one after.
    """
    with transaction.atomic():
        standing = locked_standing(campaign, judge)
        require_welcome(standing, judge)
        if campaign.state != Campaign.State.OPEN:
            return None
        held = list(_held(campaign, judge))
        seat = next((seat for seat in held if seat.pk not in besides), None)
        if seat is None:
            if len(held) >= HOLD or not budget_left(campaign):
                return None
            seat = gold.next_seat(standing, judge, campaign) or _first_free(standing, judge)
        if seat is None:
            return None
        _lease(seat, judge, campaign)
        if standing.query_id != seat.query_id and not gold.is_gold(seat):
            Standing.objects.filter(pk=standing.pk).update(query=seat.query_id)
    return seat


def _held(campaign: Campaign, judge: User) -> QuerySet[Seat]:
    """Locked, because somebody else may just be taking one whose lease ran out."""
    mine = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)
    return _with_pair(mine).select_for_update(of=("self",)).order_by("leased_until")


def _lease(seat: Seat, judge: User, campaign: Campaign) -> None:
    """Her other tabs keep working: a seat she holds keeps its token."""
    if seat.judge_id != judge.pk or seat.token is None:
        seat.token = uuid.uuid4()
    seat.judge = judge
    Seat.objects.filter(pk=seat.pk).update(
        judge=judge, token=seat.token, leased_until=now_plus(minutes=campaign.lease_minutes)
    )


def _first_free(standing: Standing, judge: User) -> Seat | None:
    """The first seat in the order of judging; the query she is on is finished first."""
    if gold.barred(standing):
        return None
    free = _free().filter(campaign=standing.campaign_id)
    here = standing.query_id and _lock(_hers(free.filter(query=standing.query_id), judge))
    return here or _search(free, standing, judge)


def _search(free: QuerySet[Seat], standing: Standing, judge: User) -> Seat | None:
    """Window by window from her cursor; once round, so that nothing behind it is missed."""
    start, wrapped = standing.cursor, standing.cursor < 0
    while True:
        window = free.filter(position__gt=start).order_by("position", "ordinal")
        seat = _lock(_hers(free.filter(pk__in=window.values("pk")[:WINDOW]), judge))
        if seat is not None:
            break
        end = window.values_list("position", flat=True)[WINDOW - 1 : WINDOW].first()
        if end is None and wrapped:
            break
        start, wrapped = (-1, True) if end is None else (end, wrapped)
    if start != standing.cursor:
        Standing.objects.filter(pk=standing.pk).update(cursor=start)
    return seat


def _free() -> QuerySet[Seat]:
    """Open seats nobody holds. Gold seats are made for one judge and never lie free."""
    return Seat.objects.filter(
        Q(leased_until__isnull=True) | Q(leased_until__lt=Now()),
        state=Seat.State.OPEN,
        position__lt=gold.POSITION,
    )


def _hers(seats: QuerySet[Seat], judge: User) -> QuerySet[Seat]:
    """Without the pairs this judge has judged, holds or refused."""
    known = Seat.objects.filter(pair=OuterRef("pair"), judge=judge)
    refused = Refusal.objects.filter(pair=OuterRef("pair"), judge=judge)
    return seats.filter(~Exists(known), ~Exists(refused)).order_by("position", "ordinal")


def _lock(seats: QuerySet[Seat]) -> Seat | None:
    """The first of them that no other claim is just taking."""
    return _with_pair(seats).select_for_update(skip_locked=True, of=("self",)).first()


def _with_pair(seats: QuerySet[Seat]) -> QuerySet[Seat]:
    return seats.select_related("pair__query", "pair__document")


# -- Keep and give back ---------------------------------------------------------------------------


def extend(judge: User, seat_id: int, token: uuid.UUID) -> bool:
    """Her page is active: the lease goes on. False if the seat is no longer hers."""
    held = Seat.objects.filter(pk=seat_id, judge=judge, token=token, state=Seat.State.OPEN)
    minutes = held.values_list("campaign__lease_minutes", flat=True).first()
    return bool(minutes and held.update(leased_until=now_plus(minutes=minutes)))


def release(judge: User, seat_id: int, token: uuid.UUID) -> None:
    """She leaves: what she holds goes back at once instead of when its lease ends."""
    with transaction.atomic():
        give_back(Seat.objects.filter(pk=seat_id, judge=judge, token=token, state=Seat.State.OPEN))


def give_back(held: QuerySet[Seat]) -> None:
    """Free these seats for others. A gold seat was made for her alone and goes."""
    free = {"judge": None, "token": None, "leased_until": None}
    held.filter(position=gold.POSITION).update(state=Seat.State.WITHDRAWN, **free)
    held.exclude(position=gold.POSITION).update(**free)


def why_none(campaign: Campaign, judge: User) -> str:
    """Why there is no pair for her now, in a sentence."""
    if campaign.state == Campaign.State.CLOSED:
        return "This campaign is closed. Thank you for your judgments."
    if campaign.state != Campaign.State.OPEN:
        return "This campaign is paused. Please come back later."
    try:
        with transaction.atomic():
            standing = locked_standing(campaign, judge)
            require_welcome(standing, judge)
            left = budget_left(campaign)
    except RoutingError as error:
        return str(error)
    if gold.barred(standing):
        return "You have not qualified for this campaign. Its manager can let you try again."
    if not left:
        return "The budget of this campaign is used up. Thank you for your judgments."
    if Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN).exists():
        return "There is no pair for you right now: what is open waits for other judges."
    return "All pairs of this campaign are judged. Thank you."
