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


class Report(models.Model):
    """The figures of one page of the dashboard, reckoned in the background."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="reports")
    kind = models.CharField(max_length=20)
    created_at = models.DateTimeField(db_default=Now())
    data = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "kind"], name="one_report_per_kind")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.campaign_id}"


class TrainingRun(models.Model):
    """A ranker fitted on labels, and how it did on queries it has not seen."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="runs")
    job = models.OneToOneField(Job, models.SET_NULL, null=True, related_name="run")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    ranker = models.CharField(max_length=20)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    judgments = models.PositiveIntegerField(help_text="Judgments the labels were made of.")
    recipe = models.JSONField(default=dict, help_text="How the training set and the fit are made.")
    snapshot = models.CharField(max_length=64, blank=True, help_text="Digest of the training set.")
    folds = models.PositiveSmallIntegerField(
        default=0, help_text="Of the cross-validation; 0 where held-out queries were enough."
    )
    rows = models.PositiveIntegerField(default=0, help_text="Training rows.")
    train_queries = models.PositiveIntegerField(default=0)
    test_queries = models.PositiveIntegerField(default=0)
    metrics = models.JSONField(default=dict)
    message = models.TextField(blank=True)
    model_file = models.CharField(max_length=200, blank=True)
    model_sha256 = models.CharField(max_length=64, blank=True)
    is_champion = models.BooleanField(default=False)
    promoted_at = models.DateTimeField(
        null=True, help_text="When it became champion; empty if never, or rolled back."
    )
    decision = models.CharField(
        max_length=500, blank=True, help_text="Why it is or is not the champion."
    )

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "number"], name="one_run_per_number"),
            models.UniqueConstraint(
                fields=["campaign"], condition=models.Q(is_champion=True), name="one_champion"
            ),
        ]

    def __str__(self) -> str:
        return f"Run {self.number} of {self.campaign}"


class Artifact(models.Model):
    """What a run makes, as bytes that every machine can read: its set, its folds, its model."""

    run = models.ForeignKey(TrainingRun, models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=20)
    content = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "name"], name="one_artifact_per_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id}"
