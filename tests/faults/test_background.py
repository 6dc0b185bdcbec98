"""Background work loses nothing and does nothing twice, whatever dies.

docs/background.md names the promise behind each test.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.annotate.test_start import Started, wait_until
from tests.faults.site import Redis, Site
from tests.services import free_port

KILLS = int(os.environ.get("FAULT_KILLS", "20"))
JOBS = 1_000
#: Within so many seconds of Redis's return everything is done; so many it is away.
RETURN_SECONDS, AWAY_SECONDS = 90, 30

LABELLED = """
from annotate.models import User
from tests.annotate.rankers import letor
letor(User.objects.get(username="dana"))
"""
TRAIN = """
from annotate import jobs
from annotate.models import Campaign
assert jobs.enqueue("train", Campaign.objects.get(slug="letor")) is not None
"""

Make = Callable[..., Site]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def make_site(tmp_path: Path) -> Iterator[Make]:
    made: list[Site] = []

    def make(redis_url: str = "", **environment: str) -> Site:
        folder = tmp_path / f"site-{len(made)}"
        folder.mkdir()
        made.append(Site(folder, redis_url, **environment))
        return made[-1]

    yield make
    for site in made:
        site.kill_workers()


@pytest.fixture(params=["files", pytest.param("redis", marks=pytest.mark.redis)])
def make(request: pytest.FixtureRequest, make_site: Make) -> Make:
    """A maker of sites behind either broker."""
    url = request.getfixturevalue("redis").url if request.param == "redis" else ""
    return lambda **environment: make_site(url, **environment)


# -- Killed workers -------------------------------------------------------------------------------


@pytest.mark.faults
def test_worker_killed_in_the_middle_of_training_leaves_one_run_and_one_model(make: Make) -> None:
    site = make(TEST_LEASE="4")
    site.run(LABELLED)
    moments, kills, number = random.Random(7), 0, 0
    while kills < KILLS:
        number += 1
        assert number <= 3 * KILLS, "The kills come too late."
        site.run(TRAIN)
        worker = site.start_worker()
        wait_until(lambda: site.jobs("train")[-1][0] == "running")
        time.sleep(moments.uniform(0, 1))
        site.kill(worker)
        in_the_middle = site.jobs("train")[-1][0] == "running"
        kills += in_the_middle
        second = site.start_worker()
        wait_until(lambda: site.jobs("train")[-1][0] in ("done", "failed"))
        site.kill(second)
        assert site.jobs("train")[-1][:2] == ("done", 2 if in_the_middle else 1)
        runs = site.ask("SELECT number, state, model_file FROM annotate_trainingrun ORDER BY id")
        assert [run[:2] for run in runs] == [(n, "done") for n in range(1, number + 1)]
    files = sorted(path.name for path in (site.folder / "models").glob("*.txt"))
    assert files == sorted({model for _, _, model in runs})


@pytest.mark.faults
def test_job_that_kills_three_workers_is_parked_with_its_reason(make: Make) -> None:
    site = make(TEST_LEASE="3")
    site.enqueue("die", "poison")
    for attempt in (1, 2, 3):
        site.start_worker().wait(60)
        assert site.jobs("die")[0][1] == attempt
    site.start_worker()
    wait_until(lambda: site.jobs("die")[0][0] == "failed")
    assert site.jobs("die") == [("failed", 3, "Parked: the worker was lost 3 times.")]
    site.enqueue("count", "afterwards")
    wait_until(lambda: site.effects("count") == ["count afterwards"])


@pytest.mark.faults
def test_killed_workers_lose_none_of_many_jobs_and_do_none_twice(make: Make) -> None:
    site = make(TEST_LEASE="3")
    keys = [f"0.2-{number}" for number in range(60)]
    site.enqueue("nap", *keys)
    for _ in range(3):
        worker = site.start_worker()
        time.sleep(2)
        site.kill(worker)
    site.start_worker()
    wait_until(lambda: len(site.effects("nap")) >= len(keys))
    assert Counter(site.effects("nap")) == Counter(f"nap {key}" for key in keys)


# -- A broker that is away ------------------------------------------------------------------------

SUBMIT = f"""
import json, time, uuid
from django.db import transaction
from annotate import jobs, routing
from annotate.models import Campaign, User
campaign, alice = Campaign.objects.get(), User.objects.get(username="alice")
slowest = 0.0
for number in range({JOBS}):
    began = time.monotonic()
    with transaction.atomic():
        assert jobs.enqueue("count", campaign, key=str(number)) is not None
    if number % 10 == 0:
        seat = routing.claim(campaign, alice)
        routing.submit(alice, seat.pk, seat.token, routing.Answer(2, uuid.uuid4()))
    slowest = max(slowest, time.monotonic() - began)
    time.sleep(0.03)
