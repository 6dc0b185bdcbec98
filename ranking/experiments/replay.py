"""Routers compared by what they do to the ranking, on judgments that were made already.

``python -m ranking.experiments.replay --data FOLDER --on web --draws 20`` deals the judgments of a
collection to every scheme and tells what each costs and how good the labels are that come out, as
NDCG of the order they put each query's documents in. The scheme objects are those of the live
router. ``docs/lab.md`` tells how to read the table.
"""

import re
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ranking.aggregation import AGGREGATORS
from ranking.experiments.cells import Arrays, Progress, compute
from ranking.experiments.command import Options, parser, progress_line, save, show
from ranking.experiments.dealing import Deal, Router, deal, used
from ranking.experiments.judged import Judged, nyt, read_csv, web_search
from ranking.experiments.tables import Line, lines
from ranking.grades import GOOD
from ranking.judgments import FloatArray, IntArray
from ranking.metrics import ndcg
from ranking.paying import IfItPays
from ranking.schemes import GoodTillBad, IfGood, IfGoodWeighted, KOverlap, Single

#: Where NDCG is measured; the first is the one that tables are about.
DEPTHS = (3, 1, 2, 5, 10)
#: What a table compares unless it is told.
USUAL = ("single", "if-good-2", "if-good-3", "3-overlap", "good-till-bad-11", "if-it-pays-0.002")

#: The way a router is written, and what it makes of the number in it.
_WRITTEN: dict[str, Callable[[str], Router]] = {
    r"single": lambda _: Single(),
    r"(\d+)-overlap": lambda n: KOverlap(int(n)),
    r"if-good-(\d+)": lambda n: IfGood(int(n)),
    r"good-till-bad-(\d+)": lambda n: GoodTillBad(int(n)),
    r"if-good-x([\d.]+)": lambda n: IfGoodWeighted(float(n)),
    r"if-it-pays-([\d.e-]+)": lambda n: IfItPays(float(n)),
}


@dataclass(frozen=True)
class Setting:
    """A router, and the aggregators whose labels are measured; the best of them counts."""

    router: Router
    aggregators: tuple[str, ...] = ("ordinal", "mean")


@dataclass(frozen=True)
class Cell:
    """A setting in one draw: the judgments of every pair in one random order."""

    setting: Setting
    draw: int
    seed: int = 0
    depths: tuple[int, ...] = DEPTHS
    shuffle: bool = True


@dataclass(frozen=True, eq=False)
class Result:
    """What became of a setting, over all draws.

    ``cost``: judgments per pair, one for each draw. ``ratio``: Fair- : Good+ among them. ``ndcg``:
    aggregator × draw × depth × query, nan where all of a query is Bad.
    """

    setting: Setting
    cost: FloatArray
    ratio: FloatArray
    ndcg: FloatArray

    @property
    def best(self) -> int:
        """Which aggregator labels best, by the first depth."""
        return int(np.nanmean(self.ndcg[:, :, 0], axis=(1, 2)).argmax())

    def quality(self, depth: int = 0) -> float:
        """Mean NDCG of its better aggregator."""
        return float(np.nanmean(self.ndcg[self.best, :, depth]))

    def units(self, by: str, depth: int = 0) -> FloatArray:
        """One value per ``"query"``, the mean over draws, or per ``"draw"``, the mean of queries.

        Pseudo-queries are others in every draw, and only draws can then be told apart.
        """
        values = self.ndcg[self.best, :, depth]
        kept = ~np.isnan(values)
        axis = 0 if by == "query" else 1
        total, number = np.where(kept, values, 0.0).sum(axis=axis), kept.sum(axis=axis)
        means: FloatArray = np.full(len(total), np.nan)
        np.divide(total, number, out=means, where=number > 0)
        return means


Results: TypeAlias = Mapping[str, Result]


def parse_router(text: str) -> Router:
    """A router from the way people write it: ``if-good-3``, ``if-it-pays-0.002``."""
    for pattern, make in _WRITTEN.items():
        if found := re.fullmatch(pattern, text):
            return make(found[1] if found.lastindex else "")
    known = "single, 3-overlap, if-good-3, good-till-bad-11, if-good-x3, if-it-pays-0.002"
    raise ValueError(f"A router must be written like one of {known}. Got {text} instead.")


