"""The long forms of the router's proofs. ``make faults`` runs them."""

import pytest

from annotate.models import User
from tests.annotate import promises, test_routing_races
from tests.annotate.crowd import all_at_once, crowd, open_campaign
from tests.annotate.test_routing_machine import run_machine

pytestmark = pytest.mark.faults


@pytest.fixture
def manager(transactional_db: None) -> User:
    return User.objects.create_user("manager", role=User.Role.MANAGER)


@pytest.mark.django_db
def test_promises_hold_after_every_one_of_120_000_steps() -> None:
    run_machine(runs=2_000, steps=60)


def test_one_of_200_judges_gets_the_last_seat_a_hundred_times(manager: User) -> None:
    test_routing_races.race_for_the_last_seat(manager, rounds=100)


def test_5000_answers_sent_three_times_are_5000_judgments(manager: User) -> None:
    test_routing_races.send_each_answer_three_times(manager, submits=5_000)


def test_everything_is_judged_when_three_in_ten_of_500_leases_are_abandoned(manager: User) -> None:
    test_routing_races.walk_away(manager, leases=500)


@pytest.mark.parametrize("budget", [None, 300])
def test_promises_hold_when_everybody_does_everything_for_long(
    manager: User, budget: int | None
) -> None:
    judges = crowd(40)
    campaign = open_campaign(
        manager, judges, pairs=40, scheme_name="if-good-k", budget=budget, gold_percent=30
    )
    for _ in range(5):
        all_at_once([test_routing_races.Busy(campaign, judge, manager) for judge in judges])
        test_routing_races.reroute(campaign)
        promises.check(campaign)
    if budget is not None:
        assert promises.used(campaign) <= budget
