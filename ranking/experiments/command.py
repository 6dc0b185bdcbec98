"""What the commands of the experiments share: options, progress and printing."""

import argparse
import sys
from pathlib import Path


class Options(argparse.Namespace):
    """The options that every experiment has."""

    data: Path
    draws: int | None
    seed: int
    processes: int
    cache: Path | None
    csv: Path | None
    on: str
    router: list[str] | None
    baseline: str | None
    aggregator: list[str] | None
    part: list[str] | None
    skill: list[str] | None
    ranker: list[str] | None
    collection: list[str] | None
    step: int


def parser(name: str, about: str | None) -> argparse.ArgumentParser:
    """A parser with the common options; the first paragraph of ``about`` says what it is for."""
    first = (about or "").split("\n\n")[0]
    command = argparse.ArgumentParser(f"python -m ranking.experiments.{name}", description=first)
    command.add_argument("--data", type=Path, default=Path(), help="the folder of collections")
    command.add_argument("--draws", type=_positive, default=None, help="how often to draw")
    command.add_argument("--seed", type=int, default=0, help="where the draws begin")
    command.add_argument("--processes", type=_positive, default=1, help="how many to work in")
    command.add_argument("--cache", type=Path, default=None, help="where to keep finished cells")
    command.add_argument("--csv", type=Path, default=None, help="where to write the table")
    return command


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"It must be at least 1. Got {text} instead.")
    return int(text)


def say(text: str) -> None:
    """Print to standard output at once."""
    sys.stdout.write(f"{text}\n\n")
    sys.stdout.flush()


def progress_line(done: int, total: int) -> None:
    """How far it is, on standard error, at each hundredth."""
    if done == total or done * 100 // total != (done - 1) * 100 // total:
        sys.stderr.write(f"\r{done} of {total} cells" + ("\n" if done == total else ""))
        sys.stderr.flush()
