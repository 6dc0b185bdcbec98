"""Files on their way in and gold pairs as they are said, and what may be sent about them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate import imports, pairs
from annotate.api.fields import OneOfField, TextField
from annotate.api.pair_shapes import DOCUMENT, QUERY, DocumentOut, QueryOut, said_document
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import DANA, TIME, GradeOut, PersonOut, said_grade, said_person
from annotate.formats import FORMATS, scales
from annotate.forms.files import GRADES_CHOICES
from annotate.models import Upload

SHOWN_PROBLEMS = 500


class ProblemLineOut(serializers.Serializer[Any]):
    line = serializers.IntegerField(help_text="0 for the whole file.")
    reason = serializers.CharField()


class UploadOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Upload.State.choices)
    message = serializers.CharField(help_text="What is wrong or to be answered; may be empty.")
    created_by = PersonOut()
    created_at = serializers.DateTimeField()
    format = serializers.CharField()
    guess = serializers.CharField(help_text="By what its format was told.")
    grades = serializers.CharField(help_text="`judgments`, `truth`, or empty.")
    scale = serializers.CharField()
    judge = serializers.CharField(help_text="Whose grades they are, where the file does not say.")
    rows = serializers.IntegerField()
    pairs = serializers.IntegerField()
    queries = serializers.IntegerField()
    judgments = serializers.IntegerField()
    passed_over = serializers.IntegerField(help_text="Rows without a grade, in a file of grades.")
    problems = serializers.IntegerField(help_text="Lines that cannot be loaded.")


class UploadDetailOut(UploadOut):
    scales = serializers.ListField(
        child=serializers.CharField(), help_text="Those that can hold its grades."
    )
    preview = serializers.ListField(
        child=serializers.DictField(child=serializers.JSONField(allow_null=True)),
        help_text="Its first rows.",
    )
    errors = ProblemLineOut(many=True, help_text=f"The first {SHOWN_PROBLEMS} problems.")  # type: ignore[assignment]
    progress = serializers.FloatField(allow_null=True, help_text="Of the work on it, 0 to 1.")


@extend_schema_field({"type": "string", "format": "binary"})
class BinaryField(serializers.FileField):
    """The content of a file."""


class UploadIn(serializers.Serializer[Any]):
    file = BinaryField()
    format = serializers.ChoiceField(
        choices=list(FORMATS), required=False, help_text="Found out where it is not said."
    )


class GoldFileIn(serializers.Serializer[Any]):
    file = BinaryField(help_text="CSV with query, doc_id or url, grade and perhaps note.")


class ReadingIn(Incoming):
    format = OneOfField(choices=list(FORMATS), required=False)
    grades = OneOfField(choices=[name for name, _ in GRADES_CHOICES], required=False)
    scale = TextField(required=False, max_length=20, help_text="From worst to best: `1-5`.")
    judge = TextField(required=False, max_length=80, allow_blank=True)


class GoldPairOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="Of the pair.")
    query = QueryOut()
    document = DocumentOut()
    gold = GradeOut()
    note = serializers.CharField()
    made = serializers.IntegerField(help_text="Judgments of it.")
    right = serializers.IntegerField(help_text="So many of them right.")


class GoldLoadedOut(serializers.Serializer[Any]):
    pairs = serializers.IntegerField(help_text="So many are gold by this file.")


UPLOAD: Fields = {
    "id": 6,
    "name": "pairs.csv",
    "state": "checked",
    "message": "",
    "created_by": DANA,
    "created_at": TIME,
    "format": "csv",
    "guess": "Its first line names columns.",
    "grades": "",
    "scale": "",
    "judge": "",
    "rows": 120,
    "pairs": 120,
    "queries": 12,
    "judgments": 0,
    "passed_over": 0,
    "problems": 0,
}
UPLOAD_DETAIL: Fields = UPLOAD | {
    "scales": [],
    "preview": [{"line": 2, "query": "read a csv file", "document_key": "csv", "rank": 1}],
    "errors": [],
    "progress": None,
}
GOLD: Fields = {
    "id": 42,
    "query": QUERY,
    "document": DOCUMENT,
    "gold": {"grade": 4, "word": "Perfect"},
    "note": "The official page.",
    "made": 12,
    "right": 10,
}


def said_upload(upload: Upload) -> Fields:
    said = {name: getattr(upload, name) for name in UPLOAD}
    return said | {"created_by": said_person(upload.created_by)}


def said_in_detail(upload: Upload) -> Fields:
    found = [] if upload.low is None else scales.holding(
        upload.low, upload.high or 0, upload.fractions
    )  # fmt: skip
    job = imports.job_of(upload)
    said = said_upload(upload) | {
        "scales": [str(scale) for scale in found],
        "preview": upload.preview,
        "errors": upload.errors[:SHOWN_PROBLEMS],
        "progress": job.progress if job else None,
    }
    return dict(UploadDetailOut(said).data)


def said_gold(one: pairs.GoldPair) -> Fields:
    return {
        "id": one.pair.pk,
        "query": one.pair.query,
        "document": said_document(one.pair.document),
        "gold": said_grade(one.grade),
        "note": one.pair.gold_note,
        "made": one.made,
        "right": one.right,
    }
