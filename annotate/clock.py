"""Time as the database tells it: many machines, one clock."""

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now


def now_plus(**duration: float) -> "ExpressionWrapper[CombinedExpression]":
    """So long from now: ``now_plus(minutes=15)``."""
    return ExpressionWrapper(Now() + timedelta(**duration), output_field=DateTimeField())
