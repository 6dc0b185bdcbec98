"""Judgments: made, corrected, taken back, voided. Rows are only ever added."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate import history, jobs
from annotate.clock import now_plus
from annotate.models import Campaign, Judgment, Pair, Seat, Standing, User
from annotate.prepared import Prepared
from annotate.routing import gold
from annotate.routing.errors import CampaignNotOpenError, RoutingError, StaleSeatError
from annotate.routing.seats import GONE, find_seat
from annotate.routing.settling import settle
from annotate.routing.standing import (
    kept_ledger,
    locked_standing,
    refund,
    require_welcome,
    spend,
)
from annotate.routing.worth import follow
from ranking.grades import LEVELS

#: How many of her latest judgments a judge may still change.
RECENT = 20

NOT_LATEST = gettext_lazy("This judgment cannot be changed: it is not the latest of its pair.")

#: Aggregation waits so many seconds for more judgments to come.
GATHER_SECONDS = 2


@dataclass(frozen=True)
class Answer:
    """What a judge says about a pair."""

    grade: int
    key: uuid.UUID
    comment: str = ""
    active_ms: int | None = None

    def __post_init__(self) -> None:
        if self.grade not in range(LEVELS):
            raise RoutingError(
                _("A grade must be 0 to 4. Got %(grade)d instead.") % {"grade": self.grade}
            )


def submit(judge: User, seat_id: int, token: uuid.UUID, answer: Answer) -> Judgment:
    """Save one judgment and let the scheme decide what follows. The same key is saved once."""
    campaign = Campaign.objects.filter(seats=seat_id).first()
    if campaign is None:
        raise StaleSeatError(_("There is no such pair to judge."))
    return submit_to(campaign, judge, (seat_id, token), answer)


def submit_to(
    campaign: Campaign, judge: User, held: tuple[int, uuid.UUID], answer: Answer
) -> Judgment:
    """The same for a seat and token of this campaign: a seat of another is none of it."""
    judgment = _once(judge, answer, lambda: save(campaign, judge, held, answer))
    follow(campaign, judgment.pair_id)
    return judgment


def _once(judge: User, answer: Answer, make: Callable[[], Judgment]) -> Judgment:
    """Make the judgment in one transaction, or find that this very answer came before."""
    try:
        with transaction.atomic():
            return make()
    except (RoutingError, IntegrityError):
        # It cannot be done now, maybe because it is done: a double click, a retry.
        known = made_before(judge, answer)
        if known is None:
            raise
        return known


def made_before(judge: User, answer: Answer) -> Judgment | None:
    """The judgment that this very answer led to."""
    return Judgment.objects.filter(judge=judge, key=answer.key).first()


def save(campaign: Campaign, judge: User, held: tuple[int, uuid.UUID], answer: Answer) -> Judgment:
    """Within the caller's transaction; the other pairs of the query are still to be looked at."""
    examined = locked_standing(campaign, judge) if campaign.qualification_size else None
    ledger = kept_ledger(campaign)
    seat = find_seat(judge, *held)
    if seat.campaign_id != campaign.pk:
        raise StaleSeatError(_("This pair is not of this campaign."))
    # Read again behind the lock: a change of scheme has come to this pair, or is still to come.
    campaign = seat.campaign
    _require_accepting(campaign)
    if ledger is not None:
        spend(ledger, campaign, seat)
    judgment = _judge(seat, answer)
    if not _DONE.run(*held, judge.pk, judgment.pk):
        raise StaleSeatError(GONE)
    if examined is not None:
        gold.examine(examined, judge)
    _after(seat.pair, campaign)
    return judgment


def _judge(seat: Seat, answer: Answer) -> Judgment:
    """Write the row of a first judgment."""
    values = (
        *(seat.pk, seat.pair_id, seat.judge_id, answer.grade, answer.key, answer.comment),
        *(answer.active_ms, seat.campaign.guideline_version),
    )
    judgment = _new(*values)
    judgment.pk, judgment.created_at = _NEW.rows(*values)[0]
    judgment._state.adding = False
    return judgment


def _new(*values: Any) -> Judgment:
    return Judgment(**dict(zip(_NEW_COLUMNS, values, strict=True)))


_NEW_COLUMNS = (
    *("seat_id", "pair_id", "judge_id", "grade", "key", "comment"),
    *("active_ms", "guideline_version"),
)
_NEW = Prepared(_new, int, int, int, int, uuid.UUID, str, int, int)
_DONE = Prepared(
    lambda seat, token, judge, judgment: (
        Seat.objects.filter(pk=seat, judge=judge, token=token, state=Seat.State.OPEN),
        {
            "state": Seat.State.DONE,
            "judgment": judgment,
            "judged_at": Now(),
            "leased_until": None,
        },
    ),
    int,
    uuid.UUID,
    int,
    int,
)


def _require_accepting(campaign: Campaign) -> None:
    """A pause stops new seats only; a judgment that is being made is still welcome."""
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PAUSED):
        raise CampaignNotOpenError(_("This campaign is closed. It takes no more judgments."))


