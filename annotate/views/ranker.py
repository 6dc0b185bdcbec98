"""The rankers of a campaign: runs, the champion, its files, and how they are trained."""

from copy import copy
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import campaigns, jobs, model_files, quality, ranker_figures, rankers, training
from annotate.access import SignedInRequest, managed_campaign
from annotate.forms.ranker import RankerForm, TrainForm
from annotate.models import Campaign, TrainingRun
from annotate.views.reports import moving
from annotate.views.setup import bad, wants_json


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_ranker(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Every run with its figures; a POST saves how rankers are trained."""
    campaign = managed_campaign(request.user, slug)
    form = RankerForm(request.POST or None, instance=copy(campaign))
    if request.method == "POST" and form.is_valid():
        campaigns.update(campaign, form.settings(), request.user)
        messages.success(request, "Saved. The next run is made this way.")
        return redirect("campaign_ranker", slug)
    context = _context(request, campaign)
    if wants_json(request):
        found = list(context["charted"].values())
        fragments = moving(found, campaign)
        for part in ("runs", "champion"):
            fragments[part] = render_to_string(f"campaigns/_{part}.html", context, request)
        return JsonResponse({"fragments": fragments, "charts": context["charts"]})
    context |= {"form": form, "train_form": TrainForm()}
    return render(request, "campaigns/ranker.html", context, status=bad(form))


def _context(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    run = rankers.chosen(campaign, request.GET.get("run", ""))
    charted = ranker_figures.figures(campaign, run)
    return {
        "campaign": campaign,
        "charted": {figure.name: figure for figure in charted},
        "charts": {figure.name: figure.chart for figure in charted},
        "kind": f"ranker-{run.number}" if run else "ranker",
        "main": quality.of(run) if run else None,
        "lines": rankers.lines(campaign),
        "run": run,
        "figures": rankers.figures(run) if run else [],
        "duels": rankers.duels(run) if run else [],
        "champion": training.current(campaign),
        "previous": training.previous(campaign),
        "worker_alive": jobs.worker_alive(),
        "tab": "ranker",
    }


@require_POST
def ranker_train(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Train a ranker on the labels there are now."""
    campaign = managed_campaign(request.user, slug)
    form = TrainForm(request.POST)
    if form.is_valid():
        try:
            run = training.request(campaign, form.cleaned_data["ranker"])
        except training.TrainingError as error:
            messages.info(request, str(error))
        else:
            messages.success(request, f"Run {run.number} is on its way.")
    else:
        messages.error(request, "There is no such ranker.")
    return redirect("campaign_ranker", slug)


@require_POST
def ranker_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Cancel a run, make it the champion, or go back to the champion before it."""
    campaign = managed_campaign(request.user, slug)
    run = get_object_or_404(campaign.runs, number=number)
    action = request.POST.get("action")
    try:
        if action == "cancel":
            training.cancel(run, request.user)
            messages.success(request, f"Run {number} is cancelled.")
        elif action == "promote":
            training.promote(run, request.user)
            messages.success(request, f"Run {number} is the champion now.")
        elif action == "roll-back" and run.is_champion:
            before = training.roll_back(campaign, request.user)
            messages.success(request, f"Run {before.number} is the champion again.")
        else:
            messages.error(request, "This cannot be done here.")
    except training.TrainingError as error:
        messages.error(request, str(error))
    return redirect("campaign_ranker", slug)


# -- Files ----------------------------------------------------------------------------------------


@require_safe
def ranker_file(request: SignedInRequest, slug: str, number: int, what: str) -> HttpResponseBase:
    """The model as it was saved, what it was made of, or its form for Elasticsearch."""
    campaign = managed_campaign(request.user, slug)
    run = get_object_or_404(campaign.runs, number=number, state=TrainingRun.State.DONE)
    if what not in model_files.FILES:
        raise Http404("There is no such file.")
    try:
        file = model_files.FILES[what](run)
    except training.ModelError as error:
        messages.error(request, str(error))
        return redirect("campaign_ranker", slug)
    disposition = f'attachment; filename="{file.name}"'
    return HttpResponse(file.content, file.kind, headers={"Content-Disposition": disposition})
