"""A file as rows that are ready to load: its format told, its grades turned into ours."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from annotate.formats import FORMATS, FileRefusedError, Guess, Problem, Row, Source, guess, scales

JUDGMENTS = "judgments"
TRUTH = "truth"
UNLIMITED = sys.maxsize


class ImportRefusedError(Exception):
    """The file cannot be loaded; the bad lines are named."""

    def __init__(self, problems: list[Problem], count: int | None = None) -> None:
        self.problems = problems
        lines = "; ".join(f"line {p.line}: {p.reason}" for p in problems[:3])
        super().__init__(f"{count or len(problems)} lines cannot be loaded. {lines}")


@dataclass(frozen=True)
class Options:
    """What a person says about a file. What she leaves empty is found out, or asked about.

    ``format``: a name of FORMATS. ``scale``: what its grades stand on, as ``1-5``. ``grades``:
    whether they are ``judgments`` or the ``truth`` that simulated judges err from. ``judge``:
    whose grades they are, where the file does not say.
    """

    format: str = ""
    scale: str = ""
    grades: str = ""
    judge: str = ""

    def __post_init__(self) -> None:
        if self.format and self.format not in FORMATS:
            raise ValueError(f"A format must be one of {', '.join(FORMATS)}. Got {self.format!r}.")
        if self.grades not in ("", JUDGMENTS, TRUTH):
            raise ValueError(f"Grades must be judgments or truth. Got {self.grades!r} instead.")
        if self.scale:
            scales.parse(self.scale)

    @property
    def truth(self) -> bool:
        """Whether grades are kept as the known ones, not as judgments."""
        return self.grades == TRUTH or (not self.grades and FORMATS[self.format].truth)


def told(path: Path, most: int) -> Guess:
    """What the file looks like."""
    try:
        return guess(Source(path, most).head())
    except FileRefusedError:
        return Guess("csv", "It cannot be read.")


def items(path: Path, options: Options, most: int = UNLIMITED) -> Iterator[Row | Problem]:
    """The rows of a file, or why they are none. Grades are left as they stand without a scale."""
    scale = scales.parse(options.scale) if options.scale else None
    if scale is None and options.truth:
        scale = scales.OURS
    try:
        for item in FORMATS[options.format].read(Source(path, most)):
            if isinstance(item, Row) and item.ratings:
                yield _graded(item, scales.OURS if item.own_scale else scale, options.truth)
            else:
                yield item
    except FileRefusedError as error:
        yield Problem(0, str(error))


def _graded(row: Row, scale: scales.Scale | None, truth: bool) -> Row | Problem:
    if scale is None:
        return row
    grades = [scale.grade(rating.value) for rating in row.ratings]
    for rating, grade in zip(row.ratings, grades, strict=True):
        if grade is None:
            return Problem(row.line, _off(rating.value, scale))
    if truth:
        return replace(row, truth=grades[0], ratings=())
    ratings = tuple(
        replace(rating, value=grade or 0) for rating, grade in zip(row.ratings, grades, strict=True)
    )
    return replace(row, ratings=ratings)


def _off(value: float, scale: scales.Scale) -> str:
    kind = "number" if scale.fractions else "whole number"
    return f"A grade must be a {kind} from {scale.low} to {scale.high}. Got {value:g} instead."
