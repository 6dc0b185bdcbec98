"""Judgments and labels of a campaign, row by row, and voiding."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import judged, routing, tokens
from annotate.api import asking, pages
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG
from annotate.api.once import once
from annotate.api.operations import BY_ROW, number, reads, writes
from annotate.api.pair_shapes import JUDGMENT, LABEL, LabelOut, said_label
from annotate.api.serializers import Fields
from annotate.api.shapes import (
    NothingIn,
    PersonOut,
    checked,
    managed,
    said_grade,
    said_person,
)
from annotate.models import Campaign, Judgment, Label
from ranking.grades import LEVELS

TAG = "Judgments"
JUDGE = asking.Number("judge", "Only of this judge, by her `id`.")
PAIR = asking.Number("pair", "Only of this pair, by its `id`.")
QUERY = asking.Number("query", "Only of this query, by its `id`.")
COUNTS = asking.Flag("counts", "Only those that count now, or only the others.")
GRADE = asking.Number("grade", "Only this grade, 0 to 4.", low=0, high=LEVELS - 1)


class JudgmentOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    judge = PersonOut()
    grade = serializers.IntegerField(allow_null=True, help_text="Null where one was taken back.")
    word = serializers.CharField(allow_null=True)
    comment = serializers.CharField()
    active_seconds = serializers.FloatField(allow_null=True)
    guideline_version = serializers.IntegerField()
    supersedes = serializers.IntegerField(
        allow_null=True, help_text="The judgment whose place it takes."
    )
    voided_by = PersonOut(allow_null=True, help_text="The manager who took the one before out.")
    counts = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class PairLabelOut(LabelOut):
    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    query = serializers.CharField(help_text="The key of the query.")
    document = serializers.CharField(help_text="The key of the document.")


ROW: Fields = {
    **{name: value for name, value in JUDGMENT.items() if name != "fate"},
    "pair": 42,
    "supersedes": None,
    "voided_by": None,
}


@reads(
    "judgments",
    "List the judgments",
    "Every row there is, the oldest first: a correction and an undo are rows of their own.",
    tag=TAG,
    gives=pages.ongoing(JudgmentOut, "Judgment"),
    answer={"next": None, "results": [ROW]},
    filters=[JUDGE, PAIR, GRADE, COUNTS],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def judgment_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    columns = [(JUDGE, "judge"), (PAIR, "pair"), (GRADE, "grade")]
    found = judged.judgments(campaign, COUNTS.of(request)).filter(**asking.chosen(request, columns))
    rows, following = pages.following(request, found)
    return pages.walked(JudgmentOut, map(_judgment, rows), following)


def _judgment(row: Judgment) -> Fields:
    graded = said_grade(row.grade) or {"grade": None, "word": None}
    names = ("id", "comment", "guideline_version", "created_at")
    return {
        **graded,
        **{name: getattr(row, name) for name in names},
        "pair": row.pair_id,
        "judge": said_person(row.judge),
        "active_seconds": None if row.active_ms is None else row.active_ms / 1000,
        "supersedes": row.supersedes_id,
        "voided_by": said_person(row.made_by),
        "counts": row.seat.judgment_id == row.pk,
    }


@reads(
    "labels",
    "List the labels",
    "What the judgments of each pair add up to, or what was decided.",
    tag=TAG,
    gives=pages.ongoing(PairLabelOut, "Label"),
    answer={
        "next": None,
        "results": [{"id": 9, "pair": 42, "query": "q5", "document": "csv", **LABEL}],
    },
    filters=[QUERY, GRADE],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def label_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    columns = [(QUERY, "pair__query"), (GRADE, "grade")]
    found = judged.labels(campaign).filter(**asking.chosen(request, columns))
    rows, following = pages.following(request, found)
    return pages.walked(PairLabelOut, map(_label, rows), following)


def _label(row: Label) -> Fields:
    return {
        "id": row.pk,
        "pair": row.pair_id,
        "query": row.pair.query.key,
        "document": row.pair.document.key,
        **(said_label(row) or {}),
    }


@writes(
    "judgment_void",
    "Void a judgment",
    "It counts no more and stays on record; another judge is asked instead.",
    tag=TAG,
    place=(SLUG, number("judgment_id", "The judgment.")),
    takes=NothingIn,
    sent={},
    gives=JudgmentOut,
    answer=ROW | {"counts": False},
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def void(request: Request, slug: str, judgment_id: int) -> Response:
    return _void(request, managed(request, slug), judgment_id)


@once
def _void(request: Request, campaign: Campaign, judgment_id: int) -> Response:
    found = judged.judgments(campaign).filter(pk=judgment_id)
    if not found.exists():
        raise Http404
    checked(NothingIn, request)
    routing.void(person(request), judgment_id)
    return Response(JudgmentOut(_judgment(found.get())).data)
