"""Campaigns, who takes part in them, and what judges are asked to do."""

from typing import ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from ranking.schemes import SCHEMES, Paying, Scheme

SCHEME_CHOICES = [(name, name) for name in SCHEMES]

#: The field of a campaign that holds the number of its scheme.
NUMBERS = {
    "k-overlap": "k",
    "if-good-k": "k",
    "good-till-bad": "cap",
    "if-good-x": "theta",
    "if-it-pays": "per_pair",
}

#: What one more judgment has to be worth at the least, as a share of NDCG@3.
LEAST_VALUES = (0.00001, 0.5)


class Campaign(models.Model):
    """A set of pairs to be judged under one scheme, and the ranker that is trained on them."""

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    scheme_name = models.CharField(
        "scheme", max_length=20, choices=SCHEME_CHOICES, default="if-good-k"
    )
    k = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(25)]
    )
    cap = models.PositiveSmallIntegerField(
        default=11, validators=[MinValueValidator(1), MaxValueValidator(25)]
    )
    theta = models.FloatField(
        "θ", default=3, validators=[MinValueValidator(0.1), MaxValueValidator(100)]
    )
    per_pair = models.FloatField(
        "judgments per pair",
        null=True,
        blank=True,
        default=1.4,
        validators=[MinValueValidator(1), MaxValueValidator(25)],
        help_text="On average; empty means that the least value is set instead.",
    )
    least_value = models.FloatField(
        "least value of a judgment",
        default=0.002,
        validators=[MinValueValidator(LEAST_VALUES[0]), MaxValueValidator(LEAST_VALUES[1])],
        help_text="How much NDCG@3 of its query it must be expected to gain.",
    )
    budget = models.PositiveIntegerField(
        null=True, blank=True, help_text="Judgments at most; empty means no limit."
    )
    price = models.DecimalField(
        "price of a judgment",
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Empty means that costs are shown in judgments only.",
    )
    currency = models.CharField(
        max_length=8, default="EUR", help_text="What the price is in, as you write it."
    )
    gold_in_labels = models.BooleanField(
        "label gold pairs too", default=False, help_text="From their judgments, as other pairs."
    )
    gold_percent = models.PositiveSmallIntegerField(
        "gold pairs, per cent", default=0, validators=[MaxValueValidator(50)]
    )
    qualification_size = models.PositiveSmallIntegerField(
        "gold pairs to qualify", default=0, help_text="0 means that nobody has to qualify."
    )
    qualification_percent = models.PositiveSmallIntegerField(
        "pass mark, per cent", default=70, validators=[MaxValueValidator(100)]
    )
    aggregator = models.CharField(max_length=20, default="majority")
    seed = models.PositiveIntegerField(default=1)
    lease_minutes = models.PositiveSmallIntegerField(
        default=15, validators=[MinValueValidator(1), MaxValueValidator(24 * 60)]
    )
    live_page = models.BooleanField(
        "judges may look at the live page",
        default=False,
        help_text=(
            "Beside the stored text, in a closed frame. Their browsers then ask the sites "
            "directly; this server never does."
        ),
    )
    retrain_hours = models.PositiveSmallIntegerField(
        "retrain every … hours", default=24, help_text="0 means never on a schedule."
    )
    retrain_judgments = models.PositiveIntegerField(
        "retrain after … new judgments", default=500, help_text="0 means never by count."
    )
    ranker = models.CharField(max_length=20, default="lambdamart")
    training_rows = models.CharField(
        max_length=20, default="labels", help_text="labels, use-all or the name of an aggregator."
    )
    max_pnoise = models.FloatField(
        "most pNoise of a judge",
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    min_gold_percent = models.PositiveSmallIntegerField(
        "least gold accuracy of a judge, per cent",
        null=True,
        blank=True,
        validators=[MaxValueValidator(100)],
    )
    min_documents = models.PositiveSmallIntegerField(
        "least documents of a query", default=2, validators=[MinValueValidator(1)]
    )
    promotion_tolerance = models.FloatField(
        default=0.005,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="How much NDCG@3 a new ranker may lose against the champion.",
    )
    feature_names = models.JSONField(default=list)
    guideline_version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="campaigns"
    )

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def scheme(self) -> Scheme:
        """The rule object, the same that simulation and replay use."""
        if self.scheme_name == Paying.name:
            return Paying(self.per_pair, self.least_value, self.cap)
        number = NUMBERS.get(self.scheme_name)
        return scheme_of(self.scheme_name, getattr(self, number) if number else None)

    @property
    def scheme_label(self) -> str:
        """How people write the scheme: ``if-good-3``, ``3-overlap``."""
        return self.scheme.label


def scheme_of(name: str, number: float | None) -> Scheme:
    """The scheme with the one number that sets it: k, the cap, θ or judgments per pair."""
    return SCHEMES[name](**{NUMBERS[name]: number}) if name in NUMBERS else SCHEMES[name]()


class Membership(models.Model):
    """What a person may do in one campaign."""

    class Role(models.TextChoices):
        JUDGE = "judge", "Judge"
        MANAGER = "manager", "Manager"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "user", "role"], name="one_role_once")
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} of {self.campaign}"


class Guideline(models.Model):
    """What judges are asked to do, in Markdown. A change is a new version; old ones stay."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["-version"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["campaign", "version"], name="one_guideline_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign}, version {self.version}"
