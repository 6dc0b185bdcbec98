"""A real worker behind a real broker: a ring is heard, and a lost one loses no work."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotate.test_start import wait_until

PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from annotate.models import Campaign, User
from tests.conftest import fill
dana = User.objects.create_user("dana")
fill(Campaign.objects.create(slug="library", name="Library", created_by=dana))
"""
ENQUEUE = """
from annotate import jobs
from annotate.models import Campaign
assert jobs.enqueue("aggregate", Campaign.objects.get()) is not None
"""
FORGET = """
from config.celery import app
with app.connection() as connection:
    connection.default_channel.queue_purge("celery")
"""


class Site:
    """A site of its own in a folder, with the broker it was told."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.folder = folder
        own = {"DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": redis_url}
        self.environment = {**os.environ, **own, "DJANGO_SETTINGS_MODULE": "config.settings"}

    def run(self, script: str) -> None:
        code = f"import django; django.setup()\n{script}"
        subprocess.run([sys.executable, "-c", code], env=self.environment, check=True)

    def worker(self) -> "subprocess.Popen[bytes]":
        log = (self.folder / "worker.log").open("ab")
        command = ["celery", "-A", "config", "worker", "--beat", "--pool", "threads", "-c", "2"]
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", *command], env=self.environment, stdout=log, stderr=log
            )

    def states(self) -> list[str]:
        database = sqlite3.connect(self.folder / "second-opinion.sqlite3")
        rows = database.execute(
            "SELECT state FROM annotate_job WHERE kind = 'aggregate'"
        ).fetchall()
        database.close()
        return [state for (state,) in rows]


@pytest.fixture(params=["files", pytest.param("redis", marks=pytest.mark.redis)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    redis = request.param == "redis"
    site = Site(tmp_path, request.getfixturevalue("redis_server") if redis else "")
    site.run(PREPARE)
    return site


@pytest.fixture
def worker(site: Site) -> Iterator[None]:
    process = site.worker()
    wait_until(lambda: "ready" in (site.folder / "worker.log").read_text())
    yield
    process.terminate()
    process.wait()


def test_worker_hears_the_ring(site: Site, worker: None) -> None:
    site.run(ENQUEUE)
    wait_until(lambda: site.states() == ["done"])


def test_lost_messages_lose_no_work(site: Site, request: pytest.FixtureRequest) -> None:
    site.run(ENQUEUE)
    site.run(FORGET)
    shutil.rmtree(site.folder / "broker", ignore_errors=True)
    request.getfixturevalue("worker")
    wait_until(lambda: site.states() == ["done"])
