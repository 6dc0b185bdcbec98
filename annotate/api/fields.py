"""Values that come in: of the kind that the schema says, not the text of one."""

import math
import re
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

#: At least one character that can be seen, and none that no database takes.
VISIBLE = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
PRICE = r"^[0-9]{1,6}(\.[0-9]{1,4})?$"
LARGEST_NUMBER = 1e300


class WholeField(serializers.IntegerField):
    """A whole number."""

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            raise serializers.ValidationError(
                f"This must be a whole number. Got {str(data)[:50]} instead."
            )
        return data


class NumberField(serializers.FloatField):
    """A number."""

    def to_internal_value(self, data: Any) -> float:
        sound = isinstance(data, int | float) and not isinstance(data, bool)
        if not sound or not abs(data) <= LARGEST_NUMBER or not math.isfinite(data):
            raise serializers.ValidationError(f"This must be a number. Got {str(data)[:50]}.")
        return float(data)


class FlagField(serializers.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("This must be true or false.")
        return data


class TextField(serializers.CharField):
    """Text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be text.")
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "pattern": VISIBLE})
class WordsField(TextField):
    """Text that says something."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text.strip():
            raise serializers.ValidationError("This must not be empty.")
        return text


@extend_schema_field({"type": "string", "format": "decimal", "pattern": PRICE})
class PriceField(serializers.DecimalField):
    """Money as text: ``0.05``."""

    def to_internal_value(self, data: Any) -> Decimal:
        if not isinstance(data, str) or not re.fullmatch(PRICE[1:-1], data):
            raise serializers.ValidationError(
                "A price must be text like 0.05, with at most 4 decimals."
            )
        return Decimal(data)


class OneOfField(serializers.ChoiceField):
    """One of a few words."""

    default_error_messages = {"invalid_choice": "This must be one of: {choices}. Got {input}."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", input=str(data)[:50], choices=", ".join(self.choices))
        return data
