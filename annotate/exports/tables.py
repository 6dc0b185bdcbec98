"""Judgments and labels as tables: CSV for spreadsheets, JSON lines and Parquet exactly."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from io import StringIO
from itertools import chain
from typing import Any, Protocol

from annotate.exports import reading
from annotate.exports.options import ExportRefusedError, Options
from annotate.exports.reading import Columns
from annotate.models import Campaign
from annotate.parquet import NoParquetError, pyarrow
from annotate.spreadsheets import SUSPECTS, safe

CHUNK_ROWS = 500
GROUP_ROWS = 20_000

Writer = Callable[[Campaign, Options], Iterator[bytes]]


class Parts(Protocol):
    """Gives a table column by column, some rows at a time; moments as such, or written."""

    def __call__(
        self, campaign: Campaign, options: Options, moments: bool = False
    ) -> Iterator[Columns]: ...


#: The tables there are: their columns and rows.
TABLES: dict[str, tuple[list[str], Parts]] = {
    "judgments": (reading.JUDGMENT_COLUMNS, reading.judgments),
    "labels": (reading.LABEL_COLUMNS, reading.labels),
}

_TYPES = {
    "rank": "int32",
    "grade": "int8",
    "grade_mean": "float64",
    "n_judgments": "int32",
    "duration_ms": "int64",
    "guideline_version": "int32",
    "superseded": "bool_",
}
_TIMES = ("created_at", "updated_at")
#: Columns that hold no text of anybody's.
_PLAIN = {*_TYPES, *_TIMES, "grade_name", "method"}


def as_csv(name: str) -> Writer:
    """The table as CSV. Cells that a spreadsheet would run as a formula are made plain text."""

    def write(campaign: Campaign, options: Options) -> Iterator[bytes]:
        names, parts = TABLES[name]
        buffer = StringIO()
        writer = csv.writer(buffer)
        writer.writerow(names)
        for columns in parts(campaign, options):
            cells = [_cells(*column) for column in zip(names, columns, strict=True)]
            writer.writerows(zip(*cells, strict=True))
            yield drain(buffer)
        yield drain(buffer)

    return write


def _cells(name: str, column: Sequence[Any]) -> Sequence[Any]:
    """A column as a spreadsheet may have it. Most columns have nothing dangerous in them, which is
    told of all their cells at once.
    """
    if name == "superseded":
        return ["true" if cell else "false" for cell in column]
    if name in _PLAIN:
        return column
    everything = "".join(column)
    breaks = "\n" in everything or "\r" in everything
    if breaks or not SUSPECTS.isdisjoint({cell[:1] for cell in column}):
        return list(map(safe, column))
    return column


def as_jsonl(name: str) -> Writer:
    """The table as JSON lines, every text as it is."""

    def write(campaign: Campaign, options: Options) -> Iterator[bytes]:
        names, parts = TABLES[name]
        encode = json.JSONEncoder(ensure_ascii=False).encode
        for columns in parts(campaign, options):
            rows = zip(*columns, strict=True)
            known = (dict(zip(names, row, strict=True)) for row in rows)
            yield "".join(f"{encode(one)}\n" for one in known).encode()

    return write


def drain(buffer: StringIO) -> bytes:
    """What was written, taken out."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()


# -- Parquet --------------------------------------------------------------------------------------


def as_parquet(name: str) -> Writer:
    """The table as Parquet, some thousand rows a group."""

    def write(campaign: Campaign, options: Options) -> Iterator[bytes]:
        try:
            lib, parquet = pyarrow("pyarrow"), pyarrow("pyarrow.parquet")
        except NoParquetError as error:
            raise ExportRefusedError(str(error)) from None
        names, parts = TABLES[name]
        schema = lib.schema([(column, _type(lib, column)) for column in names])
        sink = _Sink()
        with parquet.ParquetWriter(lib.PythonFile(sink, mode="w"), schema) as writer:
            for columns in _groups(parts(campaign, options, True)):
                writer.write_table(_group(lib, schema, columns))
                yield sink.taken()
        yield sink.taken()

    return write


def _groups(parts: Iterator[Columns]) -> Iterator[Columns]:
    """Larger parts: a group of few rows is packed badly."""
    gathered: list[Columns] = []
    for columns in parts:
        gathered.append(columns)
        if sum(len(one[0]) for one in gathered) >= GROUP_ROWS:
            yield _together(gathered)
            gathered = []
    if gathered:
        yield _together(gathered)


def _together(parts: list[Columns]) -> Columns:
    return [list(chain.from_iterable(column)) for column in zip(*parts, strict=True)]


def _type(lib: Any, column: str) -> Any:
    if column in _TIMES:
        return lib.timestamp("ms", tz="UTC")
    return getattr(lib, _TYPES.get(column, "string"))()


def _group(lib: Any, schema: Any, columns: Columns) -> Any:
    arrays = []
    for field, values in zip(schema, columns, strict=True):
        kept = [_whole(value) for value in values] if field.name in _TIMES else values
        arrays.append(lib.array(kept, type=field.type))
    return lib.Table.from_arrays(arrays, schema=schema)


def _whole(moment: datetime) -> datetime:
    """To the millisecond, as all exports have it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


class _Sink:
    """A file that Parquet writes to and we hand on."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.closed = False

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def flush(self) -> None:
        """Nothing to do: what was written is there."""

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
