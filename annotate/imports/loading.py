"""Rows into queries, documents and pairs, some thousand at a time, unseen until all are there.

First everything new is added, its pairs in the state *loading*, which nobody routes. Then they
are opened, what was there before is brought up to date, and judgments are recorded. Each step can
be done again after a crash: rows are found by their keys.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.db.models.functions import Left

from annotate import campaigns, routing
from annotate.exchange import encoded
from annotate.formats import Row
from annotate.formats.rows import MAX_KEY
from annotate.imports import sql
from annotate.imports.judgments import Judges
from annotate.imports.pace import Pace
from annotate.models import Campaign, Document, Pair, Query

FIRST_TIER = 8

#: Told how many rows are done.
Tell = Callable[[int], None]


@dataclass(frozen=True)
class Marks:
    """The last query and document that were there before a file: what is above is its own."""

    query: int = 0
    document: int = 0

    @classmethod
    def now(cls, campaign: Campaign) -> "Marks":
        last = [model.objects.aggregate(last=Max("pk"))["last"] or 0 for model in (Query, Document)]
        return cls(*last)

    def covers(self, campaign: Campaign) -> bool:
        """Whether the campaign had anything before."""
        return (
            Query.objects.filter(campaign=campaign, pk__lte=self.query).exists()
            or Document.objects.filter(campaign=campaign, pk__lte=self.document).exists()
        )


def load_rows(campaign: Campaign, rows: Iterable[Row], judge: str = "imported") -> int:
    """Load rows that were checked in one transaction. Returns how many there were."""
    writer = Writer(campaign, judge)
    done = 0
    with transaction.atomic():
        for batch in Pace().batches(rows):
            if width := max(len(row.features or ()) for row in batch):
                campaigns.name_features(campaign, width)
            done += len(batch)
            writer.write(batch, Pair.State.OPEN)
            writer.judge(batch)
        writer.finish()
    return done


class Writer:
    """Writes the rows of one file into one campaign."""

    def __init__(self, campaign: Campaign, judge: str) -> None:
        self._campaign = campaign
        self._ranks: defaultdict[str, int] = defaultdict(int)
        self._judges = Judges(campaign, judge)
        self._names = _Names(campaign)

    def add(self, rows: Iterable[Row], marks: Marks, tell: Tell) -> None:
        """Everything that is new, in short transactions, unseen."""
        done, pace = 0, Pace()
        for batch in pace.batches(rows):
            with pace.timed(), transaction.atomic():
                self.write(batch, Pair.State.LOADING, marks)
            done += len(batch)
            tell(done)

    def renew(self, rows: Iterable[Row], old: bool, tell: Tell) -> None:
        """What was there before and what people said, in short transactions."""
        self._ranks.clear()
        done, pace = 0, Pace()
        for batch in pace.batches(rows):
            with pace.timed():
                if old:
                    with transaction.atomic():
                        self.write(batch, Pair.State.OPEN)
                self.judge(batch)
            done += len(batch)
            tell(done)

    def write(self, batch: list[Row], state: str, marks: Marks | None = None) -> None:
        named = [self._names.of(row) for row in batch]
        # A row that only tells of its query is for queries that are there.
        told = (row for row in named if row.document_key or not (marks or row.passed_over))
        found = [row for row in named if row.document_key]
        campaign = self._campaign.pk
        sql.upsert_queries(
            campaign,
            _merged((r.query_key, r.query, r.intent, r.locale) for r in told),
            marks.query if marks else sql.ANY,
        )
        sql.upsert_documents(
            campaign,
            _merged((r.document_key, r.url, r.title, r.snippet, r.text) for r in found),
            marks.document if marks else sql.ANY,
        )
        sql.upsert_pairs(campaign, self._pairs(found), state, only_loading=marks is not None)

    def _pairs(self, rows: list[Row]) -> list[sql.PairRow]:
        """Each pair once. Where no rank is given, the order of the lines is the first stage."""
        width = len(self._campaign.feature_names)
        nothing = bytes(8 * width) if width else None
        pairs: dict[tuple[str, str], sql.PairRow] = {}
        for row in rows:
            key = row.query_key, row.document_key
            self._ranks[row.query_key] += 1
            rank = self._ranks[row.query_key] if row.rank is None else row.rank
            features = nothing if row.features is None else _vector(row.features, width)
            given = row.rank is not None, row.features is not None
            place = position(self._campaign.seed, row, rank)
            pair = (*key, rank, place, row.truth, features, given)
            pairs[key] = _both(pairs[key], pair) if key in pairs else pair
        return list(pairs.values())

    def judge(self, batch: list[Row]) -> None:
        rated = [self._names.of(row) for row in batch if row.ratings]
        if rated:
            self._judges.record(rated)

    def finish(self) -> None:
        """Seats for what has none, labels for what was judged."""
        if self._campaign.state != Campaign.State.DRAFT:
            routing.open_seats(self._campaign)


def open_pairs(campaign: Campaign, tell: Tell) -> None:
    """Pairs that were loaded unseen are there now, some thousand at a time."""
    hidden = Pair.objects.filter(campaign=campaign, state=Pair.State.LOADING)
    numbers = hidden.order_by("pk").values_list("pk", flat=True)
    done, pace = 0, Pace()
    while batch := list(numbers[: pace.size]):
        with pace.timed():
            hidden.filter(pk__range=(batch[0], batch[-1])).update(state=Pair.State.OPEN)
        done += len(batch)
        tell(done)


def take_out(campaign: Campaign, marks: Marks) -> None:
    """Remove what a file added before it counted."""
    for rows in (
        Pair.objects.filter(campaign=campaign, state=Pair.State.LOADING),
        Document.objects.filter(campaign=campaign, pk__gt=marks.document, pairs__isnull=True),
        Query.objects.filter(campaign=campaign, pk__gt=marks.query, pairs__isnull=True),
    ):
        pace = Pace()
        while batch := list(rows.values_list("pk", flat=True)[: pace.size]):
            with pace.timed():
                rows.model.objects.filter(pk__in=batch).delete()


class _Names:
    """Rows by the keys that the campaign has for them.

    A file may know a query by its words alone, or have its blanks percent-encoded; then the query
    or document of the campaign that is meant is the one with these words, or this name.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The queries whose keys are not their words, by their words; the first of several."""
        queries = Query.objects.filter(campaign=self._campaign).order_by("-pk")
        other = queries.exclude(key=Left(F("text"), MAX_KEY)).values_list("text", "key")
        return {text.strip(): key for text, key in other}

    @cached_property
    def _queries(self) -> dict[str, str]:
        return self._blank(Query.objects.filter(campaign=self._campaign))

    @cached_property
    def _documents(self) -> dict[str, str]:
        return self._blank(Document.objects.filter(campaign=self._campaign))

    def _blank(self, rows: "QuerySet[Query] | QuerySet[Document]") -> dict[str, str]:
        """Keys with blanks, by what they are in files that cannot have any."""
        keys = rows.filter(key__regex=r"\s").values_list("key", flat=True)
        return {encoded(key): key for key in keys.iterator()}

    def of(self, row: Row) -> Row:
        if row.by_text and (key := self._texts.get(row.query.strip())):
            row = replace(row, query_key=key, query="")
        if row.encoded and (self._queries or self._documents):
            query = self._queries.get(row.query_key, row.query_key)
            document = self._documents.get(row.document_key, row.document_key)
            row = replace(row, query_key=query, document_key=document)
        return row


def _merged(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each key once: of what several rows say, the last that is not empty."""
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        old = found.get(row[0], row)
        if old != row:
            row = tuple(new or known for new, known in zip(row, old, strict=True))
        found[row[0]] = row
    return list(found.values())


