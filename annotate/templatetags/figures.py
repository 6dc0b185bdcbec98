"""How figures are written on pages: a missing one is a dash, never a blank or a zero."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import template

from ranking.grades import Grade

register = template.Library()

MISSING = "–"
BAR_WIDTH = 100
KINDS = {
    "aggregate": "Make labels",
    "announce": "Tell what happened",
    "deliver": "Send to a webhook",
    "fold": "Train a fold",
    "import": "Load a file",
    "lab": "Begin a replay",
    "lab-draw": "Replay a draw",
    "lab-finish": "Finish a replay",
    "relabel": "Make all labels anew",
    "report": "Reckon the figures",
    "reroute": "Apply the scheme",
    "snapshot": "Measure agreement",
    "train": "Train a ranker",
    "train-finish": "Finish a ranker",
}


@register.filter
def figure(value: float | str | None, decimals: int = 2) -> str:
    """``0.62``; a dash where there is none. Django gives what does not exist as an empty text."""
    return f"{value:.{decimals}f}" if isinstance(value, int | float) else MISSING


@register.filter
def percent(value: float | None) -> str:
    """``0.78`` as ``78 %``. What is not finished is never rounded up to 100."""
    if value is None:
        return MISSING
    whole = round(100 * value)
    return f"{99 if whole == 100 and value < 1 else whole}\u00a0%"


@register.filter
def whole(value: int | None) -> str:
    """``12,345``."""
    return MISSING if value is None else f"{value:,}"


@register.filter
def magnitude(value: float) -> float:
    """Without its sign."""
    return abs(value)


@register.filter
def kind_words(kind: str) -> str:
    """What a job does, in words."""
    return KINDS.get(kind, kind)


@dataclass(frozen=True)
class Segment:
    """One grade's part of a bar."""

    grade: int
    name: str
    count: int
    x: float
    width: float


@register.inclusion_tag("campaigns/_grade_bar.html")
def grade_bar(histogram: Sequence[int]) -> dict[str, object]:
    """Judgments per grade (Bad first) as one bar with the words in its description."""
    total = sum(histogram)
    segments = []
    x = 0.0
    for grade in Grade:
        width = BAR_WIDTH * histogram[grade] / total if total else 0.0
        segments.append(Segment(int(grade), grade.word, histogram[grade], round(x, 3), width))
        x += width
    words = ", ".join(f"{part.count} {part.name}" for part in reversed(segments))
    return {"segments": [part for part in segments if part.count], "words": words, "total": total}
