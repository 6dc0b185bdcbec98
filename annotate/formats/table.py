"""Columns by name: what CSV, TSV, JSON lines and Parquet have in common."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from annotate.formats.rows import MAX_KEY, Problem, Rating, Row, checked, number, whole
from ranking.grades import Grade

#: What a column may be called; case and separators do not count.
ALIASES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid", "q_id", "topic_id", "topic"),
    "query": ("query", "query_text", "topic_query", "keywords", "search_term"),
    "intent": ("intent", "information_need", "topic_description"),
    "locale": ("locale", "language", "lang"),
    "doc_id": ("doc_id", "docid", "document_id", "document", "docno", "corpus_id", "product_id"),
    "url": ("url", "address", "link"),
    "title": ("title", "document_title"),
    "snippet": ("snippet", "summary", "description"),
    "text": ("text", "body", "content"),
    "rank": ("rank", "first_stage_rank", "position"),
    "truth": ("truth", "true_grade"),
    "judge": ("judge", "worker", "rater", "assessor", "annotator"),
    "grade": ("grade", "rating", "relevance", "label", "score", "judgment", "judgement"),
    "grade_name": ("grade_name",),
    "comment": ("comment", "explanation"),
    "created_at": ("created_at", "judged_at"),
    "duration_ms": ("duration_ms",),
    "guideline_version": ("guideline_version",),
    "superseded": ("superseded",),
}
_NAMES = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
REQUIRED = (
    "The columns must name a query (query or query_id) and a document (url or doc_id), "
    "or a query and its information_need."
)
#: Where blanks around a cell mean nothing. In other texts they stay.
_STRUCTURE = {"query_id", "doc_id", "url", "locale", "judge", "created_at", "superseded"}


def columns(header: Iterable[str]) -> list[str]:
    """Our names of the columns, an empty one for a column we do not know."""
    return [_NAMES.get(re.sub(r"[\s\-_.]+", "_", cell.strip().lower()), "") for cell in header]


def header_fault(names: list[str]) -> str:
    """What is wrong with these columns, or nothing."""
    known = [name for name in names if name]
    double = next((name for name in known if known.count(name) > 1), "")
    if double:
        return f"Each column must stand once. Got {double} twice, by its other names too."
    query = {"query", "query_id"} & set(known)
    if not query or not {"url", "doc_id", "intent"} & set(known):
        return f"{REQUIRED} Got {', '.join(known) or 'none of them'} instead."
    return ""


def row(line: int, value: Mapping[str, str]) -> Row | Problem:
    """A row from its cells by our names, or what is wrong with it."""
    cell = {name: text.strip() if name in _STRUCTURE else text for name, text in value.items()}
    numbers: dict[str, int | None] = {}
    for name in ("rank", "truth", "duration_ms", "guideline_version"):
        text = cell.get(name, "").strip()
        numbers[name] = whole(text) if text else None
        if text and numbers[name] is None:
            return Problem(line, f"{name} must be a whole number. Got {text[:40]!r} instead.")
    ratings, reason = _ratings(cell, numbers)
    if reason:
        return Problem(line, reason)
    query, key, url = cell.get("query", ""), cell.get("query_id", ""), cell.get("url", "")
    return checked(
        Row(
            line=line,
            query_key=key or query.strip()[:MAX_KEY],
            query=query,
            document_key=cell.get("doc_id") or url,
            intent=cell.get("intent", ""),
            locale=cell.get("locale", ""),
            url=url,
            title=cell.get("title", ""),
            snippet=cell.get("snippet", ""),
            text=cell.get("text", ""),
            rank=numbers["rank"],
            truth=numbers["truth"],
            ratings=ratings,
            by_text=not key,
            own_scale=bool(ratings and cell.get("grade_name")),
            passed_over=_superseded(cell),
        ),
        document="doc_id" in cell or "url" in cell,
    )


def _superseded(cell: Mapping[str, str]) -> bool:
    """A judgment that its judge changed or took back: it stands in the file, but does not count."""
    return cell.get("superseded", "").lower() in ("true", "1", "yes")


def _ratings(
    cell: Mapping[str, str], numbers: Mapping[str, int | None]
) -> tuple[tuple[Rating, ...], str]:
    """The judgment of the row, if it has one, and what is wrong with it."""
    grade = cell.get("grade", "").strip()
    if not grade or _superseded(cell):
        return (), ""
    value = number(grade)
    if value is None:
        return (), f"A grade must be a number. Got {grade[:40]!r} instead."
    word = cell.get("grade_name", "").strip()
    if word and (value not in range(5) or Grade(int(value)).word != word):
        return (), f"grade and grade_name must say the same. Got {grade[:40]!r} and {word[:40]!r}."
    if any((numbers[name] or 0) < 0 for name in ("duration_ms", "guideline_version")):
        return (), "duration_ms and guideline_version must not be negative."
    at = cell.get("created_at", "")
    moment = _moment(at)
    if at and moment is None:
        return (), f"created_at must be a time as 2026-01-31T12:00:00Z. Got {at[:40]!r} instead."
    rating = Rating(
        value=value,
        judge=cell.get("judge", ""),
        comment=cell.get("comment", ""),
        at=moment,
        active_ms=numbers["duration_ms"],
        guideline_version=numbers["guideline_version"],
    )
    return (rating,), ""


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
