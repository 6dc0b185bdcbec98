"""The judgments of a campaign with all that the figures are made of, as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from annotate.labels import counted
from annotate.models import Campaign, Pair, Seat
from ranking.judgments import FloatArray, IntArray

CHUNK = 20_000


@dataclass(frozen=True, eq=False)
class Made:
    """The judgments that count now, in time order. ``at`` and ``active`` are in seconds."""

    pair: IntArray
    judge: IntArray
    grade: IntArray
    query: IntArray
    at: FloatArray
    active: FloatArray

    @property
    def rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """As the library takes them."""
        return self.pair, self.judge, self.grade

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, kept: npt.NDArray[np.bool_] | IntArray) -> "Made":
        return Made(
            self.pair[kept],
            self.judge[kept],
            self.grade[kept],
            self.query[kept],
            self.at[kept],
            self.active[kept],
        )


@dataclass(frozen=True, eq=False)
class Gold:
    """The judgments of gold pairs, with the known grade of each."""

    pair: IntArray
    judge: IntArray
    grade: IntArray
    truth: IntArray


def made(campaign: Campaign) -> Made:
    """What labels are made of, in the same order."""
    names = ("pair_id", "judge_id", "judgment__grade", "query_id")
    table = _table(counted(campaign), (*names, "judged_at", "judgment__active_ms"))
    pair, judge, grade, query = (column.astype(np.int64) for column in table[:, :4].T)
    return Made(pair, judge, grade, query, table[:, 4].copy(), table[:, 5] / 1000.0)


def gold(campaign: Campaign) -> Gold:
    """Every judgment of a gold pair that counts now."""
    done = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE)
    seats = done.filter(pair__state=Pair.State.GOLD)
    table = _table(seats, ("pair_id", "judge_id", "judgment__grade", "pair__gold"))
    return Gold(*(column.astype(np.int64) for column in table.T))


def _table(seats: QuerySet[Seat], names: tuple[str, ...]) -> FloatArray:
    """Numbers row by row: a million rows without a million objects."""
    rows = seats.order_by("judged_at", "pk").values_list(*names).iterator(chunk_size=CHUNK)
    flat = np.fromiter(chain.from_iterable(map(_numbers, rows)), dtype=np.float64)
    return flat.reshape(-1, len(names))


def _numbers(row: tuple[Any, ...]) -> Iterator[float]:
    for value in row:
        if value is None:
            yield np.nan
        else:
            yield value.timestamp() if isinstance(value, datetime) else value
