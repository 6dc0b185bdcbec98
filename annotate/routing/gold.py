"""Gold pairs: known grades among the others, and the qualification that is made of them."""

import hashlib

from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.db.models.functions import Now

from annotate.models import Campaign, Pair, Refusal, Seat, Standing, User

#: Where gold seats stand: behind everything, so that no search for a free seat ever meets one.
POSITION = 1 << 62


def is_gold(seat: Seat) -> bool:
    return seat.position == POSITION


def barred(standing: Standing) -> bool:
    """Whether this judge may judge gold only: she has not qualified, or not yet."""
    return standing.campaign.qualification_size > 0 and not standing.qualified


def next_seat(standing: Standing, judge: User, campaign: Campaign) -> Seat | None:
    """A gold seat, if it is time for one: always before she has qualified, then at the set rate.

    Whether it is time depends on the seed, the judge and how many pairs she has judged: nobody
    can tell a gold pair from its place.
    """
    if campaign.qualification_size and standing.qualified is False:
        return None
    if not barred(standing) and not _due(campaign, judge):
        return None
    pair = _next_pair(campaign, judge)
    return _seat(pair, judge) if pair else None


def _due(campaign: Campaign, judge: User) -> bool:
    if not campaign.gold_percent:
        return False
    made = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.DONE).count()
    return _draw(campaign, judge, str(made)) % 100 < campaign.gold_percent


def _draw(campaign: Campaign, judge: User, what: str) -> int:
    text = f"{campaign.seed}\n{campaign.pk}\n{judge.pk}\n{what}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _next_pair(campaign: Campaign, judge: User) -> Pair | None:
    """The gold pair that comes next for this judge, in an order of her own.

    Not one that she judged before it was gold: nobody is asked twice.
    """
    fresh = _open_to(campaign, judge).filter(~Exists(_seats_of(judge)))
    found = list(fresh.values_list("pk", flat=True))
    if not found:
        return None
    first = min(found, key=lambda pk: _draw(campaign, judge, f"pair {pk}"))
    return Pair.objects.select_for_update().filter(pk=first, state=Pair.State.GOLD).first()


def _open_to(campaign: Campaign, judge: User) -> QuerySet[Pair]:
    """The gold pairs she has not refused."""
    refused = Refusal.objects.filter(pair=OuterRef("pk"), judge=judge)
    return Pair.objects.filter(~Exists(refused), campaign=campaign, state=Pair.State.GOLD)


def _seats_of(judge: User) -> QuerySet[Seat]:
    return Seat.objects.filter(pair=OuterRef("pk"), judge=judge)


def _seat(pair: Pair, judge: User) -> Seat:
    """A seat for this judge alone. The lock of the pair keeps the ordinals apart."""
    last = pair.seats.aggregate(last=Max("ordinal"))["last"] or 0
    return Seat.objects.create(
        campaign_id=pair.campaign_id,
        query_id=pair.query_id,
        pair=pair,
        ordinal=last + 1,
        position=POSITION,
        judge=judge,
    )


# -- Qualification --------------------------------------------------------------------------------


def needed(standing: Standing, judge: User) -> int:
    """How many gold judgments decide: those wanted, or all that she can make."""
    campaign = standing.campaign
    aside = _seats_of(judge).filter(state=Seat.State.ASIDE)
    open_to_her = _open_to(campaign, judge).filter(~Exists(aside))
    if standing.examined_at is not None:  # what an earlier attempt was about tells nothing new
        earlier = _seats_of(judge).filter(judged_at__lte=standing.examined_at)
        open_to_her = open_to_her.filter(~Exists(earlier))
    return min(campaign.qualification_size, open_to_her.count())


def accuracy(standing: Standing, judge: User) -> tuple[int, int]:
    """How many of her gold judgments of this attempt are right, and how many there are."""
    made = _judged(standing, judge)
    if standing.qualified is None and standing.examined_at is not None:
        made = made.filter(judged_at__gt=standing.examined_at)
    return made.filter(judgment__grade=F("pair__gold")).count(), made.count()


def _judged(standing: Standing, judge: User) -> QuerySet[Seat]:
    return Seat.objects.filter(
        campaign=standing.campaign_id,
        judge=judge,
        state=Seat.State.DONE,
        pair__state=Pair.State.GOLD,
    )


def examine(standing: Standing, judge: User) -> None:
    """After a gold judgment: has she qualified? The caller holds the lock of her standing."""
    campaign = standing.campaign
    if standing.qualified is not None or not campaign.qualification_size:
        return
    right, made = accuracy(standing, judge)
    if made and made >= needed(standing, judge):
        passed = 100 * right >= campaign.qualification_percent * made
        Standing.objects.filter(pk=standing.pk).update(
            qualified=passed, right=right, made=made, examined_at=Now()
        )


def is_lesson(standing: Standing, seat: Seat) -> bool:
    """Whether she was told the expected grade: in training, up to the moment that decided."""
    if not standing.campaign.qualification_size or seat.pair.state != Pair.State.GOLD:
        return False
    if standing.qualified is None:
        return True
    decided, judged = standing.examined_at, seat.judged_at
    return decided is not None and judged is not None and judged <= decided
