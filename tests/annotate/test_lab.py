"""The Lab of a campaign: replays over the workers, their page, their files, the command."""

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate import jobs, lab, lab_figures, tasks
from annotate.lab import sets
from annotate.lab.drawing import drawn
from annotate.models import Adjudication, Campaign, Job, LabCell, LabRun, Membership, Pair, User
from ranking.experiments.replay import Setting, parse_router, replay
from tests.annotate.judged import crowd, if_good_3
from tests.conftest import person, signed_in

PAGE = "/campaigns/library/lab/"
SENT = {
    "routers": ["single", "if-good-2"],
    "aggregators": ["mean"],
    "draws": "3",
    "order": "shuffled",
    "seed": "1",
}


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """40 pairs of 8 queries, each judged by three of six judges."""
    crowd(campaign, queries=8)
    return campaign


def asked(campaign: Campaign, **changes: Any) -> LabRun:
    known = {"draws": 3} | changes
    routers = known.pop("routers", ["single", "if-good-3"])
    by = known.pop("aggregators", ["mean"])
    return lab.request(campaign, lab.recipe(routers, by, **known))


def due(run: LabRun) -> Iterator[Job]:
    """The jobs of a replay as workers find them, until none is due."""
    while found := lab.jobs_of(run).filter(state=Job.State.DUE).order_by("pk").first():
        yield found


def done(run: LabRun) -> LabRun:
    lab.work(run)
    run.refresh_from_db()
    assert run.state == LabRun.State.DONE, run.message
    return run


# -- Replays --------------------------------------------------------------------------------------


def test_a_replay_is_what_the_library_makes_of_the_same_judgments(judged: Campaign) -> None:
    run = done(asked(judged, routers=["single", "if-good-2"], aggregators=["mean", "ordinal"]))
    frozen, _ = lab.freeze(judged)
    settings = [Setting(parse_router(name), ("mean", "ordinal")) for name in run.recipe["routers"]]
    want = replay(frozen.judged(), settings, draws=3, seed=1)
    for row in run.result["rows"]:
        found = want[row["router"]]
        by = found.setting.aggregators.index(row["by"])
        assert row["cost"] == pytest.approx(found.cost.mean(), abs=1e-6)
        assert row["mean"] == pytest.approx(np.nanmean(found.ndcg[by, :, 0]), abs=1e-6)
    assert [row["name"] for row in run.result["rows"]] == [
        "single, mean",
        "single, ordinal",
        "if-good-2, mean",
        "if-good-2, ordinal",
    ]


def test_the_same_seed_gives_the_same_again(judged: Campaign) -> None:
    first, second = (done(asked(judged, seed=7)) for _ in range(2))
    other = done(asked(judged, seed=8))
    assert first.result == second.result
    assert first.snapshot == second.snapshot
    assert first.result != other.result


def test_any_worker_does_any_draw_and_the_last_one_has_it_finished(judged: Campaign) -> None:
    run = asked(judged)
    kinds = []
    for job in due(run):
        kinds.append(job.kind)
        tasks.run(job.pk)
    assert kinds == ["lab", *["lab-draw"] * 3, "lab-finish"]
    run.refresh_from_db()
    assert run.state == LabRun.State.DONE
    assert not run.cells.exists()
    assert run.frozen is None


def test_draws_may_end_in_any_order(judged: Campaign) -> None:
    straight = done(asked(judged))
    run = asked(judged)
    tasks.run(next(due(run)).pk)
    for job in lab.jobs_of(run).filter(state=Job.State.DUE).order_by("-pk"):
        tasks.run(job.pk)
    lab.work(run)
    run.refresh_from_db()
    assert run.result == straight.result


def test_a_replay_keeps_to_the_judgments_it_began_with(judged: Campaign) -> None:
    before = done(asked(judged)).result
    run = asked(judged)
    tasks.run(next(due(run)).pk)
    Pair.objects.filter(campaign=judged).update(state=Pair.State.GOLD, gold=2)
    with pytest.raises(lab.LabError):
        lab.freeze(judged)
    assert done(run).result == before


