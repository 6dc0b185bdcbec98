"""Replays of a campaign: routers compared on the judgments that were made."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign


class LabRun(models.Model):
    """Schemes × aggregators dealt a campaign's own judgments, and what came of each."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="lab_runs")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    recipe = models.JSONField(help_text="What is compared, how often, from which seed.")
    frozen = models.BinaryField(null=True, help_text="The judgments as they were, once read.")
    snapshot = models.CharField(max_length=64, blank=True, help_text="Digest of the judgments.")
    pairs = models.PositiveIntegerField(default=0)
    judgments = models.PositiveIntegerField(default=0)
    truth = models.CharField(max_length=60, blank=True, help_text="What stands for the truth.")
    result = models.JSONField(default=dict)
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "number"], name="one_lab_run_per_number")
        ]

    def __str__(self) -> str:
        return f"Replay {self.number} of {self.campaign}"


class LabCell(models.Model):
    """One draw of a replay, all that is compared in it: kept until the replay is done."""

    run = models.ForeignKey(LabRun, models.CASCADE, related_name="cells")
    draw = models.PositiveSmallIntegerField()
    content = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "draw"], name="one_lab_cell_per_draw")
        ]

    def __str__(self) -> str:
        return f"Draw {self.draw} of replay {self.run_id}"
