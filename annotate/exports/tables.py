"""Judgments and labels as tables: CSV for spreadsheets, JSON lines and Parquet exactly."""

import csv
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from io import StringIO
from typing import Any

from annotate.exports import reading
from annotate.exports.options import ExportRefusedError, Options
from annotate.exports.reading import Row
from annotate.models import Campaign
from annotate.parquet import NoParquetError, pyarrow
from annotate.spreadsheets import SUSPECTS, safe

CHUNK_ROWS = 500
GROUP_ROWS = 20_000

Rows = Callable[[Campaign, Options], Iterator[Row]]
Writer = Callable[[Campaign, Options], Iterator[bytes]]

#: The tables there are: their columns and rows.
TABLES: dict[str, tuple[list[str], Rows]] = {
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
_CREATED_AT = reading.JUDGMENT_COLUMNS.index("created_at")


def as_csv(name: str) -> Writer:
    """The table as CSV. Cells that a spreadsheet would run as a formula are made plain text."""

    def write(campaign: Campaign, options: Options) -> Iterator[bytes]:
        columns, rows = TABLES[name]
        texts = [place for place, column in enumerate(columns) if column not in _PLAIN]
        buffer = StringIO()
        writer = csv.writer(buffer)
        writer.writerow(columns)
        for number, row in enumerate(rows(campaign, options), start=1):
            _make_plain(row, texts)
            writer.writerow(row)
            if number % CHUNK_ROWS == 0:
                yield drain(buffer)
        yield drain(buffer)

    return write


def _make_plain(row: Row, texts: list[int]) -> None:
    """The row as a spreadsheet may have it. A million rows go through here: cells that cannot be
    dangerous are told by their first character.
    """
    for place in texts:
        cell = row[place]
        if cell and (cell[0] in SUSPECTS or "\n" in cell or "\r" in cell):
            row[place] = safe(cell)
    if row[-1].__class__ is bool:
        row[-1] = "true" if row[-1] else "false"
        row[_CREATED_AT] = reading.time(row[_CREATED_AT])
    else:
        row[-1] = reading.time(row[-1])


def as_jsonl(name: str) -> Writer:
    """The table as JSON lines, every text as it is."""

    def write(campaign: Campaign, options: Options) -> Iterator[bytes]:
        columns, rows = TABLES[name]
        lines: list[str] = []
        for row in rows(campaign, options):
            known = dict(zip(columns, row, strict=True))
            lines.append(json.dumps(known, ensure_ascii=False, default=reading.time))
            if len(lines) == CHUNK_ROWS:
                yield _joined(lines)
                lines = []
        yield _joined(lines)

    return write


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


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
        columns, rows = TABLES[name]
        schema = lib.schema([(column, _type(lib, column)) for column in columns])
        sink = _Sink()
        with parquet.ParquetWriter(lib.PythonFile(sink, mode="w"), schema) as writer:
            group: list[Row] = []
            for row in rows(campaign, options):
                group.append(row)
                if len(group) == GROUP_ROWS:
                    writer.write_table(_group(lib, schema, group))
                    group = []
                    yield sink.taken()
            writer.write_table(_group(lib, schema, group))
        yield sink.taken()

    return write


def _type(lib: Any, column: str) -> Any:
    if column in _TIMES:
        return lib.timestamp("ms", tz="UTC")
    return getattr(lib, _TYPES.get(column, "string"))()


def _group(lib: Any, schema: Any, rows: list[Row]) -> Any:
    columns = list(zip(*rows, strict=True)) or [() for _ in schema]
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
