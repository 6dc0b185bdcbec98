"""A job in the hands of this process: kept while it lives, given back when it is stopped."""

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection
from django.db.models import F

from annotate.jobs.queue import lease, mine, put_back
from annotate.models import Job

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10

_in_hand: dict[uuid.UUID | None, Job] = {}


@contextmanager
def held(job: Job) -> Iterator[None]:
    """Keep the lease while this process works, also where the work cannot say how far it is."""
    over = threading.Event()
    _in_hand[job.token] = job
    threading.Thread(target=_hold, args=(job, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        del _in_hand[job.token]


def _hold(job: Job, over: threading.Event) -> None:
    while not over.wait(HEARTBEAT_SECONDS):
        try:
            if not mine(job).update(leased_until=lease()):
                return
        except DatabaseError as error:
            log.warning("The lease of job %s could not be kept: %s", job.pk, error)
        finally:
            connection.close()


def let_go() -> None:
    """This worker stops: what it holds is due again at once, and the attempt does not count."""
    for job in list(_in_hand.values()):
        mine(job).update(attempts=F("attempts") - 1)
        job.attempts -= 1
        put_back(job, mine(job), message="The worker was stopped.")
