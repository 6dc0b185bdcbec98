"""Pairs that several judges could not judge: the manager decides."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import pairs, routing
from annotate.access import SignedInRequest, managed_campaign

SHOWN = 100
ACTIONS = {"resume": routing.resume, "drop": routing.drop}
DONE = {"resume": "Other judges are asked.", "drop": "The pair is dropped."}


@require_safe
def campaign_referrals(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Each with the reasons the judges gave, the first to be judged first."""
    campaign = managed_campaign(request.user, slug)
    referred = pairs.referred(campaign)
    context = {"campaign": campaign, "pairs": referred[:SHOWN], "total": referred.count()}
    return render(request, "campaigns/referrals.html", context)


@require_POST
def referral_decide(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Ask other judges all the same, or drop the pair."""
    campaign = managed_campaign(request.user, slug)
    pair = get_object_or_404(campaign.pairs, pk=number)
    action = request.POST.get("action", "")
    try:
        if action not in ACTIONS:
            raise routing.RoutingError(f"Must be resume or drop. Got {action!r} instead.")
        ACTIONS[action](request.user, pair.pk)
    except routing.RoutingError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, DONE[action])
    return redirect("campaign_referrals", slug)
