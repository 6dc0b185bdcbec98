"""The judge's pages. Every change is a plain form; a script may ask for JSON instead."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import guidelines, judging, markdown, routing, wording
from annotate.access import SignedInRequest, judged_campaign
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
    if _must_read(request, campaign):
        return redirect("judge_guidelines", slug=slug)
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
    _release(_held(campaign, request.user))
    done = judging.progress(campaign, request.user).done
    if done:
        messages.success(request, _("Thank you. You judged %(done)d today.") % {"done": done})
    return redirect("judge_home")


@require_http_methods(["GET", "HEAD", "POST"])
def judge_guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    """POST says that she has read the version she was shown."""
    campaign = judged_campaign(request.user, slug)
    if request.method == "POST":
        request.session[_read_key(campaign)] = request.POST.get("version", "")
        return redirect("judge", slug=slug)
    guideline = guidelines.current(campaign)
    context = {
        "campaign": campaign,
        "must_read": _must_read(request, campaign),
        "guideline": guideline,
        "guideline_html": markdown.render(guideline.text),
    }
    return render(request, "judge/guidelines.html", context)


@require_http_methods(["GET", "POST"])
def judge_recent(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = judged_campaign(request.user, slug)
    if request.method == "POST":
        _correct(request)
        return redirect("judge_recent", slug=slug)
    context = {
        "campaign": campaign,
        "recent": judging.recent(campaign, request.user),
        "grades": wording.GRADES,
    }
    return render(request, "judge/recent.html", context)


def _must_read(request: SignedInRequest, campaign: Campaign) -> bool:
    """A new version is read before she goes on."""
    read = request.session.get(_read_key(campaign)) == str(campaign.guideline_version)
    return not read and guidelines.changed_for(request.user, campaign)


def _read_key(campaign: Campaign) -> str:
    return f"guidelines-{campaign.pk}"


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


def _correct(request: SignedInRequest) -> None:
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
        messages.success(request, _("Saved: %(word)s.") % {"word": _said(judgment)["word"]})


def _undo(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    form = _checked(UndoForm(request.POST))
    latest = judging.latest(campaign, request.user)
    if latest is None:
        raise routing.StaleSeatError(_("There is no judgment to take back."))
    wanted: int = form["judgment"] or latest.pk
    seat = routing.take_back(request.user, wanted)
    # She goes back to one pair; the ones she was on are free for everybody meanwhile.
    _release(_held(campaign, request.user).exclude(pk=seat.pk))
    return {"undone": {"id": wanted}}


def _refuse(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    form = _checked(RefusalForm(request.POST))
    seat = _require_own(campaign, form["seat"])
    # A second click on the same reason finds the pair refused: it is the same refusal.
    if not Refusal.objects.filter(pair=seat.pair_id, judge=request.user).exists():
        reason = Refusal.Reason(form["reason"])
        routing.refuse(request.user, seat.pk, form["token"], reason, form["text"])
    return {"refused": {"seat": seat.pk}}


def _held(campaign: Campaign, judge: User) -> QuerySet[Seat]:
    return Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)


def _release(seats: QuerySet[Seat]) -> None:
    for seat in seats.select_related("judge"):
        if seat.judge and seat.token:
            routing.release(seat.judge, seat.pk, seat.token)


def _checked(form: SeatForm | UndoForm | CorrectionForm) -> dict[str, Any]:
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
    """The pair to judge, and the one after it, so that nobody waits for the network."""
    seat = _claim(campaign, judge)
    ahead = _claim(campaign, judge, seat) if seat else None
    return {
        "next": judging.shown(seat).as_json() if seat else None,
        "ahead": judging.shown(ahead).as_json() if ahead else None,
        "idle": None if seat else _idle(campaign, judge)._asdict(),
        "progress": judging.progress(campaign, judge).as_json(),
        "guidelines": campaign.guideline_version,
    }


def _claim(campaign: Campaign, judge: User, before: Seat | None = None) -> Seat | None:
    try:
        return routing.claim(campaign, judge, [before.pk] if before else [])
    except routing.RoutingError:  # she is no longer asked; why is said where the pair would be
        return None


def _idle(campaign: Campaign, judge: User) -> judging.Idle:
    return judging.idle(campaign, judge, routing.why_none(campaign, judge))


def _page(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    seat = _claim(campaign, request.user)
    pair = judging.shown(seat) if seat else None
    latest = judging.latest(campaign, request.user)
    guideline = guidelines.current(campaign)
    context = {
        "campaign": campaign,
        "pair": pair,
        "idle": None if pair else _idle(campaign, request.user),
        "progress": judging.progress(campaign, request.user),
        "grades": wording.GRADES,
        "reasons": wording.REFUSAL_REASONS,
        "last": _said(latest) if latest else None,
        "guideline": guideline,
        "guideline_html": markdown.render(guideline.text),
        "setup": _setup(request.user, campaign, pair),
    }
    return render(request, "judge/judge.html", context)


def _setup(judge: User, campaign: Campaign, pair: judging.ShownPair | None) -> dict[str, Any]:
    """What the script needs to know. Whose queue it is keeps two people on one computer apart."""
    return {
        "judge": judge.pk,
        "guidelines": campaign.guideline_version,
        "pair": {"token": pair.token, "before": pair.before} if pair else None,
        "grade": reverse("judge", args=[campaign.slug]),
        "undo": reverse("judge_undo", args=[campaign.slug]),
        "refuse": reverse("judge_refuse", args=[campaign.slug]),
        "recent": reverse("judge_recent", args=[campaign.slug]),
        "words": {grade.value: str(grade.word) for grade in wording.GRADES},
        "say": wording.script_sentences(),
    }
