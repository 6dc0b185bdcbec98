"""What happened in a campaign, as messages to whoever wants to be told.

Closed pairs are found where they are labelled, in the background: a judge's request pays nothing.
They are told together, some seconds later.
"""

import json
import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.db.models.functions import Now

from annotate import jobs
from annotate.models import Campaign, Closing, Delivery, Job, Label, Pair, TrainingRun, Webhook
from ranking.grades import Grade

#: What can be told, in words.
EVENTS = {
    "pair.closed": "Pairs have all the judgments that their scheme wants.",
    "labels.ready": "No pair waits for a judgment, and every label is up to date.",
    "champion.promoted": "Another ranker is the champion.",
}
TEST = "test"

#: The method of a label that a manager decided, as the labels say it.
ADJUDICATED = "adjudicated"

#: How long closed pairs are gathered before they are told.
GATHER_SECONDS = 5
#: So many are told at once.
PAIRS = 500

Data = dict[str, Any]


def wanting(campaign: Campaign, event: str) -> list[Webhook]:
    """Who wants to be told of this."""
    return [hook for hook in campaign.webhooks.order_by("pk") if event in hook.events]


# -- Where things happen --------------------------------------------------------------------------


def pairs_labelled(campaign: Campaign, pairs: Collection[int]) -> None:
    """These pairs were labelled, in this transaction, which has their locks."""
    if not wanting(campaign, "pair.closed"):
        return
    found = Pair.objects.filter(pk__in=pairs, state=Pair.State.CLOSED)
    closed = set(found.values_list("pk", flat=True))
    Closing.objects.filter(pair__in=set(pairs) - closed).delete()
    Closing.objects.bulk_create(
        [Closing(pair_id=pair, campaign=campaign) for pair in sorted(closed)],
        ignore_conflicts=True,  # closed before, and told
    )
    jobs.enqueue("announce", campaign, delay=GATHER_SECONDS)


def labels_changed(campaign: Campaign) -> None:
    """A pass over labels has ended. Call it in its last transaction."""
    if wanting(campaign, "labels.ready"):
        jobs.enqueue("announce", campaign, delay=GATHER_SECONDS)


def champion_changed(run: TrainingRun, why: str) -> None:
    """This run is the champion from now on. Call it in the transaction that makes it so."""
    tell(
        run.campaign,
        "champion.promoted",
        {"run": run.number, "ranker": run.ranker, "sha256": run.model_sha256, "why": why},
    )


# -- The job --------------------------------------------------------------------------------------


def announce(job: Job) -> None:
    """The job: tell of pairs that closed, and of labels that are ready."""
    told = 0
    while pairs := _tell_closed(job):
        told += pairs
    with transaction.atomic():
        ready = _tell_ready(job.campaign)
        words = " Labels are ready." if ready else ""
        jobs.finish(job, f"{told} closed pairs told.{words}")


def _tell_closed(job: Job) -> int:
    """Some of them. They count as told only with their message, and while the job is ours."""
    with transaction.atomic():
        untold = Closing.objects.filter(campaign=job.campaign, told=False)
        locked = untold.order_by("pk").select_for_update()
        rows = list(locked.values_list("pk", "pair_id")[:PAIRS])
        if rows:
            pairs = [pair for _, pair in rows]
            tell(job.campaign, "pair.closed", {"pairs": _as_told(pairs)})
            Closing.objects.filter(pk__in=[pk for pk, _ in rows]).update(told=True)
            jobs.keep(job, 0.5, f"{len(rows)} closed pairs")
    return len(rows)


_TOLD = {
    "query_id": "query__key",
    "query": "query__text",
    "doc_id": "document__key",
    "url": "document__url",
    "grade": "label__grade",
    "score": "label__score",
    "judgments": "label__judgments",
    "method": "label__method",
}


def _as_told(pairs: Sequence[int]) -> list[Data]:
    rows = Pair.objects.filter(pk__in=pairs).order_by("pk").values_list(*_TOLD.values())
    told = [dict(zip(_TOLD, row, strict=True)) for row in rows]
    return [one | {"grade_name": _name(one["grade"])} for one in told]


def _name(grade: int | None) -> str | None:
    return None if grade is None else Grade(grade).word


def _tell_ready(campaign: Campaign) -> bool:
    """Once for each state of the labels: its id is made of what stands in them."""
    if not wanting(campaign, "labels.ready") or not _ready(campaign):
        return False
    labels = Label.objects.filter(pair__campaign=campaign)
    made = labels.aggregate(number=Count("pk"), latest=Max("updated_at"))
    if not made["number"]:
        return False
    state = f"labels.ready {campaign.pk} {made['number']} {made['latest'].isoformat()}"
    referred = campaign.pairs.filter(state=Pair.State.REFERRED).count()
    data = {"labels": made["number"], "method": campaign.aggregator, "referred": referred}
    tell(campaign, "labels.ready", data, uuid.uuid5(uuid.NAMESPACE_OID, state))
    return True


def _ready(campaign: Campaign) -> bool:
    pairs = campaign.pairs.order_by()
    unjudged = pairs.filter(state__in=[Pair.State.OPEN, Pair.State.LOADING])
    if unjudged.exists() or pairs.filter(stale=True).exists():
        return False
    # A label by another method is a provisional one, or about to be made again.
    others = Label.objects.exclude(method__in=[campaign.aggregator, ADJUDICATED])
    return not others.filter(pair__campaign=campaign).exists()


# -- Messages -------------------------------------------------------------------------------------


def tell(
    campaign: Campaign, event: str, data: Data, event_id: uuid.UUID | None = None
) -> list[Delivery]:
    """Write the message for everybody who wants it, in the caller's transaction."""
    return write(wanting(campaign, event), event, data, event_id or uuid.uuid4())


def write(hooks: Sequence[Webhook], event: str, data: Data, event_id: uuid.UUID) -> list[Delivery]:
    """The rows, and the jobs that send them. An event that was written before is left as it is."""
    if not hooks:
        return []
    message = {
        "id": str(event_id),
        "type": event,
        "timestamp": datetime.now(UTC).isoformat(),
        "campaign": hooks[0].campaign.slug,
        "data": data,
    }
    body = json.dumps(message, ensure_ascii=False)
    Delivery.objects.bulk_create(
        [
            Delivery(webhook=hook, event=event, event_id=event_id, body=body, due_at=Now())
            for hook in hooks
        ],
        ignore_conflicts=True,
    )
    for hook in hooks:
        jobs.enqueue("deliver", hook.campaign, key=str(hook.pk))
    return list(Delivery.objects.filter(webhook__in=hooks, event_id=event_id).order_by("pk"))
