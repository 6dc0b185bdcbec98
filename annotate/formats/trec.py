"""TREC's files: judgments (qrels) and the order a search gave (runs)."""

from collections.abc import Iterator

from annotate.formats.rows import Problem, Rating, Row, checked, number, whole
from annotate.formats.source import Source


def read_qrels(source: Source) -> Iterator[Row | Problem]:
    """``<query> <iteration> <document> <grade>``: judgments, whose the file does not say."""
    for line, words in _words(source):
        yield words if isinstance(words, Problem) else _qrel(line, words)


def read_run(source: Source) -> Iterator[Row | Problem]:
    """``<query> Q0 <document> <rank> <score> <tag>``: documents in their first-stage order."""
    from_zero: set[str] = set()
    for line, words in _words(source):
        yield words if isinstance(words, Problem) else _place(line, words, from_zero)


def _words(source: Source) -> Iterator[tuple[int, list[str] | Problem]]:
    for line in source.lines():
        if line.fault:
            yield line.number, Problem(line.number, line.fault)
        elif words := line.text.split():
            yield line.number, words


def _qrel(line: int, words: list[str]) -> Row | Problem:
    if len(words) != 4:
        return Problem(
            line, f"A line must be '<query> 0 <document> <grade>'. Got {len(words)} words."
        )
    value = number(words[3])
    if value is None:
        return Problem(line, f"A grade must be a number. Got {words[3][:40]!r} instead.")
    return _named(line, words[0], words[2], rating=Rating(value))


def _place(line: int, words: list[str], from_zero: set[str]) -> Row | Problem:
    if len(words) != 6:
        expected = "'<query> Q0 <document> <rank> <score> <tag>'"
        return Problem(line, f"A line must be {expected}. Got {len(words)} words.")
    rank = whole(words[3])
    if rank is None:
        return Problem(line, f"rank must be a whole number. Got {words[3][:40]!r} instead.")
    if rank == 0:  # some programs count from 0: then every rank of the query is one more
        from_zero.add(words[0])
    return _named(line, words[0], words[2], rank=rank + (words[0] in from_zero))


def _named(
    line: int, query: str, document: str, *, rank: int | None = None, rating: Rating | None = None
) -> Row | Problem:
    return checked(
        Row(
            line=line,
            query_key=query,
            query="",
            document_key=document,
            rank=rank,
            ratings=(rating,) if rating else (),
            encoded=True,
        )
    )
