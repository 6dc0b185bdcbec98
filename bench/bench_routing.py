"""The router: submit and next over HTTP beside a bare view, and claims in ever larger campaigns."""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlencode

from bench import Result, load
from bench.load import Client, Load
from tests import services

PAIRS, JUDGES = 6_000, 32
SUBMITS = 1_280
SIZES = (1_000, 100_000, 1_000_000)
SECRET = "a" * 32

#: Makes a database that lives as long as it is used; gives its address, or None for SQLite.
Database = Callable[[], AbstractContextManager[str | None]]


def run() -> list[Result]:
    """On SQLite, and on PostgreSQL where there is one."""
    engines: dict[str, Database] = {"SQLite": lambda: nullcontext(None)}
    if "postgres" not in services.missing():
        engines["PostgreSQL"] = services.postgres_server
    http = [found for name, new in engines.items() for found in http_results(name, new)]
    return http + [found for name, new in engines.items() for found in claim_results(name, new)]


def environment(folder: str, url: str | None) -> dict[str, str]:
    known = {**os.environ, "DATA_DIR": folder, "LOG_LEVEL": "WARNING", "DEBUG": "0"}
    known.pop("DATABASE_URL", None)
    return {**known, "DATABASE_URL": url} if url else known


# -- Over HTTP ------------------------------------------------------------------------------------


def http_results(name: str, database: Database) -> list[Result]:
    """Both views by turns in the same server, so that whatever disturbs one disturbs the other."""
    results = []
    with database() as url, site(url) as (port, known):
        cookies = [f"sessionid={key}; csrftoken={SECRET}" for key in known["sessions"]]
        clients = [Client(port, cookie) for cookie in cookies]
        judges = [Judge(client, number) for number, client in enumerate(clients)]
        bares = [bare(Client(port), known["pairs"][n::JUDGES]) for n in range(JUDGES)]
        for count in (8, 32):
            ours, peer = by_turns(judges[:count], bares[:count])
            results.append(result(f"{name}, {count} clients", ours, peer))
    return results


def by_turns(ours: list[Callable[[], None]], peer: list[Callable[[], None]]) -> tuple[Load, Load]:
    """A warm-up, then the better of two turns each."""
    each = SUBMITS // len(ours)
    turns = [(load.run(ours, n), load.run(peer, n)) for n in (5, each // 2, each // 2)]
    errors = [error for turn in turns for side in turn for error in side.errors]
    assert not errors, errors[:3]
    return max((t[0] for t in turns[1:]), key=_rate), max((t[1] for t in turns[1:]), key=_rate)


def _rate(measured: Load) -> float:
    return measured.rate


def result(where: str, ours: Load, peer: Load) -> Result:
    share, p99 = ours.rate / peer.rate, 1000 * ours.quantile(0.99)
    return Result(
        f"submit and next over HTTP, {where}",
        1 / ours.rate,
        {"bare view": 1 / peer.rate},
        "≥ 35 % of the bare view's rate, ≥ 150/s; p99 < 250 ms at 32",
        f"{ours.rate:.0f}/s, {share:.0%} of {peer.rate:.0f}/s; p99 {p99:.0f} ms; no error",
    )


class Judge:
    """Judges whatever comes next, as her page does."""

    def __init__(self, client: Client, number: int) -> None:
        self.client, self.random = client, random.Random(number)
        self.pair = client.ask("GET", "/judge/bench/")["next"]

    def __call__(self) -> None:
        grade = self.random.choices(range(5), [35, 25, 20, 15, 5])[0]
        form = {"seat": self.pair["seat"], "token": self.pair["token"], "grade": grade}
        answer = self.client.ask(
            "POST",
            "/judge/bench/",
            urlencode({**form, "active_ms": 900}),
            **{"X-CSRFToken": SECRET, "Content-Type": "application/x-www-form-urlencoded"},
        )
        assert answer["saved"]["grade"] == grade
        self.pair = answer["next"]


def bare(client: Client, pairs: list[int]) -> Callable[[], None]:
    line = iter(pairs * 20)
    return lambda: client.ask("POST", f"/bare/{next(line)}/") and None


@contextmanager
def site(url: str | None) -> Iterator[tuple[int, dict[str, list]]]:  # type: ignore[type-arg]
    """The whole site on a free port, with a database of its own."""
    port = services.free_port()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "static").mkdir()
        filled = subprocess.run(
            [sys.executable, "-m", "bench.site", str(PAIRS), str(JUDGES)],
            env=environment(folder, url),
            stdout=subprocess.PIPE,
            check=True,
        )
        with serving(port, environment(folder, url)):
            yield port, json.loads(filled.stdout)


@contextmanager
def serving(port: int, variables: dict[str, str]) -> Iterator[None]:
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "gunicorn", "bench.site:application"),
            *("--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "16"),
            *("--worker-class", "gthread", "--keep-alive", "600", "--log-level", "warning"),
        ],
        env=variables,
    )
    try:
        services.wait_for_port(port)
        yield
    finally:
        server.terminate()
        server.wait()


# -- Claims ---------------------------------------------------------------------------------------


def claim_results(name: str, database: Database) -> list[Result]:
    """In a process of its own for each size: a million pairs are made by the database itself."""
    results = []
    for size in SIZES:
        with database() as url, tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-m", "bench.claims", str(size)],
                env=environment(folder, url),
                stdout=subprocess.PIPE,
                check=True,
            )
        results += [claim_result(name, size, *row) for row in json.loads(done.stdout)]
    return results


def claim_result(name: str, size: int, who: str, *times: float) -> Result:
    p50, p95 = (1000 * seconds for seconds in times)
    return Result(
        f"a claim among {size:,} pairs, {who}, {name}",
        p95 / 1000,
        {},
        "p95 < 20 ms, flat",
        f"p95 {p95:.1f} ms, median {p50:.1f} ms",
    )
