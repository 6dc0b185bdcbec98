"""What is to be judged: queries, documents, pairs, and the files they came in."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models.campaigns import Campaign
from ranking.grades import LEVELS

#: Grades so far apart are a dispute: Good and Excellent may both be right, Good and Bad not.
DISPUTED = 2


class Query(models.Model):
    """What somebody searched for."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="queries")
    key = models.CharField(max_length=200)
    text = models.CharField(max_length=2000)
    intent = models.TextField(blank=True)
    locale = models.CharField(max_length=20, blank=True)

    class Meta:
        verbose_name_plural = "queries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "key"], name="one_query_per_key")
        ]

    def __str__(self) -> str:
        return self.text


class Document(models.Model):
    """What the search found."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="documents")
    key = models.CharField(max_length=2048)
    url = models.CharField(max_length=2048, blank=True)
    title = models.CharField(max_length=1000, blank=True)
    snippet = models.TextField(blank=True)
    text = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "key"], name="one_document_per_key")
        ]

    def __str__(self) -> str:
        return self.title or self.url or self.key


class Pair(models.Model):
    """A query and a document: what a judge grades."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"
        REFERRED = "referred", "Referred to the manager"
        DROPPED = "dropped", "Dropped"
        GOLD = "gold", "Gold"
        LOADING = "loading", "Being loaded"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, models.CASCADE, related_name="pairs")
    document = models.ForeignKey(Document, models.CASCADE, related_name="pairs")
    rank = models.PositiveIntegerField(help_text="Place in the first-stage order, 1 is first.")
    position = models.BigIntegerField(help_text="Place in the order of judging.")
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    stale = models.BooleanField(default=False, help_text="Its label is older than its judgments.")
    spread = models.PositiveSmallIntegerField(
        default=0, help_text="Between the highest and the lowest of its grades."
    )
    features = models.BinaryField(null=True)
    truth = models.PositiveSmallIntegerField(
        null=True, help_text="The grade that simulated judges err from. No judge ever sees it."
    )

    gold = models.PositiveSmallIntegerField(
        null=True, help_text="The known grade of a gold pair. No judge ever sees the mark."
    )
    gold_note = models.TextField(blank=True, help_text="Why, shown in training only.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["query", "document"], name="one_pair_per_query_and_document"
            ),
            models.CheckConstraint(
                condition=Q(truth__isnull=True) | Q(truth__lt=LEVELS), name="truth_is_a_grade"
            ),
            models.CheckConstraint(
                condition=(Q(gold__isnull=True) & ~Q(state="gold"))
                | Q(gold__lt=LEVELS, state="gold"),
                name="gold_has_a_grade",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["campaign", "state", "id"], name="pair_by_state"),
            models.Index(fields=["campaign", "id", "state"], name="pair_in_order"),
            models.Index(
                fields=["campaign", "-spread", "id", "state"],
                condition=Q(spread__gte=DISPUTED),
                name="pair_disputed",
            ),
            models.Index(fields=["campaign"], condition=Q(stale=True), name="pair_stale"),
        ]

    def __str__(self) -> str:
        return f"{self.query} → {self.document}"


class Upload(models.Model):
    """A file on its way in: checked when it comes, loaded whole or not at all."""

    class State(models.TextChoices):
        CHECKING = "checking", "Being checked"
        ASKED = "asked", "Needs an answer"
        CHECKED = "checked", "Checked"
        REFUSED = "refused", "Refused"
        LOADING = "loading", "Loading"
        APPLYING = "applying", "Opening"
        LOADED = "loaded", "Loaded"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="uploads")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=8, choices=State)
    name = models.CharField(max_length=200, help_text="As its sender called it.")
    file = models.CharField(max_length=100, help_text="As we call it.")
    format = models.CharField(max_length=20, blank=True)
    guess = models.CharField(max_length=200, blank=True, help_text="By what its format was told.")
    scale = models.CharField(max_length=20, blank=True, help_text="What its grades stand on.")
    grades = models.CharField(
        max_length=9, blank=True, help_text="Whether its grades are judgments or the truth."
    )
    judge = models.CharField(
        max_length=80, blank=True, help_text="Whose grades they are, where the file names nobody."
    )
    rows = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(default=0)
    queries = models.PositiveIntegerField(default=0)
    judgments = models.PositiveIntegerField(default=0)
    passed_over = models.PositiveIntegerField(default=0)
    low = models.FloatField(null=True, help_text="The lowest grade in it, as it stands there.")
    high = models.FloatField(null=True)
    fractions = models.BooleanField(default=False)
    problems = models.PositiveIntegerField(default=0)
    preview = models.JSONField(default=list)
    errors = models.JSONField(default=list, help_text="The first problems, by line.")
    marks = models.JSONField(
        default=dict, help_text="The last query and document before it came, by their numbers."
    )
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.name