def test_a_lost_worker_loses_one_draw_only(judged: Campaign) -> None:
    run = asked(judged)
    steps = due(run)
    tasks.run(next(steps).pk)
    tasks.run(next(steps).pk)
    held = jobs.take(next(steps).pk)
    assert held is not None
    Job.objects.filter(pk=held.pk).update(leased_until="2020-01-01T00:00Z")
    jobs.sweep()
    assert run.cells.count() == 1
    with pytest.raises(jobs.LostJobError):
        lab.draw(held)
    assert run.cells.count() == 1
    done(run)


def test_cancel_keeps_what_is_done_and_going_on_does_the_rest(judged: Campaign, dana: User) -> None:
    straight = done(asked(judged))
    run = asked(judged)
    steps = due(run)
    tasks.run(next(steps).pk)
    tasks.run(next(steps).pk)
    lab.cancel(run, dana)
    run.refresh_from_db()
    assert (run.state, run.message) == ("cancelled", "Cancelled by dana.")
    assert not list(due(run))
    (kept,) = run.cells.values_list("created_at", flat=True)
    lab.resume(run)
    begin = next(due(run))
    tasks.run(begin.pk)
    assert lab.jobs_of(run).filter(kind="lab-draw", state="due").count() == 2
    assert LabCell.objects.get(run=run).created_at == kept
    assert done(run).result == straight.result


def test_what_is_done_or_under_way_cannot_go_on(judged: Campaign, dana: User) -> None:
    ended = done(asked(judged))
    with pytest.raises(lab.LabError, match=r"Replay 1 is done, so it cannot go on."):
        lab.resume(ended)
    stopped = asked(judged)
    lab.cancel(stopped, dana)
    asked(judged)
    with pytest.raises(lab.LabError, match="Another replay is under way"):
        lab.resume(stopped)


def test_one_replay_at_a_time(judged: Campaign) -> None:
    asked(judged)
    with pytest.raises(lab.LabError, match=r"Replay 1 is waiting already."):
        asked(judged)


def test_a_job_that_keeps_failing_ends_its_replay(judged: Campaign) -> None:
    run = asked(judged)
    lab.jobs_of(run).update(state=Job.State.FAILED, message="MemoryError: ")
    lab.settle()
    run.refresh_from_db()
    assert (run.state, run.message) == ("failed", "MemoryError: ")


def test_a_replay_under_way_is_left_alone(judged: Campaign) -> None:
    run = asked(judged)
    lab.settle()
    run.refresh_from_db()
    assert run.state == LabRun.State.WAITING


def test_without_judgments_there_is_nothing_to_replay(campaign: Campaign) -> None:
    run = asked(campaign)
    lab.work(run)
    run.refresh_from_db()
    assert (run.state, run.message) == ("failed", "There is no judgment to replay yet.")


def test_as_made_is_one_draw_in_time_order(campaign: Campaign) -> None:
    if_good_3(campaign)
    run = done(asked(campaign, routers=["if-good-3", "single", "3-overlap"], shuffle=False))
    rows = {row["router"]: row for row in run.result["rows"]}
    assert run.recipe["draws"] == 1
    # The study's example: (E,G,F) (B) (G,G,P) (F) (F) (P,F,G).
    assert rows["if-good-3"]["cost"] == pytest.approx(12 / 6)
    assert rows["single"]["cost"] == 1
    assert (rows["if-good-3"]["short"], rows["3-overlap"]["short"]) == (0, 3)


