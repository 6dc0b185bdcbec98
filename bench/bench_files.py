"""Files at size: a million pairs in while a judge writes beside it, a million judgments out."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from typing import Any

from bench import Result
from tests import services

ROWS = 1_000_000


def run() -> list[Result]:
    """On SQLite, and on PostgreSQL where there is one."""
    results = measured("SQLite", nullcontext(None), "< 240 s, memory flat; waits < 500 ms")
    if "postgres" not in services.missing():
        server = services.postgres_server()
        results += measured("PostgreSQL", server, "< 180 s, memory flat; waits < 500 ms")
    return results


def measured(name: str, database: Any, target: str) -> list[Result]:
    """In a process of its own with a database of its own."""
    with database as url, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATA_DIR": folder, "LOG_LEVEL": "WARNING", "DEBUG": "0"}
        environment.pop("DATABASE_URL", None)
        if url:
            environment["DATABASE_URL"] = url
        command = [sys.executable, "-m", "bench.files", str(ROWS)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    return [loading(name, found["import"], target), exporting(name, found["export"])]


def loading(name: str, found: dict[str, Any], target: str) -> Result:
    waits = found["waits"]
    note = (
        f"{found['mb']:.0f} MB above idle, {found['cpu']:.0f} s of processor; a small write beside "
        f"it: p95 {1000 * waits['p95']:.0f} ms, longest {1000 * waits['longest']:.0f} ms"
    )
    return Result(f"load {ROWS:,} pairs with seats, {name}", found["seconds"], {}, target, note)


def exporting(name: str, found: dict[str, Any]) -> Result:
    note = (
        f"{found['rows'] / found['seconds']:,.0f} rows/s, first byte after "
        f"{1000 * found['first']:.0f} ms, {found['mb']:.0f} MB above idle"
    )
    target = "≥ 100,000 rows/s, first byte < 1 s, < 100 MB"
    return Result(f"export {found['rows']:,} judgments, {name}", found["seconds"], {}, target, note)
