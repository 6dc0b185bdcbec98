"""Few queries judged deeply, or many judged shallowly: the same number of judgments either way.

``python -m ranking.experiments.shallow --data FOLDER --draws 10`` samples the training queries of a
LETOR collection, or the documents of each, trains LambdaMART on the true grades of the sample and
tests on the part that was left out.

Reference: Yilmaz, Robertson, "Deep versus shallow judgments in learning to rank", SIGIR 2009:
figures 1 and 2. The study had 2,000 training queries and some 350 documents of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranking.data import rotation
from ranking.experiments.cells import Arrays, Progress, compute
from ranking.experiments.command import Options, parser, progress_line, save, show
from ranking.experiments.letor import QUICK, Letor, read_collection
from ranking.judgments import IntArray
from ranking.metrics import ndcg
from ranking.rankers import LambdaMART

COLLECTIONS = ("mslr", "ohsumed")
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)


@dataclass(frozen=True)
class Cell:
    """A sample of ``queries`` of the training queries and ``documents`` of each, as shares; with
    ``depth``, at most so many documents of a query are there to begin with."""

    queries: float
    documents: float
    draw: int
    depth: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Point:
    """Mean NDCG@10 over draws for a number of judgments, and how it was spent."""

    collection: str
    halved: str
    share: float
    queries: float
    judgments: float
    ndcg: float
    error: float


def sample(qid: IntArray, cell: Cell, rng: np.random.Generator) -> IntArray:
    """Rows of a random share of the queries and a random share of the documents of each.

    At least one query and two documents of each are kept: one alone teaches nothing.
    """
    names, query, size = np.unique(qid, return_inverse=True, return_counts=True)
    wanted = max(1, round(cell.queries * len(names)))
    chosen = np.zeros(len(names), dtype=np.bool_)
    chosen[rng.permutation(len(names))[:wanted]] = True
    order = np.lexsort((rng.random(len(qid)), query))
    place = np.empty(len(qid), dtype=np.int64)
    place[order] = np.arange(len(qid)) - np.repeat(np.cumsum(size) - size, size)
    there = size if cell.depth is None else np.minimum(size, cell.depth)
    kept = np.maximum(2, np.rint(cell.documents * there)).astype(np.int64)
    return np.flatnonzero(chosen[query] & (place < kept[query]))


def trained(data: Letor, cell: Cell) -> Arrays:
    """Mean NDCG@10 over all test queries, and the size of the samples."""
    rng = np.random.default_rng([cell.seed, cell.draw])
    scores = np.empty(len(data.y))
    rows = queries = 0.0
    for fold in rotation(data.part):
        learnt = np.concatenate([fold.train, fold.validate])
        learnt = learnt[sample(data.qid[learnt], cell, rng)]
        rows += len(learnt) / 5
        queries += len(np.unique(data.qid[learnt])) / 5
        ranker = LambdaMART(**{**QUICK["lambdamart"], "min_child_samples": 10})
        try:
            ranker.fit(data.X[learnt], data.y[learnt], data.qid[learnt])
            scores[fold.test] = ranker.predict(data.X[fold.test])
        except ValueError:  # no query of the sample has two grades: nothing can be learnt
            scores[fold.test] = rng.random(len(fold.test))
    value = np.nanmean(ndcg(data.y, scores, data.qid, 10))
    return {"ndcg": np.array(value), "rows": np.array(rows), "queries": np.array(queries)}


def points(
    data: Letor,
    *,
    depth: int | None = None,
    shares: Sequence[float] = SHARES,
    draws: int = 10,
    seed: int = 0,
    cache: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Point]:
    """Both ways to halve: queries at full depth, documents of all queries."""
    ways = [("queries", share) for share in shares] + [("documents", share) for share in shares[1:]]
    cells = [
        Cell(
            share if halved == "queries" else 1.0,
            share if halved == "documents" else 1.0,
            draw,
            depth,
            seed,
        )
        for halved, share in ways
        for draw in range(draws)
    ]
    found = compute(
        trained,
        data,
        cells,
        tag=data.fingerprint(),
        cache=cache,
        processes=processes,
        progress=progress,
    )
    made = []
    for n, (halved, share) in enumerate(ways):
        mine = found[n * draws : (n + 1) * draws]
        values = np.array([float(arrays["ndcg"]) for arrays in mine])
        error = float(values.std(ddof=1) / np.sqrt(draws)) if draws > 1 else float("nan")
        queries, rows = (float(np.mean([a[name] for a in mine])) for name in ("queries", "rows"))
        mean = float(values.mean())
        made.append(Point(data.name, halved, share, queries, rows, mean, error))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the points of every collection, at full depth and from 64 documents a query."""
    command = parser("shallow", __doc__)
    command.add_argument("--collection", action="append", choices=COLLECTIONS)
    options = command.parse_args(arguments, Options())
    head = ["collection", "halved", "share", "queries", "judgments", "NDCG@10", "± error"]
    rows: list[list[object]] = []
    for name in options.collection or COLLECTIONS:
        data = read_collection(options.data, name)
        for depth in (None, 64):
            made = points(
                data,
                depth=depth,
                draws=options.draws or 10,
                seed=options.seed,
                cache=options.cache,
                processes=options.processes,
                progress=progress_line,
            )
            first = f"{name}, {'all documents' if depth is None else f'{depth} documents'}"
            rows.extend([first, *list(vars(point).values())[1:]] for point in made)
    show(options, f"Queries or depth, {options.draws or 10} draws × 5 folds", head, rows)
    save(options, head, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
