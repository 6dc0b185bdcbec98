"""``celery -A tests.faults.app``: the Celery application as workers run it, with other work."""

from importlib import import_module

import django

from config.celery import app

__all__ = ["app"]

django.setup()
import_module("tests.faults.work").install()
