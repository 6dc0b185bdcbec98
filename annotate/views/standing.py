"""What a manager decides about a judge, and the history of all that was decided."""

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import explain, routing, standings
from annotate.access import SignedInRequest, managed_campaign
from annotate.models import Campaign, Membership, User

PER_PAGE = 100


def _exclude(campaign: Campaign, judge: User, manager: User) -> str:
    routing.exclude(campaign, judge, manager)
    return f"{explain.name(judge)} gets no more pairs, from now on. Her judgments stay."


def _readmit(campaign: Campaign, judge: User, manager: User) -> str:
    routing.readmit(campaign, judge, manager)
    return f"{explain.name(judge)} gets pairs again."


def _qualify(campaign: Campaign, judge: User, manager: User) -> str:
    routing.set_qualified(campaign, judge, manager, True)
    return f"{explain.name(judge)} is qualified."


def _retry(campaign: Campaign, judge: User, manager: User) -> str:
    routing.set_qualified(campaign, judge, manager, None)
    return f"{explain.name(judge)} may try again, with the gold pairs she has not seen."


ACTIONS: dict[str, Callable[[Campaign, User, User], str]] = {
    "exclude": _exclude,
    "readmit": _readmit,
    "qualify": _qualify,
    "retry": _retry,
}


@require_POST
def judge_standing(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Exclude a judge or take her back; let her judge, or try, without the pass mark."""
    campaign, judge = _judge(request, slug, number)
    action = request.POST.get("action", "")
    if action in ACTIONS:
        messages.success(request, ACTIONS[action](campaign, judge, request.user))
    else:
        known = ", ".join(ACTIONS)
        messages.error(request, f"An action must be one of {known}. Got {action!r} instead.")
    return redirect("campaign_judges", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def judge_put_back(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Say how many judgments would go, then leave them out and ask others."""
    campaign, judge = _judge(request, slug, number)
    if request.method == "POST":
        moved = routing.put_back(campaign, judge, request.user)
        noun = "judgment" if moved == 1 else "judgments"
        messages.success(
            request, f"{moved:,} {noun} of {explain.name(judge)} put back. Others are asked."
        )
        return redirect("campaign_judges", slug)
    context = {
        "campaign": campaign,
        "judge": judge,
        "name": explain.name(judge),
        "count": standings.judgments(campaign, judge),
        "tab": "judges",
    }
    return render(request, "campaigns/put_back.html", context)


def _judge(request: SignedInRequest, slug: str, number: int) -> tuple[Campaign, User]:
    campaign = managed_campaign(request.user, slug)
    judges = campaign.memberships.filter(role=Membership.Role.JUDGE).select_related("user")
    return campaign, get_object_or_404(judges, user=number).user


@require_safe
def campaign_history(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Who decided what and when, the latest first."""
    campaign = managed_campaign(request.user, slug)
    events = campaign.events.select_related("actor", "pair__query", "pair__document")
    page = Paginator(events.order_by("-id"), PER_PAGE).get_page(request.GET.get("page"))
    context = {"campaign": campaign, "page": page, "tab": "settings"}
    return render(request, "campaigns/history.html", context)
