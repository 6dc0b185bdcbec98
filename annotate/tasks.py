"""Celery envelopes: open, run what the job's row says, close. The work itself is elsewhere."""

import logging
from collections.abc import Callable

from celery import Task, shared_task
from celery.signals import worker_shutting_down
from django.db import Error as DatabaseProblem
from django.db import connection

from annotate import (
    imports,
    jobs,
    lab,
    labels,
    replies,
    reports,
    routing,
    schedule,
    training,
    webhooks,
)
from annotate.models import Job

log = logging.getLogger(__name__)

#: What each kind of job does. Each calls jobs.finish in the transaction of its effects.
WORK: dict[str, Callable[[Job], None]] = {
    "aggregate": labels.aggregate,
    "announce": webhooks.announce,
    "deliver": webhooks.deliver,
    "estimate": routing.estimate,
    "fold": training.fold,
    "import": imports.run,
    "lab": lab.begin,
    "lab-draw": lab.draw,
    "lab-finish": lab.finish,
    "relabel": labels.relabel,
    "report": reports.run,
    "reroute": routing.reroute,
    "snapshot": labels.snapshot,
    "train": training.train,
    "train-finish": training.finish,
}


@shared_task
def run(job_id: int) -> None:
    """Do one job, if it is still due: a message may come twice, or late."""
    job = jobs.take(job_id)
    if job is None:
        return
    try:
        with jobs.held(job):
            WORK[job.kind](job)
    except jobs.LostJobError as lost:
        log.info("%s", lost)
    except Exception as error:
        log.exception("Job %s failed", job)
        _write_down(job, error)


def _write_down(job: Job, error: Exception) -> None:
    try:
        jobs.fail(job, error)
    except DatabaseProblem:
        connection.close()  # the connection may be what failed: once more on a new one
        jobs.fail(job, error)


@worker_shutting_down.connect
def stop(**_: object) -> None:
    """An orderly stop gives work back at once; whoever was doing it finds its token gone."""
    jobs.let_go()


@shared_task(bind=True)
def sweep(self: Task) -> None:
    """Show that this worker lives, write what the schedule wants, ring for what is due."""
    jobs.worker_seen(self.request.hostname or "worker")
    schedule.plan()
    replies.forget()
    jobs.sweep()
