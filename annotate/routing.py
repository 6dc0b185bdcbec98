"""Which pair goes to which judge. The only place where seats and judgments are written.

Locks are taken in one order everywhere: membership, pair, seat. SQLite takes its one write lock
at BEGIN instead, so the same code holds there.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotate import jobs
from annotate.clock import now_plus
from annotate.models import Campaign, Judgment, Membership, Pair, Refusal, Seat, User
from ranking.grades import LEVELS
from ranking.schemes import Scheme

BATCH = 2000


class RoutingError(Exception):
    """What the judge is told when a step cannot be taken."""


class StaleSeatError(RoutingError):
    """The seat is not, or no longer, this judge's."""


class CampaignNotOpenError(RoutingError):
    """The campaign takes no judgments now."""


@dataclass(frozen=True)
class Answer:
    """What a judge says about a pair."""

    grade: int
    key: uuid.UUID
    comment: str = ""
    active_ms: int | None = None

    def __post_init__(self) -> None:
        if self.grade not in range(LEVELS):
            raise RoutingError(f"A grade must be 0 to 4. Got {self.grade} instead.")


# -- Seats ----------------------------------------------------------------------------------------


def open_seats(campaign: Campaign) -> int:
    """Give every pair that has none the seats its scheme wants first. Returns how many pairs."""
    wanted = campaign.scheme.wanted(())
    seated = 0
    while True:
        with transaction.atomic():
            new = Pair.objects.filter(campaign=campaign, seats__isnull=True)[:BATCH]
            pairs = list(new.only("id", "query_id", "position"))
            Seat.objects.bulk_create(
                Seat(
                    campaign=campaign,
                    query_id=pair.query_id,
                    pair_id=pair.id,
                    ordinal=ordinal,
                    position=pair.position,
                )
                for pair in pairs
                for ordinal in range(1, wanted + 1)
            )
        seated += len(pairs)
        if len(pairs) < BATCH:
            return seated


def claim(campaign: Campaign, judge: User) -> Seat | None:
    """Lease the next seat to this judge, or say that there is none for her now.

    A seat she already holds comes first, so that a reload shows the same pair.
    """
    with transaction.atomic():
        _require_membership(campaign, judge)
        if campaign.state != Campaign.State.OPEN:
            return None
        seat = _held(campaign, judge) or _first_free(campaign, judge)
        if seat is None:
            return None
        token = seat.token if seat.judge_id == judge.id and seat.token else uuid.uuid4()
        Seat.objects.filter(pk=seat.pk).update(
            judge=judge, token=token, leased_until=now_plus(minutes=campaign.lease_minutes)
        )
    return Seat.objects.select_related("pair__query", "pair__document").get(pk=seat.pk)


def _require_membership(campaign: Campaign, judge: User) -> None:
    """Also the lock that makes a judge's many tabs come one after the other."""
    membership = Membership.objects.select_for_update().filter(
        campaign=campaign, user=judge, role=Membership.Role.JUDGE
    )
    if not membership.exists():
        raise RoutingError("You are not a judge of this campaign.")
    list(membership)


def _held(campaign: Campaign, judge: User) -> Seat | None:
    return _lock(Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN))


def _first_free(campaign: Campaign, judge: User) -> Seat | None:
    """The first seat in the order of judging; the query she is on is finished first."""
    free = _free(judge).filter(campaign=campaign).order_by("position", "ordinal")
    current = (
        Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.DONE)
        .order_by("-judged_at")
        .values_list("query", flat=True)
        .first()
    )
    return (current and _lock(free.filter(query=current))) or _lock(free)


def _free(judge: User) -> QuerySet[Seat]:
    """Open seats nobody holds, of pairs this judge has neither judged nor refused."""
    hers = Seat.objects.filter(pair=OuterRef("pair"), judge=judge)
    refused = Refusal.objects.filter(pair=OuterRef("pair"), judge=judge)
    return Seat.objects.filter(
        Q(leased_until__isnull=True) | Q(leased_until__lt=Now()),
        ~Exists(hers),
        ~Exists(refused),
        state=Seat.State.OPEN,
    )


def _lock(seats: QuerySet[Seat]) -> Seat | None:
    """The first of them that no other claim is just taking."""
    return seats.select_for_update(skip_locked=True, of=("self",)).first()


# -- Judgments ------------------------------------------------------------------------------------


def submit(judge: User, seat_id: int, token: uuid.UUID, answer: Answer) -> Judgment:
    """Save one judgment and let the scheme decide what follows. The same key is saved once."""
    with transaction.atomic():
        known = Judgment.objects.filter(judge=judge, key=answer.key).first()
        if known is not None:
            return known
        seat = _take_seat(judge, seat_id, token)
        campaign = _require_accepting(seat.campaign)
        judgment = Judgment.objects.create(
            seat=seat,
            pair_id=seat.pair_id,
            judge=judge,
            grade=answer.grade,
            key=answer.key,
            comment=answer.comment,
            active_ms=answer.active_ms,
            guideline_version=_guideline_version(campaign),
        )
        Seat.objects.filter(pk=seat.pk).update(
            state=Seat.State.DONE, judgment=judgment, judged_at=Now(), leased_until=None
        )
        _settle(seat.pair, campaign.scheme)
        jobs.enqueue("aggregate", campaign, delay=2)
    return judgment


