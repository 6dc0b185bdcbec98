"""LETOR / SVMlight ranking files: ``<grade> qid:<id> <feature>:<value> … # <comment>``."""

import re
from collections.abc import Iterable, Iterator

from annotate.formats.rows import Problem, Row, checked

_LINE = re.compile(r"(?P<grade>\S+)\s+qid:(?P<qid>\S+)\s*(?P<features>[^#]*)(?:#(?P<comment>.*))?$")
_DOCID = re.compile(r"docid\s*=\s*(\S+)", re.IGNORECASE)
_MAX_FEATURES = 10_000


def looks_like(head: bytes) -> bool:
    """Whether the first line that is no comment begins as LETOR lines do."""
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return re.match(rb"\S+\s+qid:\S+", first) is not None


def read(lines: Iterable[bytes]) -> Iterator[Row | Problem]:
    """Every row of the file, or the reason why it is none. Blank and comment lines are passed."""
    for number, raw in enumerate(lines, start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            yield Problem(number, "The line must be UTF-8.")
            continue
        if text and not text.startswith("#"):
            yield _row(number, text)


def _row(line: int, text: str) -> Row | Problem:
    match = _LINE.match(text)
    if match is None:
        return Problem(line, "The line must be '<grade> qid:<id> <feature>:<value> …'.")
    if not match["grade"].removesuffix(".0").isdigit():
        return Problem(line, f"A grade must be 0 to 4. Got {match['grade'][:20]!r} instead.")
    try:
        features = _features(match["features"].split())
    except ValueError as error:
        return Problem(line, str(error))
    comment = (match["comment"] or "").strip()
    docid = _DOCID.search(comment)
    key = docid[1] if docid else comment or f"{match['qid']}:{line}"
    return checked(
        Row(
            line=line,
            query_key=match["qid"],
            query=match["qid"],
            document_key=key,
            title=key[:1000],
            snippet=comment,
            truth=int(match["grade"].removesuffix(".0")),
            features=features,
        )
    )


def _features(items: list[str]) -> tuple[float, ...]:
    """The values in order of their numbers; what is missing is 0, as in SVMlight."""
    values: dict[int, float] = {}
    for item in items:
        number, colon, value = item.partition(":")
        if not colon or not number.isdigit() or not 1 <= int(number) <= _MAX_FEATURES:
            raise ValueError(f"A feature must be '<number>:<value>'. Got {item[:40]!r} instead.")
        if int(number) in values:
            raise ValueError(f"Feature {number} must stand once. Got it twice.")
        values[int(number)] = _value(item, value)
    return tuple(values.get(number, 0.0) for number in range(1, max(values, default=0) + 1))


def _value(item: str, value: str) -> float:
    if value.upper() == "NULL":
        return 0.0
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"A feature must be a number. Got {item[:40]!r} instead.") from None
    if number - number != 0:  # nan and the infinities
        raise ValueError(f"A feature must be finite. Got {item[:40]!r} instead.")
    return number
