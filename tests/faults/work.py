"""Work that nobody needs, and short times: what workers of the fault tests are given.

Every job writes one event, so that every effect can be counted. What takes a minute in production
takes seconds here.
"""

import os
import signal
import time

from django.db import transaction

from annotate import history, jobs, schedule, tasks
from annotate.jobs import holding, queue
from annotate.models import Campaign, Job
from annotate.training import sets
from config.celery import app


def seconds(name: str, usual: float) -> float:
    return float(os.environ.get(name) or usual)


def effect(job: Job) -> None:
    """One event per effect, which counts with the job or not at all."""
    with transaction.atomic():
        history.record(job.campaign, None, f"{job.kind} {job.key}")
        jobs.finish(job)


def nap(job: Job) -> None:
    """Silent work: it never says that it lives."""
    time.sleep(float(job.key.split("-")[0]))
    effect(job)


def die(_: Job) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def plan_every_second() -> None:
    """A period of one second instead of hours, and more ticks than periods."""
    now = int(time.time())
    for campaign in Campaign.objects.all():
        jobs.enqueue("count", campaign, key=f"second-{now}", period=str(now))


def install() -> None:
    tasks.WORK.update({"count": effect, "nap": nap, "die": die})
    queue.LEASE_SECONDS = seconds("TEST_LEASE", queue.LEASE_SECONDS)  # type: ignore[assignment]
    holding.HEARTBEAT_SECONDS = queue.LEASE_SECONDS / 5  # type: ignore[assignment]
    sets.FEW_QUERIES = 2  # one job a run
    app.conf.beat_schedule["sweep"]["schedule"] = seconds("TEST_SWEEP", 1)
    if os.environ.get("REDIS_URL"):
        app.conf.broker_transport_options |= {
            "visibility_timeout": seconds("TEST_VISIBILITY", 900),
            "unacked_restore_interval": 1,
        }
    app.conf.task_acks_late = bool(os.environ.get("TEST_LATE_ACKS"))
    if os.environ.get("TEST_EVERY_SECOND"):
        schedule.plan = plan_every_second
