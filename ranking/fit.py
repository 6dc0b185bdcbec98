"""Train one ranker in a process of its own: ``python -m ranking.fit FOLDER``.

A crash, an out-of-memory kill or LightGBM's threads then hurt this process alone. The folder is
the whole interface:

``job.json``
    ``{"ranker": "lambdamart", "parameters": {…}, "seed": 0}``; the last two may be left out.
``train.npz``
    ``X``, ``y``, ``qid``, and if wanted ``weight`` and ``feature_names``.
``valid.npz``, ``score.npz``, ``test.npz``
    Optional. ``X``, ``y``, ``qid`` for early stopping; ``X`` to be scored into ``scores.npy``;
    ``X`` (with ``y`` and ``qid`` if there) to be scored into ``test_scores.npy``.

Standard output gets lines ``progress 0.42``. ``model.txt`` or ``model.npz`` appears whole or not
at all, and ``result.json`` last of all: where it is, everything is.

Exit status: 0 done; 2 the job or its data are wrong, trying again will not help; 1 anything else.
Every failure is one line on standard error.
"""

import hashlib
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ranking.rankers import RANKERS, Ranker
from ranking.rankers.arrays import BROKEN

_REQUIRED = ("X", "y", "qid")
_KNOWN = {*_REQUIRED, "weight", "feature_names"}
_SCORES = {"score": "scores.npy", "test": "test_scores.npy"}

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


class JobError(ValueError):
    """The folder asks for something that cannot be done."""


def run(folder: Path) -> None:
    """Do the job of ``folder``: fit, save, score, and say what came out."""
    (folder / "result.json").unlink(missing_ok=True)
    ranker = read_job(folder / "job.json")
    train = read_arrays(folder / "train.npz", _REQUIRED)
    valid = _optional(folder / "valid.npz", _REQUIRED)
    to_score = {name: _optional(folder / f"{name}.npz", ("X",)) for name in _SCORES}
    facts = fit(ranker, train, valid)
    facts |= _save(ranker, folder)
    for name, data in to_score.items():
        if data is not None:
            _write_scores(ranker, data["X"], folder / _SCORES[name])
    write_atomically(folder / "result.json", json.dumps(facts, indent=1).encode())


def fit(ranker: Ranker, train: Arrays, valid: Arrays | None) -> dict[str, Any]:
    """Fit the ranker; what there is to say about it."""
    names = [str(name) for name in train["feature_names"]] if "feature_names" in train else None
    started = time.perf_counter()
    # One thread: the machine serves people too, and sums in another order are other models.
    limits = threadpool_limits(limits=1, user_api="blas")
    with limits, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(
            train["X"],
            train["y"],
            train["qid"],
            sample_weight=train.get("weight"),
            eval_set=None if valid is None else (valid["X"], valid["y"], valid["qid"]),
            feature_names=names,
            progress=report_progress(),
        )
    return {
        "ranker": ranker.name,
        "parameters": ranker.get_params(),
        "seconds": time.perf_counter() - started,
        "rows": len(train["y"]),
        "queries": len(np.unique(train["qid"])),
        "best_iteration": ranker.best_iteration_,
        "history": ranker.history_,
        "feature_importance": _importance(ranker),
        "warnings": [str(warning.message) for warning in caught],
        "versions": _versions(),
    }


def read_job(path: Path) -> Ranker:
    """The ranker that ``job.json`` describes, not fitted yet."""
    try:
        job = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise JobError(f"{path.name} must be in the folder. Got nothing instead.") from None
    except ValueError as error:
        raise JobError(f"{path.name} must be JSON. Got: {error}.") from None
    if not isinstance(job, dict) or not set(job) <= {"ranker", "parameters", "seed"}:
        raise JobError(f"{path.name} must have ranker, parameters and seed. Got {job} instead.")
    name, parameters = job.get("ranker"), job.get("parameters", {})
    if name not in RANKERS:
        raise JobError(f"ranker must be one of {', '.join(RANKERS)}. Got {name!r} instead.")
    if not isinstance(parameters, dict) or ("seed" in parameters and "seed" in job):
        raise JobError(f"parameters must be an object, with one seed. Got {parameters} instead.")
    if "seed" in job:
        parameters = {**parameters, "seed": job["seed"]}
    known = RANKERS[name]().get_params()
    for unknown in parameters.keys() - known.keys():
        raise JobError(f"A parameter of {name} must be one of {', '.join(known)}. Got {unknown}.")
    return RANKERS[name](**parameters)


def read_arrays(path: Path, required: tuple[str, ...]) -> Arrays:
    """The arrays of an npz file, never unpickled."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files if name in _KNOWN}
    except FileNotFoundError:
        raise JobError(f"{path.name} must be in the folder. Got nothing instead.") from None
    except BROKEN as error:
        raise JobError(f"{path.name} must be an npz file of plain arrays. Got: {error}.") from None
    missing = [name for name in required if name not in arrays]
    if missing:
        raise JobError(f"{path.name} must have {', '.join(required)}. Got {', '.join(arrays)}.")
    return arrays


def _optional(path: Path, required: tuple[str, ...]) -> Arrays | None:
    return read_arrays(path, required) if path.exists() else None


def report_progress() -> Callable[[float], None]:
    """A function that prints ``progress 0.42``, at most once per hundredth."""
    last = -1

    def report(share: float) -> None:
        nonlocal last
        hundredth = int(100 * share)
        if hundredth > last:
            last = hundredth
            sys.stdout.write(f"progress {hundredth / 100:.2f}\n")
            sys.stdout.flush()

    return report


def write_atomically(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``, whole and on the disk, or leave ``path`` as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _save(ranker: Ranker, folder: Path) -> dict[str, Any]:
    """Write the model file; its name, size and digest."""
    content = ranker.to_bytes()
    path = folder / f"model{ranker.suffix}"
    write_atomically(path, content)
    return {
        "model": path.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _write_scores(ranker: Ranker, X: npt.NDArray[Any], path: Path) -> None:
    temporary = path.with_name(f".{path.name}")
    with temporary.open("wb") as file:
        np.save(file, ranker.predict(X), allow_pickle=False)
    temporary.replace(path)


def _importance(ranker: Ranker) -> dict[str, float]:
    names = ranker.feature_names_in_ or [str(i) for i in range(ranker.n_features_in_)]
    return dict(zip(names, ranker.feature_importance().tolist(), strict=True))


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "lightgbm")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def main(arguments: list[str]) -> int:
    """Run the job and turn what goes wrong into an exit status and one line."""
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m ranking.fit FOLDER.\n")
        return 2
    try:
        run(Path(arguments[0]))
    except ValueError as error:
        sys.stderr.write(f"{_one_line(error)}\n")
        return 2
    except Exception as error:  # the parent reads one line, not a traceback
        sys.stderr.write(f"{type(error).__name__}: {_one_line(error)}\n")
        return 1
    return 0


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
