"""What was answered to whoever may ask the same again."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Reply(models.Model):
    """The answer to a request with an idempotency key: the same request gets it again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="Of the method, the address and the key.")
    body = models.CharField(max_length=64, help_text="Digest of what was sent.")
    status = models.PositiveSmallIntegerField(default=0)
    answer = models.TextField(blank=True, help_text="JSON, in the order it was given.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "replies"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "digest"], name="one_reply_per_key")
        ]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="reply_by_age")]

    def __str__(self) -> str:
        return f"{self.status} to {self.user_id}"
