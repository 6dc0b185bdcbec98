"""Files of known grades: every line names a pair that is loaded. Taken whole or not at all."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet

from annotate import pairs, routing
from annotate.formats.rows import Problem
from annotate.models import Campaign, Document, Query, User
from ranking.grades import Grade

COLUMNS = ("query", "query_id", "doc_id", "url", "grade", "note")
REQUIRED = "The first line must name the columns query, doc_id or url, and grade."
MAX_ROWS = 5000
MAX_NOTE = 2000
BATCH = 500
GRADES = {str(int(grade)): grade for grade in Grade} | {
    grade.word.lower(): grade for grade in Grade
}

T = TypeVar("T")


class GoldRefusedError(Exception):
    """The file cannot be taken; every bad line is named."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: problem.line)
        super().__init__(f"{len(problems)} lines cannot be taken.")


@dataclass(frozen=True)
class Known:
    """A line of the file: which pair, and its grade."""

    line: int
    query: str
    document: str
    grade: Grade
    note: str


def load(manager: User, campaign: Campaign, content: bytes) -> int:
    """Make the pairs of a file gold, or raise GoldRefusedError. Returns how many there are."""
    rows: list[Known] = []
    problems: list[Problem] = []
    for item in _read(content):
        (rows if isinstance(item, Known) else problems).append(item)  # type: ignore[arg-type]
    known, unknown = _found(campaign, rows)
    problems += unknown
    if not rows and not problems:
        problems.append(Problem(1, "The file holds no row."))
    if problems:
        raise GoldRefusedError(problems)
    with transaction.atomic():
        # In the order of the pairs, as everybody takes their locks.
        for pair, row in sorted(known.items()):
            routing.give_gold(manager, pair, row.grade, row.note)
    return len(known)


# -- Lines ----------------------------------------------------------------------------------------


def _read(content: bytes) -> Iterator[Known | Problem]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Problem(content.count(b"\n", 0, error.start) + 1, "The file must be UTF-8.")
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        header = [cell.strip().lower().replace(" ", "_") for cell in next(reader, [])]
        if reason := _header_fault(header):
            yield Problem(1, reason)
            return
        line = reader.line_num + 1
        for number, cells in enumerate(reader, start=1):
            if number > MAX_ROWS:
                yield Problem(line, f"A file must have at most {MAX_ROWS:,} rows.")
                return
            if any(cell.strip() for cell in cells):
                yield _row(line, header, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        yield Problem(line, f"The line is not CSV: {error}.")


def _header_fault(header: list[str]) -> str:
    known = [name for name in header if name in COLUMNS]
    if len(known) != len(set(known)):
        return "Each column must stand once."
    needed = {"query", "query_id"}, {"doc_id", "url"}, {"grade"}
    if all(choice & set(known) for choice in needed):
        return ""
    return f"{REQUIRED} Got {', '.join(known) or 'none of them'} instead."


def _row(line: int, header: list[str], cells: list[str]) -> Known | Problem:
    if len(cells) != len(header):
        return Problem(line, f"There must be {len(header)} columns. Got {len(cells)} instead.")
    value = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    query = value.get("query_id") or value.get("query", "")
    document = value.get("doc_id") or value.get("url", "")
    grade = GRADES.get(value["grade"].lower())
    if not query or not document:
        return Problem(line, "query and doc_id or url must not be empty.")
    if grade is None:
        return Problem(line, f"A grade must be 0 to 4. Got {value['grade'][:40]!r} instead.")
    note = value.get("note", "")
    if len(note) > MAX_NOTE or "\0" in "".join(cells):
        return Problem(line, f"note must be text of at most {MAX_NOTE:,} characters.")
    return Known(line, query, document, grade, note)


# -- Pairs ----------------------------------------------------------------------------------------


def _found(campaign: Campaign, rows: list[Known]) -> tuple[dict[int, Known], list[Problem]]:
    """The pair of each line, and the lines that name none, several, or one again."""
    queries = _by_name(Query.objects.filter(campaign=campaign), "text", {row.query for row in rows})
    documents = _by_name(
        Document.objects.filter(campaign=campaign), "url", {row.document for row in rows}
    )
    numbers = _pairs(campaign, {pk for found in queries.values() for pk in found})
    taken: dict[int, Known] = {}
    problems = []
    for row in rows:
        here = [
            numbers[key]
            for query in queries[row.query]
            for document in documents[row.document]
            if (key := (query, document)) in numbers
        ]
        if len(here) != 1:
            problems.append(Problem(row.line, _none_or_many(row, len(here))))
        elif here[0] in taken:
            first = taken[here[0]].line
            problems.append(Problem(row.line, f"The pair stands on line {first} already."))
        else:
            taken[here[0]] = row
    return taken, problems


def _none_or_many(row: Known, number: int) -> str:
    if number:
        return f"The line fits {number} pairs. Name the query by its query_id."
    return f"There is no pair of {row.query[:80]!r} and {row.document[:80]!r} in this campaign."


def _by_name(rows: "QuerySet[Any]", field: str, names: set[str]) -> defaultdict[str, set[int]]:
    """The rows that are called so, by their key or by the words people know them by."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for some in _batches(sorted(names)):
        fits = rows.filter(Q(key__in=some) | Q(**{f"{field}__in": some}))
        for pk, key, words in fits.values_list("pk", "key", field):
            found[key].add(pk)
            found[words].add(pk)
    return found


def _pairs(campaign: Campaign, queries: set[int]) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for some in _batches(sorted(queries)):
        rows = pairs.loaded(campaign).filter(query__in=some)
        found |= {
            (query, doc): pk for pk, query, doc in rows.values_list("pk", "query", "document")
        }
    return found


def _batches(items: list[T]) -> Iterator[list[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
