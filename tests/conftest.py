"""People, a campaign and servers that every test may ask for."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client, TransactionTestCase

from annotate import append_only, routing
from annotate.models import Campaign, Document, Membership, Pair, Query, User
from tests import services

# -- What may be skipped --------------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test says by its mark what it needs; the reason it is skipped stands in the summary."""
    missing = services.missing()
    for item in items:
        for mark, reason in missing.items():
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def forbidden(config: pytest.Config) -> list[str]:
    """With FORBID_SKIPS=1: the tests that were skipped, but for those whose data are not here."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("FORBID_SKIPS") != "1" or reporter is None:
        return []
    allowed = "real_data" in services.missing()
    return [
        report.nodeid
        for report in reporter.stats.get("skipped", [])
        if not (allowed and "real_data" in report.keywords)
    ]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and forbidden(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for test in forbidden(config):
        terminalreporter.write_line(f"Skipped, which FORBID_SKIPS=1 forbids: {test}", red=True)


# -- Database -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    """SQLite tests run in a file as people do, not in memory: threads must see one database."""
    if connection.vendor == "sqlite":
        name = tmp_path_factory.mktemp("database") / "test.sqlite3"
        django_settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = str(name)
    else:
        request.getfixturevalue("django_db_modify_db_settings_parallel_suffix")


@pytest.fixture(scope="session", autouse=True)
def _flush_despite_append_only() -> Iterator[None]:
    """Transactional tests empty the tables afterwards, which the triggers would refuse."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def flush_without_triggers(case: TransactionTestCase) -> None:
        append_only.remove(connection)
        try:
            flush(case)
        finally:
            append_only.install(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_without_triggers)
        yield


# -- The world outside ----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def rings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the jobs that were rung for; no broker hears of them."""
    heard: list[int] = []

    def send_task(_name: str, args: list[int], **_: Any) -> None:
        heard.extend(args)

    monkeypatch.setattr("annotate.jobs.app.send_task", send_task)
    return heard


@pytest.fixture(autouse=True)
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """Uploads and models of each test in a folder of its own."""
    settings.DATA_DIR = tmp_path
    settings.UPLOAD_DIR = tmp_path / "uploads"
    settings.MODEL_DIR = tmp_path / "models"
    return tmp_path


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real collections. Mark the test real_data."""
    return Path(os.environ["REAL_DATA"])


@pytest.fixture(scope="session")
def chromium() -> str:
    """The system's browser. Mark the test browser."""
    path = services.chromium()
    assert path
    return path


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis server of our own. Mark the test redis."""
    with services.redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of an empty PostgreSQL database of our own. Mark the test postgres."""
    with services.postgres_server() as url:
        yield url


# -- People ---------------------------------------------------------------------------------------


def person(name: str, role: User.Role = User.Role.JUDGE) -> User:
    return User.objects.create_user(name, f"{name}@example.org", role=role)


@pytest.fixture
def alice(db: None) -> User:
    """A judge."""
    return person("alice")


@pytest.fixture
def bob(db: None) -> User:
    """Another judge."""
    return person("bob")


@pytest.fixture
def charlie(db: None) -> User:
    """A stranger: he may sign in, but no campaign knows him."""
    return person("charlie")


@pytest.fixture
def dana(db: None) -> User:
    """The manager."""
    return person("dana", User.Role.MANAGER)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def alice_client(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def bob_client(bob: User) -> Client:
    return signed_in(bob)


@pytest.fixture
def charlie_client(charlie: User) -> Client:
    return signed_in(charlie)


@pytest.fixture
def dana_client(dana: User) -> Client:
    return signed_in(dana)


# -- A campaign -----------------------------------------------------------------------------------


def fill(campaign: Campaign, queries: int = 2, documents: int = 3) -> None:
    """Give a campaign pairs in the order of judging: all of the first query, then the second."""
    for q in range(1, queries + 1):
        query = Query.objects.create(campaign=campaign, key=f"q{q}", text=f"query {q}")
        for d in range(1, documents + 1):
            url = f"https://example.org/{q}/{d}"
            document = Document.objects.create(
                campaign=campaign, key=url, url=url, title=f"Title {q}.{d}", snippet=f"About {d}."
            )
            Pair.objects.create(
                campaign=campaign,
                query=query,
                document=document,
                rank=d,
                position=(q - 1) * documents + d,
            )


@pytest.fixture
def campaign(alice: User, bob: User, dana: User) -> Campaign:
    """Open, if-good-3, two queries with three documents each; dana manages, alice and bob judge."""
    campaign = Campaign.objects.create(
        slug="library",
        name="Library",
        state=Campaign.State.OPEN,
        scheme_name="if-good-k",
        k=3,
        created_by=dana,
    )
    Membership.objects.create(campaign=campaign, user=dana, role=Membership.Role.MANAGER)
    for judge in (alice, bob):
        Membership.objects.create(campaign=campaign, user=judge, role=Membership.Role.JUDGE)
    fill(campaign)
    routing.open_seats(campaign)
    return campaign
