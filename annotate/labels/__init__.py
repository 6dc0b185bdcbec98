"""Judgments to labels and agreement snapshots. The only writer of both."""

from annotate.labels.passes import PROVISIONAL, aggregate, label_batch, needs_all, relabel
from annotate.labels.reading import ADJUDICATED, counted, judgments
from annotate.labels.snapshots import snapshot, summarise, take_snapshot

__all__ = [
    "ADJUDICATED",
    "PROVISIONAL",
    "aggregate",
    "counted",
    "judgments",
    "label_batch",
    "needs_all",
    "relabel",
    "snapshot",
    "summarise",
    "take_snapshot",
]
