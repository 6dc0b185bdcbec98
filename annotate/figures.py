"""Figures as tables: one form for what a chart draws, what stands under it, CSV and the API."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotate.models import Campaign, Report, User
from ranking.grades import Grade

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """``kind`` says how a value is written; an interval is in two columns, ``low:high``."""

    key: str
    title: str
    kind: str = "text"

    @property
    def keys(self) -> list[str]:
        return self.key.split(":")


@dataclass(frozen=True)
class Figure:
    """What a figure is, with its n in ``about``, and its numbers row by row.

    ``empty`` says why there is nothing to see and what to do. Rows may hold more than the columns
    show: ids for links, and what only the chart draws.
    """

    name: str
    title: str
    about: str
    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)
    empty: str = "Nothing yet."

    @property
    def chart(self) -> dict[str, Any]:
        """What the script draws and says."""
        shown = [{"key": c.key, "title": c.title, "kind": c.kind} for c in self.columns]
        return {"columns": shown, "rows": self.rows}


def lines(figure: Figure) -> Iterator[str]:
    """The figure as CSV, numbers as they are."""
    writer = csv.writer(_Echo())
    keys = [key for column in figure.columns for key in column.keys]
    yield writer.writerow(keys)
    for row in figure.rows:
        yield writer.writerow([_plain(row.get(key)) for key in keys])


class _Echo:
    """csv writes to it and gets back what it wrote."""

    def write(self, line: str) -> str:
        return line


def _plain(value: Any) -> Any:
    """No cell begins a formula in a spreadsheet."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, str) and value[:1] in "=+-@\t\r":
        return f"'{value}"
    return "" if value is None else value


# -- What figures are made of ---------------------------------------------------------------------


def stored(campaign: Campaign, kind: str) -> tuple[dict[str, Any], datetime | None]:
    """The latest report of a kind and when it was made; nothing before the first one."""
    report = Report.objects.filter(campaign=campaign, kind=kind).first()
    return (report.data, report.created_at) if report else ({}, None)


def names(ids: Iterable[int]) -> dict[int, str]:
    """How people are called on pages."""
    people = User.objects.filter(pk__in=set(ids)).only("first_name", "username")
    return {user.pk: user.first_name or user.username for user in people}


def when(seconds: float | None) -> str | None:
    """A moment as text that every program reads."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def word(grade: int) -> str:
    return Grade(grade).word


def counted(number: int, noun: str) -> str:
    """``1 judge``, ``3 judges``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
