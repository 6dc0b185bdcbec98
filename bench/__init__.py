"""Speed, measured side by side with its peers in one run.

Every module ``bench/bench_*.py`` has a function ``run() -> list[Result]``. ``python -m bench``
runs them all, or those named on the command line, and writes ``docs/benchmarks.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True)
class Result:
    """One line of the table: our time beside the peers' for the same work in the same run."""

    work: str
    seconds: float
    peers: dict[str, float] = field(default_factory=dict)
    target: str = ""
    note: str = ""

    def ratios(self) -> dict[str, float]:
        """How many times as long each peer takes."""
        return {name: peer / self.seconds for name, peer in self.peers.items()}


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of several runs: the least disturbed by whatever else the machine does."""
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return best
