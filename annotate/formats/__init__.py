"""Files in. A format is one module with a function ``read(lines) -> Iterator[Row | Problem]``."""

from collections.abc import Callable, Iterable, Iterator

from annotate.formats import csv, letor
from annotate.formats.rows import Problem, Row

Reader = Callable[[Iterable[bytes]], Iterator[Row | Problem]]

#: Every format by the name that pages, commands and files use for it.
FORMATS: dict[str, Reader] = {"csv": csv.read, "letor": letor.read}


def guess(head: bytes) -> str:
    """The format that the first bytes of a file look like."""
    return "letor" if letor.looks_like(head) else "csv"


__all__ = ["FORMATS", "Problem", "Reader", "Row", "guess"]
