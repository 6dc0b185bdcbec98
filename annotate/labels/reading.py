"""Judgments and labels as arrays: a million rows without a million objects."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Case, QuerySet, Value, When

from annotate.models import Adjudication, Campaign, Label, Pair, Seat
from ranking.judgments import FloatArray, IntArray

CHUNK = 50_000

#: The method of a label that a manager decided.
ADJUDICATED = "adjudicated"

Judgments = tuple[IntArray, IntArray, IntArray]


def counted(campaign: Campaign) -> QuerySet[Seat]:
    """The seats whose judgments make labels.

    Gold pairs test judges; they are labelled only where the campaign wants it.
    """
    done = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE)
    return done if campaign.gold_in_labels else done.exclude(pair__state=Pair.State.GOLD)


def judgments(seats: QuerySet[Seat]) -> Judgments:
    """The judgments that count now, as the library takes them: pair, judge, grade in time order."""
    ordered = seats.order_by("judged_at", "pk")
    rows = ordered.values_list("pair_id", "judge_id", "judgment__grade")
    table = _table(rows.iterator(chunk_size=CHUNK), 3)
    pair, judge, grade = (np.ascontiguousarray(column) for column in table.T.astype(np.int64))
    return pair, judge, grade


def final_grades(campaign: Campaign) -> QuerySet[Adjudication]:
    """What managers decided, above any aggregator. A gold pair has its known grade instead."""
    decided = Adjudication.objects.filter(pair__campaign=campaign)
    return decided.exclude(pair__state=Pair.State.GOLD)


def decisions(final: QuerySet[Adjudication]) -> tuple[IntArray, IntArray]:
    """Pairs, sorted, and their final grades."""
    rows = final.order_by("pair_id").values_list("pair_id", "grade")
    table = _table(rows.iterator(chunk_size=CHUNK), 2).astype(np.int64)
    return table[:, 0], table[:, 1]


@dataclass(frozen=True, eq=False)
class Stored:
    """The labels as they stand, sorted by pair."""

    pair: IntArray
    grade: IntArray
    score: FloatArray
    judgments: IntArray
    final: npt.NDArray[np.bool_]


def stored_labels(campaign: Campaign, method: str) -> Stored:
    """The labels of a campaign that were made by this method, or decided."""
    rows = (
        Label.objects.filter(pair__campaign=campaign, method__in=[method, ADJUDICATED])
        .annotate(final=Case(When(method=ADJUDICATED, then=Value(1)), default=Value(0)))
        .order_by("pair_id")
        .values_list("pair_id", "grade", "score", "judgments", "final")
    )
    table = _table(rows.iterator(chunk_size=CHUNK), 5)
    pair, grade, number = (table[:, column].astype(np.int64) for column in (0, 1, 3))
    return Stored(pair, grade, table[:, 2].copy(), number, table[:, 4] == 1)


def _table(rows: Iterable[Sequence[Any]], width: int) -> FloatArray:
    """Rows of numbers as one array. Ids below 2⁵³ are exact in it."""
    parts = [
        np.fromiter(chain.from_iterable(chunk), dtype=np.float64).reshape(-1, width)
        for chunk in _chunks(iter(rows))
    ]
    return np.concatenate([np.empty((0, width)), *parts])


def _chunks(rows: Iterator[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk
