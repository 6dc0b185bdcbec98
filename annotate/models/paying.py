"""If-it-pays: what is believed of the judges, and what was decided for each pair."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from annotate.models.pool import Pair


class Estimate(models.Model):
    """What is believed of a campaign's judges and grades, made anew as judgments come."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="estimate")
    version = models.PositiveIntegerField(default=1)
    token = models.UUIDField(help_text="Names this version, so that nobody reads it twice.")
    created_at = models.DateTimeField(db_default=Now())
    judgments = models.PositiveIntegerField(help_text="How many it was made of.")
    price = models.FloatField(help_text="What a judgment must be worth at least.")
    left = models.IntegerField(
        null=True, help_text="How many may be asked for until the next version; empty: any number."
    )
    asked = models.PositiveBigIntegerField(
        default=0, help_text="How many were asked for, in all versions together."
    )
    belief = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"Version {self.version} of {self.campaign_id}"


class Ask(models.Model):
    """How many judgments of a pair were found to be worth asking for, and why."""

    pair = models.OneToOneField(Pair, models.CASCADE, primary_key=True, related_name="ask")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="asks")
    wanted = models.PositiveSmallIntegerField()
    value = models.FloatField(help_text="What one more was worth when it was decided.")
    price = models.FloatField(help_text="What it had to be worth.")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["campaign", "-value"], name="ask_by_value")]

    def __str__(self) -> str:
        return f"{self.wanted} of {self.pair_id}"
