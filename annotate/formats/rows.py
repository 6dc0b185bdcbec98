"""What every format reads to: rows that can be loaded, and problems that name their line."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

MAX_QUERY = 2000
MAX_KEY = 200
MAX_URL = 2048
MAX_TITLE = 1000
MAX_LOCALE = 20
MAX_TEXT = 100_000
MAX_NAME = 80

#: What no text may hold: PostgreSQL refuses NUL, UTF-8 has no lone surrogates.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_BLANK_OR_CONTROL = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\ufeff]"
)


#: Addresses that need no closer look: letters, digits and dots for a host, then plain ASCII.
_USUAL = re.compile(r"https?://[A-Za-z0-9.-]*[A-Za-z0-9](?:/[!-~]*)?")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line cannot be loaded."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Rating:
    """What a person said of a pair, as a file gives it. Its value stands on the file's scale."""

    value: float
    judge: str = ""
    comment: str = ""
    at: datetime | None = None
    active_ms: int | None = None
    guideline_version: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One pair as a file gives it. An empty text means that the file does not say.

    A row without a document tells only something of its query. ``by_text`` says that the file
    knows its query by its words alone, ``encoded`` that blanks in its names are percent-encoded,
    ``own_scale`` that its grades are ours, by their words.
    """

    line: int
    query_key: str
    query: str
    document_key: str
    intent: str = ""
    locale: str = ""
    url: str = ""
    title: str = ""
    snippet: str = ""
    text: str = ""
    rank: int | None = None
    truth: int | None = None
    features: tuple[float, ...] | None = None
    ratings: tuple[Rating, ...] = ()
    by_text: bool = False
    encoded: bool = False
    own_scale: bool = False
    passed_over: bool = False


_LIMITS = (
    ("query_id", "query_key", MAX_KEY),
    ("query", "query", MAX_QUERY),
    ("doc_id", "document_key", MAX_URL),
    ("locale", "locale", MAX_LOCALE),
    ("title", "title", MAX_TITLE),
    ("snippet", "snippet", MAX_TEXT),
    ("intent", "intent", MAX_TEXT),
    ("text", "text", MAX_TEXT),
)


def checked(row: Row, document: bool = True) -> Row | Problem:
    """The row, or the first thing that is wrong with it."""
    if not _fits(row) and (problem := _misfit(row)):
        return problem
    reason = _reason(row, document)
    return Problem(row.line, reason) if reason else row


def _fits(row: Row) -> bool:
    """Whether every text is short and writable: the quick way, taken by almost every row."""
    texts = (row.query, row.document_key, row.title, row.snippet, row.intent, row.text)
    return (
        len(row.query_key) <= MAX_KEY
        and len(row.locale) <= MAX_LOCALE
        and max(map(len, texts)) <= MAX_TITLE
        and not _UNWRITABLE.search(row.query_key + row.locale + "".join(texts))
    )


def _misfit(row: Row) -> Problem | None:
    for name, field, most in _LIMITS:
        value = getattr(row, field)
        if len(value) > most:
            got = len(value)
            return Problem(
                row.line, f"{name} must have at most {most} characters. Got {got} instead."
            )
        if _UNWRITABLE.search(value):
            what = "NUL character" if "\0" in value else "lone surrogate"
            return Problem(row.line, f"A text must not hold a {what}.")
    return None


def _reason(row: Row, document: bool) -> str:
    if not row.query_key.strip():
        return "query must not be empty."
    if document and not row.document_key:
        return "url or doc_id must not be empty."
    if row.url and (reason := url_reason(row.url)):
        return reason
    if row.rank is not None and not 1 <= row.rank < 2**31:
        return f"rank must be at least 1 and below {2**31}. Got {row.rank} instead."
    if row.truth is not None and not 0 <= row.truth <= 4:
        return f"A grade must be 0 to 4. Got {row.truth} instead."
    return next(filter(None, map(_rating_reason, row.ratings)), "")


def _rating_reason(rating: Rating) -> str:
    if len(rating.judge) > MAX_NAME:
        return f"A judge's name must have at most {MAX_NAME} characters."
    if len(rating.comment) > MAX_TEXT:
        return f"comment must have at most {MAX_TEXT} characters. Got {len(rating.comment)}."
    if _UNWRITABLE.search(rating.judge) or _UNWRITABLE.search(rating.comment):
        return "A text must not hold a NUL character or a lone surrogate."
    return ""


def url_reason(url: str) -> str:
    """What is wrong with an address: only plain http and https may ever become a link."""
    if len(url) <= MAX_URL and _USUAL.fullmatch(url):
        return ""
    if len(url) > MAX_URL:
        return f"url must have at most {MAX_URL} characters. Got {len(url)} instead."
    if _BLANK_OR_CONTROL.search(url) or not url.isprintable():
        return "url must not hold blanks or control characters."
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        return f"url must be an address. Got {url[:80]!r}: {error}."
    if parts.scheme not in ("http", "https") or not host:
        return f"url must begin with http:// or https:// and name a host. Got {url[:80]!r}."
    if "@" in parts.netloc:
        return "url must not hold a user name or password."
    return ""


_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?", re.ASCII)


def number(cell: str) -> float | None:
    """A finite number, blanks around it or not; None if it is none."""
    cell = cell.strip()
    if not _NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if value - value == 0 else None


def whole(cell: str) -> int | None:
    """A whole number of at most nine digits, also written 3.0; None if it is none."""
    value = number(cell)
    return int(value) if value is not None and value == int(value) and abs(value) < 1e9 else None