@pytest.mark.parametrize(
    ("routers", "changes", "message"),
    [
        ([], {}, "Choose between 1 and 12 schemes"),
        (["if-good"], {}, "A router must be written like one of"),
        (["single"], {"draws": 0}, r"draws must be between 1 and 100. Got 0 instead."),
        (["single"], {"ranker": "magic"}, "A ranker must be one of"),
        (["single", "3-overlap"], {"ranker": "lambdamart", "draws": 100}, "1,000 rankers to fit"),
    ],
)
def test_what_cannot_be_compared_is_named(
    routers: list[str], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(lab.LabError, match=message):
        lab.recipe(routers, ["mean"], **changes)


def test_ways_to_make_labels_are_checked() -> None:
    with pytest.raises(lab.LabError, match="Choose between 1 and 4 ways"):
        lab.recipe(["single"], [])
    with pytest.raises(lab.LabError, match="Choose between 1 and 4 ways"):
        lab.recipe(["single"], ["magic"])


# -- Truth ----------------------------------------------------------------------------------------


def test_consensus_and_decisions_stand_for_the_truth(judged: Campaign, dana: User) -> None:
    frozen, words = lab.freeze(judged)
    assert words == sets.CONSENSUS
    pair = int(frozen.ids[3])
    other = (int(frozen.truth[3]) + 1) % 5
    Adjudication.objects.create(pair_id=pair, grade=other, by=dana)
    assert lab.freeze(judged)[0].truth[3] == other


def test_known_grades_are_the_truth_where_every_pair_has_one(judged: Campaign) -> None:
    Pair.objects.filter(campaign=judged).update(truth=2)
    frozen, words = lab.freeze(judged)
    assert words == sets.KNOWN
    assert set(frozen.truth.tolist()) == {2}


def test_a_frozen_set_comes_back_from_its_bytes(judged: Campaign) -> None:
    frozen, _ = lab.freeze(judged)
    again = sets.Frozen.from_bytes(frozen.to_bytes())
    assert again.digest == frozen.digest
    assert len(again.pair) == 120


# -- Rankers --------------------------------------------------------------------------------------


def test_a_ranker_is_trained_on_the_labels_of_each_scheme(judged: Campaign) -> None:
    run = asked(judged, routers=["single"], draws=1, ranker="ranksvm")
    frozen, _ = lab.freeze(judged)
    shares: list[float] = []
    found = drawn(run, frozen, 0, shares.append)
    assert found["ranked"].shape == found["ndcg"].shape == (1, 1, 5, 8)
    ranked = found["ranked"][~np.isnan(found["ranked"])]
    assert ((ranked >= 0) & (ranked <= 1)).all()
    assert shares == sorted(shares)
    result = done(run).result
    assert result["ranked"][0]["n"] == result["rows"][0]["n"]


# -- The page -------------------------------------------------------------------------------------


def test_page_starts_a_replay(dana_client: Client, judged: Campaign) -> None:
    answer = dana_client.post(PAGE, SENT | {"others": "if-good-5, 4-overlap"})
    assert answer.status_code == 302
    run = LabRun.objects.get()
    assert run.recipe["routers"] == ["single", "if-good-2", "if-good-5", "4-overlap"]
    assert "Replay 1 is on its way." in dana_client.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"routers": []}, "Choose between 1 and 12 schemes"),
        ({"others": "if-great-3"}, "A router must be written like one of"),
        ({"draws": "0"}, "greater than or equal to 1"),
        ({"aggregators": []}, "This field is required"),
        ({"ranker": "magic"}, "Select a valid choice"),
    ],
)
def test_page_says_what_is_wrong(
    dana_client: Client, judged: Campaign, sent: dict[str, Any], message: str
) -> None:
    answer = dana_client.post(PAGE, SENT | sent)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not LabRun.objects.exists()


def test_page_shows_what_came_of_it(dana_client: Client, judged: Campaign) -> None:
    done(asked(judged))
    shown = dana_client.get(PAGE).content.decode()
    assert "Cost and quality of labels" in shown
    assert '<th scope="row">if-good-3, mean</th>' in shown
    assert "n = 8 queries" in shown


def test_page_moves_while_a_replay_is_under_way(dana_client: Client, judged: Campaign) -> None:
    run = asked(judged)
    tasks.run(next(due(run)).pk)
    tasks.run(next(due(run)).pk)
    said = dana_client.get(PAGE, headers={"Accept": "application/json"}).json()
    assert "1 of 3" in said["fragments"]["runs"]
    assert said["state"] == "replay-0"
    done(run)
    said = dana_client.get(PAGE, headers={"Accept": "application/json"}).json()
    assert said["state"] == "replay-1"
    assert len(said["charts"]["replay"]["rows"]) == 2


def test_page_of_a_campaign_without_judgments_says_what_to_do(
    dana_client: Client, campaign: Campaign
) -> None:
    assert "No replay yet." in dana_client.get(PAGE).content.decode()


