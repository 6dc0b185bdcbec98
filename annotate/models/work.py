"""Background work as rows."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign


class Job(models.Model):
    """Background work as a row. Celery rings; this row says what is to be done and who does it."""

    class State(models.TextChoices):
        DUE = "due", "Due"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=100)
    period = models.CharField(max_length=40, null=True, help_text="Periodic work runs once in it.")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="jobs")
    state = models.CharField(max_length=8, choices=State, default=State.DUE)
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True)
    token = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    progress = models.FloatField(default=0)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "key"], condition=Q(state="due"), name="one_due_job_per_key"
            ),
            models.UniqueConstraint(
                fields=["kind", "key", "period"],
                condition=Q(period__isnull=False),
                name="once_a_period",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                F("due_at"), condition=Q(state__in=["due", "running"]), name="job_unfinished"
            ),
            models.Index(F("finished_at"), condition=Q(state="done"), name="job_done"),
            models.Index(fields=["campaign", "state", "id"], name="job_on_page"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}: {self.state}"

    @property
    def seconds(self) -> float | None:
        """How long the last attempt took, where it came to an end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Worker(models.Model):
    """The last sign of life of a background worker."""

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
