"""The judge's pages. Every change is a plain form; a script may ask for JSON instead."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import guidelines, judging, markdown, routing, wording
from annotate.access import SignedInRequest, judged_campaign
from annotate.forms.judging import GradeForm, RefusalForm, SeatForm, UndoForm, sentence
from annotate.models import Campaign, Judgment, Refusal, Seat, User


@require_safe
def judge_home(request: SignedInRequest) -> HttpResponse:
    context = {"desks": judging.desks(request.user), "many": judging.MANY}
    return render(request, "judge/home.html", context)


@require_http_methods(["GET", "POST"])
def judge(request: SignedInRequest, slug: str) -> HttpResponseBase:
    campaign = judged_campaign(request.user, slug)
    if request.method == "POST":
        return _answer(request, campaign, _grade)
    if _wants_json(request):
        return JsonResponse(_next(campaign, request.user))
    return _page(request, campaign)


@require_POST
def judge_undo(request: SignedInRequest, slug: str) -> HttpResponseBase:
    return _answer(request, judged_campaign(request.user, slug), _undo)


@require_POST
def judge_refuse(request: SignedInRequest, slug: str) -> HttpResponseBase:
    return _answer(request, judged_campaign(request.user, slug), _refuse)


@require_POST
def judge_release(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = judged_campaign(request.user, slug)
    form = SeatForm(request.POST)
    if form.is_valid():
        routing.release(request.user, form.cleaned_data["seat"], form.cleaned_data["token"])
    done = judging.progress(campaign, request.user).done
    if done:
        messages.success(request, _("Thank you. You judged %(done)d today.") % {"done": done})
    return redirect("judge_home")


@require_safe
def judge_guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = judged_campaign(request.user, slug)
    guideline = guidelines.current(campaign)
    context = {
        "campaign": campaign,
        "guideline": guideline,
        "guideline_html": markdown.render(guideline.text),
    }
    return render(request, "judge/guidelines.html", context)


# -- What a judge can do ---------------------------------------------------------------------------


class BadInputError(Exception):
    """What came is not of the right shape; the message says how."""


def _grade(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    form = _checked(GradeForm(request.POST))
    _require_own(campaign, form["seat"])
    answer = routing.Answer(form["grade"], form["token"], form["comment"], form["active_ms"])
    judgment = routing.submit(request.user, form["seat"], form["token"], answer)
    said: dict[str, Any] = {"saved": _said(judgment)}
    if judgment.grade != form["grade"]:
        said["note"] = _("You graded this pair already. That grade stands; undo changes it.")
    return said


def _undo(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    form = _checked(UndoForm(request.POST))
    latest = judging.latest(campaign, request.user)
    if latest is None:
        raise routing.StaleSeatError(_("There is no judgment to take back."))
    wanted: int = form["judgment"] or latest.pk
    seat = routing.take_back(request.user, wanted)
    # She goes back to one pair; the one she was on is free for everybody meanwhile.
    held = Seat.objects.filter(campaign=campaign, judge=request.user, state=Seat.State.OPEN)
    for other in held.exclude(pk=seat.pk):
        if other.token:
            routing.release(request.user, other.pk, other.token)
    return {"undone": {"id": wanted}}


def _refuse(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    form = _checked(RefusalForm(request.POST))
    seat = _require_own(campaign, form["seat"])
    # A second click on the same reason finds the pair refused: it is the same refusal.
    if not Refusal.objects.filter(pair=seat.pair_id, judge=request.user).exists():
        reason = Refusal.Reason(form["reason"])
        routing.refuse(request.user, seat.pk, form["token"], reason, form["text"])
    return {"refused": {"seat": seat.pk}}


def _checked(form: SeatForm | UndoForm) -> dict[str, Any]:
    if not form.is_valid():
        raise BadInputError(sentence(form))
    return form.cleaned_data


def _require_own(campaign: Campaign, seat_id: int) -> Seat:
    """A seat of another campaign is not graded through this one."""
    seat = Seat.objects.filter(pk=seat_id, campaign=campaign).first()
    if seat is None:
        raise routing.StaleSeatError(_("This pair is not of this campaign."))
    return seat


def _said(judgment: Judgment) -> dict[str, Any]:
    word = wording.GRADE_WORDS.get(judgment.grade or 0, "")
    return {"id": judgment.pk, "grade": judgment.grade, "word": str(word)}


# -- How it is answered ----------------------------------------------------------------------------

Deed = Callable[[SignedInRequest, Campaign], dict[str, Any]]


def _answer(request: SignedInRequest, campaign: Campaign, deed: Deed) -> HttpResponseBase:
    """Do it; then the next pair in the same answer, or back to the page."""
    try:
        said, status = deed(request, campaign), 200
    except BadInputError as error:
        said, status = {"error": str(error)}, 400
    except routing.RoutingError as error:
        said, status = {"error": str(error)}, 409
    if _wants_json(request):
        return JsonResponse(said | _next(campaign, request.user), status=status)
    if "error" in said:
        messages.error(request, said["error"])
    elif "note" in said:
        messages.info(request, said["note"])
    elif "refused" in said:
        messages.success(request, _("Passed on to another judge."))
    return redirect("judge", slug=campaign.slug)


def _wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def _next(campaign: Campaign, judge: User) -> dict[str, Any]:
    seat = _claim(campaign, judge)
    return {
        "next": judging.shown(seat).as_json() if seat else None,
        "idle": None if seat else judging.idle(campaign, judge)._asdict(),
        "progress": judging.progress(campaign, judge).as_json(),
    }


def _claim(campaign: Campaign, judge: User) -> Seat | None:
    try:
        return routing.claim(campaign, judge)
    except routing.RoutingError:  # she was taken off this campaign a moment ago
        return None


def _page(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    seat = _claim(campaign, request.user)
    latest = judging.latest(campaign, request.user)
    guideline = guidelines.current(campaign)
    context = {
        "campaign": campaign,
        "pair": judging.shown(seat) if seat else None,
        "idle": None if seat else judging.idle(campaign, request.user),
        "progress": judging.progress(campaign, request.user),
        "grades": wording.GRADES,
        "reasons": wording.REFUSAL_REASONS,
        "last": _said(latest) if latest else None,
        "guideline": guideline,
        "guideline_html": markdown.render(guideline.text),
        "setup": _setup(request.user, campaign),
    }
    return render(request, "judge/judge.html", context)


def _setup(judge: User, campaign: Campaign) -> dict[str, Any]:
    """What the script needs to know. Whose queue it is keeps two people on one computer apart."""
    return {
        "judge": judge.pk,
        "grade": reverse("judge", args=[campaign.slug]),
        "undo": reverse("judge_undo", args=[campaign.slug]),
        "refuse": reverse("judge_refuse", args=[campaign.slug]),
        "words": {grade.value: str(grade.word) for grade in wording.GRADES},
        "say": wording.script_sentences(),
    }