print(json.dumps(slowest))
"""


@pytest.mark.faults
@pytest.mark.redis
def test_redis_away_flushed_and_back_empty_delays_jobs_and_harms_no_judge(
    make_site: Make, redis: Redis
) -> None:
    site = make_site(redis.url, TEST_SWEEP="5")
    site.start_worker()
    judges = site.begin(SUBMIT)
    wait_until(lambda: len(site.jobs("count")) > JOBS // 5)
    redis.flush()
    redis.stop()
    time.sleep(AWAY_SECONDS)
    redis.start()
    returned = time.monotonic()
    redis.flush()
    said, _ = judges.communicate(timeout=300)
    assert judges.returncode == 0, "A judge saw an error."
    assert float(said) < AWAY_SECONDS, f"A judge waited {said} s: as long as Redis was away."
    wait_until(lambda: len(site.effects("count")) >= JOBS)
    assert time.monotonic() - returned < RETURN_SECONDS
    assert Counter(site.effects("count")) == Counter(f"count {n}" for n in range(JOBS))
    wait_until(lambda: site.ask("SELECT count(*) FROM annotate_label") == [(JOBS // 10,)])


@pytest.mark.faults
@pytest.mark.redis
def test_work_goes_on_while_redis_is_away(make_site: Make, redis: Redis) -> None:
    site = make_site(redis.url)
    site.start_worker()
    site.enqueue("nap", "8-long")
    wait_until(lambda: site.jobs("nap")[0][0] == "running")
    redis.stop()
    wait_until(lambda: site.jobs("nap")[0][0] == "done")
    assert site.jobs("nap")[0][1] == 1
    redis.start()
    site.enqueue("count", "afterwards")
    wait_until(lambda: site.effects("count") == ["count afterwards"])


# -- Messages that come again ---------------------------------------------------------------------

THRICE = """
from annotate import jobs
send = jobs.app.send_task
jobs.app.send_task = lambda *args, **options: [send(*args, **options) for _ in range(3)]
"""


@pytest.mark.faults
def test_messages_that_come_three_times_have_one_effect(make: Make) -> None:
    site = make()
    for _ in range(2):
        site.start_worker()
    keys = [f"0.1-{number}" for number in range(50)]
    site.run(
        THRICE
        + f"""
from annotate.models import Campaign
for key in {keys}:
    jobs.enqueue("nap", Campaign.objects.get(), key=key)
"""
    )
    wait_until(lambda: all(state == "done" for state, *_ in site.jobs("nap")))
    assert Counter(site.effects("nap")) == Counter(f"nap {key}" for key in keys)
    assert {attempts for _, attempts, _ in site.jobs("nap")} == {1}


@pytest.mark.faults
@pytest.mark.redis
def test_work_longer_than_the_visibility_timeout_has_one_effect(
    make_site: Make, redis: Redis
) -> None:
    # Redis gives a message out again that nobody has acknowledged in time.
    site = make_site(redis.url, TEST_VISIBILITY="2", TEST_LEASE="3", TEST_LATE_ACKS="1")
    for _ in range(2):
        site.start_worker()
    site.enqueue("nap", "15-long")
    wait_until(lambda: site.jobs("nap")[0][0] == "done")
    time.sleep(3)
    assert site.effects("nap") == ["nap 15-long"]
    assert site.jobs("nap")[0][1] == 1


@pytest.mark.faults
def test_two_beats_make_one_run_a_period(make: Make) -> None:
    site = make(TEST_EVERY_SECOND="1", TEST_SWEEP="0.3")
    for _ in range(2):
        site.start_worker()
    wait_until(lambda: len(site.effects("count")) >= 30)
    wait_until(lambda: len(site.effects("count")) >= 60)
    runs = [int(sentence.split("-")[1]) for sentence in site.effects("count")]
    assert max(Counter(runs).values()) == 1, "A period ran twice."


# -- Crashes of others ----------------------------------------------------------------------------

DIES_AT_COMMIT = """
import os
from django.db import transaction
from annotate import jobs
from annotate.models import Campaign
jobs.app.send_task = lambda *_, **__: os._exit(9)
with transaction.atomic():
    jobs.enqueue("count", Campaign.objects.get())
