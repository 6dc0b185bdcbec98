"""Seats: made, leased, kept and given back."""

import uuid
from collections.abc import Collection

from django.db import transaction
from django.db.models import (
    BooleanField,
    Case,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.models import Campaign, Pair, Refusal, Seat, Standing, User
from annotate.routing import gold
from annotate.routing.errors import RoutingError, StaleSeatError
from annotate.routing.settling import lapse, new_seat, settle
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
            seats = [new_seat(pair, number) for pair in pairs for number in range(1, wanted + 1)]
            # An import and an opening may come at once: the seats they make are the same.
            Seat.objects.bulk_create(seats, ignore_conflicts=True)
        seated += len(pairs)
        if len(pairs) < BATCH:
            return seated


# -- Claim ----------------------------------------------------------------------------------------


class _LapsedError(Exception):
    """The claim met a lease that ran out. Whether its seat is still wanted is to be seen first."""

    def __init__(self, pair_id: int) -> None:
        super().__init__(pair_id)
        self.pair_id = pair_id


def claim(campaign: Campaign, judge: User, besides: Collection[int] = ()) -> Seat | None:
    """Lease the next seat to this judge, or say that there is none for her now.

    A seat she holds already comes first, so that a reload shows the same pair; ``besides`` names
    the seats she has before her, where she wants the one after.
    """
    while True:
        try:
            with transaction.atomic():
                return _claim(campaign, judge, besides)
        except _LapsedError as met:
            # Outside of the claim, whose seat is free again: pairs are locked before seats.
            lapse(campaign, met.pair_id)


def _claim(campaign: Campaign, judge: User, besides: Collection[int]) -> Seat | None:
    standing = locked_standing(campaign, judge)
    require_welcome(standing, judge)
    if campaign.state != Campaign.State.OPEN:
        return None
    held = _held(campaign, judge)
    hers = ((seat, active) for seat, active in held if seat.pk not in besides)
    seat, active = next(hers, (None, False))
    if seat is None and len(held) >= HOLD:
        return None
    if not active and not budget_left(campaign):
        return None
    if seat is None:
        seat = gold.next_seat(standing, judge, campaign) or _first_free(standing, judge)
    elif not active:
        _require_fresh(seat)
    if seat is None:
        _look_after_lapsed(campaign)
        return None
    _lease(seat, judge, campaign)
    if standing.query_id != seat.query_id and not gold.is_gold(seat):
        Standing.objects.filter(pk=standing.pk).update(query=seat.query_id)
    return seat


def _held(campaign: Campaign, judge: User) -> list[tuple[Seat, bool]]:
    """What she has before her, and whether its lease still runs."""
    active = ExpressionWrapper(Q(leased_until__gt=Now()), output_field=BooleanField())
    mine = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)
    order = F("leased_until").asc(nulls_last=True)
    found = _with_pair(mine).annotate(active=active).order_by(order, "position")
    return [(seat, bool(seat.active)) for seat in found]


def _require_fresh(seat: Seat) -> None:
    """A free seat is wanted; one whose lease just ran out may not be any more."""
    if seat.leased_until is not None and not gold.is_gold(seat):
        raise _LapsedError(seat.pair_id)


def _look_after_lapsed(campaign: Campaign) -> None:
    """Nothing for her: then at least no seat that nobody wants keeps a pair open."""
    seat = _free().filter(campaign=campaign, leased_until__isnull=False).first()
    if seat is not None:
        raise _LapsedError(seat.pair_id)


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
    seat = here or _search(free, standing, judge)
    if seat is not None:
        _require_fresh(seat)
    return seat


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
        # Other seats may stand at the position where the window ends: they are looked at next.
        start, wrapped = (-1, True) if end is None else (max(end - 1, start + 1), wrapped)
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


def take_seat(judge: User, seat_id: int, token: uuid.UUID) -> Seat:
    """Lock the seat and its pair, if the seat is still hers.

    A lease that ran out is honoured as long as nobody else took the seat: her work counts.
    """
    pair = (
        Pair.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .filter(seats=seat_id)
        .first()
    )
    seat = Seat.objects.select_for_update().filter(_theirs(judge, seat_id, token)).first()
    if pair is None or seat is None:
        raise StaleSeatError("This pair is no longer yours: it went to somebody else meanwhile.")
    seat.pair, seat.campaign = pair, pair.campaign
    return seat


def _theirs(judge: User, seat_id: int, token: uuid.UUID) -> Q:
    return Q(pk=seat_id, judge=judge, token=token, state=Seat.State.OPEN)


def extend(judge: User, seat_id: int, token: uuid.UUID) -> bool:
    """Her page is active: the lease goes on. False if the seat is no longer hers."""
    held = Seat.objects.filter(_theirs(judge, seat_id, token)).select_related("campaign")
    seat = held.first()
    if seat is None:
        return False
    longer = now_plus(minutes=seat.campaign.lease_minutes)
    if held.filter(leased_until__gt=Now()).update(leased_until=longer):
        return True
    # It ran out: she gets it anew if it is still wanted and there is money for it.
    if not gold.is_gold(seat):
        lapse(seat.campaign, seat.pair_id)
    with transaction.atomic():
        return budget_left(seat.campaign) and bool(held.update(leased_until=longer))


def release(judge: User, seat_id: int, token: uuid.UUID) -> None:
    """She leaves: what she holds goes back at once instead of when its lease ends."""
    with transaction.atomic():
        try:
            seat = take_seat(judge, seat_id, token)
        except StaleSeatError:
            return  # it went back already
        give_back([seat.pk], [seat.pair], seat.campaign)


def give_back(held: Collection[int], pairs: Collection[Pair], campaign: Campaign) -> None:
    """Free these seats for others, as far as they are still wanted. The pairs are locked.

    A gold seat was made for her alone and goes.
    """
    left = Case(When(position=gold.POSITION, then=Value(Seat.State.WITHDRAWN)), default=F("state"))
    seats = Seat.objects.filter(pk__in=held, state=Seat.State.OPEN)
    seats.update(state=left, judge=None, token=None, leased_until=None)
    settle(pairs, campaign.scheme)


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
