"""The Lab: what a judgment is worth, a large replay, and the table of nine settings."""

import os
from pathlib import Path

import numpy as np

from bench import Result, best_of
from ranking.experiments.judged import made_lists, simulated
from ranking.experiments.letor import Cell, Letor, parts, read_collection, train
from ranking.experiments.overlap import NINE
from ranking.experiments.paying import MSLR_PRIOR
from ranking.experiments.replay import Cell as ReplayCell
from ranking.experiments.replay import Setting, measure
from ranking.paying import value
from ranking.schemes import GoodTillBad, IfGood, KOverlap, Single
from ranking.simulation import SKILLS

ROUTERS = (Single(), IfGood(2), IfGood(3), KOverlap(3), GoodTillBad())


def run() -> list[Result]:
    """A query's values, 100,000 pairs replayed, and a tenth of the nine settings."""
    return [_value(), _replay(), _nine()]


def _value() -> Result:
    posterior = np.random.default_rng(0).dirichlet(np.full(5, 0.5), 20)
    confusion = SKILLS["crowd"] / SKILLS["crowd"].sum(axis=1, keepdims=True)
    return Result(
        "value of another judgment, a query of 20 documents",
        best_of(lambda: value(posterior, confusion), 50),
        {},
        "≤ 0.005 s",
        "NDCG@3, looking three judgments ahead",
    )


def _replay() -> Result:
    truth, query = made_lists(MSLR_PRIOR, 5_000, 20)
    judged = simulated(truth, query, SKILLS["crowd"], per_pair=6)
    cells = [ReplayCell(Setting(router), 0) for router in ROUTERS]
    seconds = [best_of(lambda cell=cell: measure(judged, cell), 1) for cell in cells]
    return Result(
        "replay of 100,000 pairs, 600,000 judgments: one scheme, labels by ordinal and by mean",
        max(seconds),
        {},
        "≤ 10 s",
        f"slowest of {len(ROUTERS)} schemes; NDCG@1, 2, 3, 5, 10; all of them {sum(seconds):.3g} s",
    )


def _nine() -> Result:
    data = _mslr()
    cells = [Cell(setting, "crowd", "lambdamart", 0) for setting in NINE]
    seconds = sum(best_of(lambda cell=cell: train(data, cell), 1) for cell in cells)
    return Result(
        "nine settings, LambdaMART, MSLR sample, one draw × 5 folds on one core",
        seconds,
        {},
        "≤ 240 s",
        f"ten draws on two cores: about {seconds * 5 / 60:.2g} minutes of the 20 allowed",
    )


def _mslr() -> Letor:
    """The sample itself where it is at hand, else as many rows of the same shape."""
    folder = os.environ.get("REAL_DATA")
    if folder:
        return read_collection(Path(folder), "mslr")
    rng = np.random.default_rng(0)
    y, qid = made_lists(MSLR_PRIOR, 140, 110)
    X = rng.random((len(y), 136)) + 0.1 * y[:, None]
    return Letor("made", X, y, qid, parts(qid))
