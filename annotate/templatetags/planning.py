"""Figures of the planner and the Lab, with the ways they write numbers."""

from typing import Any

from django import template

from annotate.figures import Column, Figure, Row
from annotate.templatetags.figures import MISSING
from annotate.templatetags.reports import LEFT, Cell, cell

register = template.Library()


def _cell(column: Column, row: Row) -> Cell:
    values = [row.get(key) for key in column.keys]
    if column.kind == "span":
        low, high = (f"{value:,}" for value in values)
        return Cell("always" if low == high else f"{low}–{high}", True, column.kind)
    if column.kind == "interval3":
        known = [f"{value:+.3f}".replace("-", "−") for value in values if value is not None]
        return Cell(" to ".join(known) or MISSING, True, column.kind)
    if column.kind == "signed3":
        text = MISSING if values[0] is None else f"{values[0]:+.3f}".replace("-", "−")
        return Cell(text, True, column.kind)
    if column.kind == "money":
        return Cell(MISSING if values[0] is None else f"{values[0]:,.2f}", True, column.kind)
    return cell(column, row, "")


@register.inclusion_tag("plan/_table.html")
def plan_table(shown: Figure) -> dict[str, Any]:
    """The numbers of a figure."""
    return {
        "figure": shown,
        "heads": [(column.title, column.kind not in LEFT) for column in shown.columns],
        "rows": [[_cell(column, row) for column in shown.columns] for row in shown.rows],
    }
