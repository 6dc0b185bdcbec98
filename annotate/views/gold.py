"""Gold pairs: their known grades, how judges do on them, and files of more."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate import gold_files, pairs
from annotate.access import SignedInRequest, managed_campaign
from annotate.formats.rows import Problem
from annotate.forms.pairs import GoldFileForm

#: How many bad lines of a file are shown.
SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_gold(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Every gold pair with what judges said, and a place for a file of more."""
    campaign = managed_campaign(request.user, slug)
    sent = request.method == "POST"
    form = GoldFileForm(request.POST, request.FILES) if sent else GoldFileForm()
    problems: list[Problem] = []
    if sent and form.is_valid():
        try:
            number = gold_files.load(request.user, campaign, form.cleaned_data["file"])
        except gold_files.GoldRefusedError as error:
            problems = error.problems
        else:
            messages.success(request, f"{number:,} pairs are gold now.")
            return redirect("campaign_gold", slug)
    context = {
        "campaign": campaign,
        "gold": list(pairs.gold(campaign)),
        "form": form,
        "problems": problems[:SHOWN],
        "total_problems": len(problems),
        "tab": "pairs",
    }
    status = 422 if problems or (sent and form.errors) else 200
    return render(request, "campaigns/gold.html", context, status=status)
