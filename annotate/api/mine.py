"""What is a judge's own: what she did lately, how she stands, what she was told, her keys."""

from http import HTTPStatus
from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import judging, keys, lessons, notes, people, tokens
from annotate.access import judged_campaign
from annotate.api import pages
from annotate.api.authentication import needs, person
from annotate.api.fields import TextField
from annotate.api.operations import BY_NUMBER, number, reads, writes
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import TIME, NothingIn, checked
from annotate.models import Note
from ranking.grades import Grade

TAG = "Judging"


# -- Shapes ---------------------------------------------------------------------------------------


class RecentOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="Of the judgment, for undo and correct.")
    query = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField(help_text="Empty where the document has none that may be linked.")
    grade = serializers.IntegerField()
    word = serializers.CharField()
    comment = serializers.CharField()


class TodayOut(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    goal = serializers.IntegerField()
    seconds = serializers.IntegerField(allow_null=True, help_text="The mean time of a judgment.")


class TrainingOut(serializers.Serializer[Any]):
    made = serializers.IntegerField()
    needed = serializers.IntegerField(help_text="So many decide.")


class LessonOut(serializers.Serializer[Any]):
    query = serializers.CharField()
    title = serializers.CharField()
    grade = serializers.IntegerField(help_text="Yours.")
    expected = serializers.IntegerField()
    note = serializers.CharField(help_text="Why; may be empty.")


class ResultOut(serializers.Serializer[Any]):
    passed = serializers.BooleanField()
    right = serializers.IntegerField()
    made = serializers.IntegerField()
    percent = serializers.IntegerField(help_text="The pass mark.")
    lessons = LessonOut(many=True)


class MineOut(serializers.Serializer[Any]):
    today = TodayOut()
    training = TrainingOut(allow_null=True, help_text="While you qualify.")
    result = ResultOut(allow_null=True, help_text="How your qualification ended.")


class UnreadOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    campaign = serializers.CharField(help_text="Its slug.")
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


def _fields(required: bool) -> Fields:
    return {
        name: TextField(required=required, min_length=1, max_length=1, help_text=str(step.words))
        for name, step in keys.STEPS.items()
    }


KeysIn: type[Incoming] = type("KeysIn", (Incoming,), _fields(required=False))
KeysOut: type[serializers.Serializer[Any]] = type(
    "KeysOut", (serializers.Serializer,), _fields(required=True)
)

RECENT = {
    "id": 107,
    "query": "read a csv file",
    "title": "csv — CSV file reading and writing",
    "url": "https://docs.python.org/3/library/csv.html",
    "grade": 3,
    "word": "Excellent",
    "comment": "",
}
MINE = {
    "today": {"done": 42, "goal": 100, "seconds": 7},
    "training": {"made": 4, "needed": 10},
    "result": None,
}
NOTE = {
    "id": 4,
    "campaign": "library",
    "text": "Please look at the date of the page.",
    "created_at": TIME,
}


# -- In a campaign --------------------------------------------------------------------------------


@reads(
    "recent",
    "List your latest judgments",
    "Those you may still take back or correct, the latest first.",
    tag=TAG,
    scope=tokens.JUDGE,
    gives=RecentOut(many=True),  # type: ignore[arg-type]
    answer=RECENT,
)
@api_view(["GET"])
@permission_classes(needs(tokens.JUDGE))
def recent(request: Request, slug: str) -> Response:
    judge = person(request)
    found = judging.recent(judged_campaign(judge, slug), judge)
    return Response(RecentOut([_recent(one) for one in found], many=True).data)


def _recent(one: judging.Recent) -> Fields:
    return {
        "id": one.judgment,
        "query": one.query,
        "title": one.title,
        "url": one.address.href,
        "grade": one.grade,
        "word": Grade(one.grade or 0).word,
        "comment": one.comment,
    }


@reads(
    "mine",
    "Read how you stand",
    "What you did today, and how far your qualification is or how it ended.",
    tag=TAG,
    scope=tokens.JUDGE,
    gives=MineOut,
    answer=MINE,
)
@api_view(["GET"])
@permission_classes(needs(tokens.JUDGE))
def mine(request: Request, slug: str) -> Response:
    judge = person(request)
    campaign = judged_campaign(judge, slug)
    said = {
        "today": judging.progress(campaign, judge),
        "training": lessons.training(campaign, judge),
        "result": lessons.result(campaign, judge),
    }
    return Response(MineOut(said).data)


# -- Notes ----------------------------------------------------------------------------------------


@reads(
    "notes",
    "List what you were told",
    "Notes of managers that you have not read yet, the oldest first.",
    tag=TAG,
    scope=tokens.JUDGE,
    place=(),
    gives=pages.counted(UnreadOut, "Unread"),
    answer={"count": 1, "next": None, "previous": None, "results": [NOTE]},
    pages=BY_NUMBER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.JUDGE))
def note_list(request: Request) -> Response:
    return pages.numbered(request, notes.unread(person(request)), UnreadOut, _note)


def _note(note: Note) -> Fields:
    names = ("id", "text", "created_at")
    return {name: getattr(note, name) for name in names} | {"campaign": note.campaign.slug}


@writes(
    "note_read",
    "Say that you have read a note",
    "It is not shown again.",
    tag=TAG,
    scope=tokens.JUDGE,
    place=(number("note_id", "The note."),),
    takes=NothingIn,
    sent={},
    gives=None,
    status=204,
    keyed=False,
)
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def note_read(request: Request, note_id: int) -> Response:
    judge = person(request)
    if not judge.notes.filter(pk=note_id).exists():
        raise Http404
    checked(NothingIn, request)
    notes.read(judge, note_id)
    return Response(status=HTTPStatus.NO_CONTENT)


# -- Keys -----------------------------------------------------------------------------------------

SHOWN = {name: step.key for name, step in keys.STEPS.items()}


@reads(
    "keys",
    "Read your keys",
    "Which key does what on your judging page.",
    tag=TAG,
    scope=tokens.JUDGE,
    place=(),
    gives=KeysOut,
    answer=SHOWN,
)
@writes(
    "keys_change",
    "Choose your keys",
    "One character for each step, every one its own. Steps that are not sent get ours.",
    tag=TAG,
    scope=tokens.JUDGE,
    place=(),
    method="PUT",
    takes=KeysIn,
    sent={"undo": "z"},
    gives=KeysOut,
    answer=SHOWN | {"undo": "z"},
    keyed=False,
)
@api_view(["GET", "PUT"])
@permission_classes(needs(tokens.JUDGE))
def her_keys(request: Request) -> Response:
    judge = person(request)
    if request.method == "PUT":
        people.set_keys(judge, checked(KeysIn, request))
    return Response(KeysOut(keys.chosen(judge.keys)).data)
