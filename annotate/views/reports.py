"""Pages of figures: agreement and cost, and every figure as a file."""

from typing import Any

from django.http import Http404, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from annotate import costs, reporting
from annotate.access import SignedInRequest, managed_campaign
from annotate.figures import Figure, lines
from annotate.models import Campaign


@require_safe
def campaign_agreement(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Do the judges agree, over all and in every detail."""
    campaign = managed_campaign(request.user, slug)
    return page(request, campaign, "agreement", {})


@require_safe
def campaign_cost(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What it costs, and what every other scheme would have cost."""
    campaign = managed_campaign(request.user, slug)
    return page(request, campaign, "cost", {"bill": costs.bill(campaign)}, "_bill")


@require_safe
def figure_csv(request: SignedInRequest, slug: str, kind: str, name: str) -> HttpResponseBase:
    """The numbers of one figure."""
    campaign = managed_campaign(request.user, slug)
    for figure in reporting.figures(campaign, kind) or []:
        if figure.name == name:
            file = f'attachment; filename="{campaign.slug}-{kind}-{name}.csv"'
            return StreamingHttpResponse(
                lines(figure),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": file},
            )
    raise Http404("There is no such figure.")


def page(
    request: SignedInRequest,
    campaign: Campaign,
    kind: str,
    more: dict[str, Any],
    *parts: str,
) -> HttpResponseBase:
    """A page of figures, or what of it moves, for a page that stays open.

    ``parts`` are templates of the page that move too.
    """
    found = reporting.figures(campaign, kind)
    if found is None:
        raise Http404("There is no such page.")
    name = kind.partition("-")[0]
    context = {
        "campaign": campaign,
        "figures": {figure.name: figure for figure in found},
        "kind": kind,
        "made_at": reporting.made_at(campaign, kind),
        "tab": "judges" if name == "judge" else name,
        **more,
    }
    charts = {figure.name: figure.chart for figure in found}
    if request.headers.get("Accept") == "application/json":
        rendered = {
            part.strip("_"): render_to_string(f"campaigns/{part}.html", context, request)
            for part in parts
        }
        fragments = rendered | moving(found, campaign)
        return JsonResponse({"state": campaign.state, "fragments": fragments, "charts": charts})
    return render(request, f"campaigns/report_{name}.html", context | {"charts": charts})


def moving(found: list[Figure], campaign: Campaign) -> dict[str, str]:
    """The words and the table of every figure."""
    fragments = {}
    for figure in found:
        context = {"figure": figure, "campaign": campaign}
        fragments[f"{figure.name}-about"] = figure.about
        fragments[f"{figure.name}-table"] = render_to_string("campaigns/_figure.html", context)
    return fragments
