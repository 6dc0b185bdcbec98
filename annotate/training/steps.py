"""What the jobs of a run do: train, its folds, and what finishes it. Each survives its worker.

``train`` freezes the training set. Where held-out queries are enough it goes on by itself; where
they are few it writes one job per fold, and the last fold that ends writes ``train-finish``.
Nobody waits: any number of workers on any number of machines share the folds.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models.functions import Now

from annotate import jobs
from annotate.models import Artifact, Campaign, Job, TrainingRun
from annotate.training import champion, evaluation, fitting, registry, runs, sets
from annotate.training.errors import ModelError, TrainingError
from annotate.training.sets import Frozen, TrainingSet
from ranking.judgments import FloatArray

SET = "set"
State = TrainingRun.State
#: Which part of a run's work the fit itself is.
FIT_SHARE = 0.9


def train(job: Job) -> None:
    """Freeze the training set, then fit or fan out. What cannot be trained is a failed run."""
    run = runs.begin(job)
    with _ending(job, run):
        data = sets.build(job.campaign, sets.recipe(job.campaign, run.ranker))
        sets.require_enough(data)
        folds = sets.folds(data)
        facts, content = _facts_of_set(data, folds), data.frozen.to_bytes()
        with transaction.atomic():
            TrainingRun.objects.filter(pk=run.pk).update(**facts)
            _put(run, SET, content)
            run.refresh_from_db()
            if folds:
                _fan_out(run, folds)
                jobs.finish(job, f"{folds} folds are on their way.")
        if not folds:
            _complete(job, run, data, None)


def fold(job: Job) -> None:
    """Fit on the other folds and score this one; the last fold to end has the run finished."""
    run, number = _of(job)
    with _ending(job, run):
        if run.state != State.RUNNING:
            jobs.finish(job, f"Run {run.number} has ended.")
            return
        data = _thaw(run)
        tested = data.fold(number, run.folds)
        fitted = fitting.fit(
            run.recipe,
            data.training(~tested),
            data.pool.X[tested],
            lambda share: jobs.keep(job, share, f"Fold {number + 1} of {run.folds}"),
        )
        with transaction.atomic():
            # The lock: of two folds that end at once, the second sees the first.
            TrainingRun.objects.select_for_update().get(pk=run.pk)
            _keep_scores(run, number, fitted.scores)
            jobs.finish(job, f"Fold {number + 1} of {run.folds}.")
            if run.artifacts.filter(name__startswith="fold-").count() == run.folds:
                jobs.enqueue("train-finish", run.campaign, key=f"run-{run.pk}-finish")


def finish(job: Job) -> None:
    """All folds are there: fit the ranker itself."""
    run, _ = _of(job)
    with _ending(job, run):
        if run.state != State.RUNNING:
            jobs.finish(job, f"Run {run.number} has ended.")
            return
        data = _thaw(run)
        _complete(job, run, data, _fold_scores(run, data))


#: What each kind of job does for a run.
STEPS = {"train": train, "fold": fold, "train-finish": finish}


def work(run: TrainingRun, progress: jobs.Progress | None = None) -> None:
    """Do the jobs of a run here and now; workers that live may take some of them."""
    done = 0
    while due := runs.jobs_of(run).filter(state=Job.State.DUE).order_by("pk").first():
        job = jobs.take(due.pk)
        if job is not None:
            if progress:
                progress(done / (done + _left(run)), f"step {done + 1}: {job.kind}")
            STEPS[job.kind](job)
            done += 1


def _left(run: TrainingRun) -> int:
    """How many steps of a run are not done yet, as far as anybody knows."""
    return runs.jobs_of(run).exclude(state=Job.State.DONE).count()


@contextmanager
def _ending(job: Job, run: TrainingRun) -> Iterator[None]:
    try:
        yield
    except TrainingError as error:
        with transaction.atomic():
            jobs.finish(job, str(error))
            runs.stop(run, State.FAILED, str(error))
    except jobs.LostJobError:
        runs.settle_one(run)
        raise


# -- Steps ----------------------------------------------------------------------------------------


def _of(job: Job) -> tuple[TrainingRun, int]:
    """The run of a ``fold`` or ``train-finish`` job, and the number of the fold."""
    _, run, *_, last = job.key.split("-")
    found = TrainingRun.objects.select_related("campaign").get(pk=int(run))
    return found, int(last) if last.isdecimal() else 0


def _facts_of_set(data: TrainingSet, folds: int) -> dict[str, Any]:
    held_out = data.pool.held_out
    trained = data.frozen.row[~held_out[data.frozen.row]]
    return {
        "recipe": data.recipe,
        "snapshot": data.digest,
        "folds": folds,
        "rows": len(trained),
        "train_queries": len(np.unique(data.pool.qid[trained])),
        "test_queries": len(np.unique(data.pool.qid if folds else data.pool.qid[held_out])),
        "metrics": {"judges_left_out": data.judges_left_out},
    }


def _thaw(run: TrainingRun) -> TrainingSet:
    content = run.artifacts.get(name=SET).content
    return sets.thaw(run.campaign, run.recipe, Frozen.from_bytes(bytes(content)), run.snapshot)


def _fan_out(run: TrainingRun, folds: int) -> None:
    for number in range(folds):
        jobs.enqueue("fold", run.campaign, key=f"run-{run.pk}-fold-{number}")


def _keep_scores(run: TrainingRun, number: int, scores: FloatArray) -> None:
    file = io.BytesIO()
    np.save(file, scores, allow_pickle=False)
    _put(run, f"fold-{number}", file.getvalue())


def _fold_scores(run: TrainingRun, data: TrainingSet) -> FloatArray:
    scores = np.empty(len(data.pool.pair))
    for number in range(run.folds):
        content = io.BytesIO(run.artifacts.get(name=f"fold-{number}").content)
        scores[data.fold(number, run.folds)] = np.load(content, allow_pickle=False)
    return scores


def _put(run: TrainingRun, name: str, content: bytes) -> None:
    Artifact.objects.update_or_create(run=run, name=name, defaults={"content": content})


def _complete(job: Job, run: TrainingRun, data: TrainingSet, crossed: FloatArray | None) -> None:
    """Fit on every training query, evaluate, decide; one transaction makes it all count."""
    held_out = data.pool.held_out
    fitted = fitting.fit(
        run.recipe,
        data.training(~held_out),
        data.pool.X[held_out],
        lambda share: jobs.keep(job, FIT_SHARE * share, "Training"),
    )
    rival = champion.current(run.campaign)
    compared = _against(job, rival, data, fitted.scores)
    metrics = _evaluate(job, run, data, crossed, fitted.scores) | _facts(data, fitted.facts)
    if compared:
        metrics["champion"] = compared
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=run.campaign_id)
        name, sha256 = registry.store(run, fitted.model, fitted.suffix)
        run.artifacts.filter(name__startswith="fold-").delete()
        TrainingRun.objects.filter(pk=run.pk).update(
            state=State.DONE,
            message="",
            finished_at=Now(),
            metrics=run.metrics | metrics,
            model_file=name,
            model_sha256=sha256,
        )
        run.refresh_from_db()
        champion.decide(run, rival, compared)
        jobs.finish(job, f"NDCG@3 {metrics['ndcg']['3']['ranker']['mean']:.3f}.")
    registry.write_files(run)


def _against(
    job: Job, rival: TrainingRun | None, data: TrainingSet, scores: FloatArray
) -> dict[str, Any]:
    """The champion on the same held-out queries and labels."""
    if rival is None:
        return {}
    held_out = data.pool.held_out
    if not held_out.any():
        return {"number": rival.number, "reason": "no query is held out."}
    jobs.keep(job, FIT_SHARE, "Evaluating")
    try:
        model = (registry.read(rival), _suffix(rival), rival.model_sha256)
        theirs = fitting.score(
            model, data.pool.X[held_out], lambda _: jobs.keep(job, FIT_SHARE, "Evaluating")
        )
    except (ModelError, TrainingError) as error:
        return {"number": rival.number, "reason": f"it cannot be used: {error}"}
    label, qid = data.frozen.label[held_out], data.pool.qid[held_out]
    return {
        "number": rival.number,
        "ndcg": evaluation.head_to_head(label, scores, theirs, qid),
    }


def _suffix(run: TrainingRun) -> str:
    return f".{run.model_file.rpartition('.')[2]}"


def _evaluate(
    job: Job,
    run: TrainingRun,
    data: TrainingSet,
    crossed: FloatArray | None,
    scores: FloatArray,
) -> dict[str, Any]:
    tested = data.pool.held_out if crossed is None else np.ones(len(data.pool.pair), dtype=bool)
    label, qid = data.frozen.label[tested], data.pool.qid[tested]
    jobs.keep(job, FIT_SHARE, "Evaluating")
    metrics = evaluation.evaluate(
        label, scores if crossed is None else crossed, -data.pool.rank[tested], qid
    )
    jobs.keep(job, FIT_SHARE, "Finding the ceiling")
    judged = sets.judgments(run.campaign)
    metrics["ceiling"] = evaluation.ceiling(label, qid, judged, run.campaign.scheme)
    metrics["way"] = f"{run.folds}-fold" if run.folds else "held-out"
    return metrics


def _facts(data: TrainingSet, facts: dict[str, Any]) -> dict[str, Any]:
    importance: dict[str, float] = facts["feature_importance"]
    return {
        "importance": sorted(importance.items(), key=lambda item: -item[1]),
        "facts": {
            "features": data.pool.feature_names,
            "versions": facts["versions"],
            "seconds": facts["seconds"],
            "warnings": facts["warnings"],
        },
    }
