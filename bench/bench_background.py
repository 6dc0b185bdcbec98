"""A campaign of a million judgments re-aggregated, from the rows to the rows, on one core.

Every engine is measured in processes of its own: one fills the database, another does the work,
so that the peak of memory is that of the work.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import Result
from tests import services

PAIRS, EACH, JUDGES, QUERIES = 200_000, 5, 500, 2_000
SEATS = (
    "id, campaign_id, query_id, pair_id, ordinal, position, state, judge_id, judged_at, judgment_id"
)
JUDGMENTS = "id, seat_id, pair_id, judge_id, grade, key, comment, guideline_version, created_at"
TARGET = "< 30 s, < 1 GB"


def run() -> list[Result]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        results += _measured("SQLite", {"DATA_DIR": f"{folder}/sqlite", "DATABASE_URL": ""})
        if "postgres" not in services.missing():
            with services.postgres_server() as url:
                there = {"DATA_DIR": f"{folder}/postgres", "DATABASE_URL": url}
                results += _measured("PostgreSQL", there)
    return results


def _measured(engine: str, environment: dict[str, str]) -> list[Result]:
    _in_process("fill", environment)
    rows: list[dict[str, Any]] = json.loads(_in_process("measure", environment))
    return [
        Result(
            work=f"{row['work']}, 1M judgments, {engine}",
            seconds=row["seconds"],
            peers={},
            target=TARGET,
            note=f"{row['note']}Peak {row['megabytes']:.0f} MB.",
        )
        for row in rows
    ]


def _in_process(step: str, environment: dict[str, str]) -> str:
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.bench_background", step],
        env={**os.environ, **one_core, **environment, "REDIS_URL": "", "PRODUCTION": ""},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return done.stdout


# -- Filling --------------------------------------------------------------------------------------


def fill() -> None:
    """Write the rows as routing would have left them, without a million transactions."""
    from django.core.management import call_command
    from django.db import connection, transaction

    call_command("migrate", verbosity=0)
    with transaction.atomic(), connection.cursor() as cursor:
        campaign = _campaign()
        _pairs(campaign)
        seats, judgments = _seats_and_judgments(campaign)
        _copy(cursor, "annotate_seat", SEATS, seats)
        _copy(cursor, "annotate_judgment", JUDGMENTS, judgments)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _campaign() -> int:
    from annotate.models import Campaign, User

    people = [User(username=f"judge-{number}") for number in range(JUDGES)]
    User.objects.bulk_create(people)
    campaign = Campaign.objects.create(
        slug="million", name="Million", state=Campaign.State.OPEN, created_by=people[0]
    )
    return campaign.pk


def _pairs(campaign: int) -> None:
    from annotate.models import Document, Pair, Query

    each = PAIRS // QUERIES
    queries = [Query(campaign_id=campaign, key=f"q{q}", text=f"query {q}") for q in range(QUERIES)]
    documents = [Document(campaign_id=campaign, key=f"d{d}") for d in range(each)]
    Query.objects.bulk_create(queries)
    Document.objects.bulk_create(documents)
    Pair.objects.bulk_create(
        (
            Pair(campaign_id=campaign, query=query, document=document, rank=1, position=number)
            for number, (query, document) in enumerate((q, d) for q in queries for d in documents)
        ),
        batch_size=5_000,
    )


def _seats_and_judgments(campaign: int) -> tuple[Iterator[Any], Iterator[Any]]:
    from annotate.models import Pair, User
    from bench.bench_aggregation import judgments

    pairs = list(Pair.objects.order_by("pk").values_list("pk", "query_id"))
    people = list(User.objects.order_by("pk").values_list("pk", flat=True))
    rows = [column.tolist() for column in judgments()]
    ordinals = [0] * len(pairs)

    def seats() -> Iterator[Any]:
        for number, (pair, judge, _) in enumerate(zip(*rows, strict=True), start=1):
            ordinals[pair] += 1
            key, query = pairs[pair]
            place = (number, campaign, query, key, ordinals[pair], pair)
            yield (*place, "done", people[judge], _moment(number), number)

    def made() -> Iterator[Any]:
        for number, (pair, judge, grade) in enumerate(zip(*rows, strict=True), start=1):
            who = (number, number, pairs[pair][0], people[judge], grade)
            yield (*who, f"{number:032x}", "", 0, _moment(number))

    return seats(), made()


def _moment(number: int) -> str:
    """A thirtieth of a second after the one before."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_700_000_000 + number // 30)) + (
        f".{number % 30 * 33:03d}"
    )


def _copy(cursor: Any, table: str, columns: str, rows: Iterable[Any]) -> None:
    if cursor.db.vendor == "postgresql":
        cursor.execute("SET timezone TO 'UTC'")
        with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return
    places = ", ".join(["%s"] * len(columns.split(",")))
    cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


# -- Measuring ------------------------------------------------------------------------------------


def measure() -> None:
    from annotate import labels
    from annotate.models import Campaign

    rows: list[dict[str, Any]] = []
    for method in ("majority", "ordinal", "dawid-skene"):
        Campaign.objects.update(aggregator=method)
        for work in (f"full pass by {method}", f"full pass by {method} with nothing new"):
            with _timed(rows, work) as row:
                row["note"] = f"{_full_pass()} "
    with _timed(rows, "a snapshot alone") as row:
        labels.take_snapshot(Campaign.objects.get())
        row["note"] = ""
    print(json.dumps(rows))


def _full_pass() -> str:
    from annotate import jobs, labels
    from annotate.models import Campaign, Job

    job = jobs.enqueue("relabel", Campaign.objects.get())
    assert job is not None
    taken = jobs.take(job.pk)
    assert taken is not None
    labels.relabel(taken)
    return Job.objects.get(pk=job.pk).message


@contextmanager
def _timed(rows: list[dict[str, Any]], work: str) -> Iterator[dict[str, Any]]:
    row: dict[str, Any] = {"work": work}
    Path("/proc/self/clear_refs").write_text("5")
    began = time.perf_counter()
    yield row
    row["seconds"] = time.perf_counter() - began
    row["megabytes"] = _peak()
    rows.append(row)
    print(row, file=sys.stderr, flush=True)


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    {"fill": fill, "measure": measure}[sys.argv[1]]()
