"""Loaded before Django reads its settings: tests keep their data to themselves.

Named in pyproject.toml as a plugin, because pytest-django reads the settings before any conftest.
"""

import os
import shutil
import tempfile

import pytest

#: A developer's own settings must not change what the tests see. DATABASE_URL is the exception:
#: it says on which engine they run.
OURS = ("ALLOWED_HOSTS", "DEBUG", "PRODUCTION", "REDIS_URL", "SECRET_KEY", "TIME_ZONE")

#: Only the process that made the folder removes it: workers of pytest-xdist inherit it.
made_here = "SECOND_OPINION_TEST_DIR" not in os.environ

if made_here:
    os.environ["SECOND_OPINION_TEST_DIR"] = tempfile.mkdtemp(prefix="second-opinion-")
for name in OURS:
    os.environ.pop(name, None)
os.environ["DATA_DIR"] = os.environ["SECOND_OPINION_TEST_DIR"]
os.makedirs(os.path.join(os.environ["DATA_DIR"], "static"), exist_ok=True)
# Two workers on two cores: more threads would only get into each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The browser's driver runs an event loop in the thread that also asks the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def pytest_unconfigure(config: pytest.Config) -> None:
    if made_here:
        shutil.rmtree(os.environ["SECOND_OPINION_TEST_DIR"], ignore_errors=True)
