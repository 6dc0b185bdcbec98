"""How much is written at a time: as much as goes quickly, so that no judge waits for an import."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from django.db import connection

T = TypeVar("T")

#: How long a transaction may take. SQLite has one writer at a time: a judge waits for it.
SHORT_SECONDS = 0.1
#: Each batch costs something by itself: very small ones would take longer for nothing.
SMALLEST, FIRST, LARGEST = 1000, 2000, 4000


class Pace:
    """The size of the next batch, by how long the last one took."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.size = FIRST
        self._clock = clock

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What takes its time in here is a whole batch."""
        start = self._clock()
        yield
        took = self._clock() - start
        if took > SHORT_SECONDS:
            self.size = max(self.size // 2, SMALLEST)
        elif took < SHORT_SECONDS / 2:
            self.size = min(self.size * 3 // 2, LARGEST)

    def batches(self, rows: Iterable[T]) -> Iterator[list[T]]:
        found = iter(rows)
        while batch := list(islice(found, self.size)):
            yield batch


#: A connection that writes much: pages stay in memory until they are committed, and so does what
#: each statement would need to be taken back (on disk that is ten times as much as the rows). The
#: disk is waited for at the checkpoints only: what is lost with the power then is the end of an
#: import that has not been said to be done.
_MUCH = {"cache_size": "-65536", "temp_store": "MEMORY", "synchronous": "NORMAL"}


@contextmanager
def writing_much() -> Iterator[None]:
    """For SQLite, which otherwise is set up for many small writes. Not within a transaction."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    before = {name: _pragma(name) for name in _MUCH}
    for name, value in _MUCH.items():
        _pragma(f"{name} = {value}")
    try:
        yield
    finally:
        for name, value in before.items():
            _pragma(f"{name} = {value}")
        _pragma("shrink_memory")


def _pragma(text: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {text}")
        row = cursor.fetchone()
    return str(row[0]) if row else ""
