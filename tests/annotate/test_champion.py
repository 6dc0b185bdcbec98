"""Champion and challenger: a new ranker takes over only if it is not worse."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotate import training
from annotate.models import Campaign, Event, Label, TrainingRun, User
from annotate.training import champion, fitting
from tests.annotate.rankers import drain, fits_here, letor, train

__all__ = ["fits_here"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fits_here")]


@pytest.fixture
def labelled(dana: User) -> Campaign:
    return letor(dana)


def spoil(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on fits come out upside down."""
    fit = fitting.fit

    def upside_down(recipe: Any, rows: dict[str, Any], test: Any, keep: Any) -> fitting.Fitted:
        return fit(recipe, rows | {"y": 4 - rows["y"]}, test, keep)

    monkeypatch.setattr(fitting, "fit", upside_down)


# -- The rule -------------------------------------------------------------------------------------


def figures(ours: float | None, theirs: float, n: int = 30) -> dict[str, Any]:
    return {"ndcg": {"3": {"ranker": {"mean": ours, "n": n}, "champion": {"mean": theirs, "n": n}}}}


@pytest.mark.parametrize(
    ("ours", "theirs", "tolerance", "wins"),
    [
        (0.700, 0.700, 0.005, True),
        (0.695, 0.700, 0.005, True),
        (0.6949, 0.700, 0.005, False),
        (0.800, 0.700, 0.0, True),
        (0.6999, 0.700, 0.0, False),
        (0.100, 0.900, 1.0, True),
    ],
)
def test_a_challenger_may_lose_as_much_as_the_tolerance(
    ours: float, theirs: float, tolerance: float, wins: bool
) -> None:
    rival = TrainingRun(number=7)
    decided, why = champion.verdict(rival, figures(ours, theirs), tolerance)
    assert decided is wins
    assert f"NDCG@3 {ours:.4f} against {theirs:.4f} of run 7 on the same 30 held-out" in why


def test_what_cannot_be_compared_is_promoted_with_the_reason() -> None:
    rival = TrainingRun(number=7)
    wins, why = champion.verdict(rival, {"reason": "no query is held out."}, 0.005)
    assert (wins, why) == (
        True,
        "run 7 could not be held against it, because no query is held out.",
    )
    assert champion.verdict(rival, figures(None, 0.5), 0.005)[0]


# -- Runs -----------------------------------------------------------------------------------------


def test_the_first_run_is_the_champion(labelled: Campaign) -> None:
    run = train(labelled)
    assert run.is_champion
    assert run.promoted_at is not None
    assert run.decision == "Run 1 is the champion now: it is the first."
    assert Event.objects.get().sentence == run.decision
    assert "champion" not in run.metrics


def test_a_run_that_is_as_good_takes_over_and_is_held_against_the_same_queries(
    labelled: Campaign,
) -> None:
    train(labelled)
    second = train(labelled)
    assert second.is_champion
    assert labelled.runs.filter(is_champion=True).count() == 1
    compared = second.metrics["champion"]
    assert compared["number"] == 1
    assert set(compared["ndcg"]) == {"1", "2", "3", "5", "10"}
    three = compared["ndcg"]["3"]
    assert three["ranker"] == three["champion"]
    assert three["p"] == 1
    assert "against" in second.decision


def test_a_worse_run_is_refused_and_stays_to_be_had(
    labelled: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(labelled)
    spoil(monkeypatch)
    worse = train(labelled)
    assert worse.state == TrainingRun.State.DONE
    assert not worse.is_champion
    assert worse.decision.startswith("Run 2 was not promoted: NDCG@3 0.")
    assert training.current(labelled) == labelled.runs.get(number=1)
    assert training.read(worse)
    three = worse.metrics["champion"]["ndcg"]["3"]
    assert three["ranker"]["mean"] < three["champion"]["mean"]


def test_the_tolerance_can_be_set(labelled: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    Campaign.objects.update(promotion_tolerance=1)
    train(labelled)
    spoil(monkeypatch)
    assert train(labelled).is_champion


def test_a_champion_whose_file_was_changed_gives_way(labelled: Campaign, data_dir: Any) -> None:
    first = train(labelled)
    (data_dir / "models" / first.model_file).write_text("something else")
    second = train(labelled)
    assert second.is_champion
    assert "because it cannot be used: The model file of run 1" in second.decision


def test_a_champion_chosen_while_training_stays(
    labelled: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(labelled)
    second = train(labelled)
    assert second.is_champion
    training.request(labelled)
    drain(6)
    training.roll_back(labelled, dana)
    fit = fitting.score

    def meanwhile(model: Any, X: Any, keep: Any) -> Any:
        training.promote(second, dana)
        return fit(model, X, keep)

    monkeypatch.setattr(fitting, "score", meanwhile)
    drain()
    third = labelled.runs.get(number=3)
    assert (third.is_champion, third.decision) == (
        False,
        "Run 3 was not promoted: the champion was changed while it was trained.",
    )


# -- People ---------------------------------------------------------------------------------------


def test_roll_back_goes_to_the_champion_before_step_by_step(labelled: Campaign, dana: User) -> None:
    for _ in range(3):
        train(labelled)
    assert training.roll_back(labelled, dana).number == 2
    assert training.roll_back(labelled, dana).number == 1
    with pytest.raises(training.TrainingError, match="no earlier champion"):
        training.roll_back(labelled, dana)
    assert Event.objects.first().sentence == "dana rolled back from run 2 to run 1."  # type: ignore[union-attr]


def test_what_was_rolled_back_is_not_gone_back_to(labelled: Campaign, dana: User) -> None:
    train(labelled)
    train(labelled)
    training.roll_back(labelled, dana)
    train(labelled)
    assert training.roll_back(labelled, dana).number == 1


def test_a_manager_may_choose_any_run_that_is_done(
    labelled: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(labelled)
    spoil(monkeypatch)
    worse = train(labelled)
    training.promote(worse, dana)
    assert training.current(labelled) == worse
    assert labelled.runs.filter(is_champion=True).count() == 1
    worse.refresh_from_db()
    assert worse.decision == "Run 2 was made the champion by dana."
    before = training.previous(labelled)
    assert before is not None
    assert before.number == 1


def test_a_failed_run_cannot_be_champion(labelled: Campaign, dana: User) -> None:
    Label.objects.update(grade=1)
    run = train(labelled)
    assert not run.is_champion
    with pytest.raises(training.TrainingError, match="Run 1 is failed"):
        training.promote(run, dana)


def test_the_database_allows_one_champion_only(labelled: Campaign) -> None:
    train(labelled)
    second = train(labelled)
    with pytest.raises(IntegrityError), transaction.atomic():
        labelled.runs.update(is_champion=True)
    assert training.current(labelled) == second
