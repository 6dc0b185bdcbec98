"""The items of one long list in a JSON file, one at a time: the file is never held whole."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from annotate.formats.source import FileRefusedError, Source

MAX_ITEM = 8 * 2**20
_BLANK = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


def items(source: Source, members: tuple[str, ...]) -> Iterator[tuple[int, str, Any]]:
    """The line, the member's name and each item of the lists that an object has under these names.

    Raises FileRefusedError where the file is no such object.
    """
    text = _Buffer(source)
    text.expect("{")
    if text.next() == "}":
        return
    while True:
        name = text.value()
        text.expect(":")
        if name in members and text.next() == "[":
            text.expect("[")
            yield from ((line, name, item) for line, item in _list(text))
        else:
            text.value()
        if text.take() != ",":
            return


def _list(text: "_Buffer") -> Iterator[tuple[int, Any]]:
    if text.next() == "]":
        text.take()
        return
    while True:
        text.next()
        yield text.line, text.value()
        if text.take() != ",":
            return


class _Buffer:
    """The part of the text that is being read, and the line it begins on."""

    def __init__(self, source: Source) -> None:
        self._chunks = source.chunks()
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._ended = not chunk
        self._text = self._text[self._at :]
        self._at = 0
        try:
            self._text += self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError:
            raise self._refused("The file must be UTF-8.") from None
        return not self._ended

    def _refused(self, reason: str) -> FileRefusedError:
        return FileRefusedError(f"{reason} See line {self.line}.")

    def _pass(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def next(self) -> str:
        """The next character that is no blank; it stays."""
        while True:
            found = _BLANK.match(self._text, self._at)
            self._pass(found.end() if found else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                raise self._refused("The file must be whole JSON. It ends too early.")

    def take(self) -> str:
        """The next character that is no blank; it is passed."""
        found = self.next()
        self._pass(self._at + 1)
        return found

    def expect(self, wanted: str) -> None:
        found = self.take()
        if found != wanted:
            raise self._refused(f"The file must be JSON. Got {found!r} for {wanted!r}.")

    def value(self) -> Any:
        """The next value, whole."""
        self.next()
        wanted = 0
        while True:
            try:
                value, end = _decode(self._text, self._at)
                # A number at the very end may have more digits to come.
                if end < len(self._text) or self._ended:
                    self._pass(end)
                    return value
            except RecursionError:
                raise self._refused("The file is nested too deep.") from None
            except ValueError as error:
                if self._ended:
                    raise self._refused(f"The file must be JSON. Got: {error}.") from None
            # Twice as much before the next try: an item is read a few times, not a thousand.
            wanted = max(2 * wanted, 2 * (len(self._text) - self._at))
            if wanted > 2 * MAX_ITEM:
                raise self._refused(f"An item must have at most {MAX_ITEM} characters.")
            while len(self._text) - self._at < wanted and self._more():
                pass
