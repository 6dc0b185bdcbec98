"""The judgments that a replay is made of, frozen so that every draw and every worker sees the same.

A set is frozen as ids and grades. Its features, where a ranker is trained, are read again from the
pairs.
"""

import hashlib
import io
from dataclasses import dataclass
from itertools import chain

import numpy as np

from annotate.lab.errors import LabError
from annotate.labels import counted
from annotate.models import Adjudication, Campaign, Pair
from ranking.experiments.judged import Judged
from ranking.judgments import IntArray

KNOWN = "the known grades"
CONSENSUS = "what all judgments together say"
#: One draw deals them all to every router.
MOST_JUDGMENTS = 2_000_000
CHUNK = 20_000


@dataclass(frozen=True, eq=False)
class Frozen:
    """Judgments in time order by place of the pair; ids, query and truth of every pair."""

    pair: IntArray
    judge: IntArray
    grade: IntArray
    ids: IntArray
    query: IntArray
    truth: IntArray

    def judged(self) -> Judged:
        return Judged(self.pair, self.judge, self.grade, self.truth, self.query)

    def to_bytes(self) -> bytes:
        file = io.BytesIO()
        np.savez_compressed(file, **vars(self))
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Frozen":
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return cls(**{name: stored[name] for name in stored.files})

    @property
    def digest(self) -> str:
        """The same for the same judgments."""
        digest = hashlib.sha256()
        for array in vars(self).values():
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def freeze(campaign: Campaign) -> tuple[Frozen, str]:
    """The judgments that count now, and what stands for the truth of their pairs."""
    names = ("pair_id", "judge_id", "judgment__grade", "query_id")
    seats = counted(campaign).order_by("judged_at", "pk").values_list(*names)
    rows = chain.from_iterable(seats[: MOST_JUDGMENTS + 1].iterator(chunk_size=CHUNK))
    table = np.fromiter(rows, dtype=np.int64).reshape(-1, len(names))
    if len(table) > MOST_JUDGMENTS:
        raise LabError(f"A replay takes at most {MOST_JUDGMENTS:,} judgments. There are more.")
    if not len(table):
        raise LabError("There is no judgment to replay yet.")
    ids, first, pair = np.unique(table[:, 0], return_index=True, return_inverse=True)
    _, query = np.unique(table[first, 3], return_inverse=True)
    judged = Judged(pair, table[:, 1], table[:, 2], np.zeros(len(ids), dtype=np.int64), query)
    truth, words = _truth(campaign, ids, judged)
    return Frozen(pair, table[:, 1], table[:, 2], ids, query, truth), words


def _truth(campaign: Campaign, ids: IntArray, judged: Judged) -> tuple[IntArray, str]:
    """Known grades where every pair has one; else the consensus, and what managers decided."""
    pairs = Pair.objects.filter(campaign=campaign)
    known = dict(pairs.exclude(truth=None).values_list("pk", "truth"))
    known |= dict(pairs.exclude(gold=None).values_list("pk", "gold"))
    if all(int(pk) in known for pk in ids):
        return np.array([known[int(pk)] for pk in ids], dtype=np.int64), KNOWN
    truth = judged.with_consensus().truth.astype(np.int64)
    decided = Adjudication.objects.filter(pair__campaign=campaign).values_list("pair_id", "grade")
    for pk, grade in decided:
        place = int(np.searchsorted(ids, pk))
        if place < len(ids) and ids[place] == pk:
            truth[place] = grade
    return truth, CONSENSUS