def _take_seat(judge: User, seat_id: int, token: uuid.UUID) -> Seat:
    """Lock the pair, then see whether the seat is still hers.

    A lease that ran out is honoured as long as nobody else took the seat: her work counts.
    """
    seat = Seat.objects.filter(pk=seat_id).first()
    if seat is not None:
        Pair.objects.select_for_update().get(pk=seat.pair_id)
        seat = (
            Seat.objects.select_for_update(of=("self",))
            .filter(pk=seat_id, judge=judge, token=token, state=Seat.State.OPEN)
            .select_related("campaign", "pair")
            .first()
        )
    if seat is None:
        raise StaleSeatError("This pair is no longer yours: it went to somebody else meanwhile.")
    return seat


def _require_accepting(campaign: Campaign) -> Campaign:
    """A pause stops new seats only; a judgment that is being made is still welcome."""
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PAUSED):
        raise CampaignNotOpenError("This campaign is closed. It takes no more judgments.")
    return campaign


def _guideline_version(campaign: Campaign) -> int:
    return campaign.guidelines.values_list("version", flat=True).first() or 0


def take_back(judge: User, judgment_id: int) -> Seat:
    """Undo: a superseding row without a grade. The pair is hers to judge again."""
    with transaction.atomic():
        old = Judgment.objects.filter(pk=judgment_id, judge=judge).first()
        if old is not None:
            Pair.objects.select_for_update().get(pk=old.pair_id)
        seat = Seat.objects.filter(judgment=judgment_id, judge=judge).first()
        if old is None or seat is None:
            raise StaleSeatError("This judgment cannot be taken back: it is not the latest.")
        campaign = _require_accepting(seat.campaign)
        Judgment.objects.create(
            seat=seat,
            pair_id=seat.pair_id,
            judge=judge,
            supersedes=old,
            key=uuid.uuid4(),
            guideline_version=old.guideline_version,
        )
        Seat.objects.filter(pk=seat.pk).update(
            state=Seat.State.OPEN,
            judgment=None,
            judged_at=None,
            token=uuid.uuid4(),
            leased_until=now_plus(minutes=campaign.lease_minutes),
        )
        _settle(seat.pair, campaign.scheme)
        jobs.enqueue("aggregate", campaign, delay=2)
    return Seat.objects.get(pk=seat.pk)


def refuse(
    judge: User, seat_id: int, token: uuid.UUID, reason: Refusal.Reason, text: str = ""
) -> None:
    """The judge cannot judge this pair: somebody else is asked, she is not asked again."""
    with transaction.atomic():
        seat = _take_seat(judge, seat_id, token)
        Refusal.objects.create(pair_id=seat.pair_id, judge=judge, reason=reason, text=text)
        _give_back([seat.pk])


def release(judge: User, seat_id: int, token: uuid.UUID) -> None:
    """The judge leaves: what she holds goes back at once instead of when its lease ends."""
    held = Seat.objects.filter(pk=seat_id, judge=judge, token=token, state=Seat.State.OPEN)
    with transaction.atomic():
        _give_back(held.values_list("pk", flat=True))


def _give_back(seat_ids: Iterable[int]) -> None:
    Seat.objects.filter(pk__in=list(seat_ids)).update(judge=None, token=None, leased_until=None)


# -- The scheme's word ----------------------------------------------------------------------------


def _settle(pair: Pair, scheme: Scheme) -> None:
    """Make the open seats of a pair what its scheme wants after the judgments it has now.

    The caller holds the lock on the pair.
    """
    seats = list(pair.seats.select_related("judgment").order_by("ordinal"))
    done = sorted(
        (seat for seat in seats if seat.judgment and seat.judged_at),
        key=lambda seat: (seat.judged_at, seat.ordinal),
    )
    grades = [seat.judgment.grade for seat in done if seat.judgment]
    waiting = [seat for seat in seats if seat.state == Seat.State.OPEN]
    missing = scheme.wanted([g for g in grades if g is not None]) - len(done) - len(waiting)
    still_open = len(waiting)
    if missing > 0:
        _add_seats(pair, seats, missing)
        still_open += missing
    elif missing < 0:
        still_open -= _withdraw(waiting, -missing)
    Pair.objects.filter(pk=pair.pk).update(
        state=Pair.State.OPEN if still_open else Pair.State.CLOSED, stale=True
    )


def _add_seats(pair: Pair, seats: Sequence[Seat], count: int) -> None:
    """Seats that were withdrawn come back before new ones are made."""
    withdrawn = [seat.pk for seat in seats if seat.state == Seat.State.WITHDRAWN][:count]
    Seat.objects.filter(pk__in=withdrawn).update(state=Seat.State.OPEN)
    last = max((seat.ordinal for seat in seats), default=0)
    Seat.objects.bulk_create(
        Seat(
            campaign_id=pair.campaign_id,
            query_id=pair.query_id,
            pair=pair,
            ordinal=last + number,
            position=pair.position,
        )
        for number in range(1, count - len(withdrawn) + 1)
    )


def _withdraw(waiting: Sequence[Seat], count: int) -> int:
    """Take back up to ``count`` seats that nobody holds, the latest first. Returns how many."""
    withdrawn = 0
    for seat in reversed(waiting):
        if withdrawn == count:
            break
        free = Seat.objects.filter(pk=seat.pk, state=Seat.State.OPEN).filter(
            Q(leased_until__isnull=True) | Q(leased_until__lt=Now())
        )
        withdrawn += free.update(
            state=Seat.State.WITHDRAWN, judge=None, token=None, leased_until=None
        )
    return withdrawn
