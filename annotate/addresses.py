"""Web addresses as judges see them: which may be linked, and which part is the host."""

import ipaddress
import re
import unicodedata
from typing import NamedTuple
from urllib.parse import urlsplit

#: Names that mean a machine nearby, never one on the open web.
NEARBY = {"home", "internal", "intranet", "lan", "local", "localhost"}


class Address(NamedTuple):
    """An address in three parts; the host is shown in bold. ``href`` is empty if not linked."""

    before: str
    host: str
    after: str
    href: str


def safe_href(url: str) -> str | None:
    """The address if it may be linked: http or https, a host, no user name in it."""
    if any(_treacherous(character) for character in url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # for instance half an IPv6 address
        return None
    ok = parts.scheme in ("http", "https") and host and "@" not in parts.netloc
    return url if ok else None


def _treacherous(character: str) -> bool:
    """Browsers drop or turn these: the address would not lead where it seems to."""
    return character == "\\" or character.isspace() or not character.isprintable()


def address(url: str) -> Address:
    """Split for reading. What may not be linked is shown whole, as plain text."""
    href = safe_href(url)
    if href is None:
        return Address(url, "", "", "")
    before, _, rest = url.partition("://")
    netloc = urlsplit(url).netloc
    return Address(f"{before}://", netloc, rest[len(netloc) :], href)


def public_host(url: str) -> str | None:
    """The host of an address on the open web; None where it means a machine nearby.

    A page in a judge's browser must not reach into the network she sits in.
    """
    href = safe_href(url)
    host = (href and urlsplit(href).hostname) or ""
    host = re.sub("[。．｡]", ".", unicodedata.normalize("NFKC", host)).rstrip(".")
    try:
        return host if ipaddress.ip_address(host).is_global else None
    except ValueError:
        pass
    *labels, last = host.split(".")
    # Browsers take 127.1 and 0x7f.1 for numbers too, and decode what is written with per cent.
    odd = last in NEARBY or "%" in host or re.fullmatch("[0-9]+|0x[0-9a-f]*", last)
    return host if labels and not odd else None
