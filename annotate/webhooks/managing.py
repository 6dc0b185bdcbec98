"""What managers do with webhooks: make and remove them, try them, send a message again."""

import uuid
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotate import history, jobs
from annotate.models import Campaign, Closing, Delivery, User, Webhook
from annotate.webhooks.announcing import EVENTS, TEST, write
from annotate.webhooks.checking import WebhookError, check_url
from annotate.webhooks.signing import new_secret

MOST_WEBHOOKS = 10


def create(campaign: Campaign, manager: User, url: str, events: Sequence[str]) -> Webhook:
    """A webhook with a secret of its own. It is told what happens from now on."""
    wanted = [name for name in EVENTS if name in events]
    if not wanted or len(wanted) != len(set(events)):
        raise WebhookError(f"Events must be some of {', '.join(EVENTS)}. Got {list(events)}.")
    check_url(url)
    try:
        with transaction.atomic():
            Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
            if campaign.webhooks.count() >= MOST_WEBHOOKS:
                raise WebhookError(f"A campaign has at most {MOST_WEBHOOKS} webhooks.")
            hook = Webhook.objects.create(
                campaign=campaign, created_by=manager, url=url, events=wanted, secret=new_secret()
            )
            history.record(campaign, manager, f"{manager} added a webhook to {_host(hook)}.")
    except IntegrityError:
        raise WebhookError("There is a webhook with this address already.") from None
    return hook


def remove(hook: Webhook, manager: User) -> None:
    """It is told no more, and its log goes with it."""
    with transaction.atomic():
        campaign = hook.campaign
        history.record(campaign, manager, f"{manager} removed the webhook to {_host(hook)}.")
        Webhook.objects.filter(pk=hook.pk).delete()
        if not campaign.webhooks.exists():
            Closing.objects.filter(campaign=campaign).delete()


def _host(hook: Webhook) -> str:
    return urlsplit(hook.url).hostname or ""


def send_test(hook: Webhook) -> Delivery:
    """A message that means nothing, at once."""
    with transaction.atomic():
        _try_now(hook)
        words = {"message": "If you can read this and the signature is right, all is well."}
        return write([hook], TEST, words, uuid.uuid4())[0]


def send_again(delivery: Delivery) -> None:
    """The same message with the same id, at once; also one that was given up or has arrived."""
    with transaction.atomic():
        _try_now(delivery.webhook)
        Delivery.objects.filter(pk=delivery.pk).update(
            state=Delivery.State.WAITING, attempts=0, due_at=Now()
        )
        jobs.enqueue("deliver", delivery.webhook.campaign, key=str(delivery.webhook_id))


def _try_now(hook: Webhook) -> None:
    Webhook.objects.filter(pk=hook.pk).update(retry_at=None)
