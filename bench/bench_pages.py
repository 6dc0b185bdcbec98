"""Every page of a campaign with a million judgments, and the report job behind them."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from typing import Any

from bench import Result
from tests import services

JUDGMENTS = 1_000_000
TARGET = "< 0.3 s"


def run() -> list[Result]:
    """On SQLite, and on PostgreSQL where there is one."""
    found = {"SQLite": measured(nullcontext(None))}
    if "postgres" not in services.missing():
        found["PostgreSQL"] = measured(services.postgres_server())
    reports = [reported(name, one["report"]) for name, one in found.items()]
    return [*reports, *(paged(rows) for rows in zip(*map(_pages, found.items()), strict=True))]


def measured(database: Any) -> dict[str, Any]:
    """In a process of its own with a database of its own."""
    with database as url, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATA_DIR": folder, "LOG_LEVEL": "WARNING", "DEBUG": "0"}
        environment.pop("DATABASE_URL", None)
        if url:
            environment["DATABASE_URL"] = url
        command = [sys.executable, "-m", "bench.pages", str(JUDGMENTS)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def reported(name: str, found: dict[str, Any]) -> Result:
    work = f"reckon all figures of {JUDGMENTS:,} judgments, {name}"
    return Result(work, found["seconds"], {}, "< 60 s, < 1 GB", f"{found['mb']:.0f} MB above idle")


def _pages(item: tuple[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    name, found = item
    return [(name, page) for page in found["pages"]]


def paged(rows: tuple[tuple[str, dict[str, Any]], ...]) -> Result:
    """One page: the slowest engine counts, the other stands in the note."""
    page = rows[0][1]
    words = page["page"].removeprefix("campaign_").replace("_", " ")
    asked = f", ?{page['path']}" if page["path"] else ""
    work = f"page {words}{asked}"
    slowest = max(row["seconds"] for _, row in rows)
    times = ", ".join(f"{name} {1000 * row['seconds']:.0f} ms" for name, row in rows)
    note = f"{times}; {page['queries']} queries, {page['kb']:.0f} kB"
    return Result(work, slowest, {}, TARGET, note)
