"""Parquet, with the columns of a CSV. Needs pyarrow."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from annotate.formats import table
from annotate.formats.jsonl import as_cell
from annotate.formats.rows import Problem, Row
from annotate.formats.source import FileRefusedError, Source
from annotate.parquet import NoParquetError, pyarrow

MAGIC = b"PAR1"
BATCH = 2000


def read(source: Source) -> Iterator[Row | Problem]:
    """Every row; its line is its number."""
    try:
        lib, parquet = pyarrow("pyarrow"), pyarrow("pyarrow.parquet")
    except NoParquetError as error:
        raise FileRefusedError(str(error)) from None
    if source.path.stat().st_size > source.most:
        raise FileRefusedError(f"A file must have at most {source.most / 2**20:.0f} MB.")
    try:
        with parquet.ParquetFile(source.path) as file:
            yield from _rows(file)
    except (lib.ArrowException, OSError) as error:
        raise FileRefusedError(f"The file must be Parquet. Got: {str(error)[:80]}.") from None


def _rows(file: Any) -> Iterator[Row | Problem]:
    names = table.columns(file.schema_arrow.names)
    if fault := table.header_fault(names):
        yield Problem(1, fault)
        return
    wanted = [(place, name) for place, name in enumerate(names) if name]
    line = 0
    for batch in file.iter_batches(BATCH, columns=[file.schema_arrow.names[p] for p, _ in wanted]):
        cells = [batch.column(place).to_pylist() for place in range(len(wanted))]
        for values in zip(*cells, strict=True):
            line += 1
            found = {name: _cell(value) for (_, name), value in zip(wanted, values, strict=True)}
            yield table.row(line, found)


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return as_cell(value)
