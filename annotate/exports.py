"""Judgments and labels as CSV, streamed. Reads only.

Cells that a spreadsheet would run as a formula are made plain text; numbers stay numbers.
"""

import csv
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from django.db.models import Avg, F, OuterRef, QuerySet, Subquery

from annotate.models import Campaign, Judgment, Label, Seat
from ranking.grades import Grade

CHUNK_ROWS = 500
FETCH_ROWS = 2000
TAKEN_BACK = "Taken back"

#: What makes a spreadsheet read a cell as a formula, also behind blanks and in its wide forms.
FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

JUDGMENT_COLUMNS = [
    "query_id",
    "query",
    "locale",
    "intent",
    "doc_id",
    "url",
    "title",
    "snippet",
    "judge",
    "grade",
    "grade_name",
    "comment",
    "created_at",
    "duration_ms",
    "guideline_version",
    "superseded",
]
LABEL_COLUMNS = [
    "query_id",
    "query",
    "doc_id",
    "url",
    "grade",
    "grade_name",
    "grade_mean",
    "n_judgments",
    "method",
    "updated_at",
]

Row = list[object]


def judgments(campaign: Campaign) -> Iterator[Row]:
    """Every judgment ever made, in the order they were made. Only current ones count."""
    rows = (
        Judgment.objects.filter(pair__campaign=campaign)
        .order_by("id")
        .annotate(current=F("seat__judgment_id"))
        .values_list(
            "pair__query__key",
            "pair__query__text",
            "pair__query__locale",
            "pair__query__intent",
            "pair__document__key",
            "pair__document__url",
            "pair__document__title",
            "pair__document__snippet",
            "judge__username",
            "grade",
            "comment",
            "created_at",
            "active_ms",
            "guideline_version",
            "id",
            "current",
        )
    )
    for *about, grade, comment, created_at, duration, version, pk, current in _fetch(rows):
        name = TAKEN_BACK if grade is None else Grade(grade).word
        superseded = "false" if pk == current else "true"
        when = _time(created_at)
        yield [*about, grade, name, comment, when, duration, version, superseded]


def labels(campaign: Campaign) -> Iterator[Row]:
    """What the judgments of each pair add up to, in the order of queries and first-stage ranks."""
    current = Seat.objects.filter(pair=OuterRef("pair"), state=Seat.State.DONE)
    mean = current.order_by().values("pair").annotate(mean=Avg("judgment__grade")).values("mean")
    rows = (
        Label.objects.filter(pair__campaign=campaign)
        .annotate(grade_mean=Subquery(mean))
        .order_by("pair__query_id", "pair__rank", "pair_id")
        .values_list(
            "pair__query__key",
            "pair__query__text",
            "pair__document__key",
            "pair__document__url",
            "grade",
            "grade_mean",
            "judgments",
            "method",
            "updated_at",
        )
    )
    for *about, grade, mean_grade, number, method, updated_at in _fetch(rows):
        shown = None if mean_grade is None else round(float(mean_grade), 6)
        yield [*about, grade, Grade(grade).word, shown, number, method, _time(updated_at)]


#: What can be exported: the columns and the rows.
EXPORTS: dict[str, tuple[list[str], Callable[[Campaign], Iterator[Row]]]] = {
    "judgments": (JUDGMENT_COLUMNS, judgments),
    "labels": (LABEL_COLUMNS, labels),
}


def stream(name: str, campaign: Campaign) -> Iterator[str]:
    """The export of that name as CSV, some hundred rows at a time: memory does not grow with it."""
    columns, rows = EXPORTS[name]
    buffer = StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for number, row in enumerate(rows(campaign), start=1):
        writer.writerow([safe(cell) for cell in row])
        if number % CHUNK_ROWS == 0:
            yield _drain(buffer)
    yield _drain(buffer)


def safe(cell: object) -> object:
    """The cell as a spreadsheet may have it."""
    if isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _fetch(rows: "QuerySet[Any, Any]") -> Iterator[tuple[Any, ...]]:
    """Rows as the database hands them out, never all at once."""
    return rows.iterator(chunk_size=FETCH_ROWS)


def _drain(buffer: StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
