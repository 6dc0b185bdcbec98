"""Queries and pairs as managers see them: with grades, names and everything that is known."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from annotate.api.serializers import Fields
from annotate.api.shapes import (
    ALICE,
    DANA,
    TIME,
    GradeOut,
    PersonOut,
    said_grade,
    said_person,
)
from annotate.explain import Step
from annotate.models import Adjudication, Document, Label, Pair, Refusal
from annotate.pairs import Said

PAIR_STATES = [choice for choice in Pair.State.choices if choice[0] != Pair.State.LOADING]


class QueryOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    key = serializers.CharField(help_text="What your files call it.")
    text = serializers.CharField()
    intent = serializers.CharField()
    locale = serializers.CharField()


class DocumentOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    key = serializers.CharField(help_text="What your files call it.")
    url = serializers.CharField()
    title = serializers.CharField()


class LabelOut(serializers.Serializer[Any]):
    grade = serializers.IntegerField(help_text="0 Bad to 4 Perfect.")
    word = serializers.CharField()
    score = serializers.FloatField(help_text="The same before it was rounded.")
    judgments = serializers.IntegerField(help_text="So many it was made of.")
    method = serializers.CharField()
    updated_at = serializers.DateTimeField()


class PairRowOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=PAIR_STATES)
    rank = serializers.IntegerField(help_text="Its place in the first stage, 1 is first.")
    query = QueryOut()
    document = DocumentOut()
    grades = serializers.ListField(
        child=serializers.IntegerField(), help_text="Those that count, in the order of judging."
    )
    spread = serializers.IntegerField(help_text="Between the highest and the lowest of them.")
    label = LabelOut(allow_null=True)  # type: ignore[assignment]
    final = GradeOut(allow_null=True, help_text="What a manager decided.")
    gold = GradeOut(allow_null=True, help_text="What is known.")


class PairJudgmentOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    judge = PersonOut()
    grade = serializers.IntegerField()
    word = serializers.CharField()
    comment = serializers.CharField()
    active_seconds = serializers.FloatField(allow_null=True)
    guideline_version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    counts = serializers.BooleanField()
    fate = serializers.CharField(help_text="Counts, changed, taken back, voided or put back.")


class ExplainedOut(serializers.Serializer[Any]):
    at = serializers.DateTimeField(allow_null=True, help_text="Null for what is so now.")
    text = serializers.CharField()


class FinalOut(GradeOut):
    note = serializers.CharField()
    by = PersonOut()
    created_at = serializers.DateTimeField()


class PairDetailOut(PairRowOut):
    snippet = serializers.CharField()
    gold_note = serializers.CharField()
    final = FinalOut(allow_null=True)
    judgments = PairJudgmentOut(many=True)
    explanation = ExplainedOut(many=True, help_text="What the router did and what it does next.")


class RefusalOut(serializers.Serializer[Any]):
    judge = PersonOut()
    reason = serializers.ChoiceField(choices=Refusal.Reason.choices)
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


class ReferralOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="Of the pair.")
    query = QueryOut()
    document = DocumentOut()
    refusals = RefusalOut(many=True)


# -- Rows to shapes -------------------------------------------------------------------------------


def said_document(document: Document) -> Fields:
    return {name: getattr(document, name) for name in ("id", "key", "url", "title")}


def said_label(label: Label | None) -> Fields | None:
    if label is None:
        return None
    names = ("score", "judgments", "method", "updated_at")
    return {**(said_grade(label.grade) or {}), **{name: getattr(label, name) for name in names}}


def said_pair(pair: Pair, grades: Iterable[int | None] | None = None) -> Fields:
    """For a list: of rows that ``pairs.with_grades`` gave, or with the grades at hand."""
    final: Adjudication | None = getattr(pair, "adjudication", None)
    if grades is None:
        grades = [seat.judgment.grade for seat in pair.done]  # type: ignore[attr-defined]
    return {
        **{name: getattr(pair, name) for name in ("id", "state", "rank", "query", "spread")},
        "document": said_document(pair.document),
        "grades": list(grades),
        "label": said_label(getattr(pair, "label", None)),
        "final": said_grade(final.grade) if final else None,
        "gold": said_grade(pair.gold),
    }


def said_pair_in_detail(pair: Pair, said: list[Said], steps: list[Step]) -> Fields:
    final: Adjudication | None = getattr(pair, "adjudication", None)
    return said_pair(pair, [one.judgment.grade for one in said if one.counts]) | {
        "snippet": pair.document.snippet,
        "gold_note": pair.gold_note,
        "final": _final(final) if final else None,
        "judgments": [_judgment(one) for one in said],
        "explanation": [{"at": step.at, "text": step.text} for step in steps],
    }


def _final(final: Adjudication) -> Fields:
    more = {"note": final.note, "by": said_person(final.by), "created_at": final.created_at}
    return (said_grade(final.grade) or {}) | more


def _judgment(one: Said) -> Fields:
    row = one.judgment
    names = ("id", "comment", "guideline_version", "created_at")
    return {
        **{name: getattr(row, name) for name in names},
        **(said_grade(row.grade) or {}),
        "judge": said_person(row.judge),
        "active_seconds": one.seconds,
        "counts": one.counts,
        "fate": one.fate,
    }


def said_referral(pair: Pair) -> Fields:
    refusals = [
        {
            "judge": said_person(refusal.judge),
            "reason": refusal.reason,
            "text": refusal.text,
            "created_at": refusal.created_at,
        }
        for refusal in pair.refusals.all()
    ]
    document = said_document(pair.document)
    return {"id": pair.pk, "query": pair.query, "document": document, "refusals": refusals}


# -- Examples -------------------------------------------------------------------------------------

QUERY = {"id": 5, "key": "q5", "text": "read a csv file", "intent": "", "locale": "en"}
DOCUMENT = {
    "id": 8,
    "key": "csv",
    "url": "https://docs.python.org/3/library/csv.html",
    "title": "csv — CSV file reading and writing",
}
LABEL = {
    "grade": 3,
    "word": "Excellent",
    "score": 3.0,
    "judgments": 2,
    "method": "majority",
    "updated_at": TIME,
}
PAIR: Fields = {
    "id": 42,
    "state": "open",
    "rank": 1,
    "query": QUERY,
    "document": DOCUMENT,
    "grades": [3, 4],
    "spread": 1,
    "label": LABEL,
    "final": None,
    "gold": None,
}
JUDGMENT: Fields = {
    "id": 107,
    "judge": ALICE,
    "grade": 3,
    "word": "Excellent",
    "comment": "",
    "active_seconds": 6.5,
    "guideline_version": 1,
    "created_at": TIME,
    "counts": True,
    "fate": "Counts",
}
DETAIL: Fields = PAIR | {
    "snippet": "Read and write tabular data in CSV format.",
    "gold_note": "",
    "final": {
        "grade": 3,
        "word": "Excellent",
        "note": "The official page.",
        "by": DANA,
        "created_at": TIME,
    },
    "judgments": [JUDGMENT],
    "explanation": [
        {"at": TIME, "text": "Alice was asked first and said Excellent."},
        {"at": None, "text": "Next: a third judge, because the first was Good or better."},
    ],
}
REFERRAL = {
    "id": 43,
    "query": QUERY,
    "document": DOCUMENT,
    "refusals": [{"judge": ALICE, "reason": "not-loaded", "text": "", "created_at": TIME}],
}
