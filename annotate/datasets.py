"""A campaign as arrays for training: labelled pairs, their features, and who is held out."""

import hashlib
from dataclasses import dataclass

import numpy as np

from annotate.models import Campaign, Document, Label, Query
from ranking.judgments import FloatArray, IntArray
from ranking.text import FEATURE_NAMES, TextDocument, text_features

#: One query in so many is held out for evaluation.
HOLD_OUT = 4


@dataclass(frozen=True, eq=False)
class Dataset:
    """One row per labelled pair, rows of a query side by side."""

    X: FloatArray
    y: IntArray
    qid: IntArray
    rank: IntArray
    held_out: np.ndarray[tuple[int], np.dtype[np.bool_]]
    feature_names: list[str]


def held_out(campaign: Campaign, query_key: str) -> bool:
    """Whether a query is for evaluation only: always the same answer, whatever else is loaded."""
    digest = hashlib.sha256(f"{campaign.seed}\n{query_key}".encode()).digest()
    return int.from_bytes(digest[:8]) % HOLD_OUT == 0


def labelled(campaign: Campaign) -> Dataset:
    """Everything of a campaign that has a label."""
    rows = list(
        Label.objects.filter(pair__campaign=campaign)
        .order_by("pair__query_id", "pair__rank", "pair_id")
        .values_list("pair__query_id", "pair__document_id", "grade", "pair__rank", "pair__features")
    )
    numbers = np.array([row[:4] for row in rows], dtype=np.int64).reshape(-1, 4)
    qid, document, grade, rank = numbers.T
    keys = dict(Query.objects.filter(campaign=campaign).values_list("pk", "key"))
    evaluation = {pk for pk, key in keys.items() if held_out(campaign, key)}
    if campaign.feature_names:
        X = np.array([np.frombuffer(row[4] or b"") for row in rows])
        names = list(campaign.feature_names)
    else:
        X, names = _text(campaign, qid, document, rank), list(FEATURE_NAMES)
    return Dataset(
        X=X.reshape(len(rows), len(names)),
        y=grade,
        qid=qid,
        rank=rank,
        held_out=np.isin(qid, list(evaluation)),
        feature_names=names,
    )


def _text(campaign: Campaign, qid: IntArray, document: IntArray, rank: IntArray) -> FloatArray:
    """Features computed from the texts of the whole campaign, so that word weights are stable."""
    queries = dict(Query.objects.filter(campaign=campaign).order_by("pk").values_list("pk", "text"))
    documents = {
        pk: TextDocument(url, title, snippet, text)
        for pk, url, title, snippet, text in Document.objects.filter(campaign=campaign)
        .order_by("pk")
        .values_list("pk", "url", "title", "snippet", "text")
    }
    return text_features(
        list(queries.values()),
        list(documents.values()),
        (
            np.searchsorted(np.array(list(queries), dtype=np.int64), qid),
            np.searchsorted(np.array(list(documents), dtype=np.int64), document),
        ),
        rank,
    )
