"""Seats: made, leased, kept and given back."""

import uuid
from collections.abc import Collection

from django.db import connection, transaction
from django.db.models import Case, F, Q, Subquery, Value, When
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate import bulk
from annotate.clock import now_plus
from annotate.models import Campaign, Pair, Seat, User
from annotate.prepared import Prepared, as_object, columns
from annotate.routing import gold
from annotate.routing.errors import RoutingError, StaleSeatError
from annotate.routing.settling import lapse, settle
from annotate.routing.standing import budget_left, welcome_standing

BATCH = 2000


def open_seats(campaign: Campaign) -> int:
    """Give every pair that has none the seats its scheme wants first. Returns how many pairs."""
    wanted = campaign.scheme.wanted(())
    seated, last = 0, 0
    bare = Pair.objects.filter(campaign=campaign, state=Pair.State.OPEN, seats__isnull=True)
    numbers = bare.order_by("pk").values_list("pk", flat=True)
    # Looked for outside of the transaction and from where the last ones ended: with a million
    # pairs, judges would wait for the search.
    while pairs := list(numbers.filter(pk__gt=last)[:BATCH]):
        _seat(campaign, wanted, pairs[0], pairs[-1])
        seated, last = seated + len(pairs), pairs[-1]
    return seated


def _seat(campaign: Campaign, wanted: int, first: int, last: int) -> None:
    """So many seats for each open pair from ``first`` to ``last`` that has none."""
    copied = ("campaign_id", "query_id", "position")
    others = bulk.defaults(Seat, {*copied, "pair_id", "ordinal", "state"})
    names = ", ".join(map(bulk.quoted, [*copied, "pair_id", "ordinal", "state", *others]))
    values = ", ".join([*(f"p.{name}" for name in copied), "p.id", "n.ordinal", "%s"])
    ordinals = " UNION ALL ".join(f"SELECT {n} AS ordinal" for n in range(1, wanted + 1))
    pairs, seats = bulk.table(Pair), bulk.table(Seat)
    with connection.cursor() as cursor:
        # An import and an opening may come at once: the seats they make are the same.
        cursor.execute(
            f"INSERT INTO {seats} ({names}) "  # noqa: S608 every name is ours
            f"SELECT {', '.join([values, *others.values()])} FROM {pairs} p, ({ordinals}) n "
            "WHERE p.campaign_id = %s AND p.state = %s AND p.id BETWEEN %s AND %s "
            f"AND NOT EXISTS (SELECT 1 FROM {seats} s WHERE s.pair_id = p.id) "
            "ON CONFLICT DO NOTHING",
            [Seat.State.OPEN, campaign.pk, Pair.State.OPEN, first, last],
        )


# -- Keep and give back ---------------------------------------------------------------------------


def take_seat(judge: User, seat_id: int, token: uuid.UUID) -> Seat:
    """Lock the seat and its pair, if the seat is still hers.

    A lease that ran out is honoured as long as nobody else took the seat: her work counts.
    """
    seat = find_seat(judge, seat_id, token)
    if not _TAKEN.rows(seat_id, judge.pk, token):
        raise StaleSeatError(GONE)
    return seat


def find_seat(judge: User, seat_id: int, token: uuid.UUID) -> Seat:
    """Lock the pair alone. Whoever changes the seat then has to see whether it is still hers."""
    row = _PAIR.first(seat_id)
    # Read behind the lock: a change of scheme has come to this pair, or is still to come.
    held = _HELD.first(seat_id, judge.pk, token)
    if row is None or held is None:
        raise StaleSeatError(GONE)
    width = len(columns(Seat))
    seat, pair = as_object(Seat, held[:width]), as_object(Pair, row)
    pair.campaign = as_object(Campaign, held[width:])
    seat.pair, seat.campaign = pair, pair.campaign
    return seat


GONE = gettext_lazy("This pair is no longer yours: it went to somebody else meanwhile.")


_PAIR = Prepared(
    lambda seat: (
        Pair.objects.select_for_update()
        .filter(pk=Subquery(Seat.objects.filter(pk=seat).values("pair")))
        .values_list(*columns(Pair))
    ),
    int,
)
_HELD = Prepared(
    lambda seat, judge, token: (
        Seat.objects.order_by()
        .filter(pk=seat, judge=judge, token=token, state=Seat.State.OPEN)
        .values_list(*columns(Seat), *columns(Campaign, "campaign__"))
    ),
    int,
    int,
    uuid.UUID,
)
_TAKEN = Prepared(
    lambda seat, judge, token: (
        Seat.objects.select_for_update()
        .filter(pk=seat, judge=judge, token=token, state=Seat.State.OPEN)
        .values_list("pk")
    ),
    int,
    int,
    uuid.UUID,
)


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
        return _("This campaign is closed. Thank you for your judgments.")
    if campaign.state == Campaign.State.DRAFT:
        return _("This campaign has not begun yet. Please come back later.")
    if campaign.state == Campaign.State.PAUSED:
        return _("This campaign is paused. Please come back later.")
    try:
        with transaction.atomic():
            standing = welcome_standing(campaign, judge)
            left = budget_left(campaign)
    except RoutingError as error:
        return str(error)
    if gold.barred(standing):
        return _("You have not qualified for this campaign. Its manager can let you try again.")
    if not left:
        return _("The budget of this campaign is used up. Thank you for your judgments.")
    if Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN).exists():
        return _("There is no pair for you right now: what is open waits for other judges.")
    return _("All pairs of this campaign are judged. Thank you.")
