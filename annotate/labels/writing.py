"""Labels into their table: only those that changed, and never over one that is newer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection

from annotate.labels.reading import Stored
from annotate.models import Label
from ranking.aggregation import Labels
from ranking.judgments import FloatArray, IntArray

BATCH = 2_000

#: A model moves every score a little with every judgment. A move below this is not worth a write.
SCORE_STEP = 1e-3

_COLUMNS = "pair_id, grade, score, judgments, method"


@dataclass(frozen=True, eq=False)
class Fresh:
    """Labels on their way to the table, sorted by pair."""

    pair: IntArray
    grade: IntArray
    score: FloatArray
    judgments: IntArray
    method: str

    @classmethod
    def none(cls, method: str) -> "Fresh":
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, nothing.astype(np.float64), nothing, method)

    @classmethod
    def of(cls, labels: Labels, pair: IntArray, method: str) -> "Fresh":
        """Labels with the number of judgments behind each; ``pair`` is that of the judgments."""
        number = np.bincount(np.searchsorted(labels.pair, pair), minlength=len(labels.pair))
        return cls(labels.pair, labels.grade, labels.score, number, method)

    def __len__(self) -> int:
        return len(self.pair)

    def _only(self, rows: IntArray) -> "Fresh":
        return Fresh(
            self.pair[rows], self.grade[rows], self.score[rows], self.judgments[rows], self.method
        )

    def changed_from(self, old: Stored) -> "Fresh":
        """Those that are new, or are not what is stored."""
        place = np.searchsorted(old.pair, self.pair)
        place[place == len(old.pair)] = 0
        if not len(old.pair):
            return self
        same = (
            (old.pair[place] == self.pair)
            & (old.grade[place] == self.grade)
            & (old.judgments[place] == self.judgments)
            & (np.abs(old.score[place] - self.score) < SCORE_STEP)
        )
        return self._only(np.flatnonzero(~same))

    def batches(self) -> Iterator["Fresh"]:
        for start in range(0, len(self), BATCH):
            yield self._only(np.arange(start, min(start + BATCH, len(self))))


def write(labels: Fresh, began: datetime | None = None) -> None:
    """Insert or replace labels, but for those that another worker made since ``began``.

    One statement, in the order of the pairs: whoever writes labels takes their locks in that order.
    """
    if not len(labels):
        return
    columns = (labels.pair, labels.grade, labels.score, labels.judgments)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    values: list[Any] = [value for row in rows for value in (*row, labels.method)]
    unless_newer = ""
    if began is not None:
        unless_newer = " WHERE old.updated_at <= %s"
        values.append(connection.ops.adapt_datetimefield_value(began))
    table = connection.ops.quote_name(Label._meta.db_table)
    places = ", ".join(["(%s, %s, %s, %s, %s)"] * len(labels))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} AS old ({_COLUMNS}) VALUES {places} "  # noqa: S608
            "ON CONFLICT (pair_id) DO UPDATE SET grade = excluded.grade, score = excluded.score, "
            "judgments = excluded.judgments, method = excluded.method, "
            f"updated_at = excluded.updated_at{unless_newer}",
            values,
        )
