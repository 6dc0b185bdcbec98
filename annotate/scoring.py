"""The champion at work: candidates of a query in, their order out. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from annotate import datasets, training
from annotate.models import Campaign, TrainingRun
from ranking.judgments import FloatArray
from ranking.text import FEATURE_NAMES, TextDocument, text_features

#: Word weights come from at most so many documents of the campaign.
MOST_DOCUMENTS = 20_000
NOTHING = TextDocument("", "")


class ScoringError(Exception):
    """Why candidates cannot be ranked, in words for whoever asked."""


@dataclass(frozen=True)
class Candidate:
    """A document to be ranked: its features, or its texts."""

    name: str
    features: Sequence[float] = field(default=())
    document: TextDocument = NOTHING
    #: Its place in the first stage, 1 is first; None if there was none.
    rank: int | None = None


@dataclass(frozen=True)
class Ranked:
    """A candidate at its place, 1 is best. ``place_before`` counts from 1 in the order sent."""

    place: int
    name: str
    score: float
    place_before: int


def rank(
    campaign: Campaign, query: str, candidates: Sequence[Candidate]
) -> tuple[TrainingRun, list[Ranked]]:
    """The candidates, best first, by the champion. Equal scores stay in the order sent."""
    champion = training.current(campaign)
    if champion is None:
        raise ScoringError("This campaign has no champion yet. Train a ranker first.")
    try:
        ranker = training.load(champion)
    except training.ModelError as error:
        raise ScoringError(str(error)) from None
    X = _features(campaign, feature_names(champion), query, candidates)
    try:
        scores = ranker.predict(X)
    except ValueError as error:
        raise ScoringError(str(error)) from None
    order = np.argsort(-scores, kind="stable").tolist()
    return champion, [
        Ranked(place, candidates[row].name, float(scores[row]), row + 1)
        for place, row in enumerate(order, start=1)
    ]


def feature_names(run: TrainingRun) -> list[str]:
    """The features of a run's model, in order."""
    return list(run.metrics.get("facts", {}).get("features", []))


def is_textual(names: Sequence[str]) -> bool:
    """Whether a model's features are computed from texts here."""
    return tuple(names) == FEATURE_NAMES


def _features(
    campaign: Campaign, names: list[str], query: str, candidates: Sequence[Candidate]
) -> FloatArray:
    if not candidates:
        return np.empty((0, len(names)))
    given = [bool(candidate.features) for candidate in candidates]
    if is_textual(names) and not any(given):
        return _of_texts(campaign, query, candidates)
    for candidate in candidates:
        if len(candidate.features) != len(names):
            raise ScoringError(
                f"A candidate must have the {len(names)} features {', '.join(names[:3])}, … "
                f"of the champion. Got {len(candidate.features)} for {candidate.name} instead."
            )
    return np.array([candidate.features for candidate in candidates], dtype=np.float64)


def _of_texts(campaign: Campaign, query: str, candidates: Sequence[Candidate]) -> FloatArray:
    _, known = datasets.texts(campaign, MOST_DOCUMENTS)
    documents = known + [candidate.document for candidate in candidates]
    ranks = [np.nan if one.rank is None else float(one.rank) for one in candidates]
    places = np.arange(len(known), len(documents))
    return text_features([query], documents, (np.zeros(len(places), dtype=np.int64), places), ranks)
