"""Figures on pages: a chart with what it is, its numbers in a table, and the same as CSV."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from annotate import notes
from annotate.figures import Column, Figure, Row
from annotate.models import Campaign, User
from annotate.templatetags.figures import MISSING, figure, grade_bar, percent, whole
from ranking.grades import Grade

register = template.Library()

GRADES = {grade.word: int(grade) for grade in Grade}
LEFT = frozenset({"text", "judge", "pair", "query", "grade", "bar", "when", "worry", "scheme"})


@dataclass(frozen=True)
class Cell:
    """One cell as it is written. ``href`` makes it a link, ``grade`` gives it its dot."""

    text: str
    numeric: bool
    kind: str
    href: str = ""
    grade: int | None = None
    histogram: list[int] | None = None
    title: str = ""


@register.filter
def signed(value: float | str | None) -> str:
    """``+0.20`` or ``−0.20``."""
    return f"{value:+.2f}".replace("-", "−") if isinstance(value, float) else MISSING


@register.filter
def points(value: float) -> str:
    """``0.021`` of NDCG as ``+2.1``."""
    return minus(f"{100 * value:+.1f}")


def minus(text: str) -> str:
    """With the sign that is as wide as a plus."""
    return text.replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """``0.57–0.67``; a dash between two signs would be read as a third."""
    if low is None or high is None:
        return MISSING
    return minus(f"{low:.2f} to {high:.2f}") if low < 0 else f"{low:.2f}–{high:.2f}"


@register.filter
def money(value: Decimal | None) -> str:
    """``1,234.50``."""
    return MISSING if value is None else f"{value:,.2f}"


@register.filter
def price(value: Decimal) -> str:
    """Without zeros that say nothing, but never with one decimal only."""
    text = f"{value:.4f}".rstrip("0")
    return text if len(text.partition(".")[2]) >= 2 else f"{value:.2f}"


def change(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:+.0f} %".replace("-", "−")


def small(value: float | None) -> str:
    """A chance; what is next to nothing is said to be so."""
    if value is None:
        return MISSING
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def moment(value: str | None) -> str:
    found: datetime | None = parse_datetime(value) if value else None
    return date_format(localtime(found), "j M, H:i") if found else MISSING


WRITTEN: dict[str, Callable[[Any], str]] = {
    "figure": lambda value: minus(figure(value)),
    "figure3": lambda value: minus(figure(value, 3)),
    "percent": percent,
    "whole": lambda value: whole(None if value is None else round(value)),
    "signed": signed,
    "change": change,
    "p": small,
    "when": moment,
}


def cell(column: Column, row: Row, slug: str) -> Cell:
    """How one value of a row is written."""
    values = [row.get(key) for key in column.keys]
    numeric = column.kind not in LEFT
    if column.kind == "interval":
        return Cell(interval(*values), numeric, column.kind)
    if column.kind == "of":
        text = f"{values[0]} / {values[1]}" if values[1] else MISSING
        return Cell(text, numeric, column.kind)
    if column.kind == "bar":
        return Cell("", numeric, column.kind, histogram=values[0])
    written = WRITTEN.get(column.kind, lambda value: "" if value is None else str(value))
    return Cell(
        written(values[0]),
        numeric,
        column.kind,
        href=_link(column, row, slug),
        grade=GRADES.get(str(values[0])) if column.kind == "grade" else None,
        title=str(row.get("warning", "")) if column.kind == "worry" else "",
    )


def _link(column: Column, row: Row, slug: str) -> str:
    if column.kind == "judge":
        return reverse("judge_page", args=[slug, row[f"{column.key}_id"]])
    if column.kind == "pair":
        return reverse("pair", args=[slug, row["pair_id"]])
    if column.kind == "query":
        return f"{reverse('campaign_pairs', args=[slug])}?{urlencode({'query': row['query']})}"
    return ""


@register.inclusion_tag("campaigns/_figure_table.html")
def figure_table(shown: Figure, campaign: Campaign) -> dict[str, Any]:
    """The numbers of a figure."""
    lines = ([cell(column, row, campaign.slug) for column in shown.columns] for row in shown.rows)
    return {
        "figure": shown,
        "heads": [(column.title, column.kind not in LEFT) for column in shown.columns],
        "rows": [_line(cells) for cells in lines],
    }


def _line(cells: list[Cell]) -> SafeString:
    """A row as HTML. A template for each cell would take most of the time of a large page."""
    first, *rest = cells
    head = format_html(
        '<th scope="row" class="{}is-{}">{}</th>',
        "numeric " if first.numeric else "",
        first.kind,
        _inside(first),
    )
    return head + format_html_join(
        "",
        '<td class="{}is-{}">{}</td>',
        (("numeric " if one.numeric else "", one.kind, _inside(one)) for one in rest),
    )


def _inside(one: Cell) -> str:
    """What stands in a cell."""
    if one.histogram is not None:
        return render_to_string("campaigns/_grade_bar.html", grade_bar(one.histogram))
    if one.href:
        return format_html('<a href="{}">{}</a>', one.href, one.text)
    if one.kind == "worry" and one.text:
        return format_html('<strong class="worry" title="{}">{}</strong>', one.title, one.text)
    if one.grade is not None:
        return format_html('<span class="dot g{}"></span>{}', one.grade, one.text)
    return one.text


@register.inclusion_tag("campaigns/_chart.html")
def chart(shown: Figure, campaign: Campaign, kind: str) -> dict[str, Any]:
    """A chart in its card, with its table and its CSV. ``kind`` is the report it belongs to."""
    return _card(shown, campaign, kind)


@register.inclusion_tag("campaigns/_table.html")
def table(shown: Figure, campaign: Campaign, kind: str) -> dict[str, Any]:
    """A figure that is a table, in its card, with its CSV."""
    return _card(shown, campaign, kind)


def _card(shown: Figure, campaign: Campaign, kind: str) -> dict[str, Any]:
    csv = reverse("figure_csv", args=[campaign.slug, kind, shown.name])
    return {"figure": shown, "campaign": campaign, "csv": csv}


@register.inclusion_tag("judge/notes.html", takes_context=True)
def judge_notes(context: dict[str, Any], campaign: Campaign | None = None) -> dict[str, Any]:
    """What the manager told this judge and she has not read yet."""
    judge: User = context["request"].user
    token = context.get("csrf_token")
    return {"notes": list(notes.unread(judge, campaign)), "csrf_token": token}
