"""The rankers on LETOR's folds, beside the figures published for their kind.

``python -m ranking.experiments.letor_baselines FOLDER`` reads ``FOLDER/mq2008_letor4`` and
``FOLDER/ohsumed_letor3`` (five part files each) and prints the tables of ``docs/rankers.md``.

Each of the five folds trains on three parts and tests on one. The one that is left stops the
training and chooses between the few settings of ``GRIDS``, by NDCG@10. The grids themselves were
drawn up with these data at hand, so the figures flatter a little.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.data import read_letor, rotation
from ranking.metrics import average_precision, ndcg
from ranking.rankers import RANKERS, Ranker

FOLDERS = {"OHSUMED": "ohsumed_letor3", "MQ2008": "mq2008_letor4"}

#: The settings that the validation part chooses from; what is not named keeps its default.
GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "lambdamart": {
        "n_estimators": [500],
        "learning_rate": [0.05],
        "min_child_samples": [50],
        "subsample": [0.7],
        "colsample": [0.5],
        "num_leaves": [4, 8, 16],
    },
    "lambdarank": {"learning_rate": [0.001, 0.003]},
    "ranksvm": {"C": [0.01, 0.1, 1.0]},
    "rankboost": {"max_bin": [16, 64]},
    "listnet": {"C": [0.1, 1.0]},
    "adarank": {"scale": ["standard", "none"]},
}

#: NDCG@10 and MAP as published with LETOR 3.0 and 4.0, in LETOR's conventions.
PUBLISHED: dict[str, dict[str, tuple[str, float, float]]] = {
    "OHSUMED": {
        "ranksvm": ("RankSVM", 0.4140, 0.4334),
        "rankboost": ("RankBoost", 0.4302, 0.4411),
        "listnet": ("ListNet", 0.4410, 0.4457),
        "adarank": ("AdaRank-NDCG", 0.4496, 0.4498),
    },
    "MQ2008": {
        "ranksvm": ("RankSVM-Struct", 0.2279, 0.4696),
        "rankboost": ("RankBoost", 0.2255, 0.4775),
        "listnet": ("ListNet", 0.2303, 0.4775),
        "adarank": ("AdaRank-NDCG", 0.2307, 0.4824),
    },
}


class Rows(NamedTuple):
    """Features, grade and query of every row."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.int64]
    qid: npt.NDArray[np.int64]

    def take(self, rows: npt.NDArray[np.int64]) -> "Rows":
        return Rows(self.X[rows], self.y[rows], self.qid[rows])


@dataclass(frozen=True)
class Score:
    """What a ranker reached over the five test parts, each query once."""

    ranker: str
    ndcg: npt.NDArray[np.float64]
    letor_ndcg: npt.NDArray[np.float64]
    letor_ap: npt.NDArray[np.float64]


def read_parts(folder: Path) -> tuple[Rows, npt.NDArray[np.int64]]:
    """The five part files as one data set, and the part of every row."""
    files = sorted(folder.glob("*.txt.gz"))
    if len(files) != 5:
        raise ValueError(f"{folder} must hold five part files. Got {len(files)} instead.")
    parts = [read_letor(file) for file in files]
    X, y, qid = (np.concatenate(column) for column in zip(*parts, strict=True))
    part = np.repeat(np.arange(5), [len(p) for p in parts])
    return Rows(X, y, qid), part


def choose(name: str, train: Rows, valid: Rows) -> Ranker:
    """The best of the ranker's settings on the validation part; the first of equals."""
    names = list(GRIDS[name])
    fitted = [
        RANKERS[name](**dict(zip(names, values, strict=True))).fit(*train, eval_set=valid)
        for values in product(*GRIDS[name].values())
    ]
    return max(fitted, key=lambda ranker: max(ranker.history_))


def evaluate(name: str, data: Rows, part: npt.NDArray[np.int64], turns: int = 5) -> Score:
    """Train and test the ranker on the first ``turns`` of the five folds."""
    values: list[tuple[npt.NDArray[np.float64], ...]] = []
    for fold in rotation(part)[:turns]:
        test = data.take(fold.test)
        ranker = choose(name, data.take(fold.train), data.take(fold.validate))
        graded = (test.y, ranker.predict(test.X), test.qid)
        values.append(
            (
                ndcg(*graded, 10),
                letor_ndcg(*graded, 10),
                average_precision(*graded, relevant=1, undefined=0),
            )
        )
    return Score(name, *(np.concatenate(column) for column in zip(*values, strict=True)))


def letor_ndcg(
    y: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], qid: npt.NDArray[np.int64], k: int
) -> npt.NDArray[np.float64]:
    """NDCG@k as LETOR's evaluation script has it, for comparison with its published figures.

    The first two places are not discounted (place i ≥ 2 by ``log2 i``), a query without a relevant
    document counts 0, and so does a query with fewer than ``k`` documents.
    """
    discount = 1 / np.maximum(np.log2(np.maximum(np.arange(1, k + 1), 2)), 1)
    values = []
    for query in np.unique(qid):
        mine = np.flatnonzero(qid == query)
        gains = 2.0 ** y[mine[np.argsort(-scores[mine], kind="stable")]] - 1
        if len(gains) < k or not gains.any():
            values.append(0.0)
        else:
            values.append(float(gains[:k] @ discount / (-np.sort(-gains)[:k] @ discount)))
    return np.array(values)


def table(data_set: str, scores: Sequence[Score]) -> str:
    """The Markdown table of one data set."""
    lines = [
        "| ranker | published | NDCG@10 (LETOR) | ours | MAP (LETOR) | ours | NDCG@10, our rule |",
        "|---|---|---|---|---|---|---|",
    ]
    for score in scores:
        said = PUBLISHED[data_set].get(score.ranker)
        kind, theirs, their_map = (said[0], *map(_four, said[1:])) if said else ("—", "—", "—")
        own = score.ndcg[~np.isnan(score.ndcg)]
        error = own.std(ddof=1) / len(own) ** 0.5
        lines.append(
            f"| `{score.ranker}` | {kind} | {theirs} | {_four(score.letor_ndcg.mean())} "
            f"| {their_map} | {_four(score.letor_ap.mean())} "
            f"| {_four(own.mean())} ± {error:.3f} (n = {len(own)} of {len(score.ndcg)}) |"
        )
    return "\n".join(lines)


def _four(value: float) -> str:
    return f"{value:.4f}"


def main(arguments: list[str]) -> int:
    """Print the tables for the data in the folder that is named."""
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m ranking.experiments.letor_baselines FOLDER.\n")
        return 2
    for data_set, folder in FOLDERS.items():
        data, part = read_parts(Path(arguments[0]) / folder)
        scores = [evaluate(name, data, part) for name in RANKERS]
        sys.stdout.write(f"### {data_set}\n\n{table(data_set, scores)}\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
