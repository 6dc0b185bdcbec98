"""The rows: enqueue, take, keep, finish, fail; retry and cancel by people."""

import logging
import traceback
import uuid
from collections.abc import Callable

from django.db import IntegrityError, transaction
from django.db.models import ExpressionWrapper, F, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.jobs.bell import ring
from annotate.models import Campaign, Job
from annotate.prepared import Prepared

log = logging.getLogger(__name__)

#: How work tells how far it is: a share, and words.
Progress = Callable[[float, str], None]

LEASE_SECONDS = 60
MAX_ATTEMPTS = 3


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
    # A campaign's judgments all want the same job: the one that is due is enough for them.
    if _DUE.rows(kind, key) or (period and _in_period(kind, key, period)):
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


_DUE = Prepared(
    lambda kind, key: (
        Job.objects.order_by().filter(kind=kind, key=key, state=Job.State.DUE).values_list("pk")
    ),
    str,
    str,
)


def _in_period(kind: str, key: str, period: str) -> bool:
    return Job.objects.filter(kind=kind, key=key, period=period).exists()


# -- Doing a job ----------------------------------------------------------------------------------


def take(job_id: int) -> Job | None:
    """Lease the job to this worker, if it is due and nobody else has it."""
    token = uuid.uuid4()
    Job.objects.filter(
        pk=job_id, state=Job.State.DUE, due_at__lte=Now(), attempts__lt=MAX_ATTEMPTS
    ).update(
        state=Job.State.RUNNING,
        token=token,
        attempts=F("attempts") + 1,
        leased_until=lease(),
        started_at=Now(),
        progress=0,
        message="",
        error="",
    )
    return Job.objects.select_related("campaign").filter(pk=job_id, token=token).first()


def keep(job: Job, progress: float, message: str = "") -> None:
    """Say how far the work is and keep the lease. Raises LostJobError if it is gone.

    In a transaction with effects it fences them: they count only if the job is still ours.
    """
    kept = mine(job).update(progress=progress, message=message[:300], leased_until=lease())
    if not kept:
        raise LostJobError(f"Job {job.pk} is no longer this worker's.")


def finish(job: Job, message: str = "") -> None:
    """Done. Call it in the transaction of the job's effects: they count together or not at all."""
    done = mine(job).update(
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
    put_back(
        job,
        mine(job),
        delay=10 * job.attempts,
        message=f"{type(error).__name__}: {error}"[:300],
        error="".join(traceback.format_exception(error))[-20_000:],
    )


def put_back(job: Job, held: QuerySet[Job], *, delay: float = 0, **why: str) -> None:
    """Due again; parked if it has had its attempts, or if the same work is due already."""
    if job.attempts < MAX_ATTEMPTS and not already_due(job):
        try:
            with transaction.atomic():
                held.update(
                    state=Job.State.DUE,
                    # SQLite writes the sum with more digits: it would be later than this moment.
                    due_at=now_plus(seconds=delay) if delay else Now(),
                    leased_until=None,
                    finished_at=None,
                    **why,
                )
            return
        except IntegrityError:
            log.info("Job %s became due a second time just now.", job.pk)
    held.update(state=Job.State.FAILED, leased_until=None, finished_at=Now(), **why)


def lease() -> "ExpressionWrapper[CombinedExpression]":
    """Until when a worker has a job that it takes or keeps now."""
    return now_plus(seconds=LEASE_SECONDS)


def mine(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, token=job.token)


def already_due(job: Job) -> bool:
    """The same work stands in the queue a second time: one of them is enough."""
    return Job.objects.filter(kind=job.kind, key=job.key, state=Job.State.DUE).exists()


# -- What people may do ---------------------------------------------------------------------------


def retry(job: Job) -> bool:
    """A person says: try this parked job again. Whether it is due now by that."""
    try:
        with transaction.atomic():
            parked = Job.objects.filter(pk=job.pk, state=Job.State.FAILED)
            reset = not already_due(job) and parked.update(
                state=Job.State.DUE, attempts=0, due_at=Now(), finished_at=None
            )
            if reset:
                transaction.on_commit(lambda: ring(job.pk))
    except IntegrityError:
        return False  # the same work became due just now
    return bool(reset)


def cancel(job: Job) -> bool:
    """A person says: stop. A running worker notices when it next keeps its lease."""
    unfinished = Job.objects.filter(pk=job.pk, state__in=[Job.State.DUE, Job.State.RUNNING])
    return bool(
        unfinished.update(
            state=Job.State.FAILED,
            token=None,
            message="Cancelled.",
            leased_until=None,
            finished_at=Now(),
        )
    )
