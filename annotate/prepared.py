"""Statements that are built once and run for every judgment.

To build the SQL of a query takes the ORM several times as long as the database takes to run it.
The statements of the busiest path are therefore written as querysets like all others, compiled
once for each engine, and run with other values from then on.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import BinaryField, Model, QuerySet
from django.db.models.sql import InsertQuery, UpdateQuery

M = TypeVar("M", bound=Model)

#: What a statement is built of: a queryset, and for an update also the new values; for an insert
#: an object that is not saved.
Built = QuerySet[Any, Any] | tuple[QuerySet[Any, Any], dict[str, Any]] | Model

#: Values that no row has: they show where the real ones go.
_MARK = 7_000_000_000_000_000


class _Compiled(NamedTuple):
    sql: str
    #: For each place the number of the value that goes there, or the constant that stands there.
    places: list[tuple[int | None, Any]]
    converters: list[tuple[int, list[Any], Any]]


class Prepared:
    """A statement with places for values of these kinds: int, str, uuid.UUID or datetime."""

    def __init__(self, build: Callable[..., Built], *kinds: type) -> None:
        self.build, self.kinds = build, kinds
        self.compiled: dict[str, _Compiled] = {}

    def rows(self, *values: Any) -> list[tuple[Any, ...]]:
        """Run it and read what it found."""
        compiled = self._compile()
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, self._fill(compiled, values))
            found = cursor.fetchall()
        return [_converted(row, compiled) for row in found] if compiled.converters else found

    def first(self, *values: Any) -> tuple[Any, ...] | None:
        return next(iter(self.rows(*values)), None)

    def run(self, *values: Any) -> int:
        """Run an update. Returns how many rows it changed."""
        compiled = self._compile()
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, self._fill(compiled, values))
            return int(cursor.rowcount)

    def _fill(self, compiled: _Compiled, values: Sequence[Any]) -> list[Any]:
        given = [_adapted(value) for value in values]
        return [
            constant if number is None else given[number] for number, constant in compiled.places
        ]

    def _compile(self) -> _Compiled:
        known = self.compiled.get(connection.vendor)
        if known is None:
            known = self.compiled[connection.vendor] = _compile(self.build, self.kinds)
        return known


def _compile(build: Callable[..., Built], kinds: Sequence[type]) -> _Compiled:
    marks = [_mark(kind, number) for number, kind in enumerate(kinds)]
    sql, params, converters = _built(build(*marks))
    shown = [_adapted(mark) for mark in marks]
    places = [(shown.index(param) if param in shown else None, param) for param in params]
    if not {number for number, _ in places} >= set(range(len(kinds))):
        raise TypeError(f"Every value must have a place in the statement. Got {sql} instead.")
    return _Compiled(sql, places, converters)


def _built(built: Built) -> tuple[str, Sequence[Any], list[tuple[int, list[Any], Any]]]:
    if isinstance(built, Model):
        return _insert(built)
    if isinstance(built, tuple):
        update: Any = built[0].query.chain(UpdateQuery)
        update.add_update_values(built[1])
        return (*update.get_compiler(connection=connection).as_sql(), [])
    compiler = built.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    return sql, params, _converters(compiler, [column for column, _, _ in compiler.select])


def _insert(new: Model) -> tuple[str, Sequence[Any], list[tuple[int, list[Any], Any]]]:
    """What the database itself fills in (the number, the time) is what the statement answers."""
    meta = new._meta
    filled = [
        field for field in meta.concrete_fields if field.primary_key or field.has_db_default()
    ]
    query = InsertQuery(type(new))
    query.insert_values([field for field in meta.concrete_fields if not field.primary_key], [new])
    compiler: Any = query.get_compiler(connection=connection)
    compiler.returning_fields = filled
    ((sql, params),) = compiler.as_sql()
    return (
        sql,
        params,
        _converters(compiler, [field.get_col(new._meta.db_table) for field in filled]),
    )


def _mark(kind: type, number: int) -> Any:
    mark = _MARK + number
    if kind is datetime:
        return datetime(9000 + number, 1, 1, tzinfo=UTC)
    return uuid.UUID(int=mark) if kind is uuid.UUID else kind(mark)


def _adapted(value: Any) -> Any:
    """As the engine takes it: SQLite has neither numbers like these nor times."""
    if isinstance(value, uuid.UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value


def _converters(compiler: Any, columns: list[Any]) -> list[tuple[int, list[Any], Any]]:
    found = compiler.get_converters(columns)
    return [(place, steps, column) for place, (steps, column) in found.items()]


def _converted(row: Sequence[Any], compiled: _Compiled) -> tuple[Any, ...]:
    values = list(row)
    for place, steps, column in compiled.converters:
        for step in steps:
            values[place] = step(values[place], column, connection)
    return tuple(values)


# -- Rows as objects ------------------------------------------------------------------------------


@cache
def columns(model: type[Model], prefix: str = "") -> tuple[str, ...]:
    """The columns of a model for ``values_list``; features are long, and no router reads them."""
    fields = model._meta.concrete_fields
    return tuple(prefix + field.attname for field in fields if not isinstance(field, BinaryField))


def as_object(model: type[M], values: Sequence[Any]) -> M:
    """The object of a row that was read with :func:`columns`."""
    return model.from_db(connection.alias, columns(model), values)
