"""Where a message may go: the open web, and nearby machines only where the site says so.

This is the one place where the server itself opens an address, so it must not be led to machines
that only it can reach.
"""

import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from annotate.addresses import safe_href

LONGEST_URL = 2048
PORTS = {"http": 80, "https": 443}
#: Addresses of the older network, as gateways write them in the newer one.
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

IP = ipaddress.IPv4Address | ipaddress.IPv6Address


class WebhookError(Exception):
    """What is asked cannot be done. Its text is for people."""


def check_url(url: str) -> str:
    """The address, if messages may go there; what a name stands for is looked at when sending."""
    if len(url) > LONGEST_URL:
        raise WebhookError(
            f"An address must have at most {LONGEST_URL} characters. Got {len(url)} instead."
        )
    host = parts_of(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        host = "127.0.0.1"
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return url
    check_ip(literal)
    return url


def parts_of(url: str) -> SplitResult:
    parts = urlsplit(url) if url.isascii() and safe_href(url) else None
    if parts is None or not _has_port(parts):
        raise WebhookError(
            "An address must start with http:// or https://, name a host and no user, and be "
            "plain ASCII. This one does not."
        )
    return parts


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def resolve(parts: SplitResult) -> list[str]:
    """The numbers of the host, each one allowed. Whoever connects uses these and asks no more:
    a second answer to the same question may be another one.
    """
    port = parts.port or PORTS[parts.scheme]
    found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    numbers = list(dict.fromkeys(str(one[4][0]) for one in found))
    for number in numbers:
        check_ip(ipaddress.ip_address(number))
    return numbers


def check_ip(address: IP) -> None:
    if not settings.WEBHOOK_PRIVATE and not all(map(_is_open_web, _meant(address))):
        raise WebhookError(
            f"An address must be on the open web. {address} is not, and WEBHOOK_PRIVATE is off."
        )


def _is_open_web(address: IP) -> bool:
    return address.is_global and not address.is_multicast


def _meant(address: IP) -> list[IP]:
    """The address, and those of the older network that are hidden in it."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    hidden = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in NAT64:
        hidden.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    inner = [one for one in hidden if one is not None]
    return [*inner] if address.ipv4_mapped else [address, *inner]
