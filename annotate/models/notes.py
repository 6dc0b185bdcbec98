"""What a manager tells a judge, shown where she judges."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign


class Note(models.Model):
    """A message to one judge of a campaign. She sees it until she says that she has read it."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="notes")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notes")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["judge"], condition=Q(read_at__isnull=True), name="note_unread")
        ]

    def __str__(self) -> str:
        return f"Note to {self.judge_id} in {self.campaign_id}"
