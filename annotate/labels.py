"""Judgments to labels and agreement snapshots. The only writer of both."""

from collections.abc import Iterable

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from annotate import jobs
from annotate.clock import now_plus
from annotate.models import Campaign, Job, Label, Pair, Seat, Snapshot
from ranking.aggregation import AGGREGATORS
from ranking.agreement import krippendorff_alpha
from ranking.grades import GOOD, LEVELS
from ranking.judgments import IntArray

BATCH = 1000
SNAPSHOT_SECONDS = 60
INTERVAL = 0.95


def aggregate(job: Job) -> None:
    """Bring the labels of a campaign up to date with its judgments, then its snapshot."""
    campaign = job.campaign
    done = 0
    while changed := label_batch(campaign):
        done += changed
        jobs.keep(job, 0.5, f"{done} pairs labelled")
    with transaction.atomic():
        take_snapshot(campaign)
        jobs.finish(job, f"{done} pairs labelled.")


def label_batch(campaign: Campaign) -> int:
    """Label some of the pairs whose judgments changed. Returns how many there were.

    The pairs are locked from reading their judgments to writing their labels: a judgment that
    comes meanwhile waits, and then marks its pair again.
    """
    with transaction.atomic():
        stale = Pair.objects.filter(campaign=campaign, stale=True).order_by("pk")
        pairs = list(stale.select_for_update().values_list("pk", flat=True)[:BATCH])
        Pair.objects.filter(pk__in=pairs).update(stale=False)
        pair, judge, grade = judgments(_counted(campaign, Seat.objects.filter(pair__in=pairs)))
        _write(campaign.aggregator, pair, judge, grade)
        Label.objects.filter(pair__in=set(pairs) - set(pair.tolist())).delete()
    return len(pairs)


def _counted(campaign: Campaign, seats: QuerySet[Seat]) -> QuerySet[Seat]:
    """Gold pairs test judges; they are labelled only where the campaign wants it."""
    return seats if campaign.gold_in_labels else seats.exclude(pair__state=Pair.State.GOLD)


def judgments(seats: QuerySet[Seat]) -> tuple[IntArray, IntArray, IntArray]:
    """The judgments that count now, as the library takes them: pair, judge, grade in time order."""
    rows = (
        seats.filter(state=Seat.State.DONE)
        .order_by("judged_at", "pk")
        .values_list("pair_id", "judge_id", "judgment__grade")
    )
    return _columns(rows.iterator(chunk_size=10_000))


def _columns(rows: Iterable[tuple[int | None, ...]]) -> tuple[IntArray, IntArray, IntArray]:
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _write(method: str, pair: IntArray, judge: IntArray, grade: IntArray) -> None:
    if not len(pair):
        return
    labels = AGGREGATORS[method].aggregate(pair, judge, grade)
    numbers = np.bincount(np.searchsorted(labels.pair, pair), minlength=len(labels.pair))
    Label.objects.bulk_create(
        (
            Label(
                pair_id=int(pair_id),
                grade=int(label),
                score=float(score),
                judgments=int(number),
                method=method,
                updated_at=Now(),
            )
            for pair_id, label, score, number in zip(
                labels.pair, labels.grade, labels.score, numbers, strict=True
            )
        ),
        update_conflicts=True,
        unique_fields=["pair"],
        update_fields=["grade", "score", "judgments", "method", "updated_at"],
    )


def take_snapshot(campaign: Campaign) -> Snapshot:
    """What the dashboard shows. The history keeps one a minute; within it the last one stands."""
    figures = summarise(*judgments(_counted(campaign, campaign.seats.all())))
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
