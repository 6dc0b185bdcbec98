"""Statements that are built once and run for every judgment.

To build the SQL of a query takes the ORM several times as long as the database takes to run it.
The statements of the busiest path are therefore written as querysets like all others, compiled
once for each engine, and run with other values from then on.
"""

import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import BinaryField, Model, QuerySet
from django.db.models.sql import UpdateQuery

M = TypeVar("M", bound=Model)

#: What a statement is built of: a queryset, and for an update also the new values.
Built = QuerySet[Any, Any] | tuple[QuerySet[Any, Any], dict[str, Any]]

#: Values that no row has: they show where the real ones go.
_MARK = 7_000_000_000_000_000


class _Compiled(NamedTuple):
    sql: str
    #: For each place the number of the value that goes there, or the constant that stands there.
    places: list[tuple[int | None, Any]]
    converters: list[tuple[int, list[Any], Any]]


class Prepared:
    """A statement with places for values of these kinds: int, str or uuid.UUID."""

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
        native = connection.features.has_native_uuid_field
        given = [v.hex if isinstance(v, uuid.UUID) and not native else v for v in values]
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
    built = build(*marks)
    if isinstance(built, tuple):
        query: Any = built[0].query.chain(UpdateQuery)
        query.add_update_values(built[1])
    else:
        query = built.query
    compiler = query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    places = [(_number(param, marks), param) for param in params]
    if not {number for number, _ in places} >= set(range(len(kinds))):
        raise TypeError(f"Every value must have a place in the statement. Got {sql} instead.")
    return _Compiled(sql, places, [] if isinstance(built, tuple) else _converters(compiler))


def _mark(kind: type, number: int) -> Any:
    mark = _MARK + number
    return uuid.UUID(int=mark) if kind is uuid.UUID else kind(mark)


def _number(param: Any, marks: Sequence[Any]) -> int | None:
    for number, mark in enumerate(marks):
        if param == mark or (isinstance(mark, uuid.UUID) and param == mark.hex):
            return number
    return None


def _converters(compiler: Any) -> list[tuple[int, list[Any], Any]]:
    columns = [column for column, _, _ in compiler.select]
    found = compiler.get_converters(columns)
    return [(place, steps, column) for place, (steps, column) in found.items()]


def _converted(row: Sequence[Any], compiled: _Compiled) -> tuple[Any, ...]:
    values = list(row)
    for place, steps, column in compiled.converters:
        for step in steps:
            values[place] = step(values[place], column, connection)
    return tuple(values)


# -- Rows as objects ------------------------------------------------------------------------------


def columns(model: type[Model], prefix: str = "") -> list[str]:
    """The columns of a model for ``values_list``; features are long, and no router reads them."""
    fields = model._meta.concrete_fields
    return [prefix + field.attname for field in fields if not isinstance(field, BinaryField)]


def as_object(model: type[M], values: Sequence[Any]) -> M:
    """The object of a row that was read with :func:`columns`."""
    return model.from_db(connection.alias, columns(model), values)
