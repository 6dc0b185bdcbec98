"""CSV and TSV with a header line: what is known of each pair, in columns found by their names."""

import csv
import io
from collections.abc import Iterator

from annotate.formats import table
from annotate.formats.rows import Problem, Row
from annotate.formats.source import Line, Source
from annotate.spreadsheets import plain

MAX_COLUMNS = 500
#: A record that is longer has a quote that nobody closed.
MAX_RECORD = 4 * 131_072
#: How much may be read again after quotes that nobody closed, before we give up.
MAX_REREAD = 64 * 2**20

#: A record: the line it begins on, its cells, or what is wrong with it.
Record = tuple[int, list[str] | Problem]


def read(source: Source) -> Iterator[Row | Problem]:
    """CSV with commas, or with semicolons where the header has them."""
    return _table(records(source))


def read_tsv(source: Source) -> Iterator[Row | Problem]:
    """The same with tabs between the cells."""
    return _table(records(source, "\t"))


def _table(found: Iterator[Record]) -> Iterator[Row | Problem]:
    _, first = next(found, (1, []))
    if isinstance(first, Problem):
        yield first
        return
    header = table.columns(first)
    if len(header) > MAX_COLUMNS:
        yield Problem(1, f"There must be at most {MAX_COLUMNS} columns. Got {len(header)} instead.")
        return
    if fault := table.header_fault(header):
        yield Problem(1, fault)
        return
    wanted = [(place, name) for place, name in enumerate(header) if name]
    for line, cells in found:
        if isinstance(cells, Problem):
            yield cells
        elif len(cells) != len(header):
            got = len(cells)
            yield Problem(line, f"There must be {len(header)} columns. Got {got} instead.")
        else:
            yield table.row(line, {name: cells[place] for place, name in wanted})


def delimiter(header: str) -> str:
    """What stands between the cells of a header line: spreadsheets may write semicolons."""
    return max(",;\t|", key=lambda mark: header.count(mark))


def records(source: Source, between: str = "") -> Iterator[Record]:
    """Each record with the line it begins on; one that cannot be read does not stop the rest."""
    text = _Text(source.lines())
    if not between:
        between = delimiter(text.peek())
    return (record for record in _records(text, between) if record[1] != [])


def _records(text: "_Text", between: str) -> Iterator[Record]:
    reader = csv.reader(text, strict=True, delimiter=between)
    while True:
        text.forget()
        line = text.line + 1
        try:
            yield line, [plain(cell) for cell in next(reader)]
        except StopIteration:
            return
        except _FaultError as fault:
            yield line, Problem(line, str(fault))
            text.back_to(1)
            reader = csv.reader(text, strict=True, delimiter=between)
        except csv.Error as error:
            yield line, Problem(line, f"The line is not CSV: {error}.")
            # A quote may have swallowed lines that are good: each gets its own chance.
            if not text.back_to(1):
                yield line, Problem(line, "Too many quotes are not closed. The rest was not read.")
                return
            reader = csv.reader(text, strict=True, delimiter=between)


class _FaultError(Exception):
    """A line that cannot be part of a record."""


class _Text:
    """The lines of the file, with a memory of those of the record that is being read."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._again: list[Line] = []
        self._record: list[Line] = []
        self._size = 0
        self._reread = 0
        self.line = 0

    def __iter__(self) -> "_Text":
        return self

    def __next__(self) -> str:
        line = self._again.pop() if self._again else next(self._lines)
        self._record.append(line)
        self.line = line.number
        self._size += len(line.text)
        if line.fault and len(self._record) == 1:
            raise _FaultError(line.fault)
        if line.fault or self._size > MAX_RECORD:
            raise csv.Error("a quote is opened and not closed")
        return line.text

    def peek(self) -> str:
        """The first line, which is still to be read."""
        first = next(self._lines, None)
        self._again = [first] if first else []
        return first.text if first else ""

    def forget(self) -> None:
        """A new record begins."""
        self._record, self._size = [], 0

    def back_to(self, kept: int) -> bool:
        """Read again what came after the first so many lines. False if that was too often."""
        again = self._record[kept:]
        self._reread += sum(len(line.text) for line in again)
        self._again.extend(reversed(again))
        self.line -= len(again)
        self.forget()
        return self._reread <= MAX_REREAD


def header_of(head: str) -> list[str]:
    """The cells of the first line, for telling what a file is."""
    first = next(iter(head.splitlines()), "")
    try:
        return next(csv.reader(io.StringIO(first), delimiter=delimiter(first)), [])
    except csv.Error:
        return []
