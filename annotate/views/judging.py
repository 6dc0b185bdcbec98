"""The judge's pages. Every change is a plain form; a script may ask for JSON instead."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.request import split_domain_port, validate_host
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import (
    addresses,
    guidelines,
    judging,
    keys,
    lessons,
    markdown,
    policy,
    routing,
    wording,
)
from annotate.access import SignedInRequest, judged_campaign
from annotate.models import Campaign, Seat, User
from annotate.views import judging_steps as steps


@require_safe
def judge_home(request: SignedInRequest) -> HttpResponse:
    context = {"desks": judging.desks(request.user), "many": judging.MANY}
    return render(request, "judge/home.html", context)


@require_http_methods(["GET", "POST"])
def judge(request: SignedInRequest, slug: str) -> HttpResponseBase:
    campaign = judged_campaign(request.user, slug)
    if request.method == "POST":
        return _answer(request, campaign, steps.grade)
    if steps.wants_json(request):
        return JsonResponse(_next(request, campaign))
    if _must_read(request, campaign):
        return redirect("judge_guidelines", slug=slug)
    return _page(request, campaign)


@require_POST
def judge_undo(request: SignedInRequest, slug: str) -> HttpResponseBase:
    return _answer(request, judged_campaign(request.user, slug), steps.undo)


@require_POST
def judge_refuse(request: SignedInRequest, slug: str) -> HttpResponseBase:
    return _answer(request, judged_campaign(request.user, slug), steps.refuse)


@require_POST
def judge_release(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = judged_campaign(request.user, slug)
    steps.release_all(campaign, request.user)
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
        steps.correct(request)
        return redirect("judge_recent", slug=slug)
    context = {
        "campaign": campaign,
        "recent": judging.recent(campaign, request.user),
        "grades": wording.GRADES,
    }
    return render(request, "judge/recent.html", context)


@require_safe
def judge_result(request: SignedInRequest, slug: str) -> HttpResponse:
    """How her qualification ended, and what is next."""
    campaign = judged_campaign(request.user, slug)
    result = lessons.result(campaign, request.user)
    if result is None:
        raise Http404
    return render(request, "judge/result.html", {"campaign": campaign, "result": result})


def _must_read(request: SignedInRequest, campaign: Campaign) -> bool:
    """A new version is read before she goes on."""
    read = request.session.get(_read_key(campaign)) == str(campaign.guideline_version)
    return not read and guidelines.changed_for(request.user, campaign)


def _read_key(campaign: Campaign) -> str:
    return f"guidelines-{campaign.pk}"


# -- How a step is answered ------------------------------------------------------------------------

Step = Callable[[SignedInRequest, Campaign], steps.Said]


def _answer(request: SignedInRequest, campaign: Campaign, step: Step) -> HttpResponseBase:
    """Do it; then the next pair in the same answer, or back to the page."""
    try:
        said, status = step(request, campaign), 200
    except steps.BadInputError as error:
        said, status = {"error": str(error)}, 400
    except routing.RoutingError as error:
        said, status = {"error": str(error)}, 409
    if steps.wants_json(request):
        held = said.pop("held", None)
        return JsonResponse(said | _next(request, campaign, held), status=status)
    _say(request, said)
    return redirect(said.get("result") or reverse("judge", args=[campaign.slug]))


def _say(request: HttpRequest, said: steps.Said) -> None:
    """Without script: the same, as messages on the next page."""
    if "error" in said:
        messages.error(request, said["error"])
    elif "note" in said:
        messages.info(request, said["note"])
    elif "refused" in said:
        messages.success(request, _("Passed on to another judge."))
    if lesson := said.get("lesson"):
        level = messages.SUCCESS if lesson["right"] else messages.WARNING
        messages.add_message(request, level, f"{lesson['sentence']} {lesson['note']}".strip())


def _next(
    request: SignedInRequest, campaign: Campaign, held: list[Seat] | None = None
) -> dict[str, Any]:
    """The pair to judge, and the one after it, so that nobody waits for the network."""
    judge = request.user
    training = lessons.training(campaign, judge)
    if held is None or training:
        held = _held(campaign, judge, in_training=training is not None)
    seat, ahead = (*held, None, None)[:2]
    return {
        "next": _as_json(request, campaign, seat) if seat else None,
        "ahead": _as_json(request, campaign, ahead) if ahead else None,
        "idle": None if seat else _idle(campaign, judge)._asdict(),
        "progress": judging.progress(campaign, judge).as_json(),
        "training": training.__dict__ if training else None,
        "guidelines": campaign.guideline_version,
    }


def _as_json(request: HttpRequest, campaign: Campaign, seat: Seat) -> dict[str, Any]:
    pair = judging.shown(seat)
    return pair.as_json() | {"live": _may_be_live(request, campaign, pair)}


def _may_be_live(request: HttpRequest, campaign: Campaign, pair: judging.ShownPair) -> bool:
    """Whether the page itself may be shown in a frame: on the open web, and never this site."""
    host = campaign.live_page and addresses.public_host(pair.address.href)
    if not host:
        return False
    ours = [name for name in settings.ALLOWED_HOSTS if name != "*"]
    return not validate_host(host, [*ours, split_domain_port(request.get_host())[0]])


def _held(campaign: Campaign, judge: User, in_training: bool) -> list[Seat]:
    """In training each pair waits for what is to be learned from the one before."""
    try:
        if not in_training:
            return routing.hold(campaign, judge)
        return [seat] if (seat := routing.claim(campaign, judge)) else []
    except routing.RoutingError:  # she is no longer asked; why is said where the pair would be
        return []


def _claim(campaign: Campaign, judge: User) -> Seat | None:
    return next(iter(_held(campaign, judge, in_training=True)), None)


def _idle(campaign: Campaign, judge: User) -> judging.Idle:
    return judging.idle(campaign, judge, routing.why_none(campaign, judge))


# -- The page --------------------------------------------------------------------------------------


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
        "training": lessons.training(campaign, request.user),
        "reasons": wording.REFUSAL_REASONS,
        "last": steps.told(latest) if latest else None,
        "guideline": guideline,
        "guideline_html": markdown.render(guideline.text),
        "setup": _setup(request, campaign, pair),
        **_keys(request.user, campaign),
    }
    page = render(request, "judge/judge.html", context)
    if campaign.live_page:
        page.headers["Content-Security-Policy"] = policy.WITH_LIVE_PAGES
    return page


def _keys(judge: User, campaign: Campaign) -> dict[str, Any]:
    """Her keys, as they are written on the buttons and in the list of all keys."""
    hers = {name: key.upper() for name, key in keys.chosen(judge.keys).items()}
    others = [
        (hers[name], step.words)
        for name, step in keys.STEPS.items()
        if not name.startswith("grade-") and (name != "live" or campaign.live_page)
    ]
    grades = [grade._replace(key=hers[f"grade-{grade.value}"]) for grade in wording.GRADES]
    return {"keys": hers, "other_keys": others, "grades": grades}


def _setup(
    request: SignedInRequest, campaign: Campaign, pair: judging.ShownPair | None
) -> dict[str, Any]:
    """What the script needs to know. Whose queue it is keeps two people on one computer apart."""
    shown = pair and {
        "token": pair.token,
        "before": pair.before,
        "address": pair.address._asdict(),
        "live": _may_be_live(request, campaign, pair),
    }
    return {
        "judge": request.user.pk,
        "guidelines": campaign.guideline_version,
        "pair": shown,
        "grade": reverse("judge", args=[campaign.slug]),
        "undo": reverse("judge_undo", args=[campaign.slug]),
        "refuse": reverse("judge_refuse", args=[campaign.slug]),
        "recent": reverse("judge_recent", args=[campaign.slug]),
        "keys": keys.chosen(request.user.keys),
        "words": {grade.value: str(grade.word) for grade in wording.GRADES},
        "say": wording.script_sentences(),
    }
