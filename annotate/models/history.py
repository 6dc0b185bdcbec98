"""What people decided, so that it can be read later why things are as they are."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from annotate.models.pool import Pair


class Event(models.Model):
    """One decision: a changed scheme, an excluded judge, a voided judgment, a dropped pair."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="events")
    pair = models.ForeignKey(Pair, models.CASCADE, null=True, related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    sentence = models.CharField(max_length=500)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.sentence
