"""Labels into their table: only those that changed, and never over one that is newer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

from annotate.labels.reading import ADJUDICATED, Judgments, Stored
from annotate.models import Label
from ranking.aggregation import AGGREGATORS
from ranking.judgments import FloatArray, IntArray

BATCH = 2_000

#: A model moves every score a little with every judgment. A move below this is not worth a write.
SCORE_STEP = 1e-3

_COLUMNS = "pair_id, grade, score, judgments, method"


@dataclass(frozen=True, eq=False)
class Fresh:
    """Labels on their way to the table, sorted by pair. Those that are final were decided."""

    method: str
    pair: IntArray
    grade: IntArray
    score: FloatArray
    judgments: IntArray
    final: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, method: str, made: Judgments) -> "Fresh":
        """What the method makes of these judgments."""
        nothing = np.empty(0, dtype=np.int64)
        if not len(made[0]):
            return cls(method, nothing, nothing, nothing.astype(float), nothing, nothing > 0)
        labels = AGGREGATORS[method].aggregate(*made)
        number = np.bincount(np.searchsorted(labels.pair, made[0]), minlength=len(labels.pair))
        none = np.zeros(len(labels.pair), dtype=bool)
        return cls(method, labels.pair, labels.grade, labels.score, number, none)

    def __len__(self) -> int:
        return len(self.pair)

    def decided(self, pair: IntArray, grade: IntArray) -> "Fresh":
        """With these final grades, also of pairs that nobody has judged."""
        if not len(pair):
            return self
        both = np.union1d(self.pair, pair)
        made, given = np.searchsorted(both, self.pair), np.searchsorted(both, pair)
        grades, number = np.zeros((2, len(both)), dtype=np.int64)
        score, final = np.zeros(len(both)), np.zeros(len(both), dtype=bool)
        grades[made], number[made], score[made] = self.grade, self.judgments, self.score
        grades[given], score[given], final[given] = grade, grade, True
        return Fresh(self.method, both, grades, score, number, final)

    def _only(self, rows: IntArray) -> "Fresh":
        return Fresh(
            self.method,
            self.pair[rows],
            self.grade[rows],
            self.score[rows],
            self.judgments[rows],
            self.final[rows],
        )

    def changed_from(self, old: Stored) -> "Fresh":
        """Those that are new, or are not what is stored."""
        if not len(old.pair):
            return self
        place = np.searchsorted(old.pair, self.pair)
        place[place == len(old.pair)] = 0
        same = (
            (old.pair[place] == self.pair)
            & (old.grade[place] == self.grade)
            & (old.judgments[place] == self.judgments)
            & (old.final[place] == self.final)
            & (np.abs(old.score[place] - self.score) < SCORE_STEP)
        )
        return self._only(np.flatnonzero(~same))

    def methods(self) -> npt.NDArray[np.str_]:
        return np.where(self.final, ADJUDICATED, self.method)

    def batches(self) -> Iterator["Fresh"]:
        for start in range(0, len(self), BATCH):
            yield self._only(np.arange(start, min(start + BATCH, len(self))))


def write(labels: Fresh, began: datetime | None = None) -> None:
    """Insert or replace labels, but for those that another worker made since ``began``.

    One statement, in the order of the pairs: whoever writes labels takes their locks in that order.
    """
    if not len(labels):
        return
    columns = (labels.pair, labels.grade, labels.score, labels.judgments, labels.methods())
    rows = zip(*(column.tolist() for column in columns), strict=True)
    values: list[Any] = list(chain.from_iterable(rows))
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
