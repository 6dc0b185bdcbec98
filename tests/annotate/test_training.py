"""Labels to a ranker: in a process of its own, evaluated on queries it has not seen."""

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate import datasets, imports, jobs, schedule, tasks, training
from annotate.formats import Row
from annotate.models import Campaign, Job, Label, Pair, Snapshot, TrainingRun, User
from ranking.metrics import ndcg

pytestmark = pytest.mark.django_db


@pytest.fixture
def labelled(dana: User) -> Campaign:
    """24 queries of 8 documents; feature 1 tells the grade, feature 2 nothing."""
    campaign = Campaign.objects.create(slug="letor", name="Letor", created_by=dana, state="open")
    rng = np.random.default_rng(7)
    rows = []
    for q in range(24):
        for d in range(8):
            grade = int(rng.integers(0, 5))
            features = (grade + float(rng.normal(0, 0.3)), float(rng.normal()))
            rows.append(
                Row(
                    line=len(rows) + 1,
                    query_key=f"q{q}",
                    query=f"q{q}",
                    document_key=f"d{q}-{d}",
                    truth=grade,
                    features=features,
                )
            )
    imports.load_rows(campaign, rows)
    Label.objects.bulk_create(
        Label(pair=pair, grade=pair.truth or 0, score=pair.truth or 0, judgments=1, method="first")
        for pair in Pair.objects.filter(campaign=campaign)
    )
    return campaign


def train(campaign: Campaign) -> TrainingRun:
    job = jobs.enqueue("train", campaign)
    assert job is not None
    tasks.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    return TrainingRun.objects.get(job=job)


def test_a_run_trains_evaluates_and_keeps_its_model(labelled: Campaign, data_dir: Path) -> None:
    run = train(labelled)
    assert (run.state, run.number) == (TrainingRun.State.DONE, 1)
    assert run.train_queries + run.test_queries == 24
    three = run.metrics["ndcg"]["3"]
    assert three["ranker"]["mean"] > 0.9 > three["first_stage"]["mean"]
    assert three["ranker"]["n"] == run.test_queries - run.metrics["left_out"]
    assert set(run.metrics["ndcg"]) == {"1", "3", "5", "10"}
    assert run.metrics["importance"][0][0] == "feature_1"
    model = data_dir / "models" / run.model_file
    assert hashlib.sha256(model.read_bytes()).hexdigest() == run.model_sha256
    assert [path.name for path in (data_dir / "models").iterdir()] == [run.model_file]


def test_the_same_labels_and_seed_give_the_same_model(labelled: Campaign) -> None:
    first, second = train(labelled), train(labelled)
    assert first.model_sha256 == second.model_sha256
    assert second.number == 2


