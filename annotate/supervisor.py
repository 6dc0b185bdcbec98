"""Programs that live and die together: started, watched, started again, stopped.

Each program runs in a session of its own, so that Ctrl-C reaches only the supervisor, which then
stops them in order. A program whose supervisor is gone stops by itself.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: How long a program may take to finish what it is doing. Its jobs are rows: none gets lost.
GRACE_SECONDS = 8.0
#: A program that does not live as long as this has not really started.
STARTED_SECONDS = 5.0
#: So many starts in a row that were none, and everything stops.
MAX_FALSE_STARTS = 3
POLL_SECONDS = 0.2


class ProgramFailedError(Exception):
    """A program stops whenever it is started."""


@dataclass
class Program:
    """A Python module to run, and what became of it."""

    name: str
    arguments: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: Sequence[int] = ()
    once: bool = False
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    false_starts: int = 0

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "annotate.supervisor", str(os.getpid()), *self.arguments],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self.descriptors,
                start_new_session=True,
            )
        self.started = time.monotonic()

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        if self.process is not None and self.running:
            self.process.terminate()

    def end(self) -> None:
        """End whatever is left of the program, its own children too."""
        if self.process is None:
            return
        # PermissionError is how macOS says that only a zombie is left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_lines(self, count: int = 5) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])


class Supervisor:
    """Keeps programs running until somebody says stop."""

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.stopping = threading.Event()

    def listen_for_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self.stopping.set())

    def start(self, program: Program) -> None:
        _put_aside(program.log)
        program.start()
        self.programs.append(program)

    def run(self) -> None:
        """Watch until told to stop. Raises ProgramFailedError if a program cannot be kept up."""
        while not self.stopping.wait(POLL_SECONDS):
            self.look()

    def look(self) -> None:
        """Start again what stopped."""
        for program in list(self.programs):
            if program.running:
                continue
            program.end()
            if program.once:
                self.programs.remove(program)
            else:
                self._start_again(program)

    def _start_again(self, program: Program) -> None:
        lived = time.monotonic() - program.started
        program.false_starts = program.false_starts + 1 if lived < STARTED_SECONDS else 0
        if program.false_starts >= MAX_FALSE_STARTS:
            raise ProgramFailedError(
                f"The {program.name} stopped {MAX_FALSE_STARTS} times right after its start. "
                f"Its log {program.log} ends with:\n{program.last_lines()}"
            )
        if not self.stopping.wait(program.false_starts):
            program.start()

    def stop(self) -> None:
        """Stop every program, the last one first; nothing of them stays."""
        end = time.monotonic() + GRACE_SECONDS
        for program in reversed(self.programs):
            program.ask_to_stop()
        while _any_running(self.programs) and time.monotonic() < end:
            time.sleep(POLL_SECONDS / 4)
        for program in self.programs:
            program.end()


def _any_running(programs: Iterable[Program]) -> bool:
    return any(program.running for program in programs)


def _put_aside(log: Path) -> None:
    """Keep the log of the start before this one, and no more."""
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))


# -- Inside each program --------------------------------------------------------------------------


def _stop_without(supervisor: int) -> None:
    """If the supervisor was killed, its programs have to notice themselves."""
    while os.getppid() == supervisor:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main(supervisor: str, module: str, *arguments: str) -> None:
    """Run a module as ``python -m`` would, watching the supervisor."""
    threading.Thread(target=_stop_without, args=[int(supervisor)], daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
