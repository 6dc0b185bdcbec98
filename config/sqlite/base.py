"""SQLite has one writer at a time. Left alone, those who wait look again and again, each after a
longer sleep: the lock lies idle between, and somebody may be unlucky for seconds. Here they stand
in line: the threads of a process wait for a lock that wakes them, and one of them at a time looks
whether another process is writing.

The lock of SQLite itself still decides: whoever does not stand in line (another program, or a
system without such locks) or has waited too long is no danger to the data.
"""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from django.db.backends.sqlite3 import base

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
_LOOK_SECONDS = 0.0005

#: For each database file, where the threads of this process wait.
_threads: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class _Line:
    """Where the writers of a database file wait, each connection with a file of its own."""

    def __init__(self, path: str, timeout: float) -> None:
        self.turn, self.timeout = _threads[path], timeout
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.ours = False

    def enter(self) -> None:
        """Wait, but not for ever: then SQLite says what it says."""
        end = time.monotonic() + self.timeout
        if not self.turn.acquire(timeout=self.timeout):
            return
        self.ours = True
        while not self._first() and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)

    def _first(self) -> bool:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def leave(self) -> None:
        if self.ours:
            self.ours = False
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
            self.turn.release()

    def close(self) -> None:
        self.leave()
        os.close(self.descriptor)


class _Cursor(base.SQLiteCursorWrapper):
    """A write outside of a transaction is one of its own and stands in line, too."""

    line: _Line

    def execute(self, query: str, params: Any = None) -> Any:
        return self._in_line(query, lambda: super(_Cursor, self).execute(query, params))

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._in_line(query, lambda: super(_Cursor, self).executemany(query, param_list))

    def _in_line(self, query: str, run: Callable[[], Any]) -> Any:
        if self.connection.in_transaction or not query.lstrip()[:7].upper().startswith(_WRITES):
            return run()
        self.line.enter()
        try:
            return run()
        finally:
            self.line.leave()


class DatabaseWrapper(base.DatabaseWrapper):
    """Every transaction that begins in order to write stands in line."""

    line: _Line | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        opened = super().get_new_connection(conn_params)
        name = str(conn_params["database"])
        if fcntl is not None and not self.is_in_memory_db():
            self.line = _Line(f"{name}-line", conn_params.get("timeout", 5.0))
        return opened

    def _start_transaction_under_autocommit(self) -> None:
        self._enter()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave()
            raise

    def create_cursor(self, name: str | None = None) -> Any:
        if self.line is None:
            return super().create_cursor(name)
        cursor = self.connection.cursor(factory=_Cursor)
        cursor.line = self.line
        return cursor

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave()

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        if self.line is not None:
            self.line.close()
            self.line = None

    def _enter(self) -> None:
        if self.line is not None and not self.line.ours:
            self.line.enter()

    def _leave(self) -> None:
        if self.line is not None:
            self.line.leave()