def test_replay_can_be_cancelled_and_gone_on_with(dana_client: Client, judged: Campaign) -> None:
    run = asked(judged)
    assert dana_client.post(f"{PAGE}1/", {"action": "cancel"}).status_code == 302
    run.refresh_from_db()
    assert run.state == LabRun.State.CANCELLED
    assert "Go on" in dana_client.get(PAGE).content.decode()
    dana_client.post(f"{PAGE}1/", {"action": "resume"})
    done(run)


def test_nothing_else_can_be_done_to_a_replay(dana_client: Client, judged: Campaign) -> None:
    done(asked(judged))
    answer = dana_client.post(f"{PAGE}1/", {"action": "explode"}, follow=True)
    assert "This cannot be done here." in answer.content.decode()
    answer = dana_client.post(f"{PAGE}1/", {"action": "resume"}, follow=True)
    assert "so it cannot go on" in answer.content.decode()
    assert dana_client.post(f"{PAGE}2/", {"action": "cancel"}).status_code == 404
    assert dana_client.get(f"{PAGE}1/").status_code == 405


def test_figures_can_be_saved(dana_client: Client, judged: Campaign) -> None:
    run = done(asked(judged))
    answer = dana_client.get(f"{PAGE}1/replay.csv")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == ["single, mean", "if-good-3, mean"]
    assert float(rows[1]["ndcg_3"]) == run.result["rows"][1]["ndcg_3"]
    assert dana_client.get(f"{PAGE}1/secrets.csv").status_code == 404
    assert dana_client.get(f"{PAGE}2/replay.csv").status_code == 404


def test_page_is_for_its_managers(client: Client, alice_client: Client, judged: Campaign) -> None:
    stranger = signed_in(person("erin", User.Role.MANAGER))
    for path in (PAGE, f"{PAGE}1/replay.csv"):
        assert client.get(path).status_code == 302
        assert alice_client.get(path).status_code == 404
        assert stranger.get(path).status_code == 404
    assert stranger.post(f"{PAGE}1/", {"action": "cancel"}).status_code == 404


def test_page_shows_the_replay_that_is_asked_for(dana_client: Client, judged: Campaign) -> None:
    done(asked(judged))
    done(asked(judged, routers=["2-overlap"]))
    assert "2-overlap, mean" in dana_client.get(PAGE).content.decode()
    first = dana_client.get(PAGE, {"run": "1"}).content.decode()
    assert re.search("Replay 1</span>", first)
    assert dana_client.get(PAGE, {"run": "9" * 30}).status_code == 200


def test_the_baseline_is_not_held_against_itself(judged: Campaign) -> None:
    (figure,) = lab_figures.figures(done(asked(judged)))
    first, second = figure.rows
    assert first["p"] is None
    assert second["from"] == pytest.approx(first["mean"] + second["low"])


# -- The command ----------------------------------------------------------------------------------


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("lab", *arguments)
    return capsys.readouterr().out


def test_command_replays_a_campaign(judged: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--campaign", "library", "--router", "single", "--router", "if-good-2", "--json"]
    said = json.loads(command(capsys, "replay", *options, "--draws", "2", "--aggregator", "mean"))
    assert said["title"].startswith("Library, measured by what all judgments together say")
    frozen, _ = lab.freeze(judged)
    settings = [Setting(parse_router("if-good-2"), ("mean",))]
    want = replay(frozen.judged(), settings, draws=2)["if-good-2"]
    (row,) = [row for row in said["rows"] if row[0] == "if-good-2"]
    assert row[1] == pytest.approx(want.cost.mean())
    assert row[4] == pytest.approx(want.quality())


def test_command_says_what_is_wrong(campaign: Campaign) -> None:
    with pytest.raises(CommandError, match=r"There is no campaign none."):
        call_command("lab", "replay", "--campaign", "none")
    with pytest.raises(CommandError, match=r"There is no judgment to replay yet."):
        call_command("lab", "replay", "--campaign", "library")
    with pytest.raises(CommandError, match="must hold judgments of High"):
        call_command("lab", "replay", "--on", "nyt-high", "--data", "/nowhere")


def test_command_knows_every_experiment() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'magic'"):
        call_command("lab", "magic")


def test_members_only_see_their_own(judged: Campaign, dana: User) -> None:
    Membership.objects.filter(user=dana).delete()
    assert signed_in(dana).get(PAGE).status_code == 404
