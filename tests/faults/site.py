"""A site of its own in a folder: a database, a broker, workers that may be killed."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests import services
from tests.annotate.test_start import wait_until

PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from annotate import routing
from annotate.models import Campaign, Membership, User
from tests.conftest import fill
dana, alice = User.objects.create_user("dana"), User.objects.create_user("alice")
campaign = Campaign.objects.create(
    slug="library", name="Library", created_by=dana, state="open", scheme_name="single"
)
Membership.objects.create(campaign=campaign, user=alice, role="judge")
fill(campaign, queries=30, documents=10)
routing.open_seats(campaign)
"""
ENQUEUE = """
from annotate import jobs
from annotate.models import Campaign
campaign = Campaign.objects.get()
for key in {keys}:
    assert jobs.enqueue({kind!r}, campaign, key=key) is not None
"""


class Redis:
    """A Redis that keeps nothing and comes back on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, services.free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        address = ["--port", str(self.port), "--bind", "127.0.0.1"]
        self.process = subprocess.Popen(
            ["redis-server", *address, "--save", "", "--appendonly", "no"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        services.wait_for_port(self.port)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def flush(self) -> None:
        command = ["redis-cli", "-p", str(self.port), "flushall"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Site:
    """Everything but the web, at the address of its own broker."""

    def __init__(self, folder: Path, redis_url: str = "", **environment: str) -> None:
        self.folder = folder
        own = {"DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": redis_url}
        django = {"DJANGO_SETTINGS_MODULE": "config.settings"}
        self.environment = {**os.environ, **own, **django, **environment}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.run(PREPARE)

    def begin(self, script: str) -> "subprocess.Popen[str]":
        code = f"import django; django.setup()\n{script}"
        return subprocess.Popen(
            [sys.executable, "-c", code], env=self.environment, stdout=subprocess.PIPE, text=True
        )

    def run(self, script: str) -> str:
        process = self.begin(script)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return said

    def enqueue(self, kind: str, *keys: str) -> None:
        self.run(ENQUEUE.format(kind=kind, keys=list(keys)))

    # -- Workers ------------------------------------------------------------------------------

    def start_worker(self, **environment: str) -> "subprocess.Popen[bytes]":
        number = len(self.workers)
        log = self.folder / f"worker-{number}.log"
        name = ["--hostname", f"worker-{number}@%h", "--concurrency", "3", "--pool", "threads"]
        command = ["celery", "-A", "tests.faults.app", "worker", "--beat", *name]
        with log.open("wb") as out:
            worker = subprocess.Popen(
                [sys.executable, "-m", *command],
                env={**self.environment, **environment},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.workers.append(worker)
        wait_until(lambda: b"ready" in log.read_bytes() or worker.poll() is not None)
        assert worker.poll() is None, log.read_text()
        return worker

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        """With -9, and the scheduler that it started."""
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def kill_workers(self) -> None:
        for worker in self.workers:
            self.kill(worker)

    # -- Rows ---------------------------------------------------------------------------------

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(self.folder / "second-opinion.sqlite3", timeout=60)
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def jobs(self, kind: str) -> list[tuple[Any, ...]]:
        query = "SELECT state, attempts, message FROM annotate_job WHERE kind = '{}' ORDER BY id"
        return self.ask(query.format(kind))

    def effects(self, kind: str) -> list[str]:
        query = "SELECT sentence FROM annotate_event WHERE sentence LIKE '{} %' ORDER BY id"
        return [sentence for (sentence,) in self.ask(query.format(kind))]
