"""JSON lines: an object per line, its members found by their names as the columns of a CSV."""

import json
from collections.abc import Iterator
from typing import Any

from annotate.formats import table
from annotate.formats.rows import Problem, Row
from annotate.formats.source import Source

NOT_AN_OBJECT = "A line must be a JSON object."


def read(source: Source) -> Iterator[Row | Problem]:
    """Every object of the file as a row, or the reason why it is none."""
    for line in source.lines():
        if line.fault:
            yield Problem(line.number, line.fault)
        elif line.text.strip():
            yield _row(line.number, line.text)


def _row(number: int, text: str) -> Row | Problem:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Problem(number, f"{NOT_AN_OBJECT} Got: {_short(error)}.")
    return from_object(number, found)


def from_object(number: int, found: Any) -> Row | Problem:
    """A row from an object with members of our names or their aliases."""
    if not isinstance(found, dict):
        return Problem(number, f"{NOT_AN_OBJECT} Got {type(found).__name__} instead.")
    names = table.columns(found)
    if fault := table.header_fault(names):
        return Problem(number, fault)
    cells = {}
    for name, (key, value) in zip(names, found.items(), strict=True):
        if name and isinstance(value, dict | list):
            return Problem(number, f"{key[:40]} must be a text or a number.")
        if name:
            cells[name] = as_cell(value)
    return table.row(number, cells)


def as_cell(value: Any) -> str:
    """A value of JSON as CSV would have it."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _short(error: Exception) -> str:
    return str(error)[:80] if isinstance(error, ValueError) else "an object that is nested too deep"
