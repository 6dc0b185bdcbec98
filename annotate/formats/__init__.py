"""Files in. A format is a function ``read(source) -> Iterator[Row | Problem]`` and its name."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from annotate.formats import csv, jsonl, letor, opensearch, parquet, quepid, scales, table, trec
from annotate.formats.rows import Problem, Rating, Row
from annotate.formats.source import FileRefusedError, Source

Reader = Callable[[Source], Iterator[Row | Problem]]


@dataclass(frozen=True)
class Format:
    """A kind of file: what people call it, and how it is read.

    ``truth``: its grades are no judgments of anybody, but the known grades of a collection.
    """

    words: str
    read: Reader
    truth: bool = False


#: Every format by the name that pages, commands and files use for it.
FORMATS: dict[str, Format] = {
    "csv": Format("CSV", csv.read),
    "tsv": Format("TSV", csv.read_tsv),
    "jsonl": Format("JSON lines", jsonl.read),
    "parquet": Format("Parquet", parquet.read),
    "letor": Format("LETOR", letor.read, truth=True),
    "es-ltr": Format("Elasticsearch LTR judgment list", letor.read_list),
    "qrels": Format("TREC qrels", trec.read_qrels),
    "run": Format("TREC run", trec.read_run),
    "beir": Format("BEIR qrels", csv.read),
    "quepid-csv": Format("Quepid CSV", quepid.read_csv),
    "quepid-json": Format("Quepid JSON", quepid.read_json),
    "needs": Format("Information needs", csv.read),
    "opensearch": Format("OpenSearch judgments", opensearch.read),
}


@dataclass(frozen=True)
class Guess:
    """What a file looks like, and by what it is told."""

    name: str
    reason: str


def guess(head: bytes) -> Guess:
    """The format that the first bytes of a file, unzipped, look like."""
    if head.startswith(parquet.MAGIC):
        return Guess("parquet", "It begins as Parquet files do.")
    text = head.decode(errors="replace").lstrip()
    if text.startswith("{"):
        return _guess_json(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _guess_lines(lines) or _guess_table(lines[0] if lines else "")


def _guess_json(text: str) -> Guess:
    if re.search(r'"judgmentRatings"\s*:', text):
        return Guess("opensearch", "It has a list judgmentRatings.")
    for member in ("query_doc_pairs", "queries"):
        if re.search(rf'"{member}"\s*:\s*\[', text):
            return Guess("quepid-json", f"It has a list {member}.")
    return Guess("jsonl", "Its first line is a JSON object.")


def _guess_lines(lines: list[str]) -> Guess | None:
    """Formats without a header line are told by the shape of their first line."""
    first = next((line for line in lines if not line.startswith("#")), "")
    if re.match(r"\S+\s+qid:\S+\s+#", first):
        named = re.search(r"#\s*docid\s*=", first)
        if not named:
            return Guess("es-ltr", "Its lines are a grade, a qid and a comment.")
    if re.match(r"\S+\s+qid:\S+", first):
        return Guess("letor", "Its lines begin with a grade and a qid.")
    words = first.split()
    if len(words) == 6 and words[1].upper() == "Q0":
        return Guess("run", "Its lines have six words, the second is Q0.")
    if len(words) == 4 and re.fullmatch(r"-?\d+", words[3]) and "," not in first:
        return Guess("qrels", "Its lines have four words, the last is a whole number.")
    return None


def _guess_table(first: str) -> Guess:
    header = csv.header_of(first)
    names = table.columns(header)
    plain = [re.sub(r"[\s_]+", "-", cell.strip().lower()) for cell in header]
    if plain == ["query-id", "corpus-id", "score"]:
        return Guess("beir", "Its columns are query-id, corpus-id and score.")
    if names[:2] == ["query", "doc_id"] and plain[1] == "docid" and _judges(names[2:], plain[2:]):
        return Guess("quepid-csv", "Its columns are query, docid and ratings.")
    if set(names) >= {"query", "intent"} and not {"url", "doc_id"} & set(names):
        return Guess("needs", "It has queries and information needs, but no documents.")
    if csv.delimiter(first) == "\t":
        return Guess("tsv", "Its first line has tabs between the names of its columns.")
    return Guess("csv", "Its first line names columns.")


def _judges(names: list[str], plain: list[str]) -> bool:
    """Whether all columns after query and docid are ratings: one, or the judges' by their names."""
    return plain == ["rating"] or (bool(names) and not any(names))


__all__ = [
    "FORMATS",
    "FileRefusedError",
    "Format",
    "Guess",
    "Problem",
    "Rating",
    "Reader",
    "Row",
    "Source",
    "guess",
    "scales",
]
