"""One message to one address: no redirect is followed, nobody is waited for long."""

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult

from annotate.webhooks.checking import PORTS, WebhookError, parts_of, resolve

#: How long one step may take: to connect, to wait for the next bytes.
STEP_SECONDS = 10.0
#: How long all of it may take: a server may also send its answer letter by letter.
WHOLE_SECONDS = 20.0
#: So much of an answer is kept.
EXCERPT = 300


@dataclass(frozen=True)
class Outcome:
    """What came of it. Without a status, nobody answered."""

    status: int | None = None
    answer: str = ""
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def post(url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
    """Send it. Whatever goes wrong is in the outcome."""
    try:
        parts = parts_of(url)
        with _line(parts) as line:
            return _ask(line, parts, headers, body)
    except WebhookError as error:
        return Outcome(error=str(error))
    except (OSError, http.client.HTTPException) as error:
        return Outcome(error=f"It could not be reached: {error or type(error).__name__}.")


@contextmanager
def _line(parts: SplitResult) -> Iterator[socket.socket]:
    """An open connection that is cut after a while, whatever the other side does."""
    bare = _connect(resolve(parts), parts.port or PORTS[parts.scheme])
    handle = bare.dup()
    clock = threading.Timer(WHOLE_SECONDS, _cut, [handle])
    clock.start()
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            with context.wrap_socket(bare, server_hostname=parts.hostname) as line:
                yield line
        else:
            yield bare
    finally:
        clock.cancel()
        handle.close()
        bare.close()


def _connect(numbers: list[str], port: int) -> socket.socket:
    """To the first of the host's numbers that answers."""
    for number in numbers[:-1]:
        with suppress(OSError):
            return socket.create_connection((number, port), timeout=STEP_SECONDS)
    return socket.create_connection((numbers[-1], port), timeout=STEP_SECONDS)


def _cut(handle: socket.socket) -> None:
    with suppress(OSError):  # it may have ended just now
        handle.shutdown(socket.SHUT_RDWR)


def _ask(
    line: socket.socket, parts: SplitResult, headers: Mapping[str, str], body: bytes
) -> Outcome:
    connection = http.client.HTTPConnection(parts.hostname or "", timeout=STEP_SECONDS)
    connection.sock = line
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("POST", target, body, {**headers, "Host": parts.netloc})
    answer = connection.getresponse()
    said = b""
    with suppress(OSError, http.client.HTTPException):
        said = answer.read(EXCERPT)
    words = said.decode(errors="replace").replace("\0", "�")
    error = "" if 200 <= answer.status < 300 else f"It answered {answer.status} {answer.reason}."
    return Outcome(answer.status, words[:EXCERPT], error[:EXCERPT].replace("\0", "�"))