"""


def test_crash_between_commit_and_message_loses_no_job(make: Make) -> None:
    site = make()
    crashed = site.begin(DIES_AT_COMMIT)
    assert crashed.wait(60) == 9
    assert site.jobs("count") == [("due", 0, "")]
    site.start_worker()
    wait_until(lambda: len(site.effects("count")) == 1)


def answers(address: str) -> bool:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return bool(answer.status == 200)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], tuple[Started, str]]]:
    started: list[Started] = []

    def start() -> tuple[Started, str]:
        port = free_port()
        one = Started(tmp_path / "data", port)
        started.append(one)
        one.wait()
        return one, f"http://127.0.0.1:{port}/"

    yield start
    for one in started:
        if one.process.poll() is None:
            one.stop(signal.SIGTERM)


def ask(site: Started, query: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(site.folder / "second-opinion.sqlite3", timeout=60)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


RUNS = "SELECT state, message FROM annotate_trainingrun"


@pytest.mark.faults
def test_training_out_of_memory_is_a_failed_run_and_the_web_never_notices(
    start: Callable[[], tuple[Started, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINING_MB", "40")
    site, address = start()
    web_errors: list[Exception] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            try:
                assert answers(address)
            except Exception as error:
                web_errors.append(error)

    visitor = threading.Thread(target=look)
    visitor.start()
    try:
        wait_until(lambda: ("failed",) in ask(site, "SELECT state FROM annotate_trainingrun"))
    finally:
        over.set()
        visitor.join()
    assert web_errors == []
    assert all(message for state, message in ask(site, RUNS) if state == "failed")


CHECK = """
from annotate import labels
from annotate.models import Campaign, Job, Label, Pair
from ranking.aggregation import AGGREGATORS
campaign = Campaign.objects.get()
made = labels.judgments(labels.counted(campaign))
result = AGGREGATORS[campaign.aggregator].aggregate(*made)
ours = list(Label.objects.order_by("pair").values_list("pair_id", "grade"))
assert ours == list(zip(result.pair.tolist(), result.grade.tolist())), "Labels are wrong."
assert campaign.snapshots.first().judgments == len(made[0]), "The snapshot is old."
"""


def wait_until_busy(site: Started, judgments: int) -> None:
    wait_until(lambda: site.count("judgment") >= judgments)
    wait_until(lambda: ask(site, "SELECT 1 FROM annotate_job WHERE state = 'running'"))


@pytest.mark.faults
def test_stop_and_restart_in_the_middle_of_everything_loses_nothing(
    start: Callable[[], tuple[Started, str]],
) -> None:
    for judgments in (20, 0, 0):
        site, _ = start()
        wait_until_busy(site, judgments)
        assert site.stop() == 0
    site, _ = start()
    unfinished = "SELECT 1 FROM annotate_job WHERE state IN ('due', 'running') LIMIT 1"
    stale = "SELECT 1 FROM annotate_pair WHERE stale LIMIT 1"
    wait_until(lambda: not ask(site, stale) and not ask(site, unfinished))
    assert ask(site, "SELECT kind, message FROM annotate_job WHERE state = 'failed'") == []
    environment = {**os.environ, "DATA_DIR": str(site.folder), "DATABASE_URL": ""}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    code = f"import django; django.setup()\n{CHECK}"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