def _after(pair: Pair, campaign: Campaign) -> None:
    """What follows every change of a pair's judgments."""
    settle([pair], campaign.scheme)
    jobs.enqueue("aggregate", campaign, delay=GATHER_SECONDS)


# -- Changes --------------------------------------------------------------------------------------


def correct(judge: User, judgment_id: int, answer: Answer) -> Judgment:
    """Another grade for a pair she judged lately: a row that supersedes the first."""
    judgment = _once(judge, answer, lambda: _correct(judge, judgment_id, answer))
    follow(judgment.seat.campaign, judgment.pair_id)
    return judgment


def _correct(judge: User, judgment_id: int, answer: Answer) -> Judgment:
    standing = _begin_change(judge, judgment_id)[1]
    old, seat = _latest(judge, judgment_id)
    _require_open_to_change(standing, seat)
    new = Judgment.objects.create(
        seat=seat,
        pair_id=seat.pair_id,
        judge=judge,
        grade=answer.grade,
        supersedes=old,
        key=answer.key,
        comment=answer.comment or old.comment,
        active_ms=answer.active_ms,
        guideline_version=seat.campaign.guideline_version,
    )
    Seat.objects.filter(pk=seat.pk).update(judgment=new)
    _after(seat.pair, seat.campaign)
    return new


def take_back(judge: User, judgment_id: int) -> Seat:
    """Undo: a superseding row without a grade. The pair is hers to judge again."""
    with transaction.atomic():
        campaign, standing = _begin_change(judge, judgment_id)
        ledger = kept_ledger(campaign)
        old, seat = _latest(judge, judgment_id)
        _require_open_to_change(standing, seat)
        _supersede(old)
        if ledger is not None:
            refund(ledger)
        Seat.objects.filter(pk=seat.pk).update(
            state=Seat.State.OPEN,
            judgment=None,
            token=uuid.uuid4(),
            leased_until=now_plus(minutes=seat.campaign.lease_minutes),
        )
        _after(seat.pair, seat.campaign)
        hers = Seat.objects.select_related("pair__query", "pair__document").get(pk=seat.pk)
    follow(seat.campaign, seat.pair_id)
    return hers


def void(manager: User, judgment_id: int) -> None:
    """A manager takes a judgment out. It stays on record, and the same judge is not asked again."""
    with transaction.atomic():
        judge = User.objects.filter(judgments=judgment_id).first()
        if judge is None:
            raise StaleSeatError("There is no such judgment.")
        old, seat = _latest(judge, judgment_id)
        _supersede(old, made_by=manager)
        set_aside([seat.pk])
        sentence = f"The judgment {old.get_grade_display()} of {judge} was voided."
        history.record(seat.campaign, manager, sentence, seat.pair)
        _after(seat.pair, seat.campaign)
    follow(seat.campaign, seat.pair_id)


def set_aside(seats: list[int]) -> None:
    """These judgments do not count any more; whoever made them is not asked again."""
    Seat.objects.filter(pk__in=seats, state=Seat.State.DONE).update(
        state=Seat.State.ASIDE, judgment=None, judged_at=None
    )


def _latest(judge: User, judgment_id: int) -> tuple[Judgment, Seat]:
    """The judgment and its seat, locked, if it is the one that counts now."""
    old = Judgment.objects.filter(pk=judgment_id, judge=judge).first()
    pair = Pair.objects.select_for_update().filter(judgments=judgment_id).first()
    seat = (
        Seat.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .filter(judgment=judgment_id, judge=judge, state=Seat.State.DONE)
        .first()
    )
    if old is None or pair is None or seat is None:
        raise StaleSeatError(NOT_LATEST)
    seat.pair = pair
    return old, seat


def _begin_change(judge: User, judgment_id: int) -> tuple[Campaign, Standing]:
    """Only a judge who still takes part changes her judgments, while the campaign goes on."""
    hers = Judgment.objects.filter(pk=judgment_id, judge=judge)
    campaign = Campaign.objects.filter(pairs__judgments__in=hers).first()
    if campaign is None:
        raise StaleSeatError(NOT_LATEST)
    _require_accepting(campaign)
    standing = locked_standing(campaign, judge)
    require_welcome(standing, judge)
    return campaign, standing


def _require_open_to_change(standing: Standing, seat: Seat) -> None:
    """One of her latest, and not a lesson: whoever was told the grade cannot choose it anew."""
    if gold.is_lesson(standing, seat):
        raise RoutingError(_("This pair was a lesson. Its grade stands."))
    mine = Seat.objects.filter(
        campaign=seat.campaign_id, judge=seat.judge_id, state=Seat.State.DONE
    )
    recent = mine.order_by("-judged_at").values_list("pk", flat=True)[:RECENT]
    if seat.pk not in list(recent):
        raise StaleSeatError(
            _("Only your %(recent)d latest judgments can be changed.") % {"recent": RECENT}
        )


def _supersede(old: Judgment, made_by: User | None = None) -> None:
    Judgment.objects.create(
        seat_id=old.seat_id,
        pair_id=old.pair_id,
        judge_id=old.judge_id,
        supersedes=old,
        key=uuid.uuid4(),
        guideline_version=old.guideline_version,
        made_by=made_by,
    )