def test_queries_held_out_never_train(labelled: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def spy(folder: Path, data: datasets.Dataset, seed: int) -> None:
        write(folder, data, seed)
        for name in ("train", "test"):
            with np.load(folder / f"{name}.npz") as arrays:
                seen[name] = set(arrays["qid"].tolist())

    write = training._write_inputs
    monkeypatch.setattr(training, "_write_inputs", spy)
    train(labelled)
    assert seen["train"]
    assert seen["test"]
    assert not seen["train"] & seen["test"]


def test_whether_a_query_is_held_out_depends_on_its_key_and_the_seed_only(
    labelled: Campaign,
) -> None:
    shares = [datasets.held_out(labelled, f"query {number}") for number in range(2000)]
    assert 0.2 < np.mean(shares) < 0.3
    assert shares == [datasets.held_out(labelled, f"query {number}") for number in range(2000)]
    labelled.seed += 1
    assert shares != [datasets.held_out(labelled, f"query {number}") for number in range(2000)]


def test_figures_equal_the_librarys(labelled: Campaign) -> None:
    data = datasets.labelled(labelled)
    grades, qid = data.y[data.held_out], data.qid[data.held_out]
    scores = data.X[data.held_out, 0]
    figures = training.evaluate(grades, scores, -data.rank[data.held_out], qid)
    expected = float(np.nanmean(ndcg(grades, scores, qid, k=3)))
    assert figures["ndcg"]["3"]["ranker"]["mean"] == pytest.approx(expected, abs=1e-12)


def test_a_campaign_without_features_is_trained_on_its_texts(dana: User) -> None:
    campaign = Campaign.objects.create(slug="t", name="T", created_by=dana)
    rows = [
        Row(
            line=1,
            query_key=f"q{q}",
            query=f"word{q} thing",
            document_key=f"{q}-{d}",
            title=f"word{q} thing" if d == q % 4 else "another matter",
            truth=4 if d == q % 4 else 0,
        )
        for q in range(16)
        for d in range(4)
    ]
    imports.load_rows(campaign, rows)
    Label.objects.bulk_create(
        Label(pair=pair, grade=pair.truth or 0, score=0, judgments=1, method="first")
        for pair in Pair.objects.all()
    )
    run = train(campaign)
    assert run.metrics["ndcg"]["1"]["ranker"]["mean"] > 0.9
    assert "bm25_title" in dict(run.metrics["importance"])


# -- What goes wrong ------------------------------------------------------------------------------


def failed(campaign: Campaign) -> str:
    run = train(campaign)
    assert run.state == TrainingRun.State.FAILED
    assert run.model_file == ""
    return run.message


def test_too_few_labels_are_a_failed_run_that_says_so(labelled: Campaign) -> None:
    Label.objects.exclude(pair__query__key="q1").delete()
    assert "Training needs labels for at least 2 queries" in failed(labelled)


def test_one_grade_only_is_a_failed_run_that_says_so(labelled: Campaign) -> None:
    Label.objects.update(grade=2)
    assert failed(labelled) == "Training needs labels of at least two different grades."


def test_no_relevant_document_held_out_is_a_failed_run_that_says_so(labelled: Campaign) -> None:
    keys = [f"q{q}" for q in range(24) if datasets.held_out(labelled, f"q{q}")]
    Label.objects.filter(pair__query__key__in=keys).update(grade=0)
    assert "No held-out query has a relevant document" in failed(labelled)


def test_a_fit_that_takes_too_long_is_ended(labelled: Campaign, settings: Any) -> None:
    settings.TRAINING_SECONDS = 0
    assert failed(labelled) == "Training took more than 0 seconds."


def test_a_fit_that_is_killed_says_so(labelled: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import os; os.kill(os.getpid(), 9)"
    monkeypatch.setattr(training, "FIT", [sys.executable, "-c", script])
    assert "Training was killed, most likely for memory" in failed(labelled)


def test_a_fit_without_memory_fails_alone(labelled: Campaign, settings: Any) -> None:
    settings.TRAINING_MB = 20
    assert failed(labelled)


def test_a_lost_lease_ends_the_fit_and_leaves_no_model(
    labelled: Campaign, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = jobs.enqueue("train", labelled)
    assert job is not None
    monkeypatch.setattr(training, "FIT", [sys.executable, "-c", "import time; time.sleep(60)"])
    keep = jobs.keep

    def cancelled(job: Job, progress: float, message: str = "") -> None:
        jobs.cancel(job)
        keep(job, progress, message)

    monkeypatch.setattr(jobs, "keep", cancelled)
    tasks.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == (Job.State.FAILED, "Cancelled.")
    assert list((data_dir / "models").iterdir()) == []


# -- The schedule ---------------------------------------------------------------------------------


def snapshot(campaign: Campaign, judgments: int) -> None:
    Snapshot.objects.create(
        campaign=campaign,
        pairs=judgments,
        judgments=judgments,
        judges=1,
        overlapping=0,
        histogram=[0] * 5,
        first_good=0,
    )


def due(campaign: Campaign) -> int:
    schedule.plan()
    return Job.objects.filter(kind="train", state=Job.State.DUE).count()


def test_training_is_planned_after_so_many_new_judgments(labelled: Campaign) -> None:
    Campaign.objects.update(retrain_hours=0, retrain_judgments=100)
    snapshot(labelled, 99)
    assert due(labelled) == 0
    snapshot(labelled, 100)
    assert due(labelled) == 1
    assert due(labelled) == 1


def test_two_beats_plan_one_training_in_a_period(labelled: Campaign) -> None:
    Campaign.objects.update(retrain_hours=24, retrain_judgments=0)
    snapshot(labelled, 5)
    assert due(labelled) == 1
    Job.objects.update(state=Job.State.DONE)
    assert due(labelled) == 0


def test_nothing_new_plans_nothing(labelled: Campaign) -> None:
    Campaign.objects.update(retrain_hours=1, retrain_judgments=1)
    assert due(labelled) == 0


def test_a_closed_campaign_is_not_retrained(labelled: Campaign) -> None:
    snapshot(labelled, 1000)
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert due(labelled) == 0


def test_stale_pairs_are_aggregated_even_if_every_message_was_lost(labelled: Campaign) -> None:
    Pair.objects.filter(query__key="q1").update(stale=True)
    schedule.plan()
    assert Job.objects.filter(kind="aggregate", state=Job.State.DUE).count() == 1
