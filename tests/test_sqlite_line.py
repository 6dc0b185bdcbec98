"""Writers of an SQLite database stand in line."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from django.db import connection, transaction

from annotate.models import User
from tests.annotate.crowd import all_at_once

Start = Callable[[Callable[[], object]], threading.Thread]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="This is about SQLite."),
]


@pytest.fixture
def in_thread() -> Iterator[Start]:
    """Starts work in a thread with a connection of its own."""
    started: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            work()
            connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        started.append(thread)
        return thread

    yield start
    for thread in started:
        thread.join()


def test_a_writer_waits_for_the_one_before_and_goes_on_when_it_is_done(
    in_thread: Start,
) -> None:
    order: list[str] = []

    def write() -> None:
        with transaction.atomic():
            order.append("second")
            User.objects.create_user("second")

    with transaction.atomic():
        User.objects.create_user("first")
        second = in_thread(write)
        time.sleep(0.1)
        order.append("first")
    second.join()
    assert order == ["first", "second"]
    assert User.objects.count() == 2


def test_a_write_outside_of_a_transaction_stands_in_line_too(
    in_thread: Start,
) -> None:
    user = User.objects.create_user("first")
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(first_name="A")
        later = in_thread(lambda: User.objects.filter(pk=user.pk).update(first_name="B"))
        time.sleep(0.1)
        assert later.is_alive()
    later.join()
    assert User.objects.get().first_name == "B"


def test_readers_do_not_wait(
    in_thread: Start,
) -> None:
    seen: list[int] = []
    with transaction.atomic():
        User.objects.create_user("unseen")
        in_thread(lambda: seen.append(User.objects.count())).join(timeout=10)
    assert seen == [0]


def test_the_line_moves_on_after_a_failure() -> None:
    with transaction.atomic():
        User.objects.create_user("lost")
        transaction.set_rollback(True)
    all_at_once([partial(User.objects.create_user, f"u{number}") for number in range(40)])
    assert User.objects.count() == 40


def test_whoever_waited_too_long_is_told_so_by_sqlite(
    in_thread: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.2)

    def write() -> None:
        try:
            User.objects.create_user("late")
        except Exception as error:
            said.append(str(error))

    with transaction.atomic():
        User.objects.create_user("first")
        in_thread(write).join()
    assert said == ["database is locked"]
    assert list(User.objects.values_list("username", flat=True)) == ["first"]
