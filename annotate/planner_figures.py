"""A plan as figures: what the charts of the page draw, its tables, CSV. Reads only."""

from math import isnan
from typing import Any

from annotate.figures import Column, Figure, Row
from annotate.planner import Ask, Plan, Step
from ranking.planning import Option

#: The schemes that have a line of their own beside the frontier.
LINES = ("single", "if-good-2", "if-good-3", "3-overlap")


def figures(plan: Plan) -> list[Figure]:
    return [frontier(plan), alternatives(plan)]


def frontier(plan: Plan) -> Figure:
    """What every budget buys at best."""
    return Figure(
        "frontier",
        "What more or less would buy",
        f"The NDCG@{plan.ask.k} that labels allow at best, less what dropped queries and "
        "documents would have taught, for every budget. The thick line is the best plan at each, "
        "the thin ones are single schemes.",
        [
            Column("budget", "Budget, judgments", "whole"),
            *_money(plan.ask, "budget_money"),
            Column("scheme", "Best scheme", "scheme"),
            Column("queries", "Queries", "whole"),
            Column("depth", "Depth", "whole"),
            Column("worth", "Expected", "figure3"),
            *(Column(name, name, "figure3") for name in LINES),
        ],
        [_step(plan.ask, step) for step in plan.frontier],
    )


def alternatives(plan: Plan) -> Figure:
    """Every scheme at its best within the budget."""
    return Figure(
        "alternatives",
        "Every scheme at its best",
        f"Each with the queries and the depth that suit it best within {plan.ask.budget:,} "
        f"judgments. The ceiling is the best NDCG@{plan.ask.k} that a ranker can be seen to reach "
        "with such labels. The gain is what 1,000 of the judgments beyond the first of each pair "
        "add to it.",
        [
            Column("scheme", "Scheme", "scheme"),
            Column("queries", "Queries", "whole"),
            Column("depth", "Depth", "whole"),
            Column("judgments", "Judgments", "whole"),
            Column("low:high", "95 % interval", "span"),
            *_money(plan.ask, "money"),
            Column("per_pair", "Per pair", "figure"),
            Column("ceiling", "Ceiling", "figure3"),
            Column("worth", "Expected", "figure3"),
            Column("gain", "Gain per 1,000", "figure3"),
        ],
        [as_row(plan.ask, option) for option in plan.alternatives],
    )


def as_row(ask: Ask, option: Option) -> Row:
    """An option in numbers."""
    return {
        "scheme": option.scheme.label,
        "queries": option.queries,
        "depth": option.depth,
        "judgments": round(option.judgments),
        "low": round(option.low),
        "high": round(option.high),
        "money": ask.money(option.judgments),
        "per_pair": round(option.per_pair, 4),
        "ceiling": round(option.ceiling, 5),
        "worth": round(option.worth, 5),
        "gain": None if isnan(option.gain) else round(option.gain, 5),
    }


def _step(ask: Ask, step: Step) -> dict[str, Any]:
    row = as_row(ask, step.best) | {
        "budget": step.budget,
        "budget_money": ask.money(step.budget),
        "chosen": step.budget == ask.budget,
    }
    lines = {name: step.worth.get(name) for name in LINES}
    return row | {name: None if value is None else round(value, 5) for name, value in lines.items()}


def _money(ask: Ask, key: str) -> list[Column]:
    return [] if ask.price is None else [Column(key, ask.currency or "Money", "money")]


# -- For programs ---------------------------------------------------------------------------------


def as_json(plan: Plan) -> dict[str, Any]:
    """The whole plan in numbers, and what it rests on."""
    shown = [as_row(plan.ask, option) for option in plan.alternatives]
    return {
        "recommended": shown[0] | {"pairs": plan.pairs},
        "alternatives": shown,
        "frontier": [
            {"budget": step.budget} | as_row(plan.ask, step.best) for step in plan.frontier
        ],
        "grades": {"words": plan.ask.grades.words, "shares": list(plan.ask.grades.shares)},
        "judges": {
            "words": plan.ask.judges.words,
            "confusion": [list(row) for row in plan.ask.judges.confusion],
        },
    }


def table(figure: Figure) -> list[str]:
    """A figure as lines of text, columns in line."""
    heads = [column.title for column in figure.columns]
    body = [[_text(row, column) for column in figure.columns] for row in figure.rows]
    widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
    lines = []
    for cells in [heads, *body]:
        first = cells[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        lines.append("  ".join([first, *rest]))
    return lines


def _text(row: Row, column: Column) -> str:
    values = [row.get(key) for key in column.keys]
    formats = {"figure": ".2f", "figure3": ".3f", "money": ",.2f"}
    form = formats.get(column.kind, "" if column.kind == "scheme" else ",")
    return "–".join("" if value is None else format(value, form) for value in values)
