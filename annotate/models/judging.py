"""Seats, the judgments made on them, and refusals."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from annotate.models.choices import GRADE_CHOICES
from annotate.models.pool import Pair, Query
from ranking.grades import LEVELS


class Standing(models.Model):
    """What the router knows of a judge in a campaign. Its lock makes her many tabs take turns."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="standings")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="standings")
    qualified = models.BooleanField(null=True, help_text="Passed, failed, or not tried yet.")
    examined_at = models.DateTimeField(null=True, help_text="When her gold judgments decided.")
    right = models.PositiveSmallIntegerField(default=0, help_text="Right ones that decided.")
    made = models.PositiveSmallIntegerField(default=0, help_text="Gold judgments that decided.")
    excluded_at = models.DateTimeField(null=True, help_text="Since when she gets no more pairs.")
    query = models.ForeignKey(
        Query, models.SET_NULL, null=True, related_name="+", help_text="The query she is on."
    )
    cursor = models.BigIntegerField(
        default=-1, help_text="Where her search begins: up to here all is hers already."
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "judge"], name="one_standing_per_judge")
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} in {self.campaign_id}"


class Ledger(models.Model):
    """How much of its budget a campaign has spent. Its lock makes the budget exact."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="ledger")
    spent = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.spent} judgments of {self.campaign_id}"


class Seat(models.Model):
    """One wanted judgment of a pair. Whoever holds it may judge; a lease is just its columns."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DONE = "done", "Done"
        WITHDRAWN = "withdrawn", "Withdrawn"
        ASIDE = "aside", "Set aside"

    # Without an index of its own: one of those below begins with it.
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="seats", db_index=False)
    query = models.ForeignKey(Query, models.CASCADE, related_name="seats")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="seats", db_index=False)
    ordinal = models.PositiveSmallIntegerField()
    position = models.BigIntegerField()
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    judge = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="seats",
        db_index=False,
    )
    token = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    judged_at = models.DateTimeField(
        null=True, help_text="Since when it is done; when it last was, where that was taken back."
    )
    judgment = models.OneToOneField(
        "annotate.Judgment", models.PROTECT, null=True, related_name="current_seat"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pair", "ordinal"], name="one_seat_per_ordinal"),
            models.UniqueConstraint(
                fields=["pair", "judge"],
                condition=Q(judge__isnull=False),
                name="one_seat_per_judge",
            ),
            models.CheckConstraint(
                condition=Q(state="done", judgment__isnull=False, judge__isnull=False)
                | (~Q(state="done") & Q(judgment__isnull=True)),
                name="done_means_judged",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["campaign", "position", "ordinal"],
                condition=Q(state="open"),
                name="seat_open_in_order",
            ),
            models.Index(
                fields=["query", "position", "ordinal"],
                condition=Q(state="open"),
                name="seat_open_of_query",
            ),
            # What she holds. A planner that knows how many rows there are takes the first; SQLite
            # does not and takes the longest, which must not be the index by state.
            models.Index(
                fields=["judge", "campaign"],
                condition=Q(state="open", judge__isnull=False),
                name="seat_held",
            ),
            models.Index(fields=["judge", "campaign", "state", "judged_at"], name="seat_of_judge"),
            models.Index(
                fields=["campaign", "leased_until"],
                condition=Q(state="open", leased_until__isnull=False),
                name="seat_leased",
            ),
            models.Index(fields=["campaign", "state"], name="seat_by_state"),
        ]

    def __str__(self) -> str:
        return f"Seat {self.ordinal} of {self.pair_id}"


class Judgment(models.Model):
    """One person's grade of one pair, for ever. A later row may supersede it; none changes it."""

    seat = models.ForeignKey(Seat, models.PROTECT, related_name="judgments")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="judgments")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="judgments")
    grade = models.PositiveSmallIntegerField(
        null=True, choices=GRADE_CHOICES, help_text="Empty where a judgment was taken back."
    )
    supersedes = models.OneToOneField(
        "self", models.PROTECT, null=True, related_name="superseded_by"
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="Who voided it, where that was not the judge.",
    )
    key = models.UUIDField(help_text="The same key from the same judge is the same judgment.")
    comment = models.TextField(blank=True)
    active_ms = models.PositiveIntegerField(null=True)
    guideline_version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["judge", "key"], name="one_judgment_per_key"),
            models.CheckConstraint(
                condition=Q(grade__isnull=True) | Q(grade__lt=LEVELS), name="grade_is_0_to_4"
            ),
            models.CheckConstraint(
                condition=Q(grade__isnull=False) | Q(supersedes__isnull=False),
                name="only_a_judgment_is_taken_back",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_grade_display() or 'taken back'} by {self.judge_id} on {self.pair_id}"


class Refusal(models.Model):
    """A judge could not judge a pair. It is not a judgment and uses no seat."""

    class Reason(models.TextChoices):
        NOT_LOADED = "not-loaded", "Did not load"
        LANGUAGE = "language", "Wrong language"
        LOG_IN = "log-in", "Needs log-in"
        UNCLEAR = "unclear", "Query unclear"
        UNSAFE = "unsafe", "Unsafe"
        OTHER = "other", "Other"

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="refusals")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="refusals")
    reason = models.CharField(max_length=12, choices=Reason)
    text = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pair", "judge"], name="one_refusal_per_judge")
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} could not judge {self.pair_id}: {self.get_reason_display()}"
