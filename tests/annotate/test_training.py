"""Labels to a ranker: in processes of their own, evaluated on queries it has not seen."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate import datasets, imports, jobs, schedule, tasks, training
from annotate.formats import Row
from annotate.models import Artifact, Campaign, Job, Label, Pair, Snapshot, TrainingRun, User
from annotate.training import evaluation, fitting, sets
from ranking.metrics import average_precision, err, ndcg
from tests.annotate.rankers import drain, fits_here, label_by_truth, letor, train

__all__ = ["fits_here"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def labelled(dana: User) -> Campaign:
    """24 queries of 8 documents; feature 1 tells the grade, feature 2 nothing."""
    return letor(dana)


def scores_of(campaign: Campaign) -> sets.TrainingSet:
    return sets.build(campaign, sets.recipe(campaign, "ranksvm"))


# -- A run ----------------------------------------------------------------------------------------


def test_few_queries_are_cross_validated_and_the_model_is_kept(
    labelled: Campaign, data_dir: Path
) -> None:
    run = train(labelled)
    assert (run.state, run.number, run.message) == (TrainingRun.State.DONE, 1, "")
    assert (run.folds, run.metrics["way"], run.test_queries) == (5, "5-fold", 24)
    assert run.train_queries < 24
    three = run.metrics["ndcg"]["3"]
    assert three["ranker"]["mean"] > 0.9 > three["first_stage"]["mean"]
    assert three["ranker"]["n"] == 24 - run.metrics["left_out"]
    assert set(run.metrics["ndcg"]) == {"1", "2", "3", "5", "10"}
    assert run.metrics["map"]["ranker"]["mean"] > run.metrics["map"]["first_stage"]["mean"]
    assert run.metrics["err"]["ranker"]["mean"] > run.metrics["err"]["first_stage"]["mean"]
    assert run.metrics["importance"][0][0] == "feature_1"
    model = data_dir / "models" / run.model_file
    assert hashlib.sha256(model.read_bytes()).hexdigest() == run.model_sha256
    assert sorted(path.suffix for path in (data_dir / "models").iterdir()) == [".json", ".txt"]
    assert sorted(run.artifacts.values_list("name", flat=True)) == ["model", "set"]


@pytest.mark.usefixtures("fits_here")
def test_enough_held_out_queries_need_no_folds(
    labelled: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "FEW_QUERIES", 2)
    run = train(labelled)
    assert (run.folds, run.metrics["way"]) == (0, "held-out")
    assert run.train_queries + run.test_queries == 24
    assert run.metrics["ndcg"]["3"]["ranker"]["n"] == run.test_queries - run.metrics["left_out"]
    assert Job.objects.exclude(kind="train").count() == 0


@pytest.mark.usefixtures("fits_here")
def test_the_same_snapshot_and_seed_give_the_same_bytes(labelled: Campaign) -> None:
    first, second = train(labelled), train(labelled)
    assert (first.snapshot, first.model_sha256) == (second.snapshot, second.model_sha256)
    assert second.number == 2
    assert bytes(first.artifacts.get(name="model").content) == bytes(
        second.artifacts.get(name="model").content
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda campaign: Campaign.objects.update(seed=2),
        lambda campaign: Campaign.objects.update(min_documents=3),
        lambda campaign: Label.objects.filter(pk=Label.objects.first().pk).update(grade=4),
        lambda campaign: Pair.objects.filter(pk=Pair.objects.first().pk).update(
            features=np.array([9.0, 9.0]).tobytes()
        ),
    ],
    ids=["seed", "recipe", "label", "feature"],
)
def test_whatever_changes_the_model_changes_the_snapshot(labelled: Campaign, change: Any) -> None:
    Label.objects.filter(pk=Label.objects.first().pk).update(grade=0)  # type: ignore[union-attr]
    before = scores_of(labelled).digest
    assert scores_of(labelled).digest == before
    change(labelled)
    labelled.refresh_from_db()
    assert scores_of(labelled).digest != before


@pytest.mark.usefixtures("fits_here")
def test_queries_held_out_never_train_and_no_fold_tests_what_it_trained_on(
    labelled: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[set[int], int]] = []

    def spy(made_by: Any, rows: dict[str, Any], test: Any, keep: Any) -> fitting.Fitted:
        seen.append((set(rows["qid"].tolist()), len(test)))
        return fit(made_by, rows, test, keep)

    fit = fitting.fit
    monkeypatch.setattr(fitting, "fit", spy)
    train(labelled)
    data = scores_of(labelled)
    queries = set(data.pool.qid.tolist())
    tested = [set(data.pool.qid[data.fold(number, 5)].tolist()) for number in range(5)]
    assert set.union(*tested) == queries
    assert sum(map(len, tested)) == len(queries)
    assert [trained for trained, _ in seen[:5]] == [queries - one for one in tested]
    held_out = set(data.pool.qid[data.pool.held_out].tolist())
    assert held_out
    assert seen[5][0] == queries - held_out


def test_whether_a_query_is_held_out_depends_on_its_key_and_the_seed_only() -> None:
    shares = [datasets.held_out(1, f"query {number}") for number in range(2000)]
    assert 0.2 < np.mean(shares) < 0.3
    assert shares == [datasets.held_out(1, f"query {number}") for number in range(2000)]
    assert shares != [datasets.held_out(2, f"query {number}") for number in range(2000)]


def test_figures_equal_the_librarys(labelled: Campaign) -> None:
    data = scores_of(labelled)
    grades, qid, scores = data.frozen.label, data.pool.qid, data.pool.X[:, 0]
    figures = evaluation.evaluate(grades, scores, -data.pool.rank, qid)
    expected = {
        "map": average_precision(grades, scores, qid),
        "err": err(grades, scores, qid),
    }
    for name, values in expected.items():
        assert figures[name]["ranker"]["mean"] == pytest.approx(np.nanmean(values), abs=1e-12)
    for k in (1, 2, 3, 5, 10):
        mean = np.nanmean(ndcg(grades, scores, qid, k=k))
        assert figures["ndcg"][str(k)]["ranker"]["mean"] == pytest.approx(mean, abs=1e-12)


def test_queries_that_gained_and_lost_most_are_told() -> None:
    grades = np.tile([4, 0, 0, 0], 30)
    qid = np.repeat(np.arange(100, 130), 4)
    first, last, middle = [4.0, 3, 2, 1], [1.0, 4, 3, 2], [3.0, 4, 2, 1]
    ours = np.ravel([first] * 12 + [middle] * 3 + [last] * 15)
    theirs = np.ravel([last] * 12 + [middle] * 3 + [first] * 15).astype(np.int64)
    found = evaluation.evaluate(grades, ours, theirs, qid)["queries"]
    assert [row["query"] for row in found] == [*range(100, 110), *range(120, 130)]
    assert (found[0]["ranker"], found[0]["first_stage"]) == (1.0, 0.0)
    assert (found[-1]["ranker"], found[-1]["first_stage"]) == (0.0, 1.0)


@pytest.mark.usefixtures("fits_here")
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
    label_by_truth(campaign)
    run = train(campaign)
    assert run.metrics["ndcg"]["1"]["ranker"]["mean"] > 0.9
    assert "bm25_title" in dict(run.metrics["importance"])


@pytest.mark.usefixtures("fits_here")
@pytest.mark.parametrize("ranker", ["ranksvm", "rankboost", "listnet", "adarank", "lambdarank"])
def test_every_ranker_of_the_library_can_be_chosen(labelled: Campaign, ranker: str) -> None:
    run = training.request(labelled, ranker)
    assert (run.state, run.ranker) == (TrainingRun.State.WAITING, ranker)
    drain()
    run.refresh_from_db()
    assert (run.state, run.ranker) == (TrainingRun.State.DONE, ranker)
    assert run.metrics["ndcg"]["3"]["ranker"]["mean"] > 0.85


def test_an_unknown_ranker_is_refused(labelled: Campaign) -> None:
    with pytest.raises(training.TrainingError, match="A ranker must be one of lambdamart"):
        training.request(labelled, "oracle")
    assert not Job.objects.exists()


def test_a_second_request_is_refused_while_one_is_under_way(labelled: Campaign) -> None:
    training.request(labelled)
    with pytest.raises(training.TrainingError, match="Run 1 is waiting already"):
        training.request(labelled)


# -- Folds over the workers -----------------------------------------------------------------------


@pytest.mark.usefixtures("fits_here")
def test_folds_are_jobs_and_the_last_to_end_has_the_run_finished(labelled: Campaign) -> None:
    run = training.request(labelled, "ranksvm")
    drain(1)
    folds = Job.objects.filter(kind="fold", state=Job.State.DUE)
    assert folds.count() == 5
    assert Job.objects.get(kind="train").state == Job.State.DONE
    drain(4)
    run.refresh_from_db()
    assert run.state == TrainingRun.State.RUNNING
    assert 0.5 < training.progress(run) < 0.9
    assert not Job.objects.filter(kind="train-finish").exists()
    drain(1)
    assert Job.objects.filter(kind="train-finish", state=Job.State.DUE).count() == 1
    drain()
    run.refresh_from_db()
    assert run.state == TrainingRun.State.DONE
    assert not Artifact.objects.filter(name__startswith="fold").exists()


@pytest.mark.usefixtures("fits_here")
def test_a_fold_delivered_twice_counts_once(labelled: Campaign) -> None:
    training.request(labelled, "ranksvm")
    drain(1)
    for job in Job.objects.filter(kind="fold"):
        for _ in range(3):
            tasks.run(job.pk)
    drain()
    assert Job.objects.filter(kind="train-finish").count() == 1
    assert TrainingRun.objects.filter(state=TrainingRun.State.DONE).count() == 1


@pytest.mark.usefixtures("fits_here")
def test_documents_that_change_under_the_folds_end_the_run(labelled: Campaign) -> None:
    run = training.request(labelled, "ranksvm")
    drain(1)
    Pair.objects.update(features=np.array([1.0, 2.0]).tobytes())
    drain()
    run.refresh_from_db()
    assert run.state == TrainingRun.State.FAILED
    assert "changed while the ranker was trained" in run.message
    assert not Job.objects.filter(state__in=[Job.State.DUE, Job.State.RUNNING]).exists()


@pytest.mark.usefixtures("fits_here")
def test_labels_that_change_under_the_folds_do_not_matter(labelled: Campaign) -> None:
    run = training.request(labelled, "ranksvm")
    drain(1)
    Label.objects.all().delete()
    drain()
    run.refresh_from_db()
    assert run.state == TrainingRun.State.DONE


# -- What goes wrong ------------------------------------------------------------------------------


def failed(campaign: Campaign) -> str:
    run = train(campaign)
    assert run.state == TrainingRun.State.FAILED
    assert run.model_file == ""
    return run.message


def test_too_few_labels_are_a_failed_run_that_says_so(labelled: Campaign) -> None:
    Label.objects.exclude(pair__query__key="q1").delete()
    assert "Training needs labels for at least 2 queries" in failed(labelled)


def test_no_label_at_all_is_a_failed_run_that_says_so(labelled: Campaign) -> None:
    Label.objects.all().delete()
    assert "There are 0 so far, and 0 held out." in failed(labelled)


def test_one_grade_only_is_a_failed_run_that_says_so(labelled: Campaign) -> None:
    Label.objects.update(grade=2)
    assert failed(labelled) == "Training needs labels of at least two different grades."


def test_a_fit_that_takes_too_long_is_ended(labelled: Campaign, settings: Any) -> None:
    settings.TRAINING_SECONDS = 0
    assert failed(labelled) == "Training took more than 0 seconds."


def test_a_fit_that_is_killed_says_so(labelled: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import os; os.kill(os.getpid(), 9)"
    monkeypatch.setattr(fitting, "FIT", [sys.executable, "-c", script])
    assert "Training was killed, most likely for memory" in failed(labelled)


def test_a_fit_without_memory_fails_alone(labelled: Campaign, settings: Any) -> None:
    settings.TRAINING_MB = 20
    assert failed(labelled)


def test_a_cancelled_run_ends_its_fit_and_leaves_no_model(
    labelled: Campaign, dana: User, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "FEW_QUERIES", 0)
    run = training.request(labelled)
    monkeypatch.setattr(fitting, "FIT", [sys.executable, "-c", "import time; time.sleep(60)"])
    keep = jobs.keep

    def cancelled(job: Job, progress: float, message: str = "") -> None:
        training.cancel(run, dana)
        keep(job, progress, message)

    monkeypatch.setattr(jobs, "keep", cancelled)
    drain()
    run.refresh_from_db()
    assert (run.state, run.message) == (TrainingRun.State.CANCELLED, "Cancelled by dana.")
    assert Job.objects.get().message == "Cancelled."
    assert list((data_dir / "models").iterdir()) == []


@pytest.mark.usefixtures("fits_here")
def test_a_job_cancelled_on_the_page_of_jobs_cancels_its_run(labelled: Campaign) -> None:
    run = training.request(labelled, "ranksvm")
    drain(2)
    jobs.cancel(Job.objects.filter(kind="fold", state=Job.State.DUE)[0])
    schedule.plan()
    run.refresh_from_db()
    assert (run.state, run.message) == (TrainingRun.State.CANCELLED, "Cancelled.")
    assert not Job.objects.filter(state=Job.State.DUE).exists()


@pytest.mark.usefixtures("fits_here")
def test_a_second_attempt_goes_on_with_the_same_run(labelled: Campaign) -> None:
    job = jobs.enqueue("train", labelled)
    assert job is not None
    taken = jobs.take(job.pk)  # by a worker that dies at once
    assert taken is not None
    training.runs.begin(taken)
    Job.objects.update(state=Job.State.DUE)
    drain()
    run = TrainingRun.objects.get()
    assert (run.number, run.state) == (1, TrainingRun.State.DONE)


FORKED = """
import os, sys
import lightgbm, numpy as np
X = np.random.default_rng(0).random((4000, 20))
lightgbm.train({"num_threads": 4, "verbosity": -1}, lightgbm.Dataset(X, X[:, 0]), 5)
if os.fork() == 0:
    from annotate.training import fitting
    fitted = fitting.fit(
        {"ranker": "lambdamart", "parameters": {"n_estimators": 5}, "seed": 0},
        {"X": X[:200], "y": np.arange(200) % 5, "qid": np.arange(200) // 20},
        X[:7],
        lambda share: None,
    )
    sha = fitted.facts["sha256"]
    scores = fitting.score((fitted.model, fitted.suffix, sha), X[:7], lambda share: None)
    os._exit(0 if (scores == fitted.scores).all() and len(scores) == 7 else 3)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_fork_of_a_process_with_busy_threads_does_not_hang(tmp_path: Path) -> None:
    setup = "import django; django.setup()"
    done = subprocess.run(
        [sys.executable, "-c", f"{setup}\n{FORKED}"],
        env={"DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        timeout=120,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


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
