"""make run: one command starts everything, Ctrl-C stops everything."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotate.supervisor import Program, ProgramFailedError, Supervisor
from tests.services import free_port

PATIENCE = 90


def wait_until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "It never came true."
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# -- manage.py start ------------------------------------------------------------------------------


class Started:
    """``manage.py start`` as a person runs it, with what it said."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "start"],
            env={**os.environ, "DATA_DIR": str(folder), "PORT": str(port), "DATABASE_URL": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        for line in self.process.stdout or ():
            self.said += line

    def wait(self) -> None:
        wait_until(lambda: "Ctrl-C" in self.said or self.process.poll() is not None)
        assert "Ctrl-C" in self.said, self.said

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def count(self, table: str) -> int:
        database = sqlite3.connect(self.folder / "second-opinion.sqlite3")
        number: int = database.execute(f"SELECT count(*) FROM annotate_{table}").fetchone()[0]
        database.close()
        return number


def programs_of(pid: int) -> list[str]:
    """The command lines of everything this supervisor started."""
    lines = [path.read_bytes().replace(b"\0", b" ") for path in _command_lines()] or (
        subprocess.run(["ps", "-A", "-o", "args="], capture_output=True).stdout.splitlines()
    )
    return [line.decode() for line in lines if f"annotate.supervisor {pid} ".encode() in line]


def _command_lines() -> Iterator[Path]:
    """Linux keeps them in files, so that no ps need be installed there."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        if path.exists():
            yield path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], Started]]:
    started: list[Started] = []

    def start(port: int) -> Started:
        started.append(Started(tmp_path / "data", port))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.stop(signal.SIGTERM)


def test_start_loads_the_demo_serves_and_leaves_no_process(start: Callable[[int], Started]) -> None:
    first = start(free_port())
    first.wait()
    links = re.findall(r"http://127\.0\.0\.1:\d+/\S+", first.said)
    assert "Sign in as a manager, once:" in first.said
    assert "Sign in as a judge, once:" in first.said
    assert len(links) == 2
    with urllib.request.urlopen(links[0], timeout=PATIENCE) as answer:
        assert answer.status == 200
    wait_until(lambda: first.count("judgment") > 0)
    assert len(programs_of(first.process.pid)) >= 3
    assert first.stop() == 0
    assert programs_of(first.process.pid) == []

    tables = ("campaign", "user", "pair", "judgment", "seat")
    before = [first.count(table) for table in tables]
    second = start(free_port())
    second.wait()
    assert second.stop(signal.SIGTERM) == 0
    assert "First start" not in second.said
    assert [second.count(table) for table in tables] == before


def test_start_says_that_the_port_is_taken_and_touches_nothing(
    start: Callable[[int], Started],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        late = start(port)
        assert late.process.wait(PATIENCE) == 1
    wait_until(lambda: late.said.endswith("\n"))
    assert late.said == (
        f"Port {port} of 127.0.0.1 is taken by another program. "
        f"Try another: make run PORT={port % 65535 + 1}\n"
    )
    assert not (late.folder / "second-opinion.sqlite3").exists()


@pytest.mark.parametrize("port", [0, 65536])
def test_start_refuses_a_port_that_is_none(start: Callable[[int], Started], port: int) -> None:
    wrong = start(port)
    assert wrong.process.wait(PATIENCE) == 2
    wait_until(lambda: wrong.said.endswith("\n"))
    assert wrong.said == f"PORT must be a number from 1 to 65535. Got '{port}' instead.\n"


# -- Supervisor -----------------------------------------------------------------------------------

COUNTS_ITS_STARTS = """
import pathlib, sys, time
with pathlib.Path(sys.argv[1]).open("a") as file:
    file.write("start\\n")
print("about to stop")
"""
FORKS_AND_WAITS = """
import os, pathlib, sys, time
child = os.fork()
pathlib.Path(sys.argv[1] + ("-child" if child == 0 else "")).write_text(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Program]:
    def make(source: str) -> Program:
        (tmp_path / "programme.py").write_text(source)
        return Program(
            name="programme",
            arguments=["programme", str(tmp_path / "trace")],
            log=tmp_path / "log" / "programme.log",
            environment={"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
        )

    return make


def pids(tmp_path: Path) -> list[int]:
    files = [tmp_path / "trace", tmp_path / "trace-child"]
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    return [int(file.read_text()) for file in files]


def test_supervisor_gives_up_on_a_program_that_stops_at_every_start(
    program: Callable[[str], Program], tmp_path: Path
) -> None:
    supervisor = Supervisor()
    supervisor.start(program(COUNTS_ITS_STARTS))
    with pytest.raises(ProgramFailedError, match=r"(?s)stopped 3 times .*\nabout to stop$"):
        supervisor.run()
    supervisor.stop()
    assert (tmp_path / "trace").read_text() == "start\n" * 3


def test_supervisor_starts_a_killed_program_again(
    program: Callable[[str], Program], tmp_path: Path
) -> None:
    supervisor = Supervisor()
    supervisor.start(program(FORKS_AND_WAITS))
    parent, child = pids(tmp_path)
    (tmp_path / "trace").unlink()
    os.kill(parent, signal.SIGKILL)
    while alive(child):
        supervisor.look()
    assert pids(tmp_path)[0] != parent
    supervisor.stop()


def test_supervisor_runs_a_program_once_if_asked(
    program: Callable[[str], Program], tmp_path: Path
) -> None:
    supervisor = Supervisor()
    once = program(COUNTS_ITS_STARTS)
    once.once = True
    supervisor.start(once)
    while supervisor.programs:
        supervisor.look()
    assert (tmp_path / "trace").read_text() == "start\n"


def test_stop_ends_the_children_of_a_program_too(
    program: Callable[[str], Program], tmp_path: Path
) -> None:
    supervisor = Supervisor()
    supervisor.start(program(FORKS_AND_WAITS))
    started = pids(tmp_path)
    supervisor.stop()
    wait_until(lambda: not any(alive(pid) for pid in started))


def test_programs_stop_when_their_supervisor_is_killed(
    program: Callable[[str], Program], tmp_path: Path
) -> None:
    program(FORKS_AND_WAITS)
    script = (
        "import pathlib, sys, time; from annotate.supervisor import Program, Supervisor;"
        "Supervisor().start(Program('programme', ['programme', sys.argv[1]],"
        "pathlib.Path(sys.argv[2]))); time.sleep(600)"
    )
    path = f"{tmp_path}{os.pathsep}{os.getcwd()}"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "trace"), str(tmp_path / "log")],
        env={**os.environ, "PYTHONPATH": path},
    )
    parent, child = pids(tmp_path)
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: not alive(parent))
    os.kill(child, signal.SIGKILL)
