"""What every format reads to: rows that can be loaded, and problems that name their line."""

from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_QUERY = 2000
MAX_KEY = 200
MAX_URL = 2048
MAX_TITLE = 1000
MAX_TEXT = 100_000


@dataclass(frozen=True)
class Problem:
    """Why a line cannot be loaded."""

    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One pair as a file gives it."""

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


def checked(row: Row) -> Row | Problem:
    """The row, or the first thing that is wrong with it."""
    return next((Problem(row.line, reason) for reason in _reasons(row)), row)


def _reasons(row: Row) -> list[str]:
    found = [
        f"{name} must have at most {most} characters. Got {len(value)} instead."
        for name, value, most in (
            ("query_id", row.query_key, MAX_KEY),
            ("query", row.query, MAX_QUERY),
            ("doc_id", row.document_key, MAX_URL),
            ("locale", row.locale, 20),
            ("title", row.title, MAX_TITLE),
            ("snippet", row.snippet, MAX_TEXT),
            ("intent", row.intent, MAX_TEXT),
            ("text", row.text, MAX_TEXT),
        )
        if len(value) > most
    ]
    if not row.query:
        found.append("query must not be empty.")
    if not row.document_key:
        found.append("url or doc_id must not be empty.")
    if any("\0" in value for value in vars(row).values() if isinstance(value, str)):
        found.append("A text must not hold a NUL character.")
    if row.url:
        found += url_reasons(row.url)
    if row.rank is not None and row.rank < 1:
        found.append(f"rank must be at least 1. Got {row.rank} instead.")
    if row.truth is not None and not 0 <= row.truth <= 4:
        found.append(f"A grade must be 0 to 4. Got {row.truth} instead.")
    return found


def url_reasons(url: str) -> list[str]:
    """What is wrong with an address: only plain http and https may ever become a link."""
    if len(url) > MAX_URL:
        return [f"url must have at most {MAX_URL} characters. Got {len(url)} instead."]
    if any(character.isspace() or not character.isprintable() for character in url):
        return ["url must not hold blanks or control characters."]
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        return [f"url must be an address. Got {url!r}: {error}."]
    if parts.scheme not in ("http", "https") or not host:
        return [f"url must begin with http:// or https:// and name a host. Got {url[:80]!r}."]
    if parts.username is not None or parts.password is not None:
        return ["url must not hold a user name or password."]
    return []
