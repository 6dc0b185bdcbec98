"""The demo campaign: real queries over the standard library of the running interpreter.

``load_demo()`` reads the documents from their docstrings, searches them with BM25 and gives every
query its ten best candidates that have a grade in ``truth.csv``. Grades were written by hand; see
``docs/demo.md``. Neither this module nor ``corpus`` needs Django: experiments can use them alone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotate.demo.corpus import Document, standard_library
from ranking.bm25 import BM25, FloatArray

__all__ = ["Candidate", "Demo", "Document", "FirstStage", "Query", "load_demo"]

FEWEST_CANDIDATES = 8
MOST_CANDIDATES = 10
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Query:
    """What somebody typed, and what she wanted."""

    query_id: str
    text: str
    intent: str
    locale: str


@dataclass(frozen=True)
class Candidate:
    """A document that the first stage found, its rank (1 = best) and its true grade (0 to 4)."""

    document: Document
    rank: int
    grade: int


@dataclass(frozen=True)
class Demo:
    """Queries, and for each query id its candidates, best first."""

    queries: tuple[Query, ...]
    candidates: dict[str, tuple[Candidate, ...]]

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document that is a candidate of some query, once, in order of first use."""
        found = {c.document.key: c.document for row in self.candidates.values() for c in row}
        return tuple(found.values())

    @property
    def truth(self) -> dict[tuple[str, str], int]:
        """The true grade of each pair (query id, document key)."""
        return {
            (query_id, candidate.document.key): candidate.grade
            for query_id, row in self.candidates.items()
            for candidate in row
        }

    def rows(self) -> Iterator[dict[str, str | int]]:
        """One row per pair, with the columns of an import file and the true grade."""
        for query in self.queries:
            for candidate in self.candidates[query.query_id]:
                document = candidate.document
                yield {
                    "query_id": query.query_id,
                    "query": query.text,
                    "intent": query.intent,
                    "locale": query.locale,
                    "doc_id": document.key,
                    "url": document.url,
                    "title": document.title,
                    "snippet": document.snippet,
                    "text": document.text,
                    "rank": candidate.rank,
                    "truth": candidate.grade,
                }


class FirstStage:
    """BM25 of the text plus half the BM25 of the name; long texts are held back less than usual."""

    def __init__(self, documents: list[Document]) -> None:
        self._titles = BM25(b=0.3).fit(document.title for document in documents)
        self._texts = BM25(b=0.6).fit(document.text for document in documents)

    def scores(self, query: str) -> FloatArray:
        """The score of every document for one query."""
        return 0.5 * self._titles.scores(query) + self._texts.scores(query)


def load_demo() -> Demo:
    """Build the demo from the running interpreter; the same interpreter gives the same demo.

    A document without a true grade (another version of Python may find one) is passed over, so
    every pair of the demo has a grade. Raises ``RuntimeError`` if a query keeps fewer than
    eight candidates, as it happens where docstrings are stripped by ``python -OO``.
    """
    queries = tuple(_read_queries())
    grades = _read_truth()
    documents = standard_library()
    first_stage = FirstStage(documents)
    candidates = {
        query.query_id: _candidates(
            documents, first_stage.scores(query.text), grades[query.query_id]
        )
        for query in queries
    }
    for query_id, row in candidates.items():
        if len(row) < FEWEST_CANDIDATES:
            raise RuntimeError(
                f"Query {query_id} needs at least {FEWEST_CANDIDATES} documents. Got {len(row)} "
                "instead. Docstrings are missing when Python runs with -OO."
            )
    return Demo(queries, candidates)


def _candidates(
    documents: list[Document], scores: FloatArray, grades: dict[str, int]
) -> tuple[Candidate, ...]:
    graded = [i for i, document in enumerate(documents) if document.key in grades and scores[i] > 0]
    best = sorted(graded, key=lambda i: (-np.round(scores[i], 9), documents[i].key))
    return tuple(
        Candidate(documents[i], rank, grades[documents[i].key])
        for rank, i in enumerate(best[:MOST_CANDIDATES], start=1)
    )


def _read_queries() -> Iterator[Query]:
    with (_HERE / "queries.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Query(row["query_id"], row["query"], row["intent"], row["locale"])


def _read_truth() -> dict[str, dict[str, int]]:
    truth: dict[str, dict[str, int]] = {}
    with (_HERE / "truth.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            truth.setdefault(row["query_id"], {})[row["document"]] = int(row["grade"])
    return truth
