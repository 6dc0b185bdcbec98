"""Result tables: means with their standard errors, paired tests, stars as in the studies; CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ranking.judgments import FloatArray
from ranking.metrics import compare, summary

#: A difference whose paired t-test is below this gets a star.
LEVEL = 0.05


@dataclass(frozen=True)
class Line:
    """One setting: mean over ``n`` units, and its difference to the baseline with the paired test.

    ``stars``: ``*`` better than the baseline, ``**`` better than every other setting.
    """

    name: str
    mean: float
    standard_error: float
    n: int
    left_out: int
    difference: float
    low: float
    high: float
    p: float
    stars: str


def lines(values: Mapping[str, FloatArray], baseline: str) -> list[Line]:
    """Settings by name, each with one value for each of the same units, queries or draws.

    ``nan`` is left out and counted. Tests are two-sided paired t-tests; low and high are the 95 %
    bootstrap interval of the difference.
    """
    if baseline not in values:
        known = ", ".join(values)
        raise ValueError(f"baseline must be one of {known}. Got {baseline} instead.")
    return [_line(name, values, baseline) for name in values]


def _line(name: str, values: Mapping[str, FloatArray], baseline: str) -> Line:
    mine = summary(values[name])
    against = compare(values[name], values[baseline], draws=2_000)
    best = len(values) > 1 and all(
        _better(values[name], other) for key, other in values.items() if key != name
    )
    star = "*" if name != baseline and _better(values[name], values[baseline]) else ""
    return Line(
        name,
        mine.mean,
        mine.standard_error,
        mine.n,
        mine.left_out,
        against.difference,
        against.low,
        against.high,
        against.t_test_p,
        "**" if best else star,
    )


def _better(a: FloatArray, b: FloatArray) -> bool:
    found = compare(a, b, draws=1)
    return found.difference > 0 and found.t_test_p < LEVEL


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers with four places."""
    body = [[_shown(cell) for cell in row] for row in rows]
    parts = [list(head), ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(part)} |" for part in parts)


def as_csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same rows for a spreadsheet, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def _shown(cell: object) -> str:
    if isinstance(cell, float | np.floating):
        return "—" if np.isnan(cell) else f"{cell:.4f}"
    return str(cell)
