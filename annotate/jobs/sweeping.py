"""The sweep: whatever was lost on the way is found again. And who has shown that it lives."""

import logging

from django.db import transaction
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.jobs.bell import bell, ring
from annotate.jobs.queue import MAX_ATTEMPTS, already_due, mine, put_back
from annotate.models import Job, Worker

log = logging.getLogger(__name__)

WORKER_SILENT_SECONDS = 45
#: How long it stays on record that a job was done.
KEEP_DAYS = 3


def sweep() -> list[int]:
    """Give back what dead workers hold, park what keeps killing them, ring for what is due."""
    _recover()
    _forget()
    due = Job.objects.filter(state=Job.State.DUE, due_at__lte=Now()).order_by("due_at", "pk")
    try:
        waiting = list(due.values_list("pk", flat=True)[: bell.room()])
    except Exception as error:
        log.warning("The broker cannot be reached: %s", error)
        return []
    return [job_id for job_id in waiting if ring(job_id)]


def _recover() -> None:
    """A job that took three workers with it is parked.

    A row that somebody has locked is the row of a worker that lives: it is passed over.
    """
    with transaction.atomic():
        lost = Job.objects.select_for_update(skip_locked=True).filter(
            state=Job.State.RUNNING, leased_until__lt=Now()
        )
        for job in lost:
            words = "The worker was lost."
            if job.attempts >= MAX_ATTEMPTS:
                words = f"Parked: the worker was lost {job.attempts} times."
            elif already_due(job):
                words = "The worker was lost. The same work is due again."
            put_back(job, mine(job).filter(leased_until__lt=Now()), message=words)


def _forget() -> None:
    """What was done days ago is forgotten, but for what must not run again in its period."""
    old = Job.objects.filter(
        state=Job.State.DONE, period=None, finished_at__lt=now_plus(days=-KEEP_DAYS)
    )
    Job.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:1000])).delete()


# -- Workers --------------------------------------------------------------------------------------


def worker_seen(name: str) -> None:
    """A worker shows that it lives."""
    Worker.objects.update_or_create(name=name, defaults={"seen_at": Now()})
    Worker.objects.filter(seen_at__lt=now_plus(days=-1)).delete()


def worker_alive() -> bool:
    """Whether any worker has shown itself lately, by its work or by its sweep."""
    at_work = Job.objects.filter(state=Job.State.RUNNING, leased_until__gt=Now())
    seen = Worker.objects.filter(seen_at__gt=now_plus(seconds=-WORKER_SILENT_SECONDS))
    return seen.exists() or at_work.exists()
