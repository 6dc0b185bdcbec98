"""LETOR collections, and what a ranker reaches that is trained on labels of simulated judges."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ranking.aggregation import AGGREGATORS, USE_ALL, TrainingRows, training_rows
from ranking.data import folds, read_letor, rotation
from ranking.experiments.cells import Arrays, Progress, compute
from ranking.experiments.dealing import Deal, Router, deal, used
from ranking.experiments.judged import simulated
from ranking.grades import GOOD
from ranking.judgments import FloatArray, IntArray
from ranking.metrics import ndcg
from ranking.rankers import RANKERS
from ranking.schemes import IfGoodWeighted
from ranking.simulation import SKILLS

#: Where NDCG is measured; the first is the one that tables are about.
DEPTHS = (3, 1, 2, 5, 10)
#: Train on the true grades: what labels without a mistake would give.
TRUE = "true grades"
#: Train on the score of the ordinal model, rounded: the grade whose gain is the expected gain.
EXPECTED = "expected gain"
#: Small and quick: rankers are compared with themselves here, by the labels they are given.
QUICK: dict[str, dict[str, Any]] = {
    "lambdamart": {"n_estimators": 60, "max_bin": 63, "min_child_samples": 50, "num_leaves": 15},
    "lambdarank": {"epochs": 15, "truncation": 10},
}


@dataclass(frozen=True, eq=False)
class Letor:
    """Rows of a LETOR collection, the rows of a query together, and the part each belongs to."""

    name: str
    X: FloatArray
    y: IntArray
    qid: IntArray
    part: IntArray = field(repr=False)

    def fingerprint(self) -> str:
        """The same for the same rows."""
        digest = hashlib.sha256(self.name.encode())
        for array in (self.X, self.y, self.qid, self.part):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def take(self, rows: IntArray) -> "Letor":
        """Some of the rows."""
        return Letor(self.name, self.X[rows], self.y[rows], self.qid[rows], self.part[rows])


def read_collection(folder: Path, name: str) -> Letor:
    """``mslr``, ``mq2008`` or ``ohsumed`` of a folder of collections.

    MSLR is one file, and its queries are dealt into five parts, always the same way; the others
    come in five parts.
    """
    folders = {"mslr": "mslr_sample_5grade", "mq2008": "mq2008_letor4", "ohsumed": "ohsumed_letor3"}
    if name not in folders:
        raise ValueError(f"A collection must be one of {', '.join(folders)}. Got {name} instead.")
    files = sorted((folder / folders[name]).glob("*.txt.gz"))
    if not files:
        raise ValueError(f"{folder / folders[name]} must hold LETOR files. Got none instead.")
    read = [read_letor(file) for file in files]
    X, y, qid = (np.concatenate(column) for column in zip(*read, strict=True))
    part = np.repeat(np.arange(len(read)), [len(rows) for rows in read])
    order = np.argsort(qid, kind="stable")
    X, y, qid, part = X[order], y[order], qid[order], part[order]
    if len(files) < 5:
        part = parts(qid)
    return Letor(name, X, y, qid, part)


def parts(qid: IntArray, n: int = 5) -> IntArray:
    """Queries dealt into n parts at random, always the same way."""
    part = np.empty(len(qid), dtype=np.int64)
    for number, fold in enumerate(folds(qid, n, rng=0)):
        part[fold.test] = number
    return part


@dataclass(frozen=True)
class Trained:
    """A router, what is made of its judgments, and so what a ranker is trained on.

    ``how``: ``use-all`` rows, an aggregator, ``expected gain``, or ``true grades``.
    """

    name: str
    router: Router
    how: str = USE_ALL


@dataclass(frozen=True)
class Cell:
    """A setting in one draw of judges: all folds, with one ranker."""

    setting: Trained
    skill: str
    ranker: str
    draw: int
    seed: int = 0
    depths: tuple[int, ...] = DEPTHS
    per_pair: int = 11


@dataclass(frozen=True, eq=False)
class Outcome:
    """A setting over all draws: NDCG is draw × depth × query; the others one for each draw."""

    ndcg: FloatArray
    cost: FloatArray
    training: FloatArray
    ratio: FloatArray

    def units(self, depth: int = 0) -> FloatArray:
        """One value per query, the mean over draws; nan where all of it is Bad."""
        means: FloatArray = self.ndcg[:, depth].mean(axis=0)
        return means


def train_all(
    data: Letor,
    settings: Sequence[Trained],
    *,
    skill: str,
    ranker: str = "lambdamart",
    draws: int = 10,
    seed: int = 0,
    cache: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> dict[str, Outcome]:
    """Every setting in every draw, five folds each, by name."""
    cells = [Cell(s, skill, ranker, draw, seed) for s in settings for draw in range(draws)]
    found = compute(
        train,
        data,
        cells,
        tag=data.fingerprint(),
        cache=cache,
        processes=processes,
        progress=progress,
    )
    return {
        setting.name: _outcome(found[n * draws : (n + 1) * draws])
        for n, setting in enumerate(settings)
    }


def _outcome(found: Sequence[Arrays]) -> Outcome:
    columns = ("ndcg", "cost", "training", "ratio")
    return Outcome(*(np.stack([arrays[name] for arrays in found]) for name in columns))


def train(data: Letor, cell: Cell) -> Arrays:
    """Draw the judges, route, label, train on four parts of five and test on the fifth, in turn.

    Tests are on the true grades. Nothing is stopped early: the parts that could tell when have
    labels of the same judges.
    """
    rng = np.random.default_rng([cell.seed, cell.draw])
    judged = simulated(data.y, data.qid, SKILLS[cell.skill], per_pair=cell.per_pair, rng=rng)
    dealt = deal(judged, rng, shuffle=False)
    taken = used(dealt, cell.setting.router)
    rows = _rows(dealt, taken, cell.setting)
    scores = np.empty(len(data.y))
    for fold in rotation(data.part):
        learnt = np.isin(rows.row, fold.test, invert=True)
        row, grade, weight = rows.row[learnt], rows.grade[learnt], rows.weight[learnt]
        ranker = RANKERS[cell.ranker](**QUICK[cell.ranker])
        ranker.fit(data.X[row], grade, data.qid[row], None if (weight == 1).all() else weight)
        scores[fold.test] = ranker.predict(data.X[fold.test])
    good = float(rows.weight[rows.grade >= GOOD].sum())
    return {
        "ndcg": np.stack([ndcg(data.y, scores, data.qid, k) for k in cell.depths]),
        "cost": np.array(taken.mean()),
        "training": np.array(rows.weight.sum() / len(data.y)),
        "ratio": np.array((rows.weight.sum() - good) / good if good else np.nan),
    }


def _rows(dealt: Deal, taken: IntArray, setting: Trained) -> TrainingRows:
    if setting.how == TRUE:
        return TrainingRows(np.arange(len(taken)), dealt.truth, np.ones(len(taken)))
    pair, judge, grade = dealt.taken(taken)
    if setting.how == EXPECTED:
        score = AGGREGATORS["ordinal"].aggregate(pair, judge, grade).score
        return TrainingRows(
            np.arange(len(taken)), np.rint(score).astype(np.int64), np.ones_like(score)
        )
    theta = setting.router.theta if isinstance(setting.router, IfGoodWeighted) else 1.0
    return training_rows(pair, judge, grade, how=setting.how, theta=theta)


def by_query(outcomes: Mapping[str, Outcome], depth: int = 0) -> dict[str, FloatArray]:
    """What `tables.lines` takes."""
    return {name: outcome.units(depth) for name, outcome in outcomes.items()}
