"""Settings come from the environment, and what is wrong with them is said at the start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

PRODUCTION = {
    "PRODUCTION": "1",
    "SECRET_KEY": "x" * 50,
    "ALLOWED_HOSTS": "labels.example.org",
    "REDIS_URL": "redis://localhost:6379/0",
}


def read(folder: Path, expression: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a new process makes of this environment."""
    script = f"from config import settings; print({expression})"
    return subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
    )


def test_an_empty_environment_is_enough(tmp_path: Path) -> None:
    result = read(tmp_path, "settings.DATABASES['default']['NAME']")
    assert result.stdout == f"{tmp_path / 'second-opinion.sqlite3'}\n", result.stderr


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first, second = (read(tmp_path, "settings.SECRET_KEY").stdout for _ in range(2))
    assert first == second
    assert len(first.strip()) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_production_with_all_it_needs_starts(tmp_path: Path) -> None:
    result = read(tmp_path, "settings.SESSION_COOKIE_SECURE, settings.DEBUG", **PRODUCTION)
    assert result.stdout == "True False\n", result.stderr


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"SECRET_KEY": "short"}, "SECRET_KEY must have at least 50 characters in production."),
        ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS must name the hosts of this site in production."),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS must name the hosts of this site in production."),
        ({"DEBUG": "1"}, "DEBUG must be off in production."),
        ({"REDIS_URL": ""}, "REDIS_URL must name the Redis server in production."),
    ],
)
def test_production_refuses_what_a_site_on_the_net_must_not_have(
    tmp_path: Path, wrong: dict[str, str], sentence: str
) -> None:
    result = read(tmp_path, "1", **{**PRODUCTION, **wrong})
    assert result.returncode != 0
    assert result.stderr.endswith(f"{sentence}\n")


def test_sqlite_queues_writers_and_syncs_commits(tmp_path: Path) -> None:
    options = read(tmp_path, "settings.DATABASES['default']['OPTIONS']").stdout
    assert "IMMEDIATE" in options
    assert "synchronous=FULL" in options


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("Yes", True), ("off", False)])
def test_flag_reads_what_people_write(
    monkeypatch: pytest.MonkeyPatch, value: str, meant: bool
) -> None:
    monkeypatch.setenv("A_FLAG", value)
    assert env.flag("A_FLAG") is meant


def test_malformed_values_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_VALUE", "maybe")
    with pytest.raises(
        ImproperlyConfigured, match=r"^A_VALUE must be true or false\. Got 'maybe' instead\.$"
    ):
        env.flag("A_VALUE")
    with pytest.raises(
        ImproperlyConfigured, match=r"^A_VALUE must be a whole number\. Got 'maybe' instead\.$"
    ):
        env.whole("A_VALUE", 1)


def test_words_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_WORDS", " a, b ,,c")
    assert env.words("SOME_WORDS") == ["a", "b", "c"]
