"""Celery envelopes: open, run what the job's row says, close. The work itself is elsewhere."""

import logging
from collections.abc import Callable

from celery import Task, shared_task

from annotate import imports, jobs, labels, routing, schedule, training
from annotate.models import Job

log = logging.getLogger(__name__)

#: What each kind of job does. Each calls jobs.finish in the transaction of its effects.
WORK: dict[str, Callable[[Job], None]] = {
    "aggregate": labels.aggregate,
    "fold": training.fold,
    "import": imports.run,
    "relabel": labels.relabel,
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
        WORK[job.kind](job)
    except jobs.LostJobError as lost:
        log.info("%s", lost)
    except Exception as error:
        jobs.fail(job, error)
        log.exception("Job %s failed", job)


@shared_task(bind=True)
def sweep(self: Task) -> None:
    """Show that this worker lives, write what the schedule wants, ring for what is due."""
    jobs.worker_seen(self.request.hostname or "worker")
    schedule.plan()
    jobs.sweep()
