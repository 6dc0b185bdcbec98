"""Wiring only: settings, addresses, the Celery application."""
