"""Collections of overlapping judgments: read from files, or drawn for documents of known grade.

Three sources: the five-grade web judgments (``web_search_5grade``), the topical relevance of news
(``nyt_topical_relevance``), and LETOR data whose grades simulated judges look at.
"""

import csv
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from ranking.aggregation import AGGREGATORS
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments
from ranking.simulation import draw

Key = TypeVar("Key", str, tuple[str, str])
#: Documents of a pseudo-query, where a collection does not say which query its pairs belong to.
PSEUDO = 20
#: The grade of a three-grade scale on ours, by the gain it deserves: nothing, some, all.
THREE_GRADES = {"not_relevant": 0, "relevant": 2, "highly_relevant": 4}


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments of pairs 0 … n − 1, in time order, and what is known of the pairs.

    ``query[p]``: the query of pair p; None where nobody knows, and pairs are then put at random
    into pseudo-queries of 20, anew in every draw. ``truth[p]``: its true grade.
    """

    pair: IntArray
    judge: IntArray
    grade: IntArray
    truth: IntArray
    query: IntArray | None

    def __post_init__(self) -> None:
        check_judgments(self.pair, self.judge, self.grade)
        seen = np.unique(self.pair)
        if len(seen) != len(self.truth) or seen[-1] != len(self.truth) - 1:
            raise ValueError(
                f"Every pair of 0 … {len(self.truth) - 1} must have a judgment. "
                f"Got {len(seen)} that have one instead."
            )
        if self.query is not None and len(self.query) != len(self.truth):
            raise ValueError(
                "query and truth must have the same length. "
                f"Got {len(self.query)} and {len(self.truth)} instead."
            )

    def __len__(self) -> int:
        return len(self.truth)

    def fingerprint(self) -> str:
        """The same for the same judgments: what was computed from others is not used again."""
        digest = hashlib.sha256()
        for array in (self.pair, self.judge, self.grade, self.truth, self.query):
            digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def with_consensus(self, aggregator: str = "ordinal") -> "Judged":
        """Without a known truth: what all judgments together say stands for it."""
        labels = AGGREGATORS[aggregator].aggregate(self.pair, self.judge, self.grade)
        return replace(self, truth=labels.grade)

    def queries(self, rng: np.random.Generator) -> IntArray:
        """The query of every pair, −1 for pairs left over when pseudo-queries are dealt."""
        if self.query is not None:
            return self.query
        dealt = np.full(len(self), -1, dtype=np.int64)
        whole = len(self) // PSEUDO * PSEUDO
        dealt[rng.permutation(len(self))[:whole]] = np.arange(whole) // PSEUDO
        return dealt


def web_search(folder: Path) -> Judged:
    """``web_search_5grade``: judgments of web pages whose truth is known, without queries."""
    where = folder / "web_search_5grade"
    truth = {row["item"]: int(row["truth"]) for row in _rows(where / "truth.csv")}
    rows = [
        (row["item"], row["worker"], int(row["label"]))
        for row in _rows(where / "label.csv")
        if row["item"] in truth
    ]
    return _numbered(rows, truth, None)


def nyt(folder: Path, condition: str = "High") -> Judged:
    """``nyt_topical_relevance``, three grades, passages ``High``-lighted or not (``NoHigh``).

    The grades 0, 1, 2 stand for Bad, Good and Perfect. The truth is the reviewers' own 0 … 2, whose
    gains only order the documents.
    """
    where = folder / "nyt_topical_relevance"
    files = sorted(where.glob(f"Pilot_3P-Doc-{condition}__*.csv.gz"))
    if not files:
        raise ValueError(f"{where} must hold judgments of {condition}. Got none instead.")
    truth = {
        (row["topic"], row["document_id"]): int(float(row["reviewers_rel"]))
        for row in _rows(where / "reviewers_pilot_aggregated_judgments.csv.gz")
    }
    rows = [
        ((row["topic"], row["document_id"]), row["worker"], THREE_GRADES[row["relevance"]])
        for file in files
        for row in _rows(file)
        if row["relevance"] in THREE_GRADES
    ]
    return _numbered(rows, truth, {key: key[0] for key in truth})


def simulated(
    truth: IntArray,
    query: IntArray,
    confusion: FloatArray,
    *,
    per_pair: int = 11,
    judges: int = 120,
    rng: np.random.Generator | int = 0,
) -> Judged:
    """``per_pair`` judgments of every pair by different ones of ``judges`` like-minded judges."""
    if not 1 <= per_pair <= judges:
        raise ValueError(f"per_pair must lie in 1 … {judges}. Got {per_pair} instead.")
    generator = np.random.default_rng(rng)
    pair = np.tile(np.arange(len(truth)), per_pair)
    turn = np.repeat(np.arange(per_pair), len(truth))
    first = generator.integers(judges, size=len(truth))
    return Judged(
        pair=pair,
        judge=(first[pair] + turn) % judges,
        grade=draw(truth[pair], confusion, generator),
        truth=truth,
        query=query,
    )


def made_lists(
    prior: Sequence[float], queries: int, documents: int, rng: np.random.Generator | int = 0
) -> tuple[IntArray, IntArray]:
    """Truth and query of lists whose grades are drawn from ``prior``."""
    generator = np.random.default_rng(rng)
    truth = generator.choice(LEVELS, queries * documents, p=prior)
    return truth.astype(np.int64), np.repeat(np.arange(queries), documents)


def read_csv(path: Path) -> Judged:
    """A file of overlapping judgments: columns query, document, judge, grade and, if known, truth.

    Grades are 0 … 4. Where there is no truth, what all judgments together say stands for it.
    """
    rows = list(_rows(path))
    needed = {"query", "document", "judge", "grade"}
    if not rows or not needed <= rows[0].keys():
        got = ", ".join(rows[0]) if rows else "no row"
        raise ValueError(f"{path.name} must have {', '.join(sorted(needed))}. Got {got} instead.")
    key = [(row["query"], row["document"]) for row in rows]
    known = "truth" in rows[0]
    truth = {k: int(row["truth"]) if known else 0 for k, row in zip(key, rows, strict=True)}
    given = [(k, row["judge"], int(row["grade"])) for k, row in zip(key, rows, strict=True)]
    judged = _numbered(given, truth, {k: k[0] for k in truth})
    return judged if known else judged.with_consensus()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    else:
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def _numbered(
    rows: list[tuple[Key, str, int]], truth: dict[Key, int], query: dict[Key, str] | None
) -> Judged:
    """Keys and names become numbers, in their own order."""
    keys = sorted({row[0] for row in rows} & truth.keys())
    place = {key: n for n, key in enumerate(keys)}
    who = {name: n for n, name in enumerate(sorted({row[1] for row in rows}))}
    kept = [(place[key], who[name], grade) for key, name, grade in rows if key in place]
    pair, judge, grade = (np.array(column, dtype=np.int64) for column in zip(*kept, strict=True))
    topic = None
    if query is not None:
        topics = {name: n for n, name in enumerate(sorted(set(query.values())))}
        topic = np.array([topics[query[key]] for key in keys], dtype=np.int64)
    return Judged(pair, judge, grade, np.array([truth[key] for key in keys]), topic)
