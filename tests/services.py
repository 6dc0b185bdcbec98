"""PostgreSQL, Redis and Chromium for the tests: found, installed where we may, started, stopped.

``python -m tests.services install`` installs what is missing with apt, where the user is root on
Debian, and otherwise says what will be skipped.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = {
    "browser": ["chromium", "fonts-dejavu-core"],
    "postgres": ["postgresql"],
    "redis": ["redis-server"],
}
START_SECONDS = 30


# -- What is here ---------------------------------------------------------------------------------


def chromium() -> str | None:
    """The system's browser; CHROMIUM names another."""
    mac = "/Applications/{0}.app/Contents/MacOS/{0}"
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    names += [mac.format("Chromium"), mac.format("Google Chrome")]
    return next((found for name in names if name and (found := shutil.which(name))), None)


def postgres_bin() -> Path | None:
    """The folder of initdb and pg_ctl: Debian keeps them off the PATH."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    debian = sorted(versions, key=lambda path: int(path.parent.parent.name.split(".")[0]))
    found = shutil.which("initdb") or (str(debian[-1]) if debian else None)
    return Path(found).resolve().parent if found else None


def missing() -> dict[str, str]:
    """For each mark of a test that cannot run here: why."""
    folder = os.environ.get("REAL_DATA", "")
    here = {
        "browser": (chromium(), "No Chromium is installed."),
        "postgres": (postgres_bin(), "No PostgreSQL server is installed."),
        "redis": (shutil.which("redis-server"), "No Redis server is installed."),
        "real_data": (folder and Path(folder).is_dir(), "REAL_DATA names no folder."),
    }
    return {mark: reason for mark, (found, reason) in here.items() if not found}


def install() -> int:
    """Install with apt what is missing and can be installed."""
    wanted = [mark for mark in missing() if mark in PACKAGES]
    if not wanted:
        return 0
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"Tests that need {', '.join(wanted)} will be skipped: not root on Debian.")
        return 0
    packages = [package for mark in wanted for package in PACKAGES[mark]]
    print(f"Installing {' '.join(packages)} with apt for the tests.", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", "-qq", *command], env=quiet, stdout=subprocess.DEVNULL)
        if done.returncode:
            print(f"apt could not: tests that need {', '.join(wanted)} will be skipped.")
            break
    return 0


# -- Servers of our own ---------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"Nothing answers on port {port} after {START_SECONDS} s.")


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A Redis on a free port that keeps nothing."""
    port = free_port()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def _as_nobody(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root, so root runs it as somebody with no rights."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--clear-groups"]


@contextmanager
def postgres_server(more: str = "") -> Iterator[str]:
    """A PostgreSQL cluster in a new folder, on a free port of the loopback."""
    binaries = postgres_bin()
    assert binaries is not None
    # Not under pytest's folder: its parents are closed to everyone but the user.
    folder = Path(tempfile.mkdtemp(prefix="second-opinion-pg-"))
    prefix = _as_nobody(folder)
    port, data = free_port(), folder / "data"
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c max_connections=150 {more}"

    def run(program: str, *arguments: str) -> None:
        command = [*prefix, str(binaries / program), "-D", str(data), *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_with_postgres(command: list[str]) -> int:
    """Run a command with DATABASE_URL naming a server that lives as long as it does."""
    if "postgres" in missing():
        print("The tests are not repeated on PostgreSQL: no server is installed.")
        return 1 if os.environ.get("FORBID_SKIPS") == "1" else 0
    # Statistics of a moment when all tables were empty would last as long as a test's transaction.
    with postgres_server("-c autovacuum=off") as url:
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": url}).returncode


def main(arguments: list[str]) -> int:
    match arguments:
        case ["install"]:
            return install()
        case ["with-postgres", *command] if command:
            return run_with_postgres(command)
    print("usage: python -m tests.services install | with-postgres COMMAND …")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
