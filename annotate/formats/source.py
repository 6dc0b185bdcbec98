"""A file as lines of text: unzipped, decoded and counted, none of them longer than it may be."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

CHUNK = 1 << 16
MAX_LINE = 1 << 20
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
GZIP = b"\x1f\x8b"


class FileRefusedError(Exception):
    """Nothing of the file can be loaded, whatever stands in its lines."""


class Line(NamedTuple):
    """One line with its end, or what is wrong with it."""

    number: int
    text: str
    fault: str = ""


class Source:
    """A file that a format reads, no further than ``most`` bytes when unzipped."""

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self.most = most

    def head(self) -> bytes:
        """The first bytes, unzipped and as UTF-8: what the format is told by."""
        for chunk in self._utf8():
            return chunk
        return b""

    def chunks(self) -> Iterator[bytes]:
        """The file unzipped. Raises FileRefusedError beyond the limit, or if it is broken."""
        size = 0
        try:
            with self._opened() as file:
                while chunk := file.read(CHUNK):
                    size += len(chunk)
                    if size > self.most:
                        raise FileRefusedError(
                            f"A file must have at most {self.most / 2**20:.0f} MB, unzipped."
                        )
                    yield chunk
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileRefusedError(f"The file must be a whole gzip file. Got: {error}.") from None

    def _opened(self) -> IO[bytes]:
        with self.path.open("rb") as file:
            zipped = file.read(2) == GZIP
        return gzip.open(self.path) if zipped else self.path.open("rb")  # type: ignore[return-value]

    def _utf8(self) -> Iterator[bytes]:
        """The same without a byte order mark, and UTF-16 turned to UTF-8."""
        decoder = None
        for number, chunk in enumerate(self.chunks()):
            if number == 0:
                bom, encoding = next(
                    (found for found in _BOMS if chunk.startswith(found[0])), (b"", "utf-8")
                )
                chunk = chunk[len(bom) :]
                if encoding != "utf-8":
                    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
            yield chunk if decoder is None else decoder.decode(chunk).encode(errors="surrogatepass")
        if decoder is not None and decoder.getstate()[0]:
            raise FileRefusedError(
                "The file must be whole UTF-16. Got half a character at its end."
            )

    def lines(self) -> Iterator[Line]:
        """Every line, ended by LF, CR LF or CR. A line that is too long is told of, not kept."""
        number, rest, skipping = 0, b"", False
        for chunk in self._utf8():
            parts = (rest + chunk).splitlines(keepends=True)
            # The last part may go on in the next chunk; a CR may be half of a CR LF.
            rest = parts.pop() if parts else b""
            for part in parts:
                number += 1
                yield _line(number, part) if not skipping else _too_long(number)
                skipping = False
            if len(rest) > MAX_LINE and not rest.endswith(b"\r"):
                rest, skipping = b"", True
        if rest or skipping:
            yield _line(number + 1, rest) if not skipping else _too_long(number + 1)


def _line(number: int, raw: bytes) -> Line:
    if len(raw) > MAX_LINE:
        return _too_long(number)
    try:
        return Line(number, raw.decode())
    except UnicodeDecodeError:
        return Line(number, "", "The line must be UTF-8.")


def _too_long(number: int) -> Line:
    return Line(number, "", f"A line must have at most {MAX_LINE} bytes.")
