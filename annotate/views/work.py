"""Background work of a campaign: what runs, what waits, what failed."""

from django.contrib import messages
from django.http import HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from annotate import jobs
from annotate.access import SignedInRequest, managed_campaign
from annotate.models import Campaign, Job
from annotate.views.setup import wants_json

RECENT = 20


@require_safe
def campaign_jobs(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Running work with its progress, then what is due, what failed and what is done."""
    campaign = managed_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "running": _jobs(campaign, Job.State.RUNNING),
        "due": _jobs(campaign, Job.State.DUE),
        "failed": _jobs(campaign, Job.State.FAILED),
        "done": _jobs(campaign, Job.State.DONE),
        "attempts": jobs.MAX_ATTEMPTS,
        "worker_alive": jobs.worker_alive(),
        "tab": "jobs",
    }
    if wants_json(request):
        html = render_to_string("campaigns/_jobs.html", context, request)
        return JsonResponse({"fragments": {"jobs": html}})
    return render(request, "campaigns/jobs.html", context)


def _jobs(campaign: Campaign, state: Job.State) -> list[Job]:
    return list(campaign.jobs.filter(state=state).order_by("-id")[:RECENT])


@require_POST
def job_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Try a failed job again, or stop one."""
    campaign = managed_campaign(request.user, slug)
    job = get_object_or_404(campaign.jobs, pk=number)
    action = request.POST.get("action")
    if action == "retry":
        due = jobs.retry(job)
        messages.info(request, "The job is due again." if due else "The same work is due already.")
    elif action == "cancel":
        stopped = jobs.cancel(job)
        messages.info(request, "The job is cancelled." if stopped else "The job had ended.")
    else:
        messages.error(request, f"An action must be retry or cancel. Got {action!r} instead.")
    return redirect("campaign_jobs", slug)
