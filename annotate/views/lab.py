"""The Lab of a campaign: schemes compared on its own judgments."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import jobs, lab, lab_figures
from annotate.access import SignedInRequest, managed_campaign
from annotate.figures import lines
from annotate.forms.lab import LabForm
from annotate.models import Campaign
from annotate.views.setup import bad, wants_json


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_lab(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What was compared, and a form to compare more; a POST starts a replay."""
    campaign = managed_campaign(request.user, slug)
    form = LabForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _started(request, campaign, form):
        return redirect("campaign_lab", slug)
    context = {
        "campaign": campaign,
        "lines": lab_figures.lines(campaign),
        "worker_alive": jobs.worker_alive(),
        "tab": "lab",
    }
    if wants_json(request):
        return _moving(request, campaign, context)
    context |= _result(request, campaign) | {"form": form}
    return render(request, "lab/lab.html", context, status=bad(form))


def _started(request: SignedInRequest, campaign: Campaign, form: LabForm) -> bool:
    try:
        run = lab.request(campaign, form.recipe())
    except lab.LabError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, f"Replay {run.number} is on its way.")
    return True


def _moving(
    request: SignedInRequest, campaign: Campaign, context: dict[str, Any]
) -> HttpResponseBase:
    """The list; a replay that has ended since makes the page load anew."""
    html = render_to_string("lab/_runs.html", context, request)
    charts = _result(request, campaign)["charts"]
    return JsonResponse({"state": _state(campaign), "fragments": {"runs": html}, "charts": charts})


def _state(campaign: Campaign) -> str:
    latest = campaign.lab_runs.filter(state="done").values_list("number", flat=True).first()
    return f"replay-{latest or 0}"


def _result(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    run = lab_figures.chosen(campaign, request.GET.get("run", ""))
    found = lab_figures.figures(run) if run else []
    return {
        "run": run,
        "figures": found,
        "charts": {figure.name: figure.chart for figure in found},
        "live_state": _state(campaign),
    }


@require_POST
def lab_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Stop a replay, or go on with one that was stopped."""
    campaign = managed_campaign(request.user, slug)
    run = get_object_or_404(campaign.lab_runs.defer("frozen"), number=number)
    action = request.POST.get("action")
    try:
        if action == "cancel":
            lab.cancel(run, request.user)
            messages.success(request, f"Replay {number} is cancelled. What is done stays.")
        elif action == "resume":
            lab.resume(run)
            messages.success(request, f"Replay {number} goes on.")
        else:
            messages.error(request, "This cannot be done here.")
    except lab.LabError as error:
        messages.error(request, str(error))
    return redirect("campaign_lab", slug)


@require_safe
def lab_csv(request: SignedInRequest, slug: str, number: int, name: str) -> HttpResponseBase:
    """The numbers of one figure of a replay."""
    campaign = managed_campaign(request.user, slug)
    run = get_object_or_404(campaign.lab_runs.defer("frozen"), number=number, state="done")
    for figure in lab_figures.figures(run):
        if figure.name == name:
            file = f'attachment; filename="{campaign.slug}-replay-{number}-{name}.csv"'
            return StreamingHttpResponse(
                lines(figure),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": file},
            )
    raise Http404("There is no such figure.")
