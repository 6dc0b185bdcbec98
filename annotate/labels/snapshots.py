"""Agreement and cost of a campaign at one moment: what the dashboard shows."""

import numpy as np
from django.db import transaction

from annotate import jobs
from annotate.clock import now_plus
from annotate.labels.reading import counted, judgments
from annotate.models import Campaign, Job, Snapshot
from ranking.agreement import krippendorff_alpha
from ranking.grades import GOOD, LEVELS
from ranking.judgments import IntArray

SNAPSHOT_SECONDS = 60
INTERVAL = 0.95

#: What takes longer to reckon follows a little later, once for all judgments of that time.
REPORT_SECONDS = 10

#: Up to so many judgments a snapshot costs next to nothing and is taken with every aggregation.
#: Above, it is taken once a minute.
SMALL = 10_000


def snapshot(job: Job) -> None:
    """The job: one snapshot of a campaign that is too large to take one with every judgment."""
    figures = summarise(*judgments(counted(job.campaign)))
    with transaction.atomic():
        keep_snapshot(job.campaign, figures)
        jobs.finish(job, f"{figures['judgments']} judgments.")


def follow(campaign: Campaign) -> None:
    """After labels changed: a snapshot now, or soon. Call it in a transaction."""
    latest = campaign.snapshots.first()
    if latest is not None and latest.judgments > SMALL:
        jobs.enqueue("snapshot", campaign, delay=SNAPSHOT_SECONDS)
    else:
        take_snapshot(campaign)


def take_snapshot(campaign: Campaign) -> Snapshot:
    """Of two workers at once the second reads after the first has written."""
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        return keep_snapshot(campaign, summarise(*judgments(counted(campaign))))


def keep_snapshot(campaign: Campaign, figures: dict[str, object]) -> Snapshot:
    """The history keeps one a minute; within it the last one stands. The reports follow."""
    jobs.enqueue("report", campaign, delay=REPORT_SECONDS)
    recent = campaign.snapshots.filter(created_at__gt=now_plus(seconds=-SNAPSHOT_SECONDS))
    latest = recent.order_by("-id").values_list("pk", flat=True).first()
    if latest is None:
        return Snapshot.objects.create(campaign=campaign, **figures)
    Snapshot.objects.filter(pk=latest).update(**figures)
    return Snapshot.objects.get(pk=latest)


def summarise(pair: IntArray, judge: IntArray, grade: IntArray) -> dict[str, object]:
    """The fields of a snapshot."""
    pairs, first, counts = np.unique(pair, return_index=True, return_counts=True)
    alpha = low = high = None
    if np.any(counts > 1):
        agreement = krippendorff_alpha(pair, judge, grade, interval=INTERVAL, rng=0, resamples=200)
        alpha, low, high = (
            None if np.isnan(value) else float(value)
            for value in (agreement.value, agreement.low, agreement.high)
        )
    return {
        "pairs": len(pairs),
        "judgments": len(pair),
        "judges": len(np.unique(judge)),
        "overlapping": int(np.sum(counts > 1)),
        "alpha": alpha,
        "alpha_low": low,
        "alpha_high": high,
        "histogram": np.bincount(grade, minlength=LEVELS).tolist(),
        "first_good": int(np.sum(grade[first] >= GOOD)),
    }
