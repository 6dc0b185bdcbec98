"""Who says what where others say something else: tables of grade against grade. Reads only."""

from typing import Any

from annotate.figures import Column, Figure, Row, word
from ranking.grades import LEVELS

NO_OVERLAP = "No pair has two judgments yet. Agreement appears with the first second opinion."


def matrix_rows(counts: list[list[int]]) -> list[Row]:
    """A table of the consensus (rows) against a judge (columns), as long rows."""
    return [
        {
            "consensus": word(i),
            "judge": word(j),
            "count": counts[i][j],
            "share": counts[i][j] / sum(counts[i]) if sum(counts[i]) else None,
        }
        for i in reversed(range(LEVELS))
        for j in reversed(range(LEVELS))
    ]


MATRIX = (
    Column("consensus", "The others say"),
    Column("judge", "A judge says"),
    Column("count", "Judgments", "whole"),
    Column("share", "Share of the row", "percent"),
)


def consensus(data: dict[str, Any]) -> Figure:
    found = data.get("consensus", {"counts": [], "judgments": 0})
    return Figure(
        "consensus",
        "A judge against the others",
        "Where the majority of the others says the grade on the left, how often does a judge say "
        f"the grade below? n = {found['judgments']:,} judgments, each against the others.",
        MATRIX,
        matrix_rows(found["counts"]) if found["judgments"] else [],
        NO_OVERLAP,
    )


def pooled(data: dict[str, Any]) -> Figure:
    """How two judges of a pair differ; what the ceiling is made of."""
    found = _pooled(data)
    n = sum(map(sum, found["couples"]))
    rows = [
        {
            "one": word(i),
            "other": word(j),
            "share": found["matrix"][i][j],
            "low": found["low"][i][j],
            "high": found["high"][i][j],
            "count": found["couples"][i][j],
            "how": "inferred" if i in found["inferred"] else "",
        }
        for i in reversed(range(LEVELS))
        for j in reversed(range(LEVELS))
        if n
    ]
    return Figure(
        "pooled",
        "One judge and another",
        "When one judge says the grade on the left, how often does another say the grade below? "
        f"n = {n:,} couples of judgments; the ceiling of the rankers is made of it."
        f"{_inferred(found)}",
        [
            Column("one", "One says"),
            Column("other", "Another says"),
            Column("share", "Share of the row", "percent"),
            Column("low:high", "95 % interval", "interval"),
            Column("count", "Couples", "whole"),
            Column("how", ""),
        ],
        rows,
        NO_OVERLAP,
    )


def _pooled(data: dict[str, Any]) -> dict[str, Any]:
    return data.get("pooled") or {"matrix": [], "couples": [], "inferred": []}


def _inferred(found: dict[str, Any]) -> str:
    """Which rows nobody asked about."""
    if not found["inferred"]:
        return ""
    names = " and ".join(word(grade) for grade in reversed(found["inferred"]))
    return (
        f" After a first {names} nobody else is asked, so those rows follow from the others: two "
        "judges may change places. Between these grades no more agreement is assumed than is known."
    )


def by_grade(data: dict[str, Any]) -> Figure:
    found = _pooled(data)
    couples_of = sum(map(sum, found["couples"]))
    rows = [
        {
            "grade": grade,
            "name": word(grade),
            "value": found["matrix"][grade][grade],
            "low": found["low"][grade][grade],
            "high": found["high"][grade][grade],
            "couples": sum(found["couples"][grade]),
            "how": "at least" if grade in found["inferred"] else "",
        }
        for grade in reversed(range(LEVELS))
        if couples_of
    ]
    some = " Where nobody else is asked after a first one, at least." if found["inferred"] else ""
    return Figure(
        "by_grade",
        "Agreement by grade",
        "When one judge gives this grade, how often does another of the same pair give it too? "
        f"n = {couples_of:,} couples of judgments.{some}",
        [
            Column("name", "Grade", "grade"),
            Column("how", ""),
            Column("value", "Also given by another", "percent"),
            Column("low:high", "95 % interval", "interval"),
            Column("couples", "Couples", "whole"),
        ],
        rows,
        NO_OVERLAP,
    )
