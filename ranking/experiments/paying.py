"""If-it-pays against if-good-k: the same quality of labels for fewer judgments.

``python -m ranking.experiments.paying --data FOLDER --draws 40`` replays both on the five-grade web
judgments, on the news judgments with and without highlights, and on lists judged by simulated
experts and crowds, and tells for each what if-it-pays saves of the judgments that if-good-3 asks
for beyond the first, and how the two compare at equal cost. All on one set of settings: nothing is
tuned to a collection, and nothing of its truth is used to route.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranking.experiments.command import Options, parser, progress_line, save, show
from ranking.experiments.judged import Judged, made_lists, nyt, simulated, web_search
from ranking.experiments.replay import Result, Setting, replay
from ranking.judgments import FloatArray
from ranking.paying import IfItPays
from ranking.schemes import IfGood
from ranking.simulation import SKILLS

#: From dear, when hardly anything is asked again, to cheap.
PRICES = (0.03, 0.02, 0.014, 0.01, 0.007, 0.005, 0.003, 0.002, 0.0012)
#: On the web, labels come so close to the truth that dear judgments do not get to if-good-4.
LOW_PRICES = (0.0007, 0.0004, 0.0002, 0.0001, 0.00005)
#: The most judges of a pair. Web pairs have 6 or so, and all that they have may be asked.
CAP = 15
#: Grades of simulated lists: those of the MSLR sample.
MSLR_PRIOR = (0.5434, 0.3036, 0.1313, 0.0157, 0.006)
_RESAMPLES = 1_000


@dataclass(frozen=True, eq=False)
class Curve:
    """Cost and quality of routers, mean over draws: routers × draws, cheapest first."""

    cost: FloatArray
    quality: FloatArray

    def at(self, draws: slice | np.ndarray = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Mean cost and quality over some draws; quality never falls, for a router that reached
        more for less can be had instead."""
        cost, quality = self.cost[:, draws].mean(axis=1), self.quality[:, draws].mean(axis=1)
        order = np.argsort(cost, kind="stable")
        return cost[order], np.maximum.accumulate(quality[order])


@dataclass(frozen=True)
class Saving:
    """What reaches the quality of a router: at what cost, and which share of its extra judgments
    is saved, with the 95 % interval over draws; nan where it is not reached."""

    target: float
    cost: float
    reached_at: float
    saved: float
    low: float
    high: float


def curve(results: Sequence[Result]) -> Curve:
    """The routers of one kind; labels by the aggregator that is the better for each."""
    return Curve(
        np.stack([result.cost for result in results]),
        np.stack([result.units("draw") for result in results]),
    )


def saving(router: Result, frontier: Curve) -> Saving:
    """1 − (extra judgments of the frontier at the router's quality) / (those of the router)."""
    cost, quality = router.cost, router.units("draw")
    target, reached, share = _saved(cost, quality, frontier, np.arange(len(cost)))
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(cost), (_RESAMPLES, len(cost)))
    shares = np.array([_saved(cost, quality, frontier, pick)[2] for pick in picks])
    # A resample that does not reach the target saves nothing as far as anyone can tell.
    low, high = np.quantile(np.nan_to_num(shares, nan=-1.0), [0.025, 0.975])
    return Saving(target, float(cost.mean()), reached, share, float(low), float(high))


def _saved(
    cost: FloatArray, quality: FloatArray, frontier: Curve, draws: np.ndarray
) -> tuple[float, float, float]:
    target, spent = float(quality[draws].mean()), float(cost[draws].mean())
    x, y = frontier.at(draws)
    if not y[0] <= target <= y[-1]:
        return target, float("nan"), float("nan")
    reached = float(np.interp(target, y, x))
    return target, reached, 1 - (reached - 1) / (spent - 1)


def lead(router: Result, frontier: Curve) -> tuple[float, float, float]:
    """NDCG of the frontier at the router's cost less the router's, and its 95 % interval."""
    cost, quality = router.cost, router.units("draw")

    def ahead(draws: np.ndarray) -> float:
        x, y = frontier.at(draws)
        spent = float(cost[draws].mean())
        if spent < x[0]:
            return float("nan")
        # Beyond the last price the frontier asks no more, and would not be worse for it.
        return float(np.interp(spent, x, y)) - float(quality[draws].mean())

    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(cost), (_RESAMPLES, len(cost)))
    low, high = np.nanquantile([ahead(pick) for pick in picks], [0.025, 0.975])
    return ahead(np.arange(len(cost))), float(low), float(high)


def collections(folder: Path, seed: int = 0) -> dict[str, Callable[[], Judged]]:
    """Every collection that the comparison is made on, read when it is its turn."""

    def lists(skill: str) -> Judged:
        truth, query = made_lists(MSLR_PRIOR, 100, 20, rng=seed)
        return simulated(truth, query, SKILLS[skill], rng=seed + 1)

    return {
        "web": lambda: web_search(folder),
        "nyt-high": lambda: nyt(folder, "High"),
        "nyt-nohigh": lambda: nyt(folder, "NoHigh"),
        "expert": lambda: lists("expert"),
        "crowd": lambda: lists("crowd"),
    }


def settings(prices: Sequence[float] = PRICES) -> list[Setting]:
    """if-good-k for k = 1 … 6, and if-it-pays at every price."""
    rules = [Setting(IfGood(k)) for k in range(1, 7)]
    return rules + [Setting(IfItPays(price, cap=CAP)) for price in prices]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the two tables of every collection."""
    command = parser("paying", __doc__)
    command.add_argument("--part", action="append", help="web, nyt-high, …; may be repeated")
    options = command.parse_args(arguments, Options())
    rows: list[list[object]] = []
    for name, read in collections(options.data, options.seed).items():
        if options.part and name not in options.part:
            continue
        found = replay(
            read(),
            settings(PRICES + LOW_PRICES if name == "web" else PRICES),
            draws=options.draws or 40,
            seed=options.seed,
            depths=(3,),
            cache=options.cache,
            processes=options.processes,
            progress=progress_line,
        )
        rows.extend([name, *row] for row in compared(list(found.values())))
    head = ["on", "router", "judgments per pair", "NDCG@3", "standard error", "reached at"]
    head += ["extra saved", "low", "high", "lead at equal cost", "low", "high"]
    show(options, f"if-it-pays against if-good-k, {options.draws or 40} draws", head, rows)
    save(options, head, rows)
    return 0


def compared(results: Sequence[Result]) -> list[list[object]]:
    """A row for every if-good-k, k ≥ 2, beside the frontier; then the frontier's own points."""
    frontier = curve([r for r in results if isinstance(r.setting.router, IfItPays)])
    rows: list[list[object]] = []
    for result in results:
        router, units = result.setting.router, result.units("draw")
        error = float(units.std(ddof=1) / np.sqrt(len(units))) if len(units) > 1 else np.nan
        row: list[object] = [router.label, float(result.cost.mean()), result.quality(), error]
        if isinstance(router, IfGood) and router.k > 1:
            kept = saving(result, frontier)
            row += [kept.reached_at, kept.saved, kept.low, kept.high, *lead(result, frontier)]
        rows.append(row + [float("nan")] * (11 - len(row)))
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
