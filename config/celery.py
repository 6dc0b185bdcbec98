"""The Celery application: a doorbell. What is to be done stands in the table of jobs."""

import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

SWEEP_SECONDS = 5
VISIBILITY_SECONDS = 900


def transport() -> dict[str, Any]:
    """Redis in production; a folder of messages where no Redis is wanted."""
    if settings.REDIS_URL:
        return {
            "broker_url": settings.REDIS_URL,
            "broker_transport_options": {
                "visibility_timeout": VISIBILITY_SECONDS,
                "unacked_restore_interval": 10,
                "unacked_restore_throttle": 1,
                # A judge does not wait for a broker that is away: the sweep rings again.
                "socket_connect_timeout": 2,
                "socket_timeout": 5,
                "max_retries": 0,
                "interval_start": 0,
                "interval_step": 0,
                "interval_max": 0,
            },
        }
    folder: Path = settings.DATA_DIR / "broker"
    for name in ("messages", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": "filesystem://localhost",
        "broker_transport_options": {
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
            "polling_interval": 0.5,
        },
    }


app = Celery("second-opinion")
app.conf.update(
    transport(),
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    # A ring is over when it is heard: whoever dies afterwards leaves a lease that ends. A late
    # acknowledgement would keep nothing safe that the row does not, and one that comes after
    # the connection was lost ends the worker.
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=50,
    worker_hijack_root_logger=False,
    # The row's token fences every effect, so a long fit need not die with a connection.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_soft_shutdown_timeout=20,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_publish_retry=False,
    timezone=settings.TIME_ZONE,
    beat_scheduler="celery.beat:Scheduler",  # nothing to keep: the jobs are rows
    beat_schedule={
        "sweep": {
            "task": "annotate.tasks.sweep",
            "schedule": SWEEP_SECONDS,
            # Sweeps that waited behind long work are not made up for.
            "options": {"expires": 2 * SWEEP_SECONDS},
        },
    },
)
app.autodiscover_tasks(["annotate"])


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery leaves the log as the settings made it."""
