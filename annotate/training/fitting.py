"""Fits and scores in processes of their own, watched.

A crash, an out-of-memory kill or threads that a fork would hang end that process and nothing else;
a worker that is killed takes its process with it.
"""

import ctypes
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from annotate.training.errors import TrainingError
from annotate.training.sets import Recipe
from ranking.judgments import FloatArray

POLL_SECONDS = 0.2
KEEP_SECONDS = 2.0
#: What a killed worker left behind is thrown away after this.
LEFT_BEHIND_SECONDS = 24 * 3600
FIT = [sys.executable, "-m", "ranking.fit"]
SCORE = [sys.executable, "-m", "ranking.score"]
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None

#: Called with the share that is done; raises if the work is no longer wanted.
Keep = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model file, what there is to say about it, and its scores of the rows it was to score."""

    model: bytes
    suffix: str
    facts: dict[str, Any]
    scores: FloatArray


def fit(made_by: Recipe, train: dict[str, Any], test: FloatArray, keep: Keep) -> Fitted:
    """Fit a ranker and score ``test`` with it."""
    with _folder() as folder:
        job = {name: made_by[name] for name in ("ranker", "parameters", "seed")}
        (folder / "job.json").write_text(json.dumps(job))
        np.savez(folder / "train.npz", **train)
        np.savez(folder / "test.npz", X=test)
        _run([*FIT, str(folder)], folder, keep)
        facts = json.loads((folder / "result.json").read_text())
        model = folder / facts.pop("model")
        scores = np.load(folder / "test_scores.npy", allow_pickle=False)
        return Fitted(model.read_bytes(), model.suffix, facts, scores)


def score(model: tuple[bytes, str, str], X: FloatArray, keep: Keep) -> FloatArray:
    """Scores of a model given as its bytes, the ending of its name and its SHA-256."""
    content, suffix, sha256 = model
    with _folder() as folder:
        (folder / f"model{suffix}").write_bytes(content)
        named = {"model": f"model{suffix}", "sha256": sha256}
        (folder / "model.json").write_text(json.dumps(named))
        np.save(folder / "X.npy", X, allow_pickle=False)
        _run([*SCORE, str(folder)], folder, keep)
        scores: FloatArray = np.load(folder / "scores.npy", allow_pickle=False)
        return scores


@contextmanager
def _folder() -> Iterator[Path]:
    """A place of this attempt alone, gone afterwards."""
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)
    for old in settings.MODEL_DIR.glob("fit-*"):
        if old.stat().st_mtime < time.time() - LEFT_BEHIND_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="fit-", dir=settings.MODEL_DIR))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str], folder: Path, keep: Keep) -> None:
    log = folder / "progress.txt"
    with log.open("w") as out, (folder / "reason.txt").open("w") as err:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdout=out, stderr=err, preexec_fn=_limit
        )
        try:
            _watch(process, log, keep)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        reason = (folder / "reason.txt").read_text().strip().splitlines()
        raise TrainingError(_ending(process.returncode, reason[-1] if reason else ""))


def _limit() -> None:
    """In the new process: so much memory, and no life without the worker."""
    limit = settings.TRAINING_MB * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if _LIBC is not None:
        _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _watch(process: "subprocess.Popen[bytes]", log: Path, keep: Keep) -> None:
    deadline = time.monotonic() + settings.TRAINING_SECONDS
    keep_at = time.monotonic()
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            raise TrainingError(f"Training took more than {settings.TRAINING_SECONDS} seconds.")
        if now >= keep_at:
            keep(_progress(log))
            keep_at = now + KEEP_SECONDS
        time.sleep(POLL_SECONDS)


def _progress(log: Path) -> float:
    lines = [line for line in log.read_text().splitlines() if line.startswith("progress ")]
    return float(lines[-1].split()[1]) if lines else 0.0


def _ending(code: int, reason: str) -> str:
    if code == -signal.SIGKILL:
        return f"Training was killed, most likely for memory (limit {settings.TRAINING_MB} MB)."
    if "MemoryError" in reason or "bad_alloc" in reason:
        return f"Training needed more memory than its limit of {settings.TRAINING_MB} MB."
    return reason or f"Training ended with status {code}."
