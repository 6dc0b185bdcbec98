"""Pairs that need the manager: refused by several judges, dropped, or made gold."""

import uuid
from typing import Any

from django.db import transaction

from annotate import history, jobs
from annotate.models import Pair, Refusal, User
from annotate.routing.errors import RoutingError
from annotate.routing.seats import give_back, take_seat
from annotate.routing.settling import settle
from annotate.routing.worth import follow
from ranking.grades import LEVELS, Grade

#: After so many refusals by different judges the manager is asked.
REFUSALS = 3


def refuse(
    judge: User, seat_id: int, token: uuid.UUID, reason: Refusal.Reason, text: str = ""
) -> None:
    """The judge cannot judge this pair: somebody else is asked, she is not asked again."""
    with transaction.atomic():
        seat = take_seat(judge, seat_id, token)
        Refusal.objects.create(pair_id=seat.pair_id, judge=judge, reason=reason, text=text)
        refused = Refusal.objects.filter(pair=seat.pair_id).count()
        if refused >= REFUSALS and seat.pair.state == Pair.State.OPEN:
            _move(seat.pair, Pair.State.REFERRED)
        give_back([seat.pk], [seat.pair], seat.campaign)
    follow(seat.campaign, seat.pair_id)


def drop(manager: User, pair_id: int) -> None:
    """Nobody is asked about this pair any more. What was judged stays."""
    with transaction.atomic():
        pair = _locked(pair_id, Pair.State.REFERRED, Pair.State.OPEN, Pair.State.CLOSED)
        _move(pair, Pair.State.DROPPED)
        settle([pair], pair.campaign.scheme)
        history.record(pair.campaign, manager, "The pair was dropped.", pair)
    follow(pair.campaign, pair.pk)


def resume(manager: User, pair_id: int) -> None:
    """Ask on, whoever refused: the scheme says what is still wanted."""
    with transaction.atomic():
        pair = _locked(pair_id, Pair.State.REFERRED, Pair.State.DROPPED)
        _move(pair, Pair.State.OPEN)
        settle([pair], pair.campaign.scheme)
        history.record(pair.campaign, manager, "The pair is asked about again.", pair)
    follow(pair.campaign, pair.pk)


def give_gold(manager: User, pair_id: int, grade: int, note: str = "") -> None:
    """Make it a gold pair: its grade is known, and it is shown to test judges."""
    if grade not in range(LEVELS):
        raise RoutingError(f"A grade must be 0 to 4. Got {grade} instead.")
    with transaction.atomic():
        pair = _locked(pair_id, *(state for state in Pair.State))
        _move(pair, Pair.State.GOLD, gold=grade, gold_note=note)
        settle([pair], pair.campaign.scheme)
        history.record(pair.campaign, manager, f"Gold: {Grade(grade).word}.", pair)
        jobs.enqueue("aggregate", pair.campaign)
    follow(pair.campaign, pair.pk)


def take_gold(manager: User, pair_id: int) -> None:
    """An ordinary pair again."""
    with transaction.atomic():
        pair = _locked(pair_id, Pair.State.GOLD)
        _move(pair, Pair.State.OPEN, gold=None, gold_note="")
        # What was asked for as gold counts as what it is now: a seat like any other.
        pair.seats.update(position=pair.position)
        settle([pair], pair.campaign.scheme)
        history.record(pair.campaign, manager, "No longer gold.", pair)
    follow(pair.campaign, pair.pk)


def _locked(pair_id: int, *states: str) -> Pair:
    pair = (
        Pair.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .filter(pk=pair_id, state__in=states)
        .first()
    )
    if pair is None:
        raise RoutingError("This cannot be done with the pair as it is now.")
    return pair


def _move(pair: Pair, state: Pair.State, **fields: Any) -> None:
    """Into the hands of the scheme, of the manager or of nobody; the pair is locked."""
    Pair.objects.filter(pk=pair.pk).update(state=state, **fields)
    pair.state = state
