"""Judgments that were made elsewhere and come in a file, under the same rules as our own."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from annotate.models import Campaign, Judgment, Ledger, Pair, Seat
from annotate.routing.settling import new_seat, settle
from annotate.routing.standing import kept_ledger


@dataclass(frozen=True)
class Entry:
    """What somebody said of a pair, and when."""

    pair_id: int
    judge_id: int
    grade: int
    comment: str = ""
    active_ms: int | None = None
    guideline_version: int = 0
    at: datetime | None = None


def record(campaign: Campaign, entries: Sequence[Entry]) -> int:
    """Write these judgments and let the scheme decide what follows. Returns how many are new.

    No judge is twice on a pair: the same grade again is the judgment that is there, another one
    corrects it. A judgment that a manager took out stays out.
    """
    with transaction.atomic():
        ledger = kept_ledger(campaign)
        numbers = {entry.pair_id for entry in entries}
        locked = Pair.objects.select_for_update().filter(pk__in=numbers).order_by("pk")
        pairs = {pair.pk: pair for pair in locked}
        seats = _seats(pairs)
        wanted = [entry for entry in entries if _is_news(seats[entry.pair_id], entry)]
        fresh = _take_seats(pairs, seats, wanted)
        if fresh and ledger is not None:
            Ledger.objects.filter(pk=ledger.pk).update(spent=F("spent") + fresh)
        _judge(seats, wanted)
        settle(list(pairs.values()), Campaign.objects.get(pk=campaign.pk).scheme)
    return len(wanted)


def _seats(pairs: dict[int, Pair]) -> dict[int, dict[int | None, Seat]]:
    """The seats of each pair by their judge; of those without one, the last."""
    found: defaultdict[int, dict[int | None, Seat]] = defaultdict(dict)
    seats = Seat.objects.filter(pair__in=pairs).select_related("judgment").order_by("ordinal")
    for seat in seats:
        found[seat.pair_id][seat.judge_id] = seat
    return found


def _is_news(seats: dict[int | None, Seat], entry: Entry) -> bool:
    seat = seats.get(entry.judge_id)
    if seat is None or seat.judgment is None:
        return seat is None or seat.state == Seat.State.OPEN
    return seat.judgment.grade != entry.grade


def _take_seats(
    pairs: dict[int, Pair], seats: dict[int, dict[int | None, Seat]], wanted: Sequence[Entry]
) -> int:
    """A seat for each judge who has none. Returns how many judgments will be more than before."""
    new = []
    for entry in wanted:
        taken = seats[entry.pair_id]
        if entry.judge_id not in taken:
            last = max((seat.ordinal for seat in taken.values()), default=0)
            seat = new_seat(pairs[entry.pair_id], last + 1)
            seat.judge_id = entry.judge_id
            taken[entry.judge_id] = seat
            new.append(seat)
    Seat.objects.bulk_create(new)
    return sum(seats[entry.pair_id][entry.judge_id].judgment is None for entry in wanted)


def _judge(seats: dict[int, dict[int | None, Seat]], wanted: Sequence[Entry]) -> None:
    now = timezone.now()
    on = [seats[entry.pair_id][entry.judge_id] for entry in wanted]
    Judgment.objects.bulk_create(
        Judgment(
            seat=seat,
            pair_id=entry.pair_id,
            judge_id=entry.judge_id,
            grade=entry.grade,
            supersedes=seat.judgment,
            key=uuid.uuid4(),
            comment=entry.comment,
            active_ms=entry.active_ms,
            guideline_version=entry.guideline_version,
            created_at=entry.at or now,
        )
        for seat, entry in zip(on, wanted, strict=True)
    )
    latest = Judgment.objects.filter(seat=OuterRef("pk")).order_by("-pk")
    Seat.objects.filter(pk__in=[seat.pk for seat in on]).update(
        state=Seat.State.DONE,
        judgment_id=Subquery(latest.values("pk")[:1]),
        judged_at=Subquery(latest.values("created_at")[:1]),
        token=None,
        leased_until=None,
    )
