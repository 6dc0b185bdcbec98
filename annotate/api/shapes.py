"""What several resources share: how bodies are checked, whose campaign it is, people."""

from collections.abc import Mapping
from typing import Any

from django.forms import BaseForm
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotate import access, explain
from annotate.api.authentication import person
from annotate.api.fields import TextField
from annotate.api.serializers import Fields, GradeField, Incoming
from annotate.forms.pairs import NOTE_MAX
from annotate.models import Campaign, User
from ranking.grades import LEVELS, Grade


class NothingIn(Incoming):
    """No field at all: the address says it."""


class GradedIn(Incoming):
    grade = GradeField(
        min_value=0,
        max_value=LEVELS - 1,
        help_text="0 Bad, 1 Fair, 2 Good, 3 Excellent, 4 Perfect.",
    )
    note = TextField(default="", allow_blank=True, max_length=NOTE_MAX, help_text="Why.")


class PersonOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()


class GradeOut(serializers.Serializer[Any]):
    grade = serializers.IntegerField(help_text="0 Bad to 4 Perfect.")
    word = serializers.CharField()


ALICE = {"id": 17, "name": "Alice"}
DANA = {"id": 3, "name": "Dana"}
TIME = "2031-05-06T10:15:00Z"


def checked(kind: type[Incoming], request: Request) -> Fields:
    """The body as the shape wants it, or 400."""
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    fields: Fields = asked.validated_data
    return fields


def form_errors(form: BaseForm, names: Mapping[str, str] | None = None) -> ValidationError:
    """What a form of the pages says, field by field; ``names`` are those that differ outside."""
    known = {"__all__": "body", **(names or {})}
    found = {name: [str(text) for text in texts] for name, texts in form.errors.items()}
    return ValidationError({known.get(name, name): texts for name, texts in found.items()})


def managed(request: Request, slug: str) -> Campaign:
    """The campaign, or 404 for everybody who does not manage it."""
    return access.managed_campaign(person(request), slug)


def said_person(user: User | None) -> Fields | None:
    return {"id": user.pk, "name": explain.name(user)} if user else None


def said_grade(grade: int | None) -> Fields | None:
    return None if grade is None else {"grade": grade, "word": Grade(grade).word}
