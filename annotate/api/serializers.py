"""The shapes that come in and go out. What goes out is listed field by field: judges stay blind."""

import math
import uuid
from typing import Any

from rest_framework import serializers

from annotate.forms.judging import LARGEST_ID, LONGEST_COMMENT
from annotate.models import Campaign, Refusal
from ranking.grades import LEVELS

LONGEST_DAY_SECONDS = 24 * 60 * 60
LONGEST_REASON = 500
MOST_BESIDES = 10

Fields = dict[str, Any]


# -- In -------------------------------------------------------------------------------------------


class Incoming(serializers.Serializer[Any]):
    # No docstring: the schema would show it as that of every shape that has none.
    def run_validation(self, data: Any = serializers.empty) -> Fields:
        # A misspelt field is an error: it must not be ignored in silence.
        if not isinstance(data, dict):
            text = f"The body must be a JSON object. Got {type(data).__name__} instead."
            raise serializers.ValidationError({"body": [text]})
        unknown = sorted(str(name) for name in data if name not in self.fields)
        if unknown:
            text = f"There is no such field. There are: {', '.join(self.fields)}."
            raise serializers.ValidationError({name: [text] for name in unknown})
        checked: Fields = super().run_validation(data)
        return checked


class GradeField(serializers.IntegerField):
    """A whole number, not the text of one."""

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int or data not in range(LEVELS):
            raise serializers.ValidationError(
                f"A grade must be a whole number, 0 to {LEVELS - 1}. Got {str(data)[:50]} instead."
            )
        return data


class KeyField(serializers.UUIDField):
    """Written as text: the framework's own takes a number for one."""

    def to_internal_value(self, data: Any) -> uuid.UUID:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a UUID, as text.")
        return super().to_internal_value(data)


class SecondsField(serializers.FloatField):
    """A number, not the text of one: ``nan`` passes every comparison."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise serializers.ValidationError("Seconds must be a number.")
        if not 0 <= data <= LONGEST_DAY_SECONDS or not math.isfinite(data):
            raise serializers.ValidationError(
                f"Seconds must be 0 to {LONGEST_DAY_SECONDS}. Got {str(data)[:50]} instead."
            )
        return float(data)


class SeatTokenIn(Incoming):
    token = KeyField(help_text="The token of the seat, from the claim.")


class ClaimIn(Incoming):
    besides = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        default=list,
        max_length=MOST_BESIDES,
        help_text="Ids of seats you hold already, where you want the one after.",
    )


class AnswerIn(Incoming):
    grade = GradeField(
        min_value=0,
        max_value=LEVELS - 1,
        help_text="0 Bad, 1 Fair, 2 Good, 3 Excellent, 4 Perfect.",
    )
    idempotency_key = KeyField(
        required=False, help_text="The same key any number of times is one judgment."
    )
    comment = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_COMMENT, trim_whitespace=False
    )
    active_seconds = SecondsField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=LONGEST_DAY_SECONDS,
        help_text="How long the judge looked at the pair.",
    )

    @property
    def active_ms(self) -> int | None:
        seconds = self.validated_data["active_seconds"]
        return None if seconds is None else round(seconds * 1000)


class JudgmentIn(AnswerIn):
    token = KeyField(help_text="The token of the seat; also the key, without one.")


class RefusalIn(SeatTokenIn):
    reason = serializers.ChoiceField(
        choices=Refusal.Reason.choices,
        error_messages={
            "invalid_choice": f"A reason must be one of: {', '.join(Refusal.Reason.values)}."
        },
    )
    text = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_REASON, trim_whitespace=False
    )


# -- Out ------------------------------------------------------------------------------------------


class SeatOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    token = serializers.UUIDField(help_text="Proves that the seat is yours.")
    leased_until = serializers.DateTimeField(help_text="After that it may go to somebody else.")


class PairOut(serializers.Serializer[Any]):
    query = serializers.CharField()
    intent = serializers.CharField(help_text="What the searcher wants; may be empty.")
    locale = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField(help_text="Empty where the document has none that may be linked.")
    snippet = serializers.CharField()
    text = serializers.CharField(help_text="The stored text, or its beginning.")
    words = serializers.IntegerField(help_text="Of the whole stored text.")
    cut = serializers.BooleanField(help_text="Whether there is more text than this.")
    before = serializers.IntegerField(
        allow_null=True, help_text="The grade you took back yourself, if you did."
    )


class OfferOut(serializers.Serializer[Any]):
    """A seat with its pair, or the reason why there is none."""

    seat = SeatOut(allow_null=True)
    pair = PairOut(allow_null=True)
    reason = serializers.CharField(allow_null=True, help_text="Why there is no pair now.")


class SavedOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="For undo and correct.")
    grade = serializers.IntegerField()
    word = serializers.CharField()


class JudgedOut(serializers.Serializer[Any]):
    saved = SavedOut()
    next = OfferOut()


class CorrectedOut(serializers.Serializer[Any]):
    saved = SavedOut()


class RefusedOut(serializers.Serializer[Any]):
    next = OfferOut()


class LeaseOut(serializers.Serializer[Any]):
    leased_until = serializers.DateTimeField()


class CampaignOut(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    roles = serializers.ListField(
        child=serializers.ChoiceField(choices=["judge", "manager"]), help_text="What you are in it."
    )


class CampaignPageOut(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True)
    results = CampaignOut(many=True)


class FieldErrorOut(serializers.Serializer[Any]):
    field = serializers.CharField()
    detail = serializers.CharField()


class ProblemOut(serializers.Serializer[Any]):
    """RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = FieldErrorOut(many=True, required=False)  # type: ignore[assignment]
