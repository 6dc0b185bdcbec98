"""The page of the ranker: runs, the champion, how rankers are trained."""

import re
from typing import Any

import pytest
from django.test import Client

from annotate import rankers, reporting, training
from annotate.models import Campaign, Job, Label, TrainingRun, User
from ranking.rankers import RANKERS
from tests.annotate.rankers import fits_here, letor, train

__all__ = ["fits_here"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fits_here")]

PAGE = "/campaigns/letor/ranker/"
SETTINGS = {
    "ranker": "ranksvm",
    "training_rows": "use-all",
    "max_pnoise": "0.4",
    "min_gold_percent": "",
    "min_documents": "3",
    "retrain_hours": "0",
    "retrain_judgments": "100",
    "promotion_points": "1.5",
}


@pytest.fixture
def labelled(dana: User) -> Campaign:
    return letor(dana)


def test_every_ranker_of_the_library_has_words() -> None:
    assert set(rankers.WORDS) == set(RANKERS)


def test_page_before_the_first_run_says_what_to_do(labelled: Campaign, dana_client: Client) -> None:
    page = dana_client.get(PAGE).content.decode()
    assert "No run yet. Train the first one" in page
    assert "There is no champion yet" in page
    assert "No background worker is running." in page


def test_page_shows_figures_importance_and_how_they_came_about(
    labelled: Campaign, dana_client: Client
) -> None:
    run = train(labelled)
    page = dana_client.get(PAGE).content.decode()
    assert "Run 1, the champion" in page
    assert "5-fold cross-validation over 24 queries" in page
    for name in ("NDCG@1", "NDCG@2", "NDCG@3", "NDCG@5", "NDCG@10", "MAP", "ERR", "feature_1"):
        assert name in page
    assert f"{run.metrics['ndcg']['3']['ranker']['mean']:.3f}" in page
    assert run.model_sha256 in page
    assert run.snapshot in page
    assert "Run 1 is the champion now: it is the first." in page


def test_another_run_can_be_looked_at(labelled: Campaign, dana_client: Client) -> None:
    train(labelled)
    train(labelled)
    page = dana_client.get(f"{PAGE}?run=1").content.decode()
    assert '<h2 id="run-title">Run 1</h2>' in page
    latest = dana_client.get(PAGE).content.decode()
    assert "Against run 1, the champion then" in latest
    for odd in ("x", "99", "9" * 30, "-1"):
        assert dana_client.get(f"{PAGE}?run={odd}").status_code == 200


def test_failed_run_says_why(labelled: Campaign, dana_client: Client) -> None:
    Label.objects.update(grade=2)
    train(labelled)
    page = dana_client.get(PAGE).content.decode()
    assert "Training needs labels of at least two different grades." in page


def test_moving_part_comes_alone_for_the_script(labelled: Campaign, dana_client: Client) -> None:
    training.request(labelled)
    answer = dana_client.get(PAGE, headers={"accept": "application/json"}).json()
    assert {"runs", "champion", "ndcg_3-table", "queries-table"} <= answer["fragments"].keys()
    assert "waiting" in answer["fragments"]["runs"]
    html = dana_client.get(PAGE).content.decode()
    assert set(re.findall(r'data-chart="(\w+)"', html)) <= answer["charts"].keys()
    for part in answer["fragments"]:
        assert f'data-fragment="{part}"' in html


def test_figures_of_the_page_equal_the_metrics_of_the_runs(labelled: Campaign) -> None:
    train(labelled)
    run = train(labelled)
    judges = {"value": 0.9, "low": 0.85, "high": 0.95, "n": 6}
    run.metrics["ceiling"] = {"3": judges, "10": judges | {"value": 0.1}}
    run.save()
    found = {figure.name: figure for figure in reporting.figures(labelled, "ranker-2") or []}
    for depth in (1, 3, 5, 10):
        row = found[f"ndcg_{depth}"].rows[-1]
        at = run.metrics["ndcg"][str(depth)]
        assert (row["run"], row["champion"], row["p"]) == (2, "champion", at["p"])
        assert (row["mean"], row["low"], row["n"]) == tuple(
            at["ranker"][key] for key in ("mean", "low", "n")
        )
        assert row["first_stage"] == at["first_stage"]["mean"]
    row = found["ndcg_3"].rows[-1]
    assert (row["ceiling"], row["ceiling_low"], row["ceiling_high"]) == (0.9, 0.85, 0.95)
    at_three, at_ten = found["left"].rows
    mean = run.metrics["ndcg"]["3"]["ranker"]["mean"]
    assert at_three["ranker_left"] == pytest.approx(max(0.9 - mean, 0))
    assert at_three["labels_left"] == pytest.approx(1 - max(0.9, mean))
    ten = run.metrics["ndcg"]["10"]["ranker"]["mean"]
    assert (at_ten["ranker_left"], at_ten["labels_left"]) == (0, pytest.approx(1 - ten))
    assert found["importance"].rows[0] == {"feature": "feature_1", "share": 1.0}
    moved = [(row["query_id"], row["ranker"], row["first_stage"]) for row in found["queries"].rows]
    told = run.metrics["queries"]
    assert moved == [(row["query"], row["ranker"], row["first_stage"]) for row in told]
    assert moved


def test_figures_of_a_run_that_is_not_there_are_not_there(labelled: Campaign) -> None:
    assert reporting.figures(labelled, "ranker-1") is None
    assert reporting.figures(labelled, "ranker-x") is None
    assert all(figure.rows == [] for figure in reporting.figures(labelled, "ranker") or [])
    assert reporting.made_at(labelled, "ranker") is None


# -- Actions --------------------------------------------------------------------------------------


def test_train_now_with_another_ranker_and_cancel(labelled: Campaign, dana_client: Client) -> None:
    page = dana_client.post(f"{PAGE}train/", {"ranker": "listnet"}, follow=True).content.decode()
    assert "Run 1 is on its way." in page
    run = TrainingRun.objects.get()
    assert (run.state, run.ranker) == (TrainingRun.State.WAITING, "listnet")
    page = dana_client.post(f"{PAGE}train/", {"ranker": ""}, follow=True).content.decode()
    assert "Run 1 is waiting already." in page
    dana_client.post(f"{PAGE}1/", {"action": "cancel"})
    run.refresh_from_db()
    assert (run.state, run.message) == (TrainingRun.State.CANCELLED, "Cancelled by dana.")
    assert not Job.objects.filter(state=Job.State.DUE).exists()


def test_unknown_ranker_trains_nothing(labelled: Campaign, dana_client: Client) -> None:
    page = dana_client.post(f"{PAGE}train/", {"ranker": "oracle"}, follow=True).content.decode()
    assert "There is no such ranker." in page
    assert not TrainingRun.objects.exists()


def test_roll_back_and_make_champion_by_one_button(labelled: Campaign, dana_client: Client) -> None:
    train(labelled)
    train(labelled)
    assert "Roll back to run 1" in dana_client.get(PAGE).content.decode()
    page = dana_client.post(f"{PAGE}2/", {"action": "roll-back"}, follow=True).content.decode()
    assert "Run 1 is the champion again." in page
    dana_client.post(f"{PAGE}2/", {"action": "promote"})
    champion = training.current(labelled)
    assert champion is not None
    assert champion.number == 2


@pytest.mark.parametrize("action", ["", "delete", "roll-back"])
def test_what_cannot_be_done_is_said(labelled: Campaign, dana_client: Client, action: str) -> None:
    run = train(labelled)
    TrainingRun.objects.update(is_champion=False)
    page = dana_client.post(f"{PAGE}1/", {"action": action}, follow=True).content.decode()
    assert "This cannot be done here." in page
    run.refresh_from_db()
    assert not run.is_champion


# -- Settings -------------------------------------------------------------------------------------


def test_settings_are_saved_and_used(labelled: Campaign, dana_client: Client) -> None:
    page = dana_client.post(PAGE, SETTINGS, follow=True).content.decode()
    assert "Saved. The next run is made this way." in page
    labelled.refresh_from_db()
    assert (labelled.ranker, labelled.training_rows) == ("ranksvm", "use-all")
    assert (labelled.max_pnoise, labelled.min_gold_percent) == (0.4, None)
    assert (labelled.min_documents, labelled.promotion_tolerance) == (3, 0.015)
    assert 'name="promotion_points" value="1.5"' in page


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ranker", "oracle"),
        ("training_rows", "guesses"),
        ("max_pnoise", "1.1"),
        ("min_gold_percent", "101"),
        ("min_documents", "0"),
        ("promotion_points", "-1"),
        ("promotion_points", ""),
    ],
)
def test_bad_setting_is_refused(
    labelled: Campaign, dana_client: Client, field: str, value: Any
) -> None:
    answer = dana_client.post(PAGE, SETTINGS | {field: value})
    assert answer.status_code == 422
    assert 'class="errorlist"' in answer.content.decode()
    labelled.refresh_from_db()
    assert labelled.ranker == "lambdamart"


# -- Who ------------------------------------------------------------------------------------------


def test_page_needs_log_in_and_a_stranger_gets_404(
    labelled: Campaign, client: Client, charlie_client: Client, dana_client: Client
) -> None:
    assert client.get(PAGE).status_code == 302
    assert charlie_client.get(PAGE).status_code == 404
    for path in (f"{PAGE}train/", f"{PAGE}1/"):
        assert charlie_client.post(path).status_code == 404
        assert dana_client.get(path).status_code == 405
    assert dana_client.post(f"{PAGE}7/", {"action": "cancel"}).status_code == 404
    assert dana_client.delete(PAGE).status_code == 405
