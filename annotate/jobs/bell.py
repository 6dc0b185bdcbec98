"""The doorbell: Celery and the broker under it. Losing it loses no work."""

import logging
import time

from config.celery import app

log = logging.getLogger(__name__)

TASK = "annotate.tasks.run"
#: How long nobody asks for a broker that could not be reached: judges do not wait for it.
BROKER_SILENT_SECONDS = 5
#: So many messages in the broker are enough: more would only pile up behind long work.
MESSAGES = 500


class Doorbell:
    """The broker, and whether it answered lately."""

    silent_until = 0.0

    def ring(self, job_id: int) -> bool:
        """Tell the workers. If the broker is away, the sweep will: nobody waits for it here."""
        if time.monotonic() < self.silent_until:
            return False
        try:
            app.send_task(TASK, [job_id], retry=False)
        except Exception as error:  # whatever its library says: the work stands in the row
            self.silent_until = time.monotonic() + BROKER_SILENT_SECONDS
            log.warning("Job %s is due, but the broker cannot be reached: %s", job_id, error)
            return False
        return True

    def room(self) -> int:
        """How many more messages are worth sending."""
        with app.connection_or_acquire() as broker:
            queue = broker.default_channel.queue_declare(queue=app.conf.task_default_queue)
            return max(0, MESSAGES - int(queue.message_count))


bell = Doorbell()


def ring(job_id: int) -> bool:
    return bell.ring(job_id)
