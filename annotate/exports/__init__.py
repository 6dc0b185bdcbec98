"""Files out: judgments, labels, training files, runs. Reads only; everything is streamed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from annotate.exports import letor, tables, trec, workbenches
from annotate.exports.options import LABELS, ExportRefusedError, Options
from annotate.models import Campaign

_CSV = "text/csv; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Export:
    """A file that can be taken out: what it holds, and how it is written."""

    words: str
    content_type: str
    write: Callable[[Campaign, Options], Iterator[bytes]]


_EVERY_JUDGMENT = "One row per judgment, corrected ones marked"
_EVERY_LABEL = "One row per pair: what its judgments add up to"

#: Every export by the name of its file.
EXPORTS: dict[str, Export] = {
    "judgments.csv": Export(
        f"{_EVERY_JUDGMENT}, for spreadsheets.", _CSV, tables.as_csv("judgments")
    ),
    "judgments.jsonl": Export(
        f"{_EVERY_JUDGMENT}, as JSON lines.", "application/x-ndjson", tables.as_jsonl("judgments")
    ),
    "judgments.parquet": Export(
        f"{_EVERY_JUDGMENT}, as Parquet.",
        "application/vnd.apache.parquet",
        tables.as_parquet("judgments"),
    ),
    "labels.csv": Export(f"{_EVERY_LABEL}, for spreadsheets.", _CSV, tables.as_csv("labels")),
    "labels.jsonl": Export(
        f"{_EVERY_LABEL}, as JSON lines.", "application/x-ndjson", tables.as_jsonl("labels")
    ),
    "labels.parquet": Export(
        f"{_EVERY_LABEL}, as Parquet.",
        "application/vnd.apache.parquet",
        tables.as_parquet("labels"),
    ),
    "qrels.txt": Export("Labels for trec_eval, ranx and ir_measures.", _TEXT, trec.qrels),
    "letor.txt": Export("Labels and features, to train any ranker on.", _TEXT, letor.letor),
    "elasticsearch-ltr.txt": Export(
        "The judgment list of Elasticsearch LTR.", _TEXT, letor.judgment_list
    ),
    "opensearch.json": Export(
        "Judgments for OpenSearch's Search Relevance Workbench.",
        "application/json",
        workbenches.opensearch,
    ),
    "quepid.csv": Export("Ratings for Quepid.", _CSV, workbenches.quepid),
    "run.txt": Export(
        "Every query's documents as the champion ranks them, or the first stage.", _TEXT, trec.run
    ),
}


def stream(name: str, campaign: Campaign, options: Options | None = None) -> Iterator[bytes]:
    """The export of that name, piece by piece: memory does not grow with it.

    Raises ExportRefusedError before the first piece, so that it can still be said.
    """
    pieces = EXPORTS[name].write(campaign, options or Options())
    return chain([next(pieces, b"")], pieces)


__all__ = ["EXPORTS", "LABELS", "Export", "ExportRefusedError", "Options", "stream"]
