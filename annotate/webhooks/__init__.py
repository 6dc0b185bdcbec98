"""Whom a campaign tells what happens: signed messages, delivered at least once."""

from annotate.webhooks.announcing import (
    EVENTS,
    TEST,
    announce,
    champion_changed,
    labels_changed,
    pairs_labelled,
)
from annotate.webhooks.checking import WebhookError, check_url
from annotate.webhooks.delivering import MOST_ATTEMPTS, deliver
from annotate.webhooks.managing import MOST_WEBHOOKS, create, remove, send_again, send_test
from annotate.webhooks.signing import sign

__all__ = [
    "EVENTS",
    "MOST_ATTEMPTS",
    "MOST_WEBHOOKS",
    "TEST",
    "WebhookError",
    "announce",
    "champion_changed",
    "check_url",
    "create",
    "deliver",
    "labels_changed",
    "pairs_labelled",
    "remove",
    "send_again",
    "send_test",
    "sign",
]
