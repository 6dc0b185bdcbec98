"""CSV with a header line: query and url or doc_id, and whatever else is known of the pair."""

import csv
import re
from collections.abc import Iterable, Iterator

from annotate.formats.rows import MAX_KEY, Problem, Row, checked

#: What a column may be called; case and separators do not count.
ALIASES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid"),
    "query": ("query", "query_text", "keywords"),
    "intent": ("intent", "information_need"),
    "locale": ("locale", "language", "lang"),
    "doc_id": ("doc_id", "document_id", "document", "docno"),
    "url": ("url", "address", "link"),
    "title": ("title",),
    "snippet": ("snippet", "summary", "description"),
    "text": ("text", "body", "content"),
    "rank": ("rank", "first_stage_rank", "position"),
    "truth": ("truth", "true_grade"),
}
REQUIRED = "The first line must name a column query and a column url or doc_id."


def read(lines: Iterable[bytes]) -> Iterator[Row | Problem]:
    """Every row of the file, or the reason why it is none."""
    text = _Text(lines)
    reader = csv.reader(text, strict=True)
    _, first = next(_records(text, reader), (1, []))
    header = [] if isinstance(first, Problem) else _columns(first)
    if "query" not in header or not {"url", "doc_id"} & set(header):
        yield Problem(1, f"{REQUIRED} Got {', '.join(filter(None, header)) or 'neither'} instead.")
        return
    for line, cells in _records(text, reader):
        if isinstance(cells, Problem):
            yield cells
        elif cells:
            yield _row(line, header, cells)


def _records(
    text: "_Text", reader: Iterator[list[str]]
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Each record with the line it begins on; one that cannot be read does not stop the rest."""
    while True:
        line = text.line + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except UnicodeDecodeError:
            yield line, Problem(line, "The line must be UTF-8.")
        except csv.Error as error:
            yield line, Problem(line, f"The line is not CSV: {error}.")


class _Text:
    """The lines as text, counted: a record may take several."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self.line = 0

    def __iter__(self) -> "_Text":
        return self

    def __next__(self) -> str:
        raw = next(self._lines)
        self.line += 1
        return raw.decode("utf-8-sig" if self.line == 1 else "utf-8")


def _columns(header: list[str]) -> list[str]:
    """Our names of the columns, an empty one for a column we do not know."""
    names = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
    return [names.get(re.sub(r"[\s\-_.]+", "_", cell.strip().lower()), "") for cell in header]


def _row(line: int, header: list[str], cells: list[str]) -> Row | Problem:
    if len(cells) != len(header):
        return Problem(line, f"There must be {len(header)} columns. Got {len(cells)} instead.")
    value = {name: cell.strip() for name, cell in zip(header, cells, strict=True) if name}
    for name in ("rank", "truth"):
        cell = value.get(name, "")
        if cell and not re.fullmatch(r"-?\d{1,9}", cell):
            return Problem(line, f"{name} must be a whole number. Got {cell[:40]!r} instead.")
    query, url = value.get("query", ""), value.get("url", "")
    return checked(
        Row(
            line=line,
            query_key=value.get("query_id") or query[:MAX_KEY],
            query=query,
            document_key=value.get("doc_id") or url,
            intent=value.get("intent", ""),
            locale=value.get("locale", ""),
            url=url,
            title=value.get("title", ""),
            snippet=value.get("snippet", ""),
            text=value.get("text", ""),
            rank=_whole(value.get("rank")),
            truth=_whole(value.get("truth")),
        )
    )


def _whole(cell: str | None) -> int | None:
    return int(cell) if cell else None
