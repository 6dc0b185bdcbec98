"""What the commands of the experiments share: options, progress and printing."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from ranking.experiments.tables import as_csv, markdown


class Options(argparse.Namespace):
    """The options that every experiment has."""

    data: Path
    draws: int | None
    seed: int
    processes: int
    cache: Path | None
    csv: Path | None
    json: bool
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
    command.add_argument("--json", action="store_true", help="a line of JSON for every table")
    return command


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"It must be at least 1. Got {text} instead.")
    return int(text)


def show(
    options: Options, title: str, head: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """A table under its title on standard output, as Markdown or as one line of JSON, at once."""
    if options.json:
        cells = [[_plain(cell) for cell in row] for row in rows]
        sys.stdout.write(json.dumps({"title": title, "head": list(head), "rows": cells}) + "\n")
    else:
        sys.stdout.write(f"{title}\n\n{markdown(head, rows)}\n\n")
    sys.stdout.flush()


def save(options: Options, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The table as a file, where one is wanted."""
    if options.csv:
        options.csv.write_text(as_csv(head, rows), encoding="utf-8")


def _plain(cell: object) -> object:
    """As JSON has it, which knows neither nan nor the numbers of numpy."""
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and math.isnan(value) else value


def progress_line(done: int, total: int) -> None:
    """How far it is, on standard error, at each hundredth."""
    if done == total or done * 100 // total != (done - 1) * 100 // total:
        sys.stderr.write(f"\r{done} of {total} cells" + ("\n" if done == total else ""))
        sys.stderr.flush()
