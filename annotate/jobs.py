"""Background work as rows: enqueue, take, keep, finish, sweep. The database is the queue.

A job is done by whoever holds its token. Losing a message, a worker or the broker loses no work:
the sweep rings again for what is due, and a late worker's token no longer fits.
"""

import logging
import traceback
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from annotate.clock import now_plus
from annotate.models import Campaign, Job, Worker
from config.celery import app

log = logging.getLogger(__name__)

LEASE_SECONDS = 60
MAX_ATTEMPTS = 3
WORKER_SILENT_SECONDS = 45
TASK = "annotate.tasks.run"


class LostJobError(Exception):
    """The lease ran out and the job is somebody else's now, or it was cancelled."""


def enqueue(
    kind: str,
    campaign: Campaign,
    *,
    key: str = "",
    delay: float = 0,
    period: str | None = None,
) -> Job | None:
    """Write the job in the caller's transaction and ring after its commit.

    What is due later is rung for by the sweep. One due job per kind and key is enough, and one
    job in a period: another gives None.
    """
    key = key or str(campaign.pk)
    same = Q(state=Job.State.DUE) if period is None else Q(state=Job.State.DUE) | Q(period=period)
    if Job.objects.filter(same, kind=kind, key=key).exists():
        return None
    token = uuid.uuid4()
    Job.objects.bulk_create(
        [
            Job(
                kind=kind,
                key=key,
                campaign=campaign,
                due_at=now_plus(seconds=delay) if delay else Now(),
                period=period,
                token=token,
            )
        ],
        ignore_conflicts=True,  # another transaction may have written the same one just now
    )
    job = Job.objects.filter(token=token).first()
    if job is not None and not delay:
        transaction.on_commit(lambda: ring(job.pk))
    return job


def ring(job_id: int) -> None:
    """Tell the workers. If the broker is away, the sweep will."""
    try:
        app.send_task(TASK, [job_id], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("Job %s is due, but the broker cannot be reached: %s", job_id, error)


def take(job_id: int) -> Job | None:
    """Lease the job to this worker, if it is due and nobody else has it."""
    token = uuid.uuid4()
    taken = Job.objects.filter(
        pk=job_id, state=Job.State.DUE, due_at__lte=Now(), attempts__lt=MAX_ATTEMPTS
    ).update(
        state=Job.State.RUNNING,
        token=token,
        attempts=F("attempts") + 1,
        leased_until=now_plus(seconds=LEASE_SECONDS),
        started_at=Now(),
        progress=0,
        message="",
        error="",
    )
    return Job.objects.select_related("campaign").get(pk=job_id) if taken else None


def keep(job: Job, progress: float, message: str = "") -> None:
    """Say how far the work is and keep the lease. Raises LostJobError if it is gone."""
    kept = _mine(job).update(
        progress=progress, message=message[:300], leased_until=now_plus(seconds=LEASE_SECONDS)
    )
    if not kept:
        raise LostJobError(f"Job {job.pk} is no longer this worker's.")


def finish(job: Job, message: str = "") -> None:
    """Done. Call it in the transaction of the job's effects: they count together or not at all."""
    done = _mine(job).update(
        state=Job.State.DONE,
        progress=1,
        message=message[:300],
        leased_until=None,
        finished_at=Now(),
    )
    if not done:
        raise LostJobError(f"Job {job.pk} is no longer this worker's.")


def fail(job: Job, error: BaseException) -> None:
    """Try again a little later, or park the job with its reason after the last attempt."""
    again = job.attempts < MAX_ATTEMPTS and not _already_due(job)
    _mine(job).update(
        state=Job.State.DUE if again else Job.State.FAILED,
        message=f"{type(error).__name__}: {error}"[:300],
        error="".join(traceback.format_exception(error))[-20_000:],
        due_at=now_plus(seconds=10 * job.attempts),
        leased_until=None,
        finished_at=None if again else Now(),
    )


def retry(job: Job) -> None:
    """A person says: try this parked job again."""
    with transaction.atomic():
        reset = Job.objects.filter(pk=job.pk, state=Job.State.FAILED)
        if not _already_due(job) and reset.update(
            state=Job.State.DUE, attempts=0, due_at=Now(), finished_at=None
        ):
            transaction.on_commit(lambda: ring(job.pk))


def cancel(job: Job) -> None:
    """A person says: stop. A running worker notices when it next keeps its lease."""
    Job.objects.filter(pk=job.pk, state__in=[Job.State.DUE, Job.State.RUNNING]).update(
        state=Job.State.FAILED,
        token=None,
        message="Cancelled.",
        leased_until=None,
        finished_at=Now(),
    )


def sweep() -> list[int]:
    """Give back what dead workers hold, park what keeps killing them, ring for what is due."""
    for job in Job.objects.filter(state=Job.State.RUNNING, leased_until__lt=Now()):
        _recover(job)
    due = list(
        Job.objects.filter(state=Job.State.DUE, due_at__lte=Now())
        .order_by("due_at")
        .values_list("pk", flat=True)[:1000]
    )
    for job_id in due:
        ring(job_id)
    return due


def _recover(job: Job) -> None:
    """The worker that had it is gone. A job that took three workers with it is parked."""
    again = job.attempts < MAX_ATTEMPTS and not _already_due(job)
    expired = _mine(job).filter(leased_until__lt=Now())
    if again:
        expired.update(state=Job.State.DUE, leased_until=None, due_at=Now())
    else:
        expired.update(
            state=Job.State.FAILED,
            leased_until=None,
            finished_at=Now(),
            message=f"Parked: the worker was lost {job.attempts} times.",
        )


def _mine(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, token=job.token)


def _already_due(job: Job) -> bool:
    """The same work stands in the queue a second time: one of them is enough."""
    return Job.objects.filter(kind=job.kind, key=job.key, state=Job.State.DUE).exists()


# -- Workers --------------------------------------------------------------------------------------


def worker_seen(name: str) -> None:
    """A worker shows that it lives."""
    Worker.objects.update_or_create(name=name, defaults={"seen_at": Now()})
    Worker.objects.filter(seen_at__lt=now_plus(days=-1)).delete()


def worker_alive() -> bool:
    """Whether any worker has shown itself lately."""
    return Worker.objects.filter(seen_at__gt=now_plus(seconds=-WORKER_SILENT_SECONDS)).exists()


Progress = Callable[[float, str], None]

#: How often work that takes long should say that it lives.
HEARTBEAT = timedelta(seconds=LEASE_SECONDS / 6)
