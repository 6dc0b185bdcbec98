"""A campaign as arrays: its pairs, their features, and which queries are held out."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.models import Campaign, Document, Pair, Query
from ranking.judgments import FloatArray, IntArray
from ranking.text import FEATURE_NAMES, TextDocument, text_features

#: One query in so many is held out for evaluation.
HOLD_OUT = 4

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pool:
    """One row per pair, rows of a query side by side in the first-stage order."""

    pair: IntArray
    qid: IntArray
    rank: IntArray
    X: FloatArray
    held_out: BoolArray
    #: The place of each row's query among all, in an order that depends on key and seed only.
    order: IntArray
    feature_names: list[str]


def held_out(seed: int, query_key: str) -> bool:
    """Whether a query is for evaluation only: always the same answer, whatever else is loaded."""
    return _draw(seed, query_key) % HOLD_OUT == 0


def _draw(seed: int, query_key: str) -> int:
    digest = hashlib.sha256(f"{seed}\n{query_key}".encode()).digest()
    return int.from_bytes(digest[:8])


def pool(campaign: Campaign, wanted: Iterable[int], seed: int) -> Pool:
    """The wanted pairs of a campaign with their features."""
    chosen = frozenset(wanted)
    rows = [
        row
        for row in Pair.objects.filter(campaign=campaign)
        .order_by("query_id", "rank", "pk")
        .values_list("pk", "query_id", "document_id", "rank", "features")
        .iterator(chunk_size=10_000)
        if row[0] in chosen
    ]
    numbers = np.array([row[:4] for row in rows], dtype=np.int64).reshape(-1, 4)
    pair, qid, document, rank = (np.ascontiguousarray(column) for column in numbers.T)
    if campaign.feature_names:
        names = list(campaign.feature_names)
        X = np.array([np.frombuffer(row[4] or b"") for row in rows])
    else:
        names = list(FEATURE_NAMES)
        X = _text(campaign, qid, document, rank)
    draws = _draws(campaign, seed, np.unique(qid))
    return Pool(
        pair=pair,
        qid=qid,
        rank=rank,
        X=X.reshape(len(rows), len(names)),
        held_out=np.isin(qid, [pk for pk, draw in draws.items() if draw % HOLD_OUT == 0]),
        order=_places(qid, draws),
        feature_names=names,
    )


def _draws(campaign: Campaign, seed: int, queries: IntArray) -> dict[int, int]:
    keys = dict(Query.objects.filter(campaign=campaign).values_list("pk", "key"))
    return {int(pk): _draw(seed, keys[int(pk)]) for pk in queries}


def _places(qid: IntArray, draws: dict[int, int]) -> IntArray:
    ordered = sorted(draws, key=lambda pk: (draws[pk], pk))
    place = {pk: number for number, pk in enumerate(ordered)}
    return np.array([place[int(query)] for query in qid], dtype=np.int64)


def _text(campaign: Campaign, qid: IntArray, document: IntArray, rank: IntArray) -> FloatArray:
    """Features computed from the texts of the whole campaign, so that word weights are stable."""
    queries = dict(Query.objects.filter(campaign=campaign).order_by("pk").values_list("pk", "text"))
    keys, documents = texts(campaign)
    return text_features(
        list(queries.values()),
        documents,
        (
            np.searchsorted(np.array(list(queries), dtype=np.int64), qid),
            np.searchsorted(keys, document),
        ),
        rank,
    )


def texts(campaign: Campaign, most: int | None = None) -> tuple[IntArray, list[TextDocument]]:
    """The documents of a campaign as text, by rising id; at most so many."""
    rows = list(
        Document.objects.filter(campaign=campaign)
        .order_by("pk")
        .values_list("pk", "url", "title", "snippet", "text")[:most]
    )
    return np.array([row[0] for row in rows], dtype=np.int64), [
        TextDocument(*row[1:]) for row in rows
    ]