def _both(old: sql.PairRow, new: sql.PairRow) -> sql.PairRow:
    """A pair that several rows tell of: the later one counts in what it gives."""
    query, document, rank, place, truth, features, (ranked, described) = old
    if new[-1][0]:
        rank, place, ranked = new[2], new[3], True
    if new[-1][1]:
        features, described = new[5], True
    truth = truth if new[4] is None else new[4]
    return query, document, rank, place, truth, features, (ranked, described)


def _vector(features: tuple[float, ...], width: int) -> bytes:
    vector = np.zeros(width)
    vector[: len(features)] = features
    return vector.tobytes()


def position(seed: int, row: Row, rank: int) -> int:
    """Where a pair stands in the order of judging: breadth first, then query by query.

    The rank decides only the tier (the first 8 documents of every query before any goes to 16);
    within it queries, and documents of a query, stand in an order of the seed's own, so that no
    judge can tell a rank from it.
    """
    tier = max(0, math.ceil(math.log2(rank / FIRST_TIER)))
    query = _hash(f"{seed}\n{row.query_key}")
    pair = _hash(f"{seed}\n{row.query_key}\n{row.document_key}")
    return tier << 56 | query << 28 | pair


def _hash(text: str) -> int:
    """28 bits that depend on nothing but the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) >> 4
