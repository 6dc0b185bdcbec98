"""Labels to a fitted ranker and its evaluation. The only writer of training runs and models.

The fit runs in a process of its own (``python -m ranking.fit``): a crash, an out-of-memory kill
or threads that a fork would hang end that process and nothing else.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from annotate import jobs
from annotate.datasets import Dataset, labelled
from annotate.models import Campaign, Job, TrainingRun
from ranking.judgments import FloatArray, IntArray
from ranking.metrics import compare, ndcg, summary

CUTOFFS = (1, 3, 5, 10)
POLL_SECONDS = 0.2
KEEP_SECONDS = 2.0
NORMAL_95 = 1.96
FIT = [sys.executable, "-m", "ranking.fit"]
RANKER = "lambdamart"
PARAMETERS = {"n_estimators": 150, "learning_rate": 0.05, "num_leaves": 15, "min_child_samples": 5}


class TrainingError(Exception):
    """Why a run cannot be made or did not end well, in words for the manager."""


def run(job: Job) -> None:
    """Train and evaluate once. What cannot be trained yet is a failed run with its reason."""
    campaign = job.campaign
    training_run = _begin(job, campaign)
    try:
        data = labelled(campaign)
        _require_enough(data)
        with _folder() as folder:
            _write_inputs(folder, data, campaign.seed)
            _fit(job, folder)
            scores = np.load(folder / "test_scores.npy", allow_pickle=False)
            result = json.loads((folder / "result.json").read_text())
            _succeed(job, training_run, data, scores, result, folder)
    except TrainingError as error:
        with transaction.atomic():
            _end(training_run, state=TrainingRun.State.FAILED, message=str(error))
            jobs.finish(job, str(error))


def _begin(job: Job, campaign: Campaign) -> TrainingRun:
    """One run per job: a second attempt goes on with the first one's row."""
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        known = TrainingRun.objects.filter(job=job).first()
        if known is not None:
            return known
        last = campaign.runs.aggregate(last=Max("number"))["last"] or 0
        snapshot = campaign.snapshots.first()
        return TrainingRun.objects.create(
            campaign=campaign,
            job=job,
            number=last + 1,
            ranker=RANKER,
            judgments=snapshot.judgments if snapshot else 0,
        )


def _require_enough(data: Dataset) -> None:
    train, test = np.unique(data.qid[~data.held_out]), np.unique(data.qid[data.held_out])
    if len(train) < 2 or not len(test):
        raise TrainingError(
            "Training needs labels for at least 2 queries, and for 1 held-out query to evaluate "
            f"on. There are {len(train)} and {len(test)} so far."
        )
    if len(np.unique(data.y[~data.held_out])) < 2:
        raise TrainingError("Training needs labels of at least two different grades.")


@contextmanager
def _folder() -> Iterator[Path]:
    """A place of this attempt alone, gone afterwards."""
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="fit-", dir=settings.MODEL_DIR))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_inputs(folder: Path, data: Dataset, seed: int) -> None:
    train, test = ~data.held_out, data.held_out
    job = {"ranker": RANKER, "parameters": PARAMETERS, "seed": seed}
    (folder / "job.json").write_text(json.dumps(job))
    np.savez(
        folder / "train.npz",
        X=data.X[train],
        y=data.y[train],
        qid=data.qid[train],
        feature_names=np.array(data.feature_names),
    )
    np.savez(folder / "test.npz", X=data.X[test], y=data.y[test], qid=data.qid[test])


def _fit(job: Job, folder: Path) -> None:
    """Run the fit and keep the job's lease; whoever loses the lease ends the fit."""
    log = folder / "progress.txt"
    with log.open("w") as out, (folder / "reason.txt").open("w") as err:
        process = subprocess.Popen(
            [*FIT, str(folder)],
            cwd=settings.BASE_DIR,
            stdout=out,
            stderr=err,
            preexec_fn=_limit_memory,
        )
        try:
            _watch(job, process, log)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        reason = (folder / "reason.txt").read_text().strip().splitlines()
        raise TrainingError(_ending(process.returncode, reason[-1] if reason else ""))


def _limit_memory() -> None:
    limit = settings.TRAINING_MB * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _watch(job: Job, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + settings.TRAINING_SECONDS
    keep_at = time.monotonic()
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            raise TrainingError(f"Training took more than {settings.TRAINING_SECONDS} seconds.")
        if now >= keep_at:
            jobs.keep(job, 0.9 * _progress(log), "Training")
            keep_at = now + KEEP_SECONDS
        time.sleep(POLL_SECONDS)


def _progress(log: Path) -> float:
    lines = [line for line in log.read_text().splitlines() if line.startswith("progress ")]
    return float(lines[-1].split()[1]) if lines else 0.0


def _ending(code: int, reason: str) -> str:
    if code == -9:
        return f"Training was killed, most likely for memory (limit {settings.TRAINING_MB} MB)."
    return reason or f"Training ended with status {code}."


def _succeed(
    job: Job,
    training_run: TrainingRun,
    data: Dataset,
    scores: FloatArray,
    result: dict[str, Any],
    folder: Path,
) -> None:
    """The file first, under its final name; then one transaction makes it count."""
    name = f"{training_run.campaign_id}-{training_run.number}-{result['sha256'][:12]}"
    target = settings.MODEL_DIR / f"{name}{Path(result['model']).suffix}"
    os.replace(folder / result["model"], target)
    test = data.held_out
    metrics = evaluate(data.y[test], scores, -data.rank[test], data.qid[test])
    importance: dict[str, float] = result["feature_importance"]
    metrics["importance"] = sorted(importance.items(), key=lambda item: -item[1])
    with transaction.atomic():
        _end(
            training_run,
            state=TrainingRun.State.DONE,
            message="",
            metrics=metrics,
            train_queries=len(np.unique(data.qid[~test])),
            test_queries=len(np.unique(data.qid[test])),
            model_file=target.name,
            model_sha256=result["sha256"],
        )
        jobs.finish(job, f"NDCG@3 {metrics['ndcg']['3']['ranker']['mean']:.3f}.")


def _end(training_run: TrainingRun, **fields: object) -> None:
    TrainingRun.objects.filter(pk=training_run.pk).update(finished_at=Now(), **fields)


def evaluate(
    grades: IntArray, scores: FloatArray, first_stage: IntArray, qid: IntArray
) -> dict[str, Any]:
    """NDCG of the ranker and of the first-stage order on queries it has not seen."""
    figures = {}
    left_out = 0
    for cutoff in CUTOFFS:
        ours = ndcg(grades, scores, qid, k=cutoff)
        theirs = ndcg(grades, first_stage, qid, k=cutoff)
        left_out = summary(ours).left_out
        figures[str(cutoff)] = {
            "ranker": _mean(ours),
            "first_stage": _mean(theirs),
            "p": _number(compare(ours, theirs).t_test_p),
        }
    if left_out == len(np.unique(qid)):
        raise TrainingError("No held-out query has a relevant document yet, so NDCG is undefined.")
    return {"ndcg": figures, "left_out": left_out}


def _mean(values: FloatArray) -> dict[str, float | int | None]:
    """The mean with its 95 % interval; an interval of one query does not exist."""
    mean = summary(values)
    half = NORMAL_95 * mean.standard_error
    return {
        "mean": _number(mean.mean),
        "low": _number(max(mean.mean - half, 0.0)),
        "high": _number(min(mean.mean + half, 1.0)),
        "n": mean.n,
    }


def _number(value: float) -> float | None:
    """JSON knows no nan."""
    return None if np.isnan(value) else float(value)
