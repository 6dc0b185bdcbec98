"""If-it-pays, live: a look at a query after a judgment, and the estimate of all judges."""

import json
import os
import subprocess
import sys
import tempfile
from statistics import median

from bench import Result

#: Of 20 documents each.
QUERIES = 100


def run() -> list[Result]:
    """In a process of its own, with a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATA_DIR": folder, "LOG_LEVEL": "WARNING"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            [sys.executable, "-m", "bench.looks", str(QUERIES)],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
    times: dict[str, list[float]] = json.loads(done.stdout)
    return [_look(times), _estimate(times)]


def _look(times: dict[str, list[float]]) -> Result:
    looked, rule, saved = (sorted(times[name]) for name in ("looked", "rule", "saved"))
    p95 = looked[int(0.95 * len(looked))]
    return Result(
        "if-it-pays: a query of 20 documents valued after a judgment and its seats changed, SQLite",
        median(looked),
        {"saving a judgment under 3-overlap": median(rule)},
        "< 5 ms of processor time",
        f"median; p95 {1000 * p95:.1f} ms; its own judgment {1000 * median(saved):.1f} ms before",
    )


def _estimate(times: dict[str, list[float]]) -> Result:
    return Result(
        f"if-it-pays: all judges estimated, {QUERIES} queries of 20 documents valued, SQLite",
        min(times["estimate"]),
        {},
        "",
        "the whole job, with the queries it asks about anew; processor time",
    )
