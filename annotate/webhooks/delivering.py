"""Messages to their addresses: in order, again after a while, at least once.

What is sent is marked afterwards. A worker that dies in between has sent a message that will be
sent again, with the same id: receivers drop what they know.
"""

import time
from datetime import timedelta

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q
from django.db.models.functions import Coalesce, Greatest, Now

from annotate import jobs
from annotate.clock import now_plus
from annotate.models import Delivery, Job, Webhook
from annotate.webhooks.sending import WHOLE_SECONDS, Outcome, post
from annotate.webhooks.signing import sign

#: How long to wait after the first failure, the second and so on; then as long as the last.
WAITS = (10, 60, 5 * 60, 15 * 60, 60 * 60, 3 * 60 * 60)
MOST_ATTEMPTS = 12
#: A message that could not be delivered for so long is given up.
GIVE_UP_DAYS = 3
#: How long a message that was delivered stays in the log.
KEEP_DAYS = 14

#: A message that somebody sends is not sent by another worker meanwhile.
SENDING_SECONDS = 3 * WHOLE_SECONDS

State = Delivery.State


def deliver(job: Job) -> None:
    """The job: send what is due to one webhook, the oldest first.

    Where nobody answers, the others wait too. An answer that says no is that message's own affair.
    """
    number = int(job.key.partition(":")[0])
    hook = Webhook.objects.filter(pk=number).select_related("campaign").first()
    sent = 0
    if hook is not None:
        _forget(hook)
        while _reachable(hook) and (delivery := _next(hook)):
            outcome = _send(hook, delivery)
            sent += outcome.ok
            with transaction.atomic():
                _mark(hook, delivery, outcome)
                jobs.keep(job, 0.5, f"{sent} messages sent")
    with transaction.atomic():
        jobs.finish(job, f"{sent} messages sent.")
        if hook is not None:
            _again(hook)


def _reachable(hook: Webhook) -> bool:
    ripe = Q(retry_at=None) | Q(retry_at__lte=Now())
    return Webhook.objects.filter(ripe, pk=hook.pk).exists()


def _next(hook: Webhook) -> Delivery | None:
    """The oldest that is due, for this worker alone."""
    waiting = hook.deliveries.filter(state=State.WAITING, due_at__lte=Now())
    for pk in waiting.order_by("pk").values_list("pk", flat=True)[:10]:
        mine = waiting.filter(pk=pk).update(
            due_at=now_plus(seconds=SENDING_SECONDS), attempts=F("attempts") + 1
        )
        if mine:  # otherwise another worker got there first
            return Delivery.objects.get(pk=pk)
    return None


def _send(hook: Webhook, delivery: Delivery) -> Outcome:
    signed = sign(hook.secret, delivery.event_id, int(time.time()), delivery.body)
    headers = signed | {"Content-Type": "application/json", "User-Agent": "Second-Opinion"}
    return post(hook.url, headers, delivery.body.encode())


def _mark(hook: Webhook, delivery: Delivery, outcome: Outcome) -> None:
    row = Delivery.objects.filter(pk=delivery.pk)
    row.update(status=outcome.status, answer=outcome.answer, error=outcome.error)
    if outcome.ok:
        row.update(state=State.SENT, sent_at=Now())
    elif delivery.attempts >= MOST_ATTEMPTS:
        row.update(state=State.FAILED)
    else:
        row.update(due_at=now_plus(seconds=_wait(delivery.attempts)))
    if outcome.status is not None:
        Webhook.objects.filter(pk=hook.pk).update(failures=0, retry_at=None)
    else:
        wait = now_plus(seconds=_wait(hook.failures + 1))
        Webhook.objects.filter(pk=hook.pk).update(failures=F("failures") + 1, retry_at=wait)


def _wait(failures: int) -> int:
    return WAITS[min(failures, len(WAITS)) - 1]


def _forget(hook: Webhook) -> None:
    """Give up what is too old, and drop what was delivered long ago."""
    old = hook.deliveries.filter(created_at__lt=now_plus(days=-GIVE_UP_DAYS))
    old.filter(state=State.WAITING, attempts__gt=0).update(state=State.FAILED)
    done = hook.deliveries.exclude(state=State.WAITING)
    done.filter(created_at__lt=now_plus(days=-KEEP_DAYS)).delete()


def _again(hook: Webhook) -> None:
    """Another job for what is left, when it is due. It has a key of its own: what happens
    meanwhile is sent at once.
    """
    later = Greatest(F("due_at"), Coalesce(F("webhook__retry_at"), F("due_at")))
    waiting = hook.deliveries.filter(state=State.WAITING).annotate(
        left=ExpressionWrapper(later - Now(), output_field=DurationField())
    )
    soonest = waiting.order_by("left").values_list("left", flat=True).first()
    if soonest is not None:
        delay = max(soonest, timedelta(seconds=1)).total_seconds()
        jobs.enqueue("deliver", hook.campaign, key=f"{hook.pk}:again", delay=delay)
