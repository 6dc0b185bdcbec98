"""The scheme's word: make the open seats of pairs what their scheme wants now."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotate import jobs
from annotate.models import Ask, Campaign, Job, Pair, Seat
from annotate.prepared import Prepared
from annotate.routing import gold
from annotate.routing.standing import recount
from ranking.schemes import Paying, Scheme

BATCH = 500

#: So many new seats are written one by one: sooner than a statement for all of them is built.
FEW = 4

#: Pairs the scheme has a say in; the others wait for the manager, or are gold.
ROUTED = (Pair.State.OPEN, Pair.State.CLOSED)

#: If-it-pays: judges are estimated anew so soon after judgments came, and then as long as they do.
ESTIMATE_SECONDS = 60


@dataclass
class _Changes:
    """What has to be written for a batch of pairs."""

    new: list[Seat] = field(default_factory=list)
    reopen: list[int] = field(default_factory=list)
    #: The pairs by their state from now on (none: as it is) and the spread of their grades.
    pairs: defaultdict[tuple[str | None, int], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )


def settle(pairs: Collection[Pair], scheme: Scheme) -> None:
    """Open, bring back and withdraw seats until each pair has what the scheme wants.

    A pair the scheme has no say in keeps only the seats that somebody holds: whoever has it
    before her may finish, nobody else is asked. The caller holds the locks of the pairs. Their
    labels are marked as out of date.
    """
    if not isinstance(scheme, Paying):
        arrange(pairs, scheme, {})
    elif pairs:
        arrange(pairs, scheme, asked(pairs, scheme))
        # What else these judgments change, in their queries and in what is thought of judges,
        # follows: at once where it can, by this job in any case.
        campaign = next(iter(pairs)).campaign
        jobs.enqueue("estimate", campaign, delay=ESTIMATE_SECONDS)


def asked(pairs: Collection[Pair], scheme: Paying) -> dict[int, int]:
    """If-it-pays: how many judgments were found to be worth it, for pairs where that is more."""
    found = Ask.objects.filter(pair__in=pairs).values_list("pair_id", "wanted")
    return {pair: min(wanted, scheme.cap) for pair, wanted in found}


def arrange(pairs: Collection[Pair], scheme: Scheme, least: Mapping[int, int]) -> None:
    """The same; pairs in ``least`` get at least so many judgments."""
    seats = _places(pairs)
    changes = _Changes()
    for pair in pairs:
        if pair.state in ROUTED:
            grades = _grades(_done(seats[pair.pk]))
            wanted = max(scheme.wanted(grades), least.get(pair.pk, 0))
            _plan(pair, seats[pair.pk], wanted, changes)
        else:
            waiting = [seat for seat in seats[pair.pk] if _lies_open(seat)]
            withdraw(waiting, len(waiting))
            changes.pairs[None, _spread(_grades(_done(seats[pair.pk])))].append(pair.pk)
    _apply(changes)


class _Place(NamedTuple):
    """What the scheme has to know of a seat."""

    pk: int
    pair_id: int
    ordinal: int
    position: int
    state: str
    judged_at: datetime | None
    grade: int | None


_COLUMNS = ("pk", "pair_id", "ordinal", "position", "state", "judged_at", "judgment__grade")

_OF_PAIR = Prepared(
    lambda pair: Seat.objects.filter(pair=pair).order_by("ordinal").values_list(*_COLUMNS), int
)


def _places(pairs: Collection[Pair]) -> defaultdict[int, list[_Place]]:
    """The seats of these pairs, as they stand."""
    if len(pairs) == 1:
        rows = _OF_PAIR.rows(*(pair.pk for pair in pairs))
    else:
        found = Seat.objects.filter(pair__in=pairs).order_by("ordinal")
        rows = list(found.values_list(*_COLUMNS))
    places: defaultdict[int, list[_Place]] = defaultdict(list)
    for row in rows:
        places[row[1]].append(_Place(*row))
    return places


def _lies_open(seat: _Place) -> bool:
    """Whether anybody might get it. A gold seat was made for one judge and stays hers."""
    return seat.state == Seat.State.OPEN and seat.position != gold.POSITION


def _plan(pair: Pair, seats: Sequence[_Place], wanted: int, changes: _Changes) -> None:
    done = _done(seats)
    waiting = [seat for seat in seats if seat.state == Seat.State.OPEN]
    missing = wanted - len(done) - len(waiting)
    still_open = len(waiting)
    if missing > 0:
        withdrawn = [seat.pk for seat in seats if seat.state == Seat.State.WITHDRAWN][:missing]
        changes.reopen += withdrawn
        last = max((seat.ordinal for seat in seats), default=0)
        fresh = missing - len(withdrawn)
        changes.new += [new_seat(pair, last + number) for number in range(1, fresh + 1)]
        still_open += missing
    elif missing < 0:
        taken = withdraw(waiting, -missing)
        still_open -= taken
    state = Pair.State.OPEN if still_open else Pair.State.CLOSED
    changes.pairs[state, _spread(_grades(done))].append(pair.pk)


def _done(seats: Sequence[_Place]) -> list[_Place]:
    """The seats that were judged, in the order of judging."""
    judged = (seat for seat in seats if seat.state == Seat.State.DONE)
    return sorted(judged, key=lambda seat: (seat.judged_at, seat.ordinal))


def _grades(done: Sequence[_Place]) -> list[int]:
    return [seat.grade for seat in done if seat.grade is not None]


def _spread(grades: Sequence[int]) -> int:
    return max(grades) - min(grades) if grades else 0


def new_seat(pair: Pair, ordinal: int) -> Seat:
    return Seat(
        campaign_id=pair.campaign_id,
        query_id=pair.query_id,
        pair_id=pair.pk,
        ordinal=ordinal,
        position=pair.position,
    )


def withdraw(waiting: Sequence[_Place], count: int) -> int:
    """Take back up to ``count`` seats that nobody holds, the latest first. Returns how many.

    A seat that a claim is just taking is held: it is passed over, never waited for.
    """
    if not count:
        return 0
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=Now())
    found = (
        Seat.objects.select_for_update(skip_locked=True)
        .filter(free, pk__in=[seat.pk for seat in waiting], state=Seat.State.OPEN)
        .order_by("-ordinal")
        .values_list("pk", flat=True)[:count]
    )
    return Seat.objects.filter(pk__in=list(found)).update(
        state=Seat.State.WITHDRAWN, judge=None, token=None, leased_until=None
    )


def _apply(changes: _Changes) -> None:
    if changes.reopen:
        Seat.objects.filter(pk__in=changes.reopen).update(state=Seat.State.OPEN)
    if len(changes.new) > FEW:
        Seat.objects.bulk_create(changes.new)
    else:
        for seat in changes.new:
            _NEW.rows(*(getattr(seat, name) for name in _NEW_COLUMNS))
    for (state, spread), pairs in changes.pairs.items():
        if state and len(pairs) == 1:
            _MOVE.run(pairs[0], state, spread)
        else:
            moved = {"state": state} if state else {}
            Pair.objects.filter(pk__in=pairs).update(stale=True, spread=spread, **moved)


_NEW_COLUMNS = ("campaign_id", "query_id", "pair_id", "ordinal", "position")
_NEW = Prepared(
    lambda *values: Seat(**dict(zip(_NEW_COLUMNS, values, strict=True))), int, int, int, int, int
)
_MOVE = Prepared(
    lambda pair, state, spread: (
        Pair.objects.filter(pk=pair),
        {"stale": True, "state": state, "spread": spread},
    ),
    int,
    str,
    int,
)


def lapse(campaign: Campaign, pair_id: int) -> None:
    """Leases of a pair that ran out: the seats lie free again, or go if nobody wants them now.

    A pair may have had enough while they were held. Whoever held one may still hand in her
    judgment until somebody else takes the seat.
    """
    with transaction.atomic():
        pair = Pair.objects.select_for_update().get(pk=pair_id)
        Seat.objects.filter(
            pair=pair,
            state=Seat.State.OPEN,
            position__lt=gold.POSITION,
            leased_until__lt=Now(),
        ).update(leased_until=None)
        settle([pair], Campaign.objects.get(pk=campaign.pk).scheme)


def reroute(job: Job) -> None:
    """A job: hold every pair that has seats against the campaign's scheme as it is now."""
    campaign = job.campaign
    recount(campaign)
    done, last, total = 0, 0, campaign.pairs.count()
    while pairs := _next_batch(campaign, last):
        last = pairs[-1]
        with transaction.atomic():
            locked = Pair.objects.select_for_update().filter(pk__in=pairs).order_by("pk")
            _hold_against(list(locked), campaign.scheme)
        done += len(pairs)
        jobs.keep(job, done / total, f"{done} of {total} pairs")
    with transaction.atomic():
        if campaign.scheme_name == Paying.name:
            jobs.enqueue("estimate", campaign)
        else:
            Ask.objects.filter(campaign=campaign).delete()  # another scheme asks for itself
        jobs.enqueue("aggregate", campaign)
        jobs.finish(job, f"{done} pairs follow {campaign.scheme_label}.")


def _hold_against(pairs: list[Pair], scheme: Scheme) -> None:
    """What is worth asking for beyond what was found before is looked at when all are through."""
    arrange(pairs, scheme, asked(pairs, scheme) if isinstance(scheme, Paying) else {})


def _next_batch(campaign: Campaign, after: int) -> list[int]:
    pairs = Pair.objects.filter(campaign=campaign, state__in=ROUTED, pk__gt=after)
    return list(pairs.order_by("pk").values_list("pk", flat=True)[:BATCH])
