"""Lines of plain and gzipped files, in and out."""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from os import PathLike
from typing import IO, Any

#: A path, or a file that is open already; it stays open.
Source = str | PathLike[str] | IO[Any]

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def lines(source: Source) -> Iterator[bytes]:
    """The lines of a file as bytes, without a byte order mark, line endings left on.

    A file is unzipped when its first two bytes say that it is gzipped, whatever its name.
    """
    with ExitStack() as stack:
        if isinstance(source, str | PathLike):
            raw: IO[bytes] = stack.enter_context(open(source, "rb"))
        else:
            content = source.read()
            raw = io.BytesIO(content.encode() if isinstance(content, str) else content)
        start = raw.read(2)
        raw.seek(0)
        found: Iterable[bytes] = raw
        if start == _GZIP:
            found = stack.enter_context(gzip.GzipFile(fileobj=raw))
        try:
            for number, line in enumerate(found):
                yield line if number else line.removeprefix(_BOM)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"The file must be a whole gzip file. Got: {error}.") from error


def write(target: Source, text: Iterable[str]) -> None:
    """Write pieces of text as UTF-8; gzipped, without a time stamp, if the name ends in ``.gz``."""
    with ExitStack() as stack:
        file: Any = target
        if isinstance(target, str | PathLike):
            file = stack.enter_context(open(target, "wb"))
            if str(target).endswith(".gz"):
                file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        as_text = isinstance(file, io.TextIOBase)
        for piece in text:
            file.write(piece if as_text else piece.encode())
