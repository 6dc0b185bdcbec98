"""Cells that a spreadsheet would run as a formula, made plain text, and turned back.

A formula begins with one of ``= + - @``, also in its wide form and behind blanks; spreadsheets
that take lines apart see one at the start of any line of a cell. A single quote before it makes
it text. What begins with quotes and then like a formula gets one more, so that taking one away
gives back exactly what was there.
"""

import re

_BLANK = r"(?:(?![\r\n])[\s\u200b\ufeff])"
_FORMULA = rf"'*(?:{_BLANK}*[=+\-@\uff1d\uff0b\uff0d\uff20]|\t)"
_START = r"(?:\A(?='*[\r\n])|(?:\A|(?<=[\r\n]))(?={}))"
_DANGER = re.compile(_START.format(_FORMULA))
_MARKED = re.compile(rf"(?:\A'(?='*[\r\n])|(?:\A|(?<=[\r\n]))'(?={_FORMULA}))")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SUSPECT = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


#: What a cell begins with if :func:`safe` may change its first line.
SUSPECTS = frozenset(
    character
    for character in map(chr, range(0x10000))
    if re.match(rf"'|{_BLANK}|{_FORMULA}|\s", character)
)


def safe(cell: object) -> object:
    """The cell as a spreadsheet may have it. Numbers stay numbers."""
    if not isinstance(cell, str) or not _SUSPECT.search(cell) or _NUMBER.fullmatch(cell):
        return cell
    return _DANGER.sub("'", cell)


def plain(cell: str) -> str:
    """The cell as it was before :func:`safe`."""
    return _MARKED.sub("", cell) if "'" in cell else cell
