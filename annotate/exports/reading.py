"""Judgments and labels as the database hands them out, some queries at a time.

Queries come in the order they were loaded, their documents in the first-stage order, judgments in
the order they were made. Sorting is done within some queries only, so that the first rows come at
once and memory does not grow with the rest.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import ne
from typing import Any, NamedTuple

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Avg, F, Func, OuterRef, QuerySet, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler
from django.utils.crypto import salted_hmac

from annotate.exports.options import ExportRefusedError, Options
from annotate.models import Campaign, Judgment, Label, Pair, Query, Seat
from annotate.people import stand_in_name
from ranking.aggregation import AGGREGATORS, USE_ALL
from ranking.grades import Grade
from ranking.judgments import IntArray

QUERIES = 100
FETCH_ROWS = 2000
TAKEN_BACK = "Taken back"
_WORDS: dict[int | None, str] = {None: TAKEN_BACK} | {int(grade): grade.word for grade in Grade}

JUDGMENT_COLUMNS = [
    "query_id",
    "query",
    "locale",
    "intent",
    "doc_id",
    "url",
    "title",
    "snippet",
    "rank",
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
    "rank",
    "grade",
    "grade_name",
    "grade_mean",
    "n_judgments",
    "method",
    "updated_at",
]

#: Some rows, column by column: a million rows are quicker looked at that way than one by one.
Columns = list[Sequence[Any]]


class Written(Func):
    """A moment as files have it, to the millisecond: ``2031-05-06T10:15:00.123Z``.

    The database writes it: it is quicker than making an object of every moment.
    """

    output_field = TextField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "replace(substr(%(expressions)s || '.000', 1, 23), ' ', 'T') || 'Z'"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        written = '\'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\''
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', {written})"
        return self.as_sql(compiler, connection, template=template, **context)


def query_blocks(campaign: Campaign) -> Iterator[list[int]]:
    """The queries of a campaign by their numbers, some at a time."""
    last = 0
    queries = Query.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True)
    while block := list(queries.filter(pk__gt=last)[:QUERIES]):
        last = block[-1]
        yield block


def fetch(rows: "QuerySet[Any, Any]") -> Iterator[tuple[Any, ...]]:
    """Rows as the database hands them out, never all at once."""
    return rows.iterator(chunk_size=FETCH_ROWS)


def parts(rows: "QuerySet[Any, Any]") -> Iterator[list[tuple[Any, ...]]]:
    """The same column by column, some thousand rows at a time."""
    found = fetch(rows)
    while part := list(islice(found, FETCH_ROWS)):
        yield list(zip(*part, strict=True))


# -- Judgments ------------------------------------------------------------------------------------


def judgments(campaign: Campaign, options: Options, moments: bool = False) -> Iterator[Columns]:
    """Every judgment ever made, corrected ones too. Only current ones count."""
    name = namer(campaign, options)
    made = Judgment.objects.order_by("pair__query_id", "pair__rank", "pair_id", "id")
    for block in query_blocks(campaign):
        rows = made.filter(pair__query_id__in=block).values_list(
            "pair__query__key",
            "pair__query__text",
            "pair__query__locale",
            "pair__query__intent",
            "pair__document__key",
            "pair__document__url",
            "pair__document__title",
            "pair__document__snippet",
            "pair__rank",
            "judge_id",
            "judge__username",
            "grade",
            "comment",
            F("created_at") if moments else Written("created_at"),
            "active_ms",
            "guideline_version",
            "id",
            "seat__judgment_id",
        )
        for *about, judge, username, grade, comment, at, duration, version, pk, now in parts(rows):
            superseded = list(map(ne, pk, now))
            named = list(map(name, judge, username))
            word = list(map(_WORDS.__getitem__, grade))
            yield [*about, named, grade, word, comment, at, duration, version, superseded]


def namer(campaign: Campaign, options: Options) -> Callable[[int, str], str]:
    """What a judge is called. A pseudonym is the same in every export of the campaign, and no
    other campaign has it.
    """
    known: dict[int, str] = {}
    salt = f"second-opinion.exports.{campaign.pk}.{campaign.slug}"
    stood_in = stand_in_name("", campaign.slug)

    def name(judge: int, username: str) -> str:
        found = known.get(judge)
        if found is None:
            found = username.removesuffix(stood_in)
            if options.pseudonyms:
                digest = salted_hmac(salt, str(judge), algorithm="sha256").hexdigest()
                found = f"judge-{digest[:12]}"
            known[judge] = found
        return found

    return name


# -- Labels ---------------------------------------------------------------------------------------


def labels(campaign: Campaign, options: Options, moments: bool = False) -> Iterator[Columns]:
    """What the judgments of each pair add up to."""
    if options.labels:
        raise ExportRefusedError("Tables of labels hold the labels that the campaign has.")
    current = Seat.objects.filter(pair=OuterRef("pair"), state=Seat.State.DONE)
    mean = current.order_by().values("pair").annotate(mean=Avg("judgment__grade")).values("mean")
    made = Label.objects.annotate(grade_mean=Subquery(mean))
    ordered = made.order_by("pair__query_id", "pair__rank", "pair_id")
    for block in query_blocks(campaign):
        rows = ordered.filter(pair__query_id__in=block).values_list(
            "pair__query__key",
            "pair__query__text",
            "pair__document__key",
            "pair__document__url",
            "pair__rank",
            "grade",
            "grade_mean",
            "judgments",
            "method",
            F("updated_at") if moments else Written("updated_at"),
        )
        for *about, grade, means, number, method, updated_at in parts(rows):
            shown = [None if mean is None else round(float(mean), 6) for mean in means]
            word = list(map(_WORDS.__getitem__, grade))
            yield [*about, grade, word, shown, number, method, updated_at]


class Graded(NamedTuple):
    """A pair with its label, or with one of its judgments where all are used."""

    query_id: int
    query_key: str
    query: str
    document_key: str
    pair_id: int
    features: bytes | None
    grade: int


def graded(campaign: Campaign, options: Options, features: bool = False) -> Iterator[Graded]:
    """Every pair that has a label, queries side by side."""
    found = _grades(campaign, options.labels) if options.labels else None
    pairs = Pair.objects.filter(campaign=campaign).order_by("query_id", "rank", "pk")
    if found is None:
        pairs = pairs.filter(label__isnull=False)
    vector = F("features") if features else F("label__grade")
    for block in query_blocks(campaign):
        rows = pairs.filter(query_id__in=block).values_list(
            "query_id",
            "query__key",
            "query__text",
            "document__key",
            "pk",
            vector,
            "label__grade",
        )
        for query, key, text, document, pair, found_features, label in fetch(rows):
            about = (query, key, text, document, pair, found_features if features else None)
            for grade in [label] if found is None else found(pair):
                yield Graded(*about, grade)


def _grades(campaign: Campaign, method: str) -> Callable[[int], list[int]]:
    """The grades of each pair by another method than the campaign's: three numbers a judgment."""
    seats = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE)
    seats = seats.exclude(pair__state=Pair.State.GOLD).order_by("judged_at", "pk")
    rows = fetch(seats.values_list("pair_id", "judge_id", "judgment__grade"))
    table = np.fromiter((number for row in rows for number in row), dtype=np.int64).reshape(-1, 3)
    if not len(table):
        return lambda _: []
    pair, judge, grade = (np.ascontiguousarray(column) for column in table.T)
    if method == USE_ALL:
        order = np.argsort(pair, kind="stable")
        return _looking_up(pair[order], grade[order])
    made = AGGREGATORS[method].aggregate(pair, judge, grade)
    return _looking_up(made.pair, made.grade)


def _looking_up(pair: IntArray, grade: IntArray) -> Callable[[int], list[int]]:
    def grades(wanted: int) -> list[int]:
        start, end = np.searchsorted(pair, [wanted, wanted + 1])
        found: list[int] = grade[start:end].tolist()
        return found

    return grades
