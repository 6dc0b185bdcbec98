"""``python -m bench [name …]``: run the benchmarks and write ``docs/benchmarks.md``."""

import json
import pkgutil
import platform
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import bench
from bench import Result

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
STORE = Path(__file__).parent / "results.json"
HEAD = """# Benchmarks

Written by `make bench`. Each line is our time and the peers' for the same work on the same data
in the same run, each the best of several; what counts is the ratio. Machine: {machine}, Python
{python}. A name on the command line (`python -m bench aggregation`) measures that part alone and
keeps the other figures.
"""


def names() -> list[str]:
    """The benchmarks there are, without their prefix."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def measure(name: str) -> list[Result]:
    """Run one benchmark and say what came out."""
    print(f"== {name}", flush=True)
    results: list[Result] = import_module(f"bench.bench_{name}").run()
    for result in results:
        print(as_row(result), flush=True)
    return results


def as_row(result: Result) -> str:
    """A line of the table in the page."""
    ratios = result.ratios()
    peers = ", ".join(f"{n} {s:.3g} s (**{ratios[n]:.3g}×**)" for n, s in result.peers.items())
    return f"| {result.work} | {result.seconds:.3g} s | {peers} | {result.target} | {result.note} |"


def write_page(measured: dict[str, list[Result]]) -> None:
    """The page, from everything that has been measured so far."""
    parts = [HEAD.format(machine=platform.machine(), python=platform.python_version())]
    for name in sorted(measured):
        parts.append(f"## {name.replace('_', ' ').capitalize()}\n")
        parts.append("| work | ours | peers (their time ÷ ours) | must reach | note |")
        parts.append("|---|---|---|---|---|")
        parts.extend(as_row(result) for result in measured[name])
        parts.append("")
    PAGE.write_text("\n".join(parts))


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(names())
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}.")
        print(f"There are {', '.join(names())}.")
        return 2
    stored = json.loads(STORE.read_text()) if STORE.exists() else {}
    measured = {name: [Result(**row) for row in rows] for name, rows in stored.items()}
    for name in wanted or names():
        measured[name] = measure(name)
        STORE.write_text(
            json.dumps({n: [asdict(r) for r in rows] for n, rows in measured.items()}, indent=1)
        )
        write_page(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
