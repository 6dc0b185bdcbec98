"""Rows into tables, many at a time. What is there already by its key is brought up to date.

Django's bulk_create makes an object of every row and a statement of every few; a million rows
want neither.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, models

from annotate.bulk import defaults, quoted, table
from annotate.models import Document, Pair, Query

#: What every row of an upsert must have been to be changed: above this number, so ours.
ANY = 0


def upsert_queries(rows: Sequence[tuple[Any, ...]], above: int = ANY) -> None:
    """Rows of (campaign, key, text, intent, locale, given text); empty texts change nothing."""
    sql = _upsert(Query, ("campaign_id", "key", "text", "intent", "locale"), ("intent", "locale"))
    sql += f", text = COALESCE(NULLIF(%s, ''), {table(Query)}.text)"
    _many(f"{sql} WHERE {table(Query)}.id > %s", [(*row, above) for row in rows])


def upsert_documents(rows: Sequence[tuple[Any, ...]], above: int = ANY) -> None:
    """Rows of (campaign, key, url, title, snippet, text); empty texts change nothing."""
    texts = ("url", "title", "snippet", "text")
    sql = _upsert(Document, ("campaign_id", "key", *texts), texts)
    _many(f"{sql} WHERE {table(Document)}.id > %s", [(*row, above) for row in rows])


def upsert_pairs(rows: Sequence[tuple[Any, ...]], state: str, only_loading: bool) -> None:
    """Rows of (campaign, query key, document key, rank, position, truth, features, given).

    ``given`` is the rank and the features that the file itself has; what is None changes nothing.
    """
    values = [
        (state, campaign, *inserted, campaign, query, campaign, document, *given)
        for campaign, query, document, *inserted, given in rows
    ]
    pairs = table(Pair)
    loading = f" WHERE {pairs}.state = '{Pair.State.LOADING}'" if only_loading else ""
    _many(f"{_pair_sql(connection.vendor)}{loading}", values)


@cache
def _pair_sql(vendor: str) -> str:
    blob = "bytea" if vendor == "postgresql" else "blob"
    given = {
        "state": "CAST(%s AS varchar(8))",
        "campaign_id": "CAST(%s AS bigint)",
        "query_id": "q.id",
        "document_id": "d.id",
        "rank": "CAST(%s AS integer)",
        "position": "CAST(%s AS bigint)",
        "truth": "CAST(%s AS smallint)",
        "features": f"CAST(%s AS {blob})",
    }
    columns = given | defaults(Pair, set(given))
    pairs = table(Pair)
    names = ", ".join(map(quoted, columns))
    return (
        f"INSERT INTO {pairs} ({names}) "  # noqa: S608 every name is ours
        f"SELECT {', '.join(columns.values())} FROM {table(Query)} q, {table(Document)} d "
        "WHERE q.campaign_id = %s AND q.key = %s AND d.campaign_id = %s AND d.key = %s "
        "ON CONFLICT (query_id, document_id) DO UPDATE SET "
        f"rank = COALESCE(CAST(%s AS integer), {pairs}.rank), "
        f"truth = COALESCE(excluded.truth, {pairs}.truth), "
        f"features = COALESCE(CAST(%s AS {blob}), {pairs}.features)"
    )


@cache
def _upsert(model: type[models.Model], columns: tuple[str, ...], texts: tuple[str, ...]) -> str:
    """Insert, or take the texts that are not empty."""
    name = table(model)
    extra = defaults(model, set(columns))
    values = ", ".join(["%s"] * len(columns) + list(extra.values()))
    changes = ", ".join(
        f"{text} = COALESCE(NULLIF(excluded.{text}, ''), {name}.{text})" for text in texts
    )
    names = ", ".join(map(quoted, [*columns, *extra]))
    return (
        f"INSERT INTO {name} ({names}) VALUES ({values}) "  # noqa: S608 every name is ours
        f"ON CONFLICT (campaign_id, key) DO UPDATE SET {changes}"
    )


def _many(sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)
