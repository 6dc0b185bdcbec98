"""Simulated judges take the same way as people."""

import pytest
from django.core.management import CommandError, call_command

from annotate import simulation
from annotate.models import Campaign, Judgment, Pair, Seat, User
from annotate.simulation import Simulation

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded(campaign: Campaign) -> Campaign:
    """The campaign with true grades Bad, Good, Perfect for each query."""
    for rank, truth in ((1, 0), (2, 2), (3, 4)):
        Pair.objects.filter(rank=rank).update(truth=truth)
    return campaign


def test_they_judge_until_the_scheme_wants_no_more(graded: Campaign) -> None:
    made = simulation.run(graded, Simulation(judges=4, skill="expert"))
    assert made == Judgment.objects.count()
    assert not Seat.objects.filter(state=Seat.State.OPEN).exists()
    for pair in Pair.objects.all():
        grades = [
            seat.judgment.grade
            for seat in pair.seats.filter(state=Seat.State.DONE).order_by("judged_at")
            if seat.judgment
        ]
        assert len(grades) == (3 if (grades[0] or 0) >= 2 else 1)


def test_too_few_judges_leave_the_rest_to_others(graded: Campaign) -> None:
    simulation.run(graded, Simulation(judges=1))
    assert Judgment.objects.count() == 6
    assert User.objects.filter(username__startswith="sim-").count() == 1


def test_they_stop_at_the_wanted_share(graded: Campaign) -> None:
    simulation.run(graded, Simulation(judges=5, until=0.5))
    assert 0.5 <= simulation.closed_share(graded) < 1


def test_pairs_without_truth_cannot_be_simulated(campaign: Campaign) -> None:
    with pytest.raises(CommandError, match="need the true grade of every pair"):
        call_command("simulate", "library")


def test_the_command_says_what_was_done(
    graded: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("simulate", "library", "--judges", "3", "--skill", "crowd")
    made = Judgment.objects.count()
    assert capsys.readouterr().out == f"{made} judgments by 3 simulated judges (crowd).\n"


def test_the_command_checks_its_arguments(graded: Campaign) -> None:
    with pytest.raises(CommandError, match="There is no campaign nowhere"):
        call_command("simulate", "nowhere")
    with pytest.raises(CommandError, match="judges must be between 1 and 500"):
        call_command("simulate", "library", "--judges", "0")
    Campaign.objects.update(state=Campaign.State.PAUSED)
    with pytest.raises(CommandError, match="The campaign must be open"):
        call_command("simulate", "library")
