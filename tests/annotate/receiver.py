"""A server on loopback that receives webhooks and answers as it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """What came, and what is answered: the next of ``answers``, then 204."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    text: bytes = b""
    received: list[Received] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        return [one.headers["webhook-id"] for one in self.received]


@contextmanager
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.received.append(Received(self.path, headers, body))
            self.send_response(found.answers.pop(0) if found.answers else 200)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.text)))
            self.end_headers()
            self.wfile.write(found.text)

        def log_message(self, *_: object) -> None:
            """Not into the output of the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}/hook?who=us"
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
