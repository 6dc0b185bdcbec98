"""Judgments of OpenSearch's Search Relevance Workbench: ratings are texts there."""

from collections.abc import Iterator
from typing import Any

from annotate.formats.json_stream import items
from annotate.formats.rows import MAX_KEY, Problem, Rating, Row, checked, number, url_reason
from annotate.formats.source import Source


def read(source: Source) -> Iterator[Row | Problem]:
    """``{"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": "3.000"}]}]}``."""
    for line, _, item in items(source, ("judgmentRatings",)):
        query = item.get("query") if isinstance(item, dict) else None
        ratings = item.get("ratings") if isinstance(item, dict) else None
        if not isinstance(query, str) or not isinstance(ratings, list):
            yield Problem(line, "An item must have a query and a list of ratings.")
            continue
        for rated in ratings:
            yield _row(line, query, rated)


def _row(line: int, query: str, rated: Any) -> Row | Problem:
    if not isinstance(rated, dict) or "docId" not in rated or "rating" not in rated:
        return Problem(line, "A rating must have a docId and a rating.")
    value = number(str(rated["rating"]))
    if value is None:
        return Problem(
            line, f"A grade must be a number. Got {str(rated['rating'])[:40]!r} instead."
        )
    document = str(rated["docId"]).strip()
    return checked(
        Row(
            line=line,
            query_key=query.strip()[:MAX_KEY],
            query=query,
            document_key=document,
            url=document if not url_reason(document) else "",
            ratings=(Rating(value),),
            by_text=True,
        )
    )
