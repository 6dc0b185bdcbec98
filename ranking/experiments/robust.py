"""What noise in grades does to rankers: performance against dNoise and against pNoise.

``python -m ranking.experiments.robust --data FOLDER --draws 10`` replaces grades of the training
parts at random, trains the four rankers of the study and LambdaMART, and tests on the true grades
of the fifth part.

Reference: Niu, Lan, Guo, Cheng, Geng, "What makes data robust", SIGIR 2014: figures 1 to 3. The
study's TD2003 is not at hand; MQ2008 stands in for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ranking.data import rotation
from ranking.experiments.cells import Arrays, Progress, compute
from ranking.experiments.command import Options, parser, progress_line, save, show
from ranking.experiments.letor import QUICK, Letor, read_collection
from ranking.grades import GOOD
from ranking.judgments import FloatArray
from ranking.metrics import average_precision, ndcg
from ranking.noise import inject, pnoise
from ranking.rankers import RANKERS

COLLECTIONS = ("ohsumed", "mq2008", "mslr")
RANKER_NAMES = ("ranksvm", "rankboost", "listnet", "adarank", "lambdamart")
RATES = tuple(round(0.05 * step, 2) for step in range(11))
#: Settings that keep thousands of fits within an hour; what is not named keeps its default.
SMALL: dict[str, dict[str, Any]] = {"lambdamart": QUICK["lambdamart"]}


@dataclass(frozen=True)
class Cell:
    """A ranker on grades of which a share is replaced, in one draw; all five folds."""

    ranker: str
    rate: float
    draw: int
    seed: int = 0


@dataclass(frozen=True)
class Point:
    """A place on the curves: mean over draws, and the standard error of that mean."""

    collection: str
    ranker: str
    dnoise: float
    pnoise: float
    ndcg: float
    ndcg_error: float
    ap: float
    ap_error: float


def noisy(data: Letor, cell: Cell) -> Arrays:
    """Mean NDCG@10 and MAP on the true grades, and the pNoise of what was trained on."""
    levels = int(data.y.max()) + 1
    grades = inject(data.y, cell.rate, np.random.default_rng([cell.seed, cell.draw]), levels)
    scores = np.empty(len(data.y))
    for fold in rotation(data.part):
        rows = np.concatenate([fold.train, fold.validate])
        ranker = RANKERS[cell.ranker](**SMALL.get(cell.ranker, {}))
        ranker.fit(data.X[rows], grades[rows], data.qid[rows])
        scores[fold.test] = ranker.predict(data.X[fold.test])
    # LETOR's collections of three grades count everything above 0 as relevant.
    relevant = GOOD if levels > 3 else 1
    return {
        "pnoise": np.array(pnoise(data.y, grades, data.qid)),
        "ndcg": np.array(np.nanmean(ndcg(data.y, scores, data.qid, 10))),
        "ap": np.array(np.nanmean(average_precision(data.y, scores, data.qid, relevant=relevant))),
    }


def curves(
    data: Letor,
    rankers: Sequence[str] = RANKER_NAMES,
    rates: Sequence[float] = RATES,
    *,
    draws: int = 10,
    seed: int = 0,
    cache: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Point]:
    """Every ranker at every rate; without noise one draw says all."""
    cells = [
        Cell(ranker, rate, draw, seed)
        for ranker in rankers
        for rate in rates
        for draw in range(draws if rate else 1)
    ]
    found = compute(
        noisy,
        data,
        cells,
        tag=data.fingerprint(),
        cache=cache,
        processes=processes,
        progress=progress,
    )
    points = []
    for ranker in rankers:
        for rate in rates:
            mine = [
                arrays
                for cell, arrays in zip(cells, found, strict=True)
                if (cell.ranker, cell.rate) == (ranker, rate)
            ]
            columns = {name: np.array([a[name] for a in mine]) for name in ("ndcg", "ap", "pnoise")}
            points.append(_point((data.name, ranker, rate), columns))
    return points


def _point(which: tuple[str, str, float], columns: dict[str, FloatArray]) -> Point:
    means = {name: float(values.mean()) for name, values in columns.items()}
    errors = {
        name: float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        for name, values in columns.items()
    }
    quality = means["ndcg"], errors["ndcg"], means["ap"], errors["ap"]
    return Point(*which, means["pnoise"], *quality)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the points of every collection."""
    command = parser("robust", __doc__)
    command.add_argument("--collection", action="append", choices=COLLECTIONS)
    command.add_argument("--ranker", action="append", choices=RANKER_NAMES)
    command.add_argument("--step", type=int, default=1, help="take every n-th rate only")
    options = command.parse_args(arguments, Options())
    head = ["collection", "ranker", "dNoise", "pNoise", "NDCG@10", "± error", "MAP", "± error"]
    rows: list[list[object]] = []
    for name in options.collection or COLLECTIONS:
        points = curves(
            read_collection(options.data, name),
            options.ranker or RANKER_NAMES,
            RATES[:: options.step],
            draws=options.draws or 10,
            seed=options.seed,
            cache=options.cache,
            processes=options.processes,
            progress=progress_line,
        )
        rows.extend(list(vars(point).values()) for point in points)
    show(options, f"Noise, {options.draws or 10} draws × 5 folds", head, rows)
    save(options, head, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
