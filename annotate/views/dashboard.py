"""The dashboard of a campaign and its moving parts."""

from typing import Any

from django.http import HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from annotate import campaigns, overview
from annotate.access import SignedInRequest, managed_campaign
from annotate.models import Campaign
from annotate.views.reports import moving

#: The parts of the page that change while people judge: name and template.
FRAGMENTS = {
    "tiles": "campaigns/_tiles.html",
    "needs": "campaigns/_needs.html",
    "judges": "campaigns/_judges.html",
}


@require_safe
def dashboard(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """A draft shows what is missing; an open campaign shows how it goes."""
    campaign = managed_campaign(request.user, slug)
    if campaign.state == Campaign.State.DRAFT:
        steps = overview.checklist(campaign)
        draft = {
            "campaign": campaign,
            "steps": steps,
            "can_open": overview.can_open(steps),
            "tab": "overview",
        }
        return render(request, "campaigns/draft.html", draft)
    context = _context(campaign)
    return render(request, "campaigns/dashboard.html", context)


@require_safe
def campaign_live(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What changed, for a page that stays open."""
    campaign = managed_campaign(request.user, slug)
    context = _context(campaign)
    fragments: dict[str, str] = {
        name: render_to_string(template, context, request) for name, template in FRAGMENTS.items()
    }
    fragments |= moving(list(context["figures"].values()), campaign)
    return JsonResponse(
        {"state": campaign.state, "fragments": fragments, "charts": context["charts"]}
    )


def _context(campaign: Campaign) -> dict[str, Any]:
    view = overview.overview(campaign)
    found = overview.figures(campaign, view)
    return {
        "campaign": campaign,
        "view": view,
        "figures": {figure.name: figure for figure in found},
        "charts": {figure.name: figure.chart for figure in found},
        "steps": campaigns.steps_from(campaign),
        "tab": "overview",
    }
