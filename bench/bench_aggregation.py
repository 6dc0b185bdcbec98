"""Aggregation beside crowd-kit: a million judgments, 200,000 pairs × 5, by 500 judges."""

import ctypes
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from crowdkit.aggregation import DawidSkene as CrowdKitDawidSkene
from crowdkit.aggregation import MajorityVote

from bench import Result, best_of
from ranking.aggregation import DawidSkene, Majority, Ordinal

PAIRS, EACH, JUDGES, ITERATIONS = 200_000, 5, 500, 20
IntArray = npt.NDArray[np.int64]
Judgments = tuple[IntArray, IntArray, IntArray]


def judgments(seed: int = 0) -> Judgments:
    """Judges of differing skill, five different ones for each pair, in random order of time."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, PAIRS, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    pair = np.repeat(np.arange(PAIRS), EACH)
    judge = ((rng.integers(JUDGES, size=(PAIRS, 1)) + np.arange(EACH) * 97) % JUDGES).ravel()
    rows = len(pair)
    near = np.clip(truth[pair] + rng.choice([-1, 1], rows), 0, 4)
    wrong = np.where(rng.random(rows) < 0.6, near, rng.integers(5, size=rows))
    right = rng.random(rows) < rng.uniform(0.4, 0.9, JUDGES)[judge]
    grade = np.where(right, truth[pair], wrong)
    order = rng.permutation(rows)
    return pair[order], judge[order], grade[order]


def dawid_skene(data: Judgments) -> IntArray:
    return DawidSkene(iterations=ITERATIONS, tolerance=0).aggregate(*data).grade


def ordinal(data: Judgments) -> IntArray:
    return Ordinal(iterations=ITERATIONS, tolerance=0).aggregate(*data).grade


def majority(data: Judgments) -> IntArray:
    return Majority().aggregate(*data).grade


def peer_dawid_skene(data: Judgments) -> IntArray:
    # Below any change of its loss, so that it runs all its iterations too.
    model = CrowdKitDawidSkene(n_iter=ITERATIONS, tol=-np.inf)
    return np.asarray(model.fit_predict(frame(data)).sort_index())


def frame(data: Judgments) -> pd.DataFrame:
    return pd.DataFrame(dict(zip(("task", "worker", "label"), data, strict=True)))


def peak_megabytes(work: Callable[[Judgments], object]) -> float:
    """How far a fresh process rises above its own data while it does the work (on Linux)."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_rise, (work,))


def _rise(work: Callable[[Judgments], object]) -> float:
    pair, judge, grade = judgments()
    work((pair[:1000], judge[:1000], grade[:1000]))  # so that late imports do not count
    ctypes.CDLL(None).malloc_trim(0)  # so that no freed memory is there to be used unseen
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is held now
    before = _peak()
    work((pair, judge, grade))
    return _peak() - before


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def run() -> list[Result]:
    data = judgments()
    table = frame(data)
    same = "identical" if np.array_equal(dawid_skene(data), peer_dawid_skene(data)) else "DIFFERENT"
    memory = f"{peak_megabytes(dawid_skene):.0f} MB above the data"
    peer_memory = f"crowd-kit {peak_megabytes(peer_dawid_skene):.0f} MB"
    em = "20 iterations, 1M judgments"
    peer = best_of(lambda: peer_dawid_skene(data), times=3)
    return [
        Result(
            work=f"Dawid-Skene, {em} (200k pairs × 5, 500 judges)",
            seconds=best_of(lambda: dawid_skene(data)),
            peers={"crowd-kit": peer},
            target="≥ 12×, identical labels, < 100 MB",
            note=f"{same} labels; {memory}, {peer_memory}",
        ),
        Result(
            work=f"ordinal, {em}",
            seconds=best_of(lambda: ordinal(data)),
            peers={"crowd-kit's Dawid-Skene": peer},
        ),
        Result(
            work="majority vote, 1M judgments",
            seconds=best_of(lambda: majority(data), times=20),
            peers={"crowd-kit": best_of(lambda: MajorityVote().fit_predict(table))},
            target="≥ 20×",
        ),
    ]
