"""Whom a campaign tells what happens, and what was sent to them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from annotate.models.pool import Pair


class Webhook(models.Model):
    """An address that is told what happens in a campaign."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    events = models.JSONField(help_text="What it wants to be told.")
    secret = models.CharField(max_length=100, help_text="What deliveries are signed with.")
    failures = models.PositiveIntegerField(
        default=0, help_text="How often in a row it could not be reached."
    )
    retry_at = models.DateTimeField(null=True, help_text="Nothing is sent before.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "url"], name="one_webhook_per_address")
        ]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event on its way to one webhook."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        FAILED = "failed", "Given up"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20)
    event_id = models.UUIDField(help_text="The same however often it is sent.")
    body = models.TextField()
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, help_text="The last answer's, of HTTP.")
    answer = models.CharField(max_length=300, blank=True, help_text="How the answer began.")
    error = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="one_delivery_per_event")
        ]
        indexes: ClassVar = [
            models.Index(
                F("webhook"), F("due_at"), condition=Q(state="waiting"), name="delivery_waiting"
            ),
            models.Index(fields=["webhook", "-id"], name="delivery_on_page"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.event_id}: {self.state}"


class Closing(models.Model):
    """A pair that was closed when it was last labelled, and whether that was announced."""

    pair = models.OneToOneField(Pair, models.CASCADE, related_name="closing")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="closings")
    told = models.BooleanField(default=False)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["campaign"], condition=Q(told=False), name="closing_untold")
        ]

    def __str__(self) -> str:
        return f"{self.pair_id}: {'told' if self.told else 'to be told'}"
