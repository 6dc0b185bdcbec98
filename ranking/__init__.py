"""The science of Second Opinion: pure functions of arrays, no Django, no Celery, no state."""
