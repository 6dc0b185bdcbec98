"""The figures of the dashboard, reckoned in the background. The only writer of reports."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotate import jobs
from annotate.models import Campaign, Job, Report
from annotate.reports import agreement, cost, crowd, judges
from annotate.reports.reading import gold, made

__all__ = ["KINDS", "figures", "run"]

#: One report each.
KINDS = ("agreement", "judges", "cost", "crowd")


def run(job: Job) -> None:
    """The job: reckon every figure anew from the judgments that count now."""
    found = figures(job.campaign, job)
    with transaction.atomic():
        for kind, data in found.items():
            Report.objects.update_or_create(
                campaign=job.campaign, kind=kind, defaults={"data": data, "created_at": Now()}
            )
        jobs.finish(job, f"{found['agreement']['judgments']} judgments.")


def figures(campaign: Campaign, job: Job | None = None) -> dict[str, dict[str, Any]]:
    """Every report of a campaign. With a job, how far it is."""

    def keep(progress: float, message: str) -> None:
        if job is not None:
            jobs.keep(job, progress, message)

    rows, golden = made(campaign), gold(campaign)
    keep(0.3, f"Measuring agreement of {len(rows)} judgments")
    found = {"agreement": agreement.make(rows, campaign.scheme)}
    keep(0.6, "Measuring judges")
    found["judges"] = judges.make(rows, golden, campaign.scheme)
    keep(0.9, "Replaying schemes")
    found["cost"] = cost.make(campaign, rows)
    found["crowd"] = crowd.make(golden)
    return found
