"""What a manager decided about a pair: above whatever its judgments add up to."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models.choices import GRADE_CHOICES
from annotate.models.pool import Pair
from ranking.grades import LEVELS


class Adjudication(models.Model):
    """The final grade of a pair. Its label is this grade, whatever the aggregator says."""

    pair = models.OneToOneField(Pair, models.CASCADE, related_name="adjudication")
    grade = models.PositiveSmallIntegerField(choices=GRADE_CHOICES)
    note = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(grade__lt=LEVELS), name="final_grade_is_0_to_4")
        ]

    def __str__(self) -> str:
        return f"{self.get_grade_display()} for {self.pair_id}"
