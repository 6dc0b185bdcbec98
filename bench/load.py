"""A small load generator: threads, each with one connection that is kept alive."""

import http.client
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


class Client:
    """One person's browser."""

    def __init__(self, port: int, cookie: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.headers = {"Accept": "application/json", "Cookie": cookie}

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> dict[str, Any]:
        """The answer, which must be a good one."""
        self.connection.request(method, path, body, {**self.headers, **headers})
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"{method} {path} got {response.status}: {answer[:300]!r}")
        return json.loads(answer) if answer else {}


@dataclass
class Load:
    """What a run came to."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests in a second."""
        return len(self.times) / self.seconds

    def quantile(self, q: float) -> float:
        return sorted(self.times)[min(int(q * len(self.times)), len(self.times) - 1)]


def run(steps: list[Callable[[], None]], each: int, longest: float = 30.0) -> Load:
    """Every client takes so many steps, all at once; nobody begins one after ``longest``."""
    load = Load()
    start = threading.Barrier(len(steps) + 1)
    lock = threading.Lock()

    def work(step: Callable[[], None]) -> None:
        mine: list[float] = []
        start.wait()
        end = perf_counter() + longest
        try:
            for _ in range(each):
                began = perf_counter()
                step()
                now = perf_counter()
                mine.append(now - began)
                if now > end:
                    break
        except Exception as error:
            load.errors.append(repr(error))
        with lock:
            load.times += mine

    threads = [threading.Thread(target=work, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    start.wait()
    began = perf_counter()
    for thread in threads:
        thread.join()
    load.seconds = perf_counter() - began
    return load
