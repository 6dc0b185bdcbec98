"""LETOR / SVMlight ranking files: ``<grade> qid:<id> <feature>:<value> … # <comment>``.

Judgment lists of Elasticsearch LTR are the same without features: ``# <document> <query>``, the
queries by number also in comment lines ``# qid:<id>: <query>``.
"""

import re
from collections.abc import Iterator

from annotate.formats.rows import MAX_KEY, Problem, Rating, Row, checked, number
from annotate.formats.source import Source

_LINE = re.compile(r"(?P<grade>\S+)\s+qid:(?P<qid>\S+)\s*(?P<features>[^#]*)(?:#(?P<comment>.*))?$")
_DOCID = re.compile(r"docid\s*=\s*(\S+)", re.IGNORECASE)
_QUERY = re.compile(r"\bqueryid\s*=\s*(\S+)", re.IGNORECASE)
_HEADER = re.compile(r"#\s*qid:(\S+):\s*(.*\S)")
_MAX_FEATURES = 10_000


def read(source: Source) -> Iterator[Row | Problem]:
    """Every row of the file, or the reason why it is none. Blank and comment lines are passed."""
    for line, text in _lines(source):
        if isinstance(text, Problem):
            yield text
        elif not text.startswith("#"):
            yield _row(line, text)


def read_list(source: Source) -> Iterator[Row | Problem]:
    """A judgment list of Elasticsearch LTR. Its queries are known by their words."""
    queries: dict[str, str] = {}
    for line, text in _lines(source):
        if isinstance(text, Problem):
            yield text
        elif header := _HEADER.match(text):
            queries[header[1]] = header[2]
        elif not text.startswith("#"):
            yield _listed(line, text, queries)


def _lines(source: Source) -> Iterator[tuple[int, str | Problem]]:
    for line in source.lines():
        if line.fault:
            yield line.number, Problem(line.number, line.fault)
        elif text := line.text.strip():
            yield line.number, text


def _row(line: int, text: str) -> Row | Problem:
    match = _LINE.match(text)
    if match is None:
        return Problem(line, "The line must be '<grade> qid:<id> <feature>:<value> …'.")
    grade = number(match["grade"])
    if grade is None:
        return Problem(line, f"A grade must be a number. Got {match['grade'][:20]!r} instead.")
    try:
        features = _features(match["features"].split())
    except ValueError as error:
        return Problem(line, str(error))
    comment = (match["comment"] or "").strip()
    docid, named = _DOCID.search(comment), _QUERY.search(comment)
    key = docid[1] if docid else comment or f"{match['qid']}:{line}"
    return checked(
        Row(
            line=line,
            query_key=named[1] if named else match["qid"],
            query="",
            document_key=key,
            snippet="" if docid else comment,
            ratings=(Rating(grade),),
            features=features,
            encoded=True,
        )
    )


def _listed(line: int, text: str, queries: dict[str, str]) -> Row | Problem:
    match = _LINE.match(text)
    comment = (match["comment"] or "").split(maxsplit=1) if match else []
    if match is None or not comment:
        return Problem(line, "The line must be '<grade> qid:<id> # <document> <query>'.")
    grade = number(match["grade"])
    if grade is None:
        return Problem(line, f"A grade must be a number. Got {match['grade'][:20]!r} instead.")
    query = queries.get(match["qid"]) or (comment[1] if len(comment) > 1 else match["qid"])
    return checked(
        Row(
            line=line,
            query_key=query[:MAX_KEY],
            query=query,
            document_key=comment[0],
            ratings=(Rating(grade),),
            by_text=True,
            encoded=True,
        )
    )


def _features(items: list[str]) -> tuple[float, ...]:
    """The values in order of their numbers; what is missing is 0, as in SVMlight."""
    values: dict[int, float] = {}
    for item in items:
        place, colon, value = item.partition(":")
        if not colon or not re.fullmatch(r"[0-9]{1,5}", place):
            raise ValueError(f"A feature must be '<number>:<value>'. Got {item[:40]!r} instead.")
        if not 1 <= int(place) <= _MAX_FEATURES:
            raise ValueError(f"A feature's number must be 1 to {_MAX_FEATURES}. Got {item[:40]!r}.")
        if int(place) in values:
            raise ValueError(f"Feature {place} must stand once. Got it twice.")
        values[int(place)] = _value(item, value)
    return tuple(values.get(place, 0.0) for place in range(1, max(values, default=0) + 1))


def _value(item: str, value: str) -> float:
    if value.upper() == "NULL":
        return 0.0
    try:
        found = float(value)
    except ValueError:
        raise ValueError(f"A feature must be a number. Got {item[:40]!r} instead.") from None
    if found - found != 0:  # nan and the infinities
        raise ValueError(f"A feature must be finite. Got {item[:40]!r} instead.")
    return found
