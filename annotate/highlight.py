"""The words of the query in a text, found so that a page can mark them without building HTML."""

import re
from typing import NamedTuple

from ranking.bm25 import tokenize

# Chinese and Japanese are written without spaces: each of their characters is a word of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")

#: Words that say nothing about what is searched for.
STOP = frozenset(
    tokenize(
        "a an and are as at be by do does for from how i if in is it my of on or that the this to "
        "was what when where which who why with you your"
    )
)


class Segment(NamedTuple):
    """A stretch of text and whether it is of the query."""

    text: str
    hit: bool


def segments(text: str, query: str) -> list[Segment]:
    """Cut ``text`` at the words it shares with ``query``; joined again they are ``text``."""
    found: list[Segment] = []
    end = 0
    for start, stop in _spans(text, query):
        if start > end:
            found.append(Segment(text[end:start], False))
        found.append(Segment(text[start:stop], True))
        end = stop
    if end < len(text):
        found.append(Segment(text[end:], False))
    return found


def _spans(text: str, query: str) -> list[tuple[int, int]]:
    """Where the words of the query stand; neighbours with at most a blank between are one."""
    terms = set(tokenize(query))
    terms = terms - STOP or terms
    spans: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        if terms.isdisjoint(tokenize(match.group())):
            continue
        start, stop = match.span()
        if spans and text[spans[-1][1] : start] in ("", " "):
            start = spans.pop()[0]
        spans.append((start, stop))
    return spans
