"""Many judges at once: threads that start together, each with a connection of its own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection

from annotate import routing
from annotate.models import Campaign, Document, Membership, Pair, Query, User

T = TypeVar("T")

#: How many are served at the same moment, as by a web server; the others stand in line.
#: The PostgreSQL of the tests takes 150 connections, and two workers may share it. SQLite has
#: one writer: more who wait for it make the race longer, not harder.
SERVED = {"postgresql": 50, "sqlite": 16}


def all_at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do them all, as many as can be at the same moment. The first error is raised."""
    servers = min(SERVED[connection.vendor], len(works))
    start = threading.Barrier(servers)
    line = iter(range(len(works)))
    turn = threading.Lock()
    results: list[T | BaseException | None] = [None] * len(works)

    def serve() -> None:
        start.wait()
        while (number := _next(line, turn)) is not None:
            try:
                results[number] = works[number]()
            except BaseException as error:
                results[number] = error
        connection.close()

    threads = [threading.Thread(target=serve) for _ in range(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results  # type: ignore[return-value]


def _next(line: Iterator[int], turn: threading.Lock) -> int | None:
    with turn:
        return next(line, None)


def crowd(size: int) -> list[User]:
    """So many judges."""
    User.objects.bulk_create(User(username=f"judge-{number}") for number in range(size))
    return list(User.objects.filter(username__startswith="judge-").order_by("pk"))


def open_campaign(manager: User, judges: Sequence[User], pairs: int, **fields: Any) -> Campaign:
    """An open campaign of so many pairs, ten to a query."""
    campaign = Campaign.objects.create(
        slug="race", name="Race", state=Campaign.State.OPEN, created_by=manager, **fields
    )
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role=Membership.Role.JUDGE) for user in judges
    )
    add_pairs(campaign, pairs)
    return campaign


def add_pairs(campaign: Campaign, count: int) -> None:
    first = campaign.pairs.count()
    for number in range(first, first + count):
        query, _ = Query.objects.get_or_create(campaign=campaign, key=str(number // 10))
        document = Document.objects.create(campaign=campaign, key=str(number))
        Pair.objects.create(
            campaign=campaign, query=query, document=document, rank=1, position=number
        )
    routing.open_seats(campaign)
