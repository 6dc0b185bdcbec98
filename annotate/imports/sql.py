"""Rows into tables, many at a time. What is there already by its key is brought up to date.

Django's bulk_create makes an object of every row and a statement of every few; a million rows
want neither. PostgreSQL takes a batch as arrays in one statement, SQLite row by row in one call.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.db import connection, models

from annotate.bulk import defaults, quoted, table
from annotate.models import Document, Pair, Query

#: What a row must be above to be changed: all are.
ANY = 0

#: A pair by the keys of its query and document: rank, position, truth, features, and which of
#: rank and features the file itself has. What it has not does not change what is there.
PairRow = tuple[str, str, int, int, int | None, bytes | None, tuple[bool, bool]]


def upsert_queries(campaign: int, rows: Sequence[tuple[str, ...]], above: int = ANY) -> None:
    """Rows of (key, text, intent, locale), each key once; empty texts change nothing.

    A query without words is known by its key.
    """
    name = table(Query)
    changes = _unless_empty(name, ("intent", "locale"))
    changes += (
        f", text = CASE WHEN excluded.text = excluded.key THEN {name}.text ELSE excluded.text END"
    )
    texts = ("key", "text", "intent", "locale")
    values = {text: f"r.{text}" for text in texts} | {"text": "COALESCE(NULLIF(r.text, ''), r.key)"}
    _upsert(Query, {"campaign_id": f"{campaign:d}"} | values, texts, changes, above, rows)


def upsert_documents(campaign: int, rows: Sequence[tuple[str, ...]], above: int = ANY) -> None:
    """Rows of (key, url, title, snippet, text), each key once; empty texts change nothing."""
    texts = ("key", "url", "title", "snippet", "text")
    values = {"campaign_id": f"{campaign:d}"} | {text: f"r.{text}" for text in texts}
    _upsert(Document, values, texts, _unless_empty(table(Document), texts[1:]), above, rows)


def _unless_empty(name: str, texts: Sequence[str]) -> str:
    return ", ".join(
        f"{text} = COALESCE(NULLIF(excluded.{text}, ''), {name}.{text})" for text in texts
    )


def _upsert(
    model: type[models.Model],
    values: dict[str, str],
    texts: Sequence[str],
    changes: str,
    above: int,
    rows: Sequence[tuple[str, ...]],
) -> None:
    values = values | defaults(model, set(values))
    _write(
        f"{_insert(model, values)} FROM {_source(dict.fromkeys(texts, 'text'))} WHERE TRUE "
        f"ON CONFLICT (campaign_id, key) DO UPDATE SET {changes} "
        f"WHERE {table(model)}.id > {above:d}",
        rows,
    )


def upsert_pairs(campaign: int, rows: Sequence[PairRow], state: str, only_loading: bool) -> None:
    """Pairs of queries and documents that are there, each once."""
    values = {
        "campaign_id": f"{campaign:d}",
        "query_id": "q.id",
        "document_id": "d.id",
        "rank": "r.rank",
        "position": "r.position",
        "truth": "r.truth",
        "features": "r.features",
        "state": f"'{state}'",
    }
    values |= defaults(Pair, set(values))
    columns = {"query": "text", "document": "text", "rank": "integer", "position": "bigint"}
    source = _source(columns | {"truth": "smallint", "features": "bytea"})
    insert = (
        f"{_insert(Pair, values)} FROM {source} "
        f"JOIN {table(Query)} q ON q.campaign_id = {campaign:d} AND q.key = r.query "
        f"JOIN {table(Document)} d ON d.campaign_id = {campaign:d} AND d.key = r.document "
        "WHERE TRUE ON CONFLICT (query_id, document_id) DO UPDATE SET "
    )
    loading = f" WHERE {table(Pair)}.state = '{Pair.State.LOADING}'" if only_loading else ""
    for given, found in groupby(sorted(rows, key=_given), key=_given):
        _write(f"{insert}{_changes(given)}{loading}", [row[:-1] for row in found])


def _given(row: PairRow) -> tuple[bool, bool]:
    return row[-1]


def _changes(given: tuple[bool, bool]) -> str:
    taken = [name for name, known in zip(("rank", "features"), given, strict=True) if known]
    known = f"truth = COALESCE(excluded.truth, {table(Pair)}.truth)"
    return ", ".join([known, *(f"{name} = excluded.{name}" for name in taken)])


# -- Statements -----------------------------------------------------------------------------------


def _insert(model: type[models.Model], values: dict[str, str]) -> str:
    names = ", ".join(map(quoted, values))
    return f"INSERT INTO {table(model)} ({names}) SELECT {', '.join(values.values())}"


def _source(columns: dict[str, str]) -> str:
    """The rows of the statement as a table ``r``."""
    names = ", ".join(map(quoted, columns))
    if connection.vendor == "postgresql":
        arrays = ", ".join(f"%s::{kind}[]" for kind in columns.values())
        return f"unnest({arrays}) AS r({names})"
    return f"(SELECT {', '.join(f'%s AS {quoted(name)}' for name in columns)}) AS r"


def _write(sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(sql, [list(column) for column in zip(*rows, strict=True)])
        else:
            cursor.executemany(sql, rows)
