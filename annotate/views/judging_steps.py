"""What a judge can do with a pair: grade, correct, undo, refuse, give back."""

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from annotate import handles, judging, lessons, routing, wording
from annotate.access import SignedInRequest
from annotate.forms.judging import (
    CorrectionForm,
    GradeForm,
    RefusalForm,
    SeatForm,
    UndoForm,
    sentence,
)
from annotate.models import Campaign, Judgment, Refusal, Seat, User

CORRECTIONS = uuid.UUID("5ec0d0b1-0000-4000-8000-000000000001")

Said = dict[str, Any]


class BadInputError(Exception):
    """What came is not of the right shape; the message says how."""


def wants_json(request: HttpRequest) -> bool:
    """Whether a script asks, which shows the next pair itself."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def grade(request: SignedInRequest, campaign: Campaign) -> Said:
    form = _checked(GradeForm(request.POST))
    in_training = lessons.training(campaign, request.user) is not None
    answer = routing.Answer(form["grade"], form["token"], form["comment"], form["active_ms"])
    seat = handles.seat_id(form["seat"]), form["token"]
    if in_training or not wants_json(request):
        judgment, held = routing.submit_to(campaign, request.user, seat, answer), None
    else:
        judgment, held = routing.submit_and_hold(campaign, request.user, seat, answer)
    said: Said = {"saved": told(judgment), "held": held}
    if judgment.grade != form["grade"]:
        said["note"] = _("You graded this pair already. That grade stands; undo changes it.")
    return said | _taught(campaign, judgment) if in_training else said


def _taught(campaign: Campaign, judgment: Judgment) -> Said:
    """In training, and only there: what was expected, and whether that was the last of it."""
    lesson = lessons.lesson(judgment)
    if lesson is None:
        return {}
    over = lessons.training(campaign, judgment.judge) is None
    result = reverse("judge_result", args=[campaign.slug]) if over else None
    return {"lesson": lesson.as_json(), "result": result}


def correct(request: SignedInRequest) -> None:
    """Another grade for one of her latest pairs."""
    try:
        form = _checked(CorrectionForm(request.POST))
        # The same change of the same judgment has the same key: a double click is one correction.
        key = uuid.uuid5(CORRECTIONS, f"{form['judgment']} {form['grade']}")
        answer = routing.Answer(form["grade"], key)
        judgment = routing.correct(request.user, form["judgment"], answer)
    except (BadInputError, routing.RoutingError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Saved: %(word)s.") % {"word": told(judgment)["word"]})


def undo(request: SignedInRequest, campaign: Campaign) -> Said:
    form = _checked(UndoForm(request.POST))
    latest = judging.latest(campaign, request.user)
    if latest is None:
        raise routing.StaleSeatError(_("There is no judgment to take back."))
    wanted: int = form["judgment"] or latest.pk
    seat = routing.take_back(request.user, wanted)
    # She goes back to one pair; the ones she was on are free for everybody meanwhile.
    _release(_held(campaign, request.user).exclude(pk=seat.pk))
    return {"undone": {"id": wanted}}


def refuse(request: SignedInRequest, campaign: Campaign) -> Said:
    form = _checked(RefusalForm(request.POST))
    seat = _require_own(campaign, form["seat"])
    # A second click on the same reason finds the pair refused: it is the same refusal.
    if not Refusal.objects.filter(pair=seat.pair_id, judge=request.user).exists():
        reason = Refusal.Reason(form["reason"])
        routing.refuse(request.user, seat.pk, form["token"], reason, form["text"])
    return {"refused": {"seat": handles.handle(seat.pk)}}


def release_all(campaign: Campaign, judge: User) -> None:
    """Everything she holds in this campaign goes back at once."""
    _release(_held(campaign, judge))


def _held(campaign: Campaign, judge: User) -> QuerySet[Seat]:
    return Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)


def _release(seats: QuerySet[Seat]) -> None:
    for seat in seats.select_related("judge"):
        if seat.judge and seat.token:
            routing.release(seat.judge, seat.pk, seat.token)


def _checked(form: SeatForm | UndoForm | CorrectionForm) -> Said:
    if not form.is_valid():
        raise BadInputError(sentence(form))
    return form.cleaned_data


def _require_own(campaign: Campaign, number: int) -> Seat:
    """A seat of another campaign is not graded through this one."""
    seat = Seat.objects.filter(pk=handles.seat_id(number), campaign=campaign).first()
    if seat is None:
        raise routing.StaleSeatError(_("This pair is not of this campaign."))
    return seat


def told(judgment: Judgment) -> Said:
    """A judgment as its judge is told of it."""
    word = wording.GRADE_WORDS.get(judgment.grade or 0, "")
    return {"id": judgment.pk, "grade": judgment.grade, "word": str(word)}
