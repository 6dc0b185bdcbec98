"""Background work as rows. The database is the queue, Celery rings.

A job is done by whoever holds its token. Losing a message, a worker or the broker loses no work:
the sweep rings again for what is due, and a late worker's token no longer fits.
"""

from annotate.jobs.bell import ring
from annotate.jobs.holding import held, let_go
from annotate.jobs.queue import (
    LEASE_SECONDS,
    MAX_ATTEMPTS,
    LostJobError,
    Progress,
    cancel,
    enqueue,
    fail,
    finish,
    keep,
    retry,
    take,
)
from annotate.jobs.sweeping import (
    KEEP_DAYS,
    WORKER_SILENT_SECONDS,
    sweep,
    worker_alive,
    worker_seen,
)
from config.celery import app

__all__ = [
    "KEEP_DAYS",
    "LEASE_SECONDS",
    "MAX_ATTEMPTS",
    "WORKER_SILENT_SECONDS",
    "LostJobError",
    "Progress",
    "app",
    "cancel",
    "enqueue",
    "fail",
    "finish",
    "held",
    "keep",
    "let_go",
    "retry",
    "ring",
    "sweep",
    "take",
    "worker_alive",
    "worker_seen",
]
