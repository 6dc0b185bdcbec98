"""What judgments add up to: labels, snapshots, trained rankers."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from annotate.models.choices import GRADE_CHOICES
from annotate.models.pool import Pair
from annotate.models.work import Job


class Label(models.Model):
    """What the judgments of a pair add up to."""

    pair = models.OneToOneField(Pair, models.CASCADE, related_name="label")
    grade = models.PositiveSmallIntegerField(choices=GRADE_CHOICES)
    score = models.FloatField()
    judgments = models.PositiveSmallIntegerField()
    method = models.CharField(max_length=20)
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.get_grade_display()} for {self.pair_id}"


class Snapshot(models.Model):
    """Agreement and cost of a campaign at one moment: what the dashboard shows."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="snapshots")
    created_at = models.DateTimeField(db_default=Now())
    pairs = models.PositiveIntegerField(help_text="Pairs with at least one judgment.")
    judgments = models.PositiveIntegerField()
    judges = models.PositiveIntegerField()
    overlapping = models.PositiveIntegerField(help_text="Pairs with two judgments or more.")
    alpha = models.FloatField(null=True)
    alpha_low = models.FloatField(null=True)
    alpha_high = models.FloatField(null=True)
    histogram = models.JSONField(help_text="Judgments per grade, Bad first.")
    first_good = models.PositiveIntegerField(help_text="Pairs whose first judgment is Good+.")

    class Meta:
        ordering: ClassVar = ["-id"]
        get_latest_by = "id"

    def __str__(self) -> str:
        return f"{self.campaign} at {self.judgments} judgments"


class TrainingRun(models.Model):
    """A ranker fitted on labels, and how it did on queries it has not seen."""

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="runs")
    job = models.OneToOneField(Job, models.SET_NULL, null=True, related_name="run")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.RUNNING)
    ranker = models.CharField(max_length=20)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    judgments = models.PositiveIntegerField(help_text="Judgments the labels were made of.")
    train_queries = models.PositiveIntegerField(default=0)
    test_queries = models.PositiveIntegerField(default=0)
    metrics = models.JSONField(default=dict)
    message = models.TextField(blank=True)
    model_file = models.CharField(max_length=200, blank=True)
    model_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "number"], name="one_run_per_number")
        ]

    def __str__(self) -> str:
        return f"Run {self.number} of {self.campaign}"
