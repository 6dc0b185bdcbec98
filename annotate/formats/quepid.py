"""Quepid's files: ratings in CSV, one column per judge, and books and cases in JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from annotate.formats import table
from annotate.formats.csv import MAX_COLUMNS, records
from annotate.formats.json_stream import items
from annotate.formats.rows import MAX_KEY, Problem, Rating, Row, checked, number, url_reason
from annotate.formats.source import Source

COLUMNS = "The first columns must be query and docid, then rating or the judges' names."


def read_csv(source: Source) -> Iterator[Row | Problem]:
    """``query,docid,rating``, or ``query,docid`` and a column for each judge."""
    found = records(source)
    _, header = next(found, (1, []))
    if isinstance(header, Problem):
        yield header
        return
    names = [cell.strip() for cell in header]
    if table.columns(names[:2]) != ["query", "doc_id"] or len(names) > MAX_COLUMNS:
        yield Problem(1, f"{COLUMNS} Got {', '.join(names[:4])[:80] or 'nothing'} instead.")
        return
    judges = [""] if [name.lower() for name in names[2:]] == ["rating"] else names[2:]
    if len(set(judges)) < len(judges) or (len(judges) > 1 and "" in judges):
        yield Problem(1, "Each judge must have a name and one column.")
        return
    for line, cells in found:
        yield cells if isinstance(cells, Problem) else _record(line, judges, cells)


def _record(line: int, judges: list[str], cells: list[str]) -> Row | Problem:
    if len(cells) == 1 and cells[0].strip():  # a query that nobody has rated anything of
        query = cells[0].strip()
        return Row(
            line=line,
            query_key=query[:MAX_KEY],
            query=query,
            document_key="",
            by_text=True,
            passed_over=True,
        )
    if len(cells) != len(judges) + 2:
        return Problem(line, f"There must be {len(judges) + 2} columns. Got {len(cells)} instead.")
    ratings = []
    for judge, cell in zip(judges, cells[2:], strict=True):
        if cell.strip():
            value = number(cell)
            if value is None:
                return Problem(line, f"A grade must be a number. Got {cell[:40]!r} instead.")
            ratings.append(Rating(value, judge))
    return _pair(line, cells[0], cells[1], ratings=tuple(ratings))


def _pair(line: int, query: str, document: str, **known: Any) -> Row | Problem:
    document = document.strip()
    return checked(
        Row(
            line=line,
            query_key=query.strip()[:MAX_KEY],
            query=query,
            document_key=document,
            url=document if not url_reason(document) else "",
            by_text=True,
            **known,
        )
    )


# -- JSON -----------------------------------------------------------------------------------------


def read_json(source: Source) -> Iterator[Row | Problem]:
    """A book with its pairs and judgments, or a case with its queries and ratings."""
    for line, member, item in items(source, ("query_doc_pairs", "queries")):
        if not isinstance(item, dict):
            yield Problem(line, "An item must be an object.")
        elif member == "query_doc_pairs":
            yield _book_pair(line, item)
        else:
            yield from _case_query(line, item)


def _book_pair(line: int, item: Mapping[str, Any]) -> Row | Problem:
    fields = _fields(item.get("document_fields"))
    position = item.get("position")
    ratings: list[Rating] = []
    for judgement in item.get("judgements") or []:
        rating = _judgement(judgement)
        if isinstance(rating, str):
            return Problem(line, rating)
        ratings += [rating] if rating else []
    return _pair(
        line,
        str(item.get("query_text") or ""),
        str(item.get("doc_id") or ""),
        intent=str(item.get("information_need") or ""),
        title=str(fields.get("title") or fields.get("name") or "")[:1000],
        snippet=str(fields.get("description") or fields.get("overview") or ""),
        rank=position if isinstance(position, int) and position > 0 else None,
        ratings=tuple(ratings),
    )


def _fields(found: Any) -> Mapping[str, Any]:
    """What the search showed of the document; some books have it as a text of JSON."""
    try:
        found = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _judgement(found: Any) -> Rating | str | None:
    """A rating, nothing where the judge could not or would not rate, or what is wrong with it."""
    if not isinstance(found, dict):
        return "A judgement must be an object."
    if found.get("rating") is None:
        return None
    value = number(str(found["rating"]))
    if value is None:
        return f"A grade must be a number. Got {str(found['rating'])[:40]!r} instead."
    judge = found.get("judge") or found.get("user_name") or found.get("user_email") or ""
    return Rating(value, str(judge), str(found.get("explanation") or ""))


def _case_query(line: int, item: Mapping[str, Any]) -> Iterator[Row | Problem]:
    """Ratings by document: Quepid's own, or as the Rated Ranking Evaluator has them."""
    placeholders = item.get("placeholders")
    query = item.get("query") or (
        placeholders.get("$query") if isinstance(placeholders, dict) else None
    )
    rated = item.get("ratings") or item.get("relevant_documents") or {}
    if not isinstance(query, str) or not isinstance(rated, dict):
        yield Problem(line, "A query must have its text and its ratings by document.")
        return
    for document, rating in rated.items():
        shown = rating.get("gain") if isinstance(rating, dict) else rating
        value = number(str(shown))
        if value is None:
            yield Problem(line, f"A grade must be a number. Got {str(shown)[:40]!r} instead.")
        else:
            yield _pair(line, query, document, ratings=(Rating(value),))
