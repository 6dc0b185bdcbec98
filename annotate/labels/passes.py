"""The two ways to labels: the pairs that changed, at once; all pairs, from time to time.

A method that looks at one pair at a time needs only the first. A model learns its judges from all
pairs, so a pair that was just judged has a provisional label until the next full pass. What a
manager decided is above either.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotate import jobs, webhooks
from annotate.clock import now_plus
from annotate.labels.reading import (
    ADJUDICATED,
    Judgments,
    counted,
    decisions,
    final_grades,
    judgments,
    stored_labels,
)
from annotate.labels.snapshots import SMALL, follow, keep_snapshot, summarise
from annotate.labels.writing import Fresh, write
from annotate.models import Campaign, Job, Label, Pair
from ranking.aggregation import AGGREGATORS

BATCH = 1000

#: How a pair is labelled until the model of its campaign has seen it. The label names its method.
PROVISIONAL = "majority"

#: A model is fitted at most so often while judgments come.
RELABEL_SECONDS = 60


@cache
def needs_all(method: str) -> bool:
    """Whether a label depends on the judgments of other pairs too."""
    return AGGREGATORS[method].aggregate([0], [0], [0]).posterior is not None


# -- Changed pairs --------------------------------------------------------------------------------


def aggregate(job: Job) -> None:
    """The job: bring the labels of changed pairs up to date, then the snapshot."""
    campaign = job.campaign
    total, done = max(_stale(campaign).count(), 1), 0
    while changed := _label_for(job, done, total):
        done += changed
    campaign.refresh_from_db(fields=["aggregator"])
    with transaction.atomic():
        follow(campaign)
        webhooks.labels_changed(campaign)
        jobs.finish(job, f"{done} pairs labelled.")
        if done and needs_all(campaign.aggregator):
            # After the labels are committed: whoever takes it from here on sees them.
            jobs.enqueue("relabel", campaign, delay=RELABEL_SECONDS)


def _label_for(job: Job, done: int, total: int) -> int:
    """A batch that counts only while the job is ours."""
    with transaction.atomic():
        if changed := label_batch(job.campaign):
            done += changed
            jobs.keep(job, min(done / total, 0.99), f"{done} pairs labelled")
    return changed


def label_batch(campaign: Campaign) -> int:
    """Label some of the pairs whose judgments changed. Returns how many there were.

    The pairs are locked from reading their judgments to writing their labels: a judgment that
    comes meanwhile waits, and then marks its pair again.
    """
    with transaction.atomic():
        stale = _stale(campaign).order_by("pk").select_for_update()
        pairs = list(stale.values_list("pk", flat=True)[:BATCH])
        if pairs:
            # Read behind the locks: a change of the method has come to these pairs, or is to come.
            campaign = Campaign.objects.get(pk=campaign.pk)
            Pair.objects.filter(pk__in=pairs).update(stale=False)
            labels = _made_by(_at_once(campaign), campaign, pairs)
            write(labels)
            Label.objects.filter(pair__in=set(pairs) - set(labels.pair.tolist())).delete()
            webhooks.pairs_labelled(campaign, pairs)
    return len(pairs)


def _stale(campaign: Campaign) -> QuerySet[Pair]:
    return Pair.objects.filter(campaign=campaign, stale=True)


def _at_once(campaign: Campaign) -> str:
    return PROVISIONAL if needs_all(campaign.aggregator) else campaign.aggregator


def _made_by(method: str, campaign: Campaign, pairs: list[int]) -> Fresh:
    made = judgments(counted(campaign).filter(pair__in=pairs))
    return Fresh.of(method, made).decided(*decisions(final_grades(campaign).filter(pair__in=pairs)))


# -- All pairs ------------------------------------------------------------------------------------


def relabel(job: Job) -> None:
    """The job: label every pair from all judgments and write what changed.

    Nothing is locked while the judgments are read and the model is fitted. A pair that was judged
    and labelled meanwhile keeps that label.
    """
    campaign = job.campaign
    began = _now(campaign)
    jobs.keep(job, 0.05, "Reading judgments")
    made = judgments(counted(campaign))
    number = len(made[0])
    jobs.keep(job, 0.3, f"Labelling from {number} judgments")
    changed = _changed(campaign, made)
    _write_all(job, changed, began)
    figures = summarise(*made) if number > SMALL else None
    left = _Left.after(campaign)
    with transaction.atomic():
        left.settle(campaign)
        keep_snapshot(campaign, figures) if figures else follow(campaign)
        webhooks.labels_changed(campaign)
        jobs.finish(job, f"{len(changed)} labels changed, from {number} judgments.")


def _changed(campaign: Campaign, made: Judgments) -> Fresh:
    method = campaign.aggregator
    labels = Fresh.of(method, made).decided(*decisions(final_grades(campaign)))
    return labels.changed_from(stored_labels(campaign, method))


def _write_all(job: Job, labels: Fresh, began: datetime) -> None:
    """In short transactions, so that no judge waits; each only while the job is ours."""
    done = 0
    for batch in labels.batches():
        with transaction.atomic():
            write(batch, began)
            done += len(batch)
            progress = 0.5 + 0.45 * done / len(labels)
            jobs.keep(job, progress, f"{done} of {len(labels)} changed labels written")


@dataclass(frozen=True)
class _Left:
    """What changed under a full pass: found without a lock, settled with its last transaction."""

    empty: list[int]
    outdated: list[int]
    provisional: bool

    @classmethod
    def after(cls, campaign: Campaign) -> "_Left":
        labels = Label.objects.filter(pair__campaign=campaign)
        others = labels.exclude(method__in=[campaign.aggregator, ADJUDICATED])
        by_model = needs_all(campaign.aggregator)
        outdated = others.exclude(method=PROVISIONAL) if by_model else others
        return cls(
            empty=list(_without_judgments(campaign).values_list("pk", flat=True)),
            outdated=list(outdated.values_list("pair", flat=True)),
            provisional=by_model and others.filter(method=PROVISIONAL).exists(),
        )

    def settle(self, campaign: Campaign) -> None:
        """Labels without judgments go; labels by another method are made again."""
        _without_judgments(campaign).filter(pk__in=self.empty).delete()
        if self.outdated:
            Pair.objects.filter(pk__in=self.outdated).update(stale=True)
            jobs.enqueue("aggregate", campaign)
        if self.provisional:
            jobs.enqueue("relabel", campaign, delay=RELABEL_SECONDS)


def _without_judgments(campaign: Campaign) -> QuerySet[Label]:
    made = counted(campaign).filter(pair=OuterRef("pair"))
    decided = final_grades(campaign).filter(pair=OuterRef("pair"))
    return Label.objects.filter(~Exists(made), ~Exists(decided), pair__campaign=campaign)


def _now(campaign: Campaign) -> datetime:
    """The database's clock, less the thousandth of a second that SQLite cannot tell apart."""
    clock = Campaign.objects.filter(pk=campaign.pk).values_list(now_plus(milliseconds=-1))
    moment: datetime = clock.get()[0]
    return moment
