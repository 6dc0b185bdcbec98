"""Campaigns: the list, a new one, settings, and open, pause, close."""

from copy import copy

from django.contrib import messages
from django.db.models import OuterRef, Subquery
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import campaigns, costs, planner, training
from annotate.access import SignedInRequest, managed_campaign, managed_campaigns, managers_only
from annotate.forms.campaigns import CampaignForm
from annotate.models import Campaign, Snapshot
from annotate.models.campaigns import NUMBERS

DONE = {
    "open": "The campaign is open. Judges get pairs now.",
    "pause": "The campaign is paused. Judges get no new pairs.",
    "close": "The campaign is closed. It takes no more judgments.",
}


@managers_only
@require_safe
def campaign_list(request: SignedInRequest) -> HttpResponseBase:
    """Every campaign this person manages, with the figures to choose one by."""
    latest = Snapshot.objects.filter(campaign=OuterRef("pk")).order_by("-id")
    mine = list(
        managed_campaigns(request.user)
        .annotate(
            n_judgments=Subquery(latest.values("judgments")[:1]),
            alpha=Subquery(latest.values("alpha")[:1]),
        )
        .order_by("-created_at", "-id")
    )
    progress = costs.progress_of(mine)
    found = [(campaign, progress[campaign.pk]) for campaign in mine]
    return render(request, "campaigns/list.html", {"campaigns": found})


@managers_only
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_new(request: SignedInRequest) -> HttpResponseBase:
    """Make a draft; its page then says what comes next."""
    initial, sentence = planner.prefilled(request.GET.dict())
    form = CampaignForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = campaigns.create(request.user, form.cleaned_data)
        except campaigns.CampaignError as error:
            form.add_error("name", str(error))
        else:
            return redirect("dashboard", campaign.slug)
    return _settings_page(request, form, None, sentence)


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_settings(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Change any setting; a new scheme is applied to every pair in the background."""
    campaign = managed_campaign(request.user, slug)
    form = CampaignForm(request.POST or None, instance=copy(campaign))
    if request.method == "POST" and form.is_valid():
        campaigns.update(campaign, form.cleaned_data, request.user)
        messages.success(request, "Saved.")
        return redirect("campaign_settings", slug)
    return _settings_page(request, form, campaign)


def _settings_page(
    request: SignedInRequest, form: CampaignForm, campaign: Campaign | None, plan: str = ""
) -> HttpResponseBase:
    context = {
        "plan": plan,
        "form": form,
        "campaign": campaign,
        "pairs": campaign.pairs.count() if campaign else 0,
        "expected": costs.expected(*_chosen(form, campaign or Campaign())),
        "costs": {"shares": costs.SHARES, "table": costs.expected_table()},
        "tab": "settings",
    }
    bad = form.is_bound and not form.is_valid()
    return render(request, "campaigns/settings.html", context, status=422 if bad else 200)


def _chosen(form: CampaignForm, campaign: Campaign) -> tuple[str, float | None]:
    """The scheme and its number as the form has them; as they were, where it cannot be used."""
    cleaned = form.cleaned_data if form.is_bound and form.is_valid() else vars(campaign)
    field = NUMBERS.get(cleaned["scheme_name"])
    return cleaned["scheme_name"], cleaned[field] if field else None


@require_POST
def campaign_state(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Open, pause or close."""
    campaign = managed_campaign(request.user, slug)
    step = request.POST.get("step", "")
    try:
        campaigns.change_state(campaign, step, request.user)
    except campaigns.CampaignError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, DONE[step])
    return redirect("dashboard", slug)


@require_POST
def campaign_train(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Train a ranker on the labels there are now."""
    campaign = managed_campaign(request.user, slug)
    try:
        run = training.request(campaign)
    except training.TrainingError as error:
        messages.info(request, str(error))
    else:
        words = f"Training run {run.number} is on its way. The dashboard shows the result."
        messages.success(request, words)
    return redirect("dashboard", slug)
