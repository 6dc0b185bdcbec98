"""Reading a file through without loading anything. What is kept of it does not grow with it."""

from array import array
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from django.conf import settings

from annotate.formats import Problem, Row, scales
from annotate.imports.reading import UNLIMITED, Options, items, told
from annotate.models import Campaign, Query

PREVIEW_ROWS = 10
MAX_PROBLEMS = 20_000


@dataclass(frozen=True)
class Limits:
    """How far a file may go."""

    bytes: int = UNLIMITED
    rows: int = UNLIMITED

    @classmethod
    def of_uploads(cls) -> "Limits":
        return cls(settings.UPLOAD_MAX_BYTES, settings.UPLOAD_MAX_ROWS)


@dataclass
class Report:
    """What a file holds. Every record is a row or a problem: ``rows + count`` is all of them."""

    options: Options
    guess: str = ""
    rows: int = 0
    pairs: int = 0
    queries: int = 0
    judgments: int = 0
    passed_over: int = 0
    low: float | None = None
    high: float | None = None
    fractions: bool = False
    asks: bool = False
    width: int = 0
    count: int = 0
    problems: list[Problem] = field(default_factory=list)
    preview: list[Row] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        """A problem; of very many the first are kept, and all are counted.

        Line 0 stands for the whole file: that is always kept.
        """
        self.count += 1
        if len(self.problems) < MAX_PROBLEMS or not line:
            self.problems.append(Problem(line, reason))

    @property
    def question(self) -> str:
        """What a person has to say before the file can be loaded, or nothing."""
        if not self.asks or self.low is None or self.high is None:
            return ""
        found = ", ".join(str(scale) for scale in self.choices) or "LOW-HIGH"
        return (
            f"The grades in this file go from {self.low:g} to {self.high:g}. Say which scale they "
            f"stand on, from worst to best: {found}."
        )

    @property
    def choices(self) -> list[scales.Scale]:
        """The scales that can hold the grades of the file."""
        if self.low is None or self.high is None:
            return []
        return scales.holding(self.low, self.high, self.fractions)


def check(
    path: Path, campaign: Campaign, options: Options | None = None, limits: Limits | None = None
) -> Report:
    """What a file holds and what is wrong with it. Nothing is written."""
    options, limits = options or Options(), limits or Limits.of_uploads()
    guess = "" if options.format else (found := told(path, limits.bytes)).reason
    if not options.format:
        options = replace(options, format=found.name)
    check = _Check(Report(options, guess), campaign)
    for item in items(path, options, limits.bytes):
        check.take(item)
        if check.report.rows > limits.rows:
            check.report.add(item.line, f"A file must have at most {limits.rows} rows.")
            break
    return check.result()


class _Check:
    """What has to be remembered of every row: its pair and its query, as 8 bytes each."""

    def __init__(self, report: Report, campaign: Campaign) -> None:
        self.report = report
        self._campaign = campaign
        self._width = len(campaign.feature_names)
        self._judgments, self._lines = array("q"), array("q")
        self._pairs, self._queries = array("q"), array("q")
        self._known: set[int] | None = None

    def take(self, item: Row | Problem) -> None:
        if isinstance(item, Problem):
            self.report.add(item.line, item.reason)
        elif reason := self._reason(item):
            self.report.add(item.line, reason)
        else:
            self._count(item)

    def _reason(self, row: Row) -> str:
        if self._width and len(row.features or ()) > self._width:
            return f"There must be {self._width} features. Got {len(row.features or ())} instead."
        if not row.document_key and not row.passed_over and not self._knows(row):
            return "There is no such query in this campaign yet."
        return ""

    def _knows(self, row: Row) -> bool:
        if self._known is None:
            found = Query.objects.filter(campaign=self._campaign).values_list("key", "text")
            self._known = {hash(name) for names in found.iterator() for name in names}
        return hash(row.query_key) in self._known or hash(row.query.strip()) in self._known

    def _count(self, row: Row) -> None:
        report = self.report
        report.rows += 1
        report.passed_over += row.passed_over
        report.width = max(report.width, len(row.features or ()))
        self._queries.append(hash(row.query_key))
        if row.document_key:
            self._pairs.append(hash((row.query_key, row.document_key)))
        if not row.passed_over:
            for judge in [rating.judge for rating in row.ratings] or ["\n"]:  # nobody's
                self._judgments.append(hash((row.query_key, row.document_key, judge)))
                self._lines.append(row.line)
        self._grade(row)
        if len(report.preview) < PREVIEW_ROWS:
            report.preview.append(row)

    def _grade(self, row: Row) -> None:
        report = self.report
        report.judgments += len(row.ratings)
        for rating in row.ratings:
            report.low = rating.value if report.low is None else min(report.low, rating.value)
            report.high = rating.value if report.high is None else max(report.high, rating.value)
            report.fractions |= rating.value != int(rating.value)
        if row.ratings and not row.own_scale and not report.options.scale:
            report.asks = True

    def result(self) -> Report:
        report = self.report
        report.pairs, report.queries = _distinct(self._pairs), _distinct(self._queries)
        del self._pairs, self._queries
        self._report_doubles()
        if not report.rows and not report.count:
            report.add(1, "The file holds no row.")
        report.problems.sort(key=lambda problem: problem.line)
        return report

    def _report_doubles(self) -> None:
        """Lines that say again what an earlier line said, with that line."""
        said = np.frombuffer(self._judgments, dtype=np.int64)
        order = np.argsort(said, kind="stable")  # so the first of several stays the first
        said = said[order]
        again = np.flatnonzero(said[1:] == said[:-1]) + 1
        lines = np.frombuffer(self._lines, dtype=np.int64)[order]
        del order
        double, where = np.unique(lines[again], return_index=True)
        self.report.rows -= len(double)
        self.report.count += max(len(double) - MAX_PROBLEMS, 0)
        for line, place in zip(double[:MAX_PROBLEMS], where[:MAX_PROBLEMS], strict=True):
            first = lines[np.searchsorted(said, said[again[place]])]
            self.report.add(int(line), f"The pair stands on line {first} already.")


def _distinct(numbers: "array[int]") -> int:
    return len(np.unique(np.frombuffer(numbers, dtype=np.int64)))
