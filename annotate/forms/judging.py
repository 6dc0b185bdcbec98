"""What a judge may send."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Refusal
from ranking.grades import LEVELS

LARGEST_ID = 2**63 - 1
LONGEST_COMMENT = 2000
LONGEST_DAY_MS = 24 * 60 * 60 * 1000


class CommentField(forms.CharField):
    """Browsers send line ends as two characters but count them as one; so do we."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class SeatForm(forms.Form):
    """Names the seat. Whether it is hers is the router's to say."""

    seat = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_ID,
        error_messages={"required": _("The pair is missing."), "invalid": _("No such pair.")},
    )
    token = forms.UUIDField(
        error_messages={"required": _("The pair is missing."), "invalid": _("No such pair.")}
    )


class GradeField(forms.IntegerField):
    """0 to 4, and a sentence for everything else."""

    default_error_messages = {
        "required": _("Choose a grade."),
        "invalid": _("A grade must be 0 to 4."),
    }

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and value not in range(LEVELS):
            raise forms.ValidationError(
                _("A grade must be 0 to 4. Got %(grade)d instead."), params={"grade": value}
            )


class GradeForm(SeatForm):
    grade = GradeField()
    comment = CommentField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={
            "max_length": _(
                "A comment must have at most %(limit_value)d characters. "
                "Got %(show_value)d instead."
            )
        },
    )
    active_ms = forms.CharField(required=False)

    def clean_active_ms(self) -> int | None:
        """Time is a hint: a clock that went wrong must not cost the judgment."""
        text: str = self.cleaned_data["active_ms"]
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            return None
        return int(text) if int(text) <= LONGEST_DAY_MS else None


class RefusalForm(SeatForm):
    reason = forms.ChoiceField(
        choices=Refusal.Reason.choices,
        error_messages={
            "required": _("Choose a reason."),
            "invalid_choice": _("Choose one of the reasons. Got “%(value)s” instead."),
        },
    )
    text = CommentField(required=False, max_length=500)


class UndoForm(forms.Form):
    """Without a judgment named, her latest is meant."""

    judgment = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        error_messages={"invalid": _("No such judgment.")},
    )


class CorrectionForm(forms.Form):
    """Another grade for a judgment."""

    judgment = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_ID,
        error_messages={"required": _("No such judgment."), "invalid": _("No such judgment.")},
    )
    grade = GradeField()


def sentence(form: forms.Form) -> str:
    """Everything that is wrong, as one line for the page."""
    found = [str(message) for messages in form.errors.values() for message in messages]
    return " ".join(dict.fromkeys(found))
