"""Pairs with their features: those that came with the data, or those computed from texts."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from annotate import training
from annotate.datasets import pool
from annotate.exports.options import Options
from annotate.exports.reading import fetch, graded, query_blocks
from annotate.models import Campaign, Pair
from ranking.judgments import FloatArray

#: Query key, document key, place from 1, score.
Place = tuple[str, str, int, float]


def with_features(
    campaign: Campaign, options: Options
) -> Iterator[tuple[int, str, str, FloatArray, int]]:
    """Query number and key, document key, features and grade of every labelled pair.

    Features that are computed from texts need all texts at once; features that came with the data
    are read as they are needed.
    """
    table = None if campaign.feature_names else _computed(campaign)
    for row in graded(campaign, options, features=True):
        found = table[row.pair_id] if table else np.frombuffer(row.features or b"")
        yield row.query_id, row.query_key, row.document_key, found, row.grade


def _computed(campaign: Campaign) -> dict[int, FloatArray]:
    numbers = list(Pair.objects.filter(campaign=campaign).values_list("pk", flat=True))
    data = pool(campaign, numbers, campaign.seed)
    return dict(zip(data.pair.tolist(), data.X, strict=True))


def ranked(campaign: Campaign) -> tuple[str, Iterator[Place]]:
    """The name of an order and every pair in it: the champion's, or the first stage's."""
    champion = training.current(campaign)
    if champion is None:
        return "first-stage", _first_stage(campaign)
    return f"run-{champion.number}", _by(champion.number, campaign)


def _first_stage(campaign: Campaign) -> Iterator[Place]:
    for block in query_blocks(campaign):
        yield from _placed([(*row, 0.0) for row in _pairs(block)], by_score=False)


def _by(number: int, campaign: Campaign) -> Iterator[Place]:
    ranker = training.load(campaign.runs.get(number=number))
    table = None if campaign.feature_names else _computed(campaign)
    for block in query_blocks(campaign):
        rows = list(_pairs(block, features=True))
        X = np.array([table[row[3]] if table else np.frombuffer(row[4] or b"") for row in rows])
        if not rows:
            continue
        yield from _placed(
            [(*row[:4], float(score)) for row, score in zip(rows, ranker.predict(X), strict=True)],
            by_score=True,
        )


def _pairs(block: list[int], features: bool = False) -> Iterator[tuple[Any, ...]]:
    pairs = Pair.objects.filter(query_id__in=block).exclude(state=Pair.State.LOADING)
    columns = ["query_id", "query__key", "document__key", "pk"] + ["features"] * features
    return fetch(pairs.order_by("query_id", "rank", "pk").values_list(*columns))


def _placed(rows: list[tuple[Any, ...]], by_score: bool) -> Iterator[Place]:
    """Each query's documents from the best to the worst; equal scores keep the first stage."""
    if by_score:
        rows = sorted(rows, key=lambda row: (row[0], -row[4]))
    query, place = 0, 0
    for query_id, query_key, document_key, _, score in rows:
        place = place + 1 if query_id == query else 1
        query = query_id
        yield query_key, document_key, place, score if by_score else 1 / place