def replay(
    judged: Judged,
    settings: Sequence[Setting],
    *,
    draws: int = 20,
    seed: int = 0,
    depths: tuple[int, ...] = DEPTHS,
    shuffle: bool = True,
    cache: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> dict[str, Result]:
    """Every setting in every draw, by the label of its router."""
    cells = [
        Cell(setting, draw, seed, depths, shuffle) for setting in settings for draw in range(draws)
    ]
    found = compute(
        measure,
        judged,
        cells,
        tag=judged.fingerprint(),
        cache=cache,
        processes=processes,
        progress=progress,
    )
    results = {}
    for n, setting in enumerate(settings):
        mine = found[n * draws : (n + 1) * draws]
        results[setting.router.label] = Result(
            setting,
            np.array([float(arrays["cost"]) for arrays in mine]),
            np.array([float(arrays["ratio"]) for arrays in mine]),
            np.stack([arrays["ndcg"] for arrays in mine], axis=1),
        )
    return results


def measure(judged: Judged, cell: Cell) -> Arrays:
    """One setting in one draw: its cost, and NDCG of its labels (aggregator × depth × query)."""
    dealt = deal(judged, np.random.default_rng([cell.seed, cell.draw]), shuffle=cell.shuffle)
    return measured(dealt, used(dealt, cell.setting.router), cell.setting, cell.depths)


def measured(
    dealt: Deal, taken: IntArray, setting: Setting, depths: tuple[int, ...] = DEPTHS
) -> Arrays:
    """The same of judgments that were dealt already, the first ``taken`` of each pair."""
    pair, judge, grade = dealt.taken(taken)
    kept = dealt.query >= 0
    good = np.count_nonzero(grade[kept[pair]] >= GOOD)
    fair = np.count_nonzero(kept[pair]) - good
    values = []
    for name in setting.aggregators:
        score = AGGREGATORS[name].aggregate(pair, judge, grade).score
        values.append([label_ndcg(dealt.truth, score, dealt.query, k) for k in depths])
    return {
        "cost": np.array(taken[kept].mean()),
        "ratio": np.array(fair / good if good else np.nan),
        "ndcg": np.array(values),
    }


def label_ndcg(truth: IntArray, score: FloatArray, query: IntArray, k: int) -> FloatArray:
    """NDCG@k of every query when its documents are sorted by label, ties in any order."""
    kept = query >= 0
    return ndcg(truth[kept], score[kept], query[kept], k, ties="expected")


def unit_of(judged: Judged) -> str:
    """What the paired test of a table takes as one observation."""
    return "draw" if judged.query is None else "query"


def table(
    results: Results, baseline: str, unit: str, depth: int = 0
) -> tuple[list[str], list[list[object]]]:
    """Head and rows, for `markdown` and `as_csv`: cost and quality of every setting."""
    found = lines({name: result.units(unit, depth) for name, result in results.items()}, baseline)
    head = ["router", "judgments per pair", "Fair- : Good+", "labels by", "NDCG", "standard error"]
    head += [f"n ({unit})", f"against {baseline}", "low", "high", "p", "stars"]
    return head, [_row(results[line.name], line) for line in found]


def _row(result: Result, line: Line) -> list[object]:
    by = result.setting.aggregators[result.best]
    cost, ratio = float(result.cost.mean()), float(np.mean(result.ratio))
    quality = [line.mean, line.standard_error, line.n, line.difference, line.low, line.high]
    return [line.name, cost, ratio, by, *quality, line.p, line.stars]


def collection(folder: Path, name: str) -> Judged:
    """``web``, ``nyt-high``, ``nyt-nohigh`` of a folder of collections, or any CSV file."""
    known = {
        "web": lambda: web_search(folder),
        "nyt-high": lambda: nyt(folder, "High"),
        "nyt-nohigh": lambda: nyt(folder, "NoHigh"),
    }
    return known[name]() if name in known else read_csv(Path(name))


def arguments() -> ArgumentParser:
    """The options of a replay."""
    command = parser("replay", __doc__)
    command.add_argument("--on", default="web", help="web, nyt-high, nyt-nohigh or a CSV file")
    command.add_argument("--router", action="append", help="like if-good-3; may be repeated")
    command.add_argument("--baseline", default=None, help="a router; the first unless given")
    command.add_argument("--aggregator", action="append", choices=sorted(AGGREGATORS))
    return command


def compare(options: Options, judged: Judged, title: str) -> None:
    """Print the table of some judgments."""
    routers = [parse_router(text) for text in options.router or USUAL]
    by = tuple(options.aggregator or ("ordinal", "mean"))
    results = replay(
        judged,
        [Setting(router, by) for router in routers],
        draws=options.draws or 20,
        seed=options.seed,
        cache=options.cache,
        processes=options.processes,
        progress=progress_line,
    )
    head, rows = table(results, options.baseline or routers[0].label, unit_of(judged))
    show(options, f"{title}, {options.draws or 20} draws", head, rows)
    save(options, head, rows)


def main(given: Sequence[str] | None = None) -> int:
    """Print the table of one collection."""
    options = arguments().parse_args(given, Options())
    compare(options, collection(options.data, options.on), options.on)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
