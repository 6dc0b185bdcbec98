"""Judges of a campaign as managers see them, and what may be sent about one."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate import standings
from annotate.api.fields import OneOfField, TextField, WholeField, WordsField
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import ALICE, DANA, TIME, PersonOut, said_person
from annotate.forms.judging import LARGEST_ID
from annotate.forms.notes import LONGEST
from annotate.models import Campaign, Note, User

#: What can be decided about the standing of a judge.
STEPS = ["exclude", "readmit", "qualify", "retry"]


class JudgeOut(PersonOut):
    email = serializers.CharField()
    excluded_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when she gets no more pairs."
    )
    qualified = serializers.BooleanField(
        allow_null=True, help_text="Null where nothing is decided, or nobody has to qualify."
    )
    qualification = serializers.CharField(help_text="The same in words; may be empty.")
    gold_made = serializers.IntegerField(help_text="Gold pairs she judged.")
    gold_right = serializers.IntegerField(help_text="So many of them right.")


@extend_schema_field({"type": "string", "format": "email"})
class EmailField(TextField):
    """An address; the form of the page says which are."""


class JudgeIn(Incoming):
    """Somebody known by her id or her address, or somebody new."""

    id = WholeField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        help_text="A judge of another campaign of yours.",
    )
    name = TextField(required=False, max_length=120)
    email = EmailField(required=False, max_length=254)


class StandingIn(Incoming):
    action = OneOfField(
        choices=STEPS,
        help_text="exclude: no more pairs, her judgments stay. readmit: pairs again. "
        "qualify: without the pass mark. retry: with the gold pairs she has not seen.",
    )


class PutBackOut(serializers.Serializer[Any]):
    judgments = serializers.IntegerField(help_text="So many were put back; others are asked.")


class LinkOut(serializers.Serializer[Any]):
    address = serializers.CharField(help_text="Signs her in once. It is shown this once.")


class NoteIn(Incoming):
    text = WordsField(max_length=LONGEST)


class NoteOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    text = serializers.CharField()
    by = PersonOut()
    created_at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)


JUDGE: Fields = ALICE | {
    "email": "alice@example.org",
    "excluded_at": None,
    "qualified": True,
    "qualification": "Qualified",
    "gold_made": 10,
    "gold_right": 9,
}
NOTE: Fields = {
    "id": 4,
    "text": "Please look at the date of the page.",
    "by": DANA,
    "created_at": TIME,
    "read_at": None,
}


def said_judge(standing: standings.JudgeStanding) -> Fields:
    names = ("excluded_at", "qualified", "qualification", "gold_made", "gold_right")
    return {
        **(said_person(standing.user) or {}),
        "email": standing.user.email,
        **{name: getattr(standing, name) for name in names},
    }


def said_one(campaign: Campaign, judge: User) -> Fields:
    standing = next(one for one in standings.of_campaign(campaign) if one.user == judge)
    return dict(JudgeOut(said_judge(standing)).data)


def said_note(note: Note) -> Fields:
    names = ("id", "text", "created_at", "read_at")
    return {"by": said_person(note.by), **{name: getattr(note, name) for name in names}}
