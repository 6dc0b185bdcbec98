"""Many judges at once: one seat for one judge, none lost, none too many, no false "no work"."""

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from django.db.models.functions import Now

from annotate import jobs, routing
from annotate.clock import now_plus
from annotate.models import Campaign, Estimate, Job, Judgment, Ledger, Pair, Refusal, Seat, User
from annotate.routing import Answer, RoutingError, StaleSeatError
from annotate.routing.claiming import HOLD
from tests.annotate import promises
from tests.annotate.crowd import add_pairs, all_at_once, crowd, open_campaign

pytestmark = pytest.mark.django_db(transaction=True)

G = 2


@pytest.fixture
def manager(transactional_db: None) -> User:
    return User.objects.create_user("manager", role=User.Role.MANAGER)


def token(seat: Seat) -> uuid.UUID:
    assert seat.token is not None
    return seat.token


def claim_all(campaign: Campaign, judges: list[User]) -> list[Seat | None]:
    return all_at_once([partial(routing.claim, campaign, judge) for judge in judges])


def submit(judge: User, seat: Seat, grade: int = G) -> Judgment:
    return routing.submit(judge, seat.pk, token(seat), Answer(grade, uuid.uuid4()))


# -- The last seat --------------------------------------------------------------------------------


def race_for_the_last_seat(manager: User, rounds: int) -> None:
    judges = crowd(200)
    campaign = open_campaign(manager, judges, pairs=0, scheme_name="single")
    for _ in range(rounds):
        add_pairs(campaign, 1)
        seats = claim_all(campaign, judges)
        winners = [(judge, s) for judge, s in zip(judges, seats, strict=True) if s is not None]
        assert len(winners) == 1
        submit(*winners[0])
    promises.check(campaign)
    assert Judgment.objects.count() == rounds


def test_one_of_200_judges_gets_the_last_seat(manager: User) -> None:
    race_for_the_last_seat(manager, rounds=3)


def test_200_judges_find_210_seats_without_a_false_no(manager: User) -> None:
    judges = crowd(200)
    campaign = open_campaign(manager, judges, pairs=70, scheme_name="k-overlap", k=3)
    seats = claim_all(campaign, judges)
    assert seats.count(None) == 0
    assert len({seat.pk for seat in seats if seat}) == 200
    all_at_once([partial(submit, j, s) for j, s in zip(judges, seats, strict=True) if s])
    promises.check(campaign)
    assert Pair.objects.filter(state="open").count() <= 10


def test_twenty_tabs_of_a_judge_hold_no_more_than_one_ahead(manager: User) -> None:
    judge = crowd(1)[0]
    campaign = open_campaign(manager, [judge], pairs=40, scheme_name="single")
    first = {seat.pk for seat in claim_all(campaign, [judge] * 20) if seat}
    assert len(first) == 1
    ahead = all_at_once([partial(routing.claim, campaign, judge, first)] * 20)
    second = {seat.pk for seat in ahead if seat}
    assert len(second) == 1
    assert second != first
    assert routing.claim(campaign, judge, first | second) is None
    assert Seat.objects.filter(judge=judge).count() == HOLD


# -- The same answer, more than once --------------------------------------------------------------


def send_each_answer_three_times(manager: User, submits: int) -> None:
    judges = crowd(20)
    campaign = open_campaign(manager, judges, pairs=submits, scheme_name="single")
    while seats := [(j, s) for j in judges if (s := routing.claim(campaign, j)) is not None]:
        works: list[Callable[[], Judgment]] = []
        for judge, seat in seats:
            answer = Answer(G, uuid.uuid4())
            works += [partial(routing.submit, judge, seat.pk, token(seat), answer)] * 3
        saved = all_at_once(works)
        assert Counter(Counter(judgment.pk for judgment in saved).values()) == {3: len(seats)}
    assert Judgment.objects.count() == submits
    promises.check(campaign)


def test_an_answer_sent_three_times_is_one_judgment(manager: User) -> None:
    send_each_answer_three_times(manager, submits=200)


def test_a_correction_sent_three_times_is_one_judgment(manager: User) -> None:
    judge = crowd(1)[0]
    campaign = open_campaign(manager, [judge], pairs=1, scheme_name="single")
    seat = routing.claim(campaign, judge)
    assert seat is not None
    old = submit(judge, seat)
    answer = Answer(0, uuid.uuid4())
    saved = all_at_once([partial(routing.correct, judge, old.pk, answer)] * 3)
    assert len({judgment.pk for judgment in saved}) == 1
    assert Judgment.objects.count() == 2
    promises.check(campaign)


# -- Walking away ---------------------------------------------------------------------------------


def walk_away(manager: User, leases: int) -> None:
    """Three in ten judges never come back; the others judge on until nothing is left."""
    judges = crowd(leases // HOLD)
    campaign = open_campaign(manager, judges, leases // 3, scheme_name="k-overlap", k=3)
    held = [(judge, seat) for judge in judges if (seat := routing.claim(campaign, judge))]
    held += [(j, seat) for j, s in held if (seat := routing.claim(campaign, j, [s.pk]))]
    gone = {judge.pk for judge in judges[: round(0.3 * len(judges))]}
    lost = Seat.objects.filter(judge__in=gone)
    lost.update(leased_until=now_plus(seconds=1))
    stale = [(judge, seat) for judge, seat in held if judge.pk in gone]
    assert stale
    staying = [judge for judge in judges if judge.pk not in gone]
    deadline = time.monotonic() + 120
    while Pair.objects.filter(state="open").exists():
        assert time.monotonic() < deadline
        all_at_once([partial(judge_all, campaign, judge) for judge in staying])
    assert set(Counter(Judgment.objects.values_list("pair", flat=True)).values()) == {3}
    for judge, seat in stale:
        with pytest.raises(StaleSeatError, match="no longer yours"):
            submit(judge, seat)
    promises.check(campaign)


def judge_all(campaign: Campaign, judge: User) -> None:
    while seat := routing.claim(campaign, judge):
        submit(judge, seat)


def test_everything_is_judged_when_judges_walk_away(manager: User) -> None:
    walk_away(manager, leases=90)


# -- Budget ---------------------------------------------------------------------------------------


def test_a_budget_is_kept_exactly_in_a_rush(manager: User) -> None:
    judges = crowd(80)
    campaign = open_campaign(manager, judges, pairs=40, scheme_name="k-overlap", budget=50)
    seats = claim_all(campaign, judges)
    assert len(judges) - seats.count(None) == 50
    # Some walk away; their share goes to others, and when they come back it is too late.
    some = [seat.pk for seat in seats if seat][:20]
    Seat.objects.filter(pk__in=some).update(leased_until=now_plus(seconds=-1))
    assert len(judges) - claim_all(campaign, judges).count(None) >= 50
    all_at_once([partial(try_all, campaign, judge) for judge in judges])
    assert Judgment.objects.count() == 50
    assert Ledger.objects.get().spent == 50
    assert not Seat.objects.filter(leased_until__gt=Now()).exists()
    promises.check(campaign)


def try_all(campaign: Campaign, judge: User) -> None:
    while seat := routing.claim(campaign, judge):
        submit(judge, seat)


# -- A whole query --------------------------------------------------------------------------------


@pytest.mark.parametrize("per_pair", [None, 2.5])
def test_everybody_at_the_same_few_queries_finishes_them(
    manager: User, per_pair: float | None
) -> None:
    """Each judgment has its query looked at, and each look locks all pairs of the query."""
    judges = crowd(24)
    rules = {"per_pair": per_pair, "least_value": 0.0001, "cap": 6}
    campaign = open_campaign(manager, judges, pairs=20, scheme_name="if-it-pays", **rules)
    works: list[Callable[[], None]] = [partial(judge_as_they_like, campaign, j) for j in judges]
    all_at_once(works)
    works.append(partial(estimate, campaign))
    promises.check(campaign)
    while not Estimate.objects.exists() or Pair.objects.filter(state="open").exists():
        all_at_once(works)
        estimate(campaign)
    promises.check(campaign)
    promises.check_worth(campaign)
    made = Counter(Judgment.objects.values_list("pair", flat=True))
    assert len(made) == 20
    assert 1 < max(made.values()) <= 6
    if per_pair is not None:
        assert Judgment.objects.count() == 50


def judge_as_they_like(campaign: Campaign, judge: User) -> None:
    """Nobody agrees with anybody: much is worth asking."""
    draw = random.Random(judge.username)
    while seat := routing.claim(campaign, judge):
        submit(judge, seat, draw.randrange(5))


# -- Everything at once ---------------------------------------------------------------------------


class Busy:
    """A judge who does whatever a judge can do, and now and then the manager steps in."""

    def __init__(self, campaign: Campaign, judge: User, manager: User) -> None:
        self.campaign, self.judge, self.manager = campaign, judge, manager
        self.random = random.Random(judge.username)

    def __call__(self) -> None:
        deeds = [self.work, self.work, self.work, self.change, self.walk_away, self.manage]
        for _ in range(12):
            try:
                self.random.choice(deeds)()
            except RoutingError:
                continue  # somebody else was faster

    def work(self) -> None:
        seat = routing.claim(Campaign.objects.get(pk=self.campaign.pk), self.judge)
        if seat is None:
            return
        match self.random.randrange(6):
            case 0:
                routing.refuse(self.judge, seat.pk, token(seat), Refusal.Reason.UNCLEAR)
            case 1:
                routing.release(self.judge, seat.pk, token(seat))
            case 2:
                routing.extend(self.judge, seat.pk, token(seat))
            case _:
                submit(self.judge, seat, self.random.randrange(5))

    def change(self) -> None:
        latest = Judgment.objects.filter(judge=self.judge).order_by("-pk").first()
        if latest is not None and self.random.random() < 0.5:
            routing.take_back(self.judge, latest.pk)
        elif latest is not None:
            answer = Answer(self.random.randrange(5), uuid.uuid4())
            routing.correct(self.judge, latest.pk, answer)

    def walk_away(self) -> None:
        mine = Seat.objects.filter(judge=self.judge, state="open")
        mine.update(leased_until=now_plus(seconds=-1))

    def manage(self) -> None:
        pairs = list(self.campaign.pairs.values_list("pk", flat=True))
        pair = self.random.choice(pairs)
        match self.random.randrange(9):
            case 0:
                routing.give_gold(self.manager, pair, 2)
            case 1:
                routing.take_gold(self.manager, pair)
            case 2:
                routing.drop(self.manager, pair)
            case 3:
                routing.resume(self.manager, pair)
            case 4:
                routing.exclude(self.campaign, self.judge, self.manager)
                routing.readmit(self.campaign, self.judge, self.manager)
            case 5:
                routing.put_back(self.campaign, self.judge, self.manager)
            case 6:
                routing.void(self.manager, Judgment.objects.values_list("pk", flat=True)[0])
            case 7:
                estimate(self.campaign)
            case _:
                change_scheme(self.campaign, self.random)


def change_scheme(campaign: Campaign, draw: random.Random) -> None:
    name = draw.choice(["single", "k-overlap", "if-good-k", "good-till-bad", "if-it-pays"])
    per_pair = draw.choice([None, 2.0])
    fields = {"k": 3, "cap": 3, "per_pair": per_pair, "least_value": 0.0001}
    Campaign.objects.filter(pk=campaign.pk).update(scheme_name=name, **fields)
    reroute(campaign)


def reroute(campaign: Campaign) -> None:
    job = jobs.enqueue("reroute", campaign)
    taken = job and jobs.take(job.pk)
    if taken:
        routing.reroute(taken)


def estimate(campaign: Campaign) -> None:
    """Do the job now, unless somebody is just doing it."""
    jobs.enqueue("estimate", campaign)
    due = Job.objects.filter(kind="estimate", campaign=campaign, state=Job.State.DUE)
    due.update(due_at=now_plus(minutes=-1))
    job = due.first()
    taken = job and jobs.take(job.pk)
    if taken:
        routing.estimate(taken)


@pytest.mark.parametrize("budget", [None, 60])
def test_promises_hold_when_everybody_does_everything(manager: User, budget: int | None) -> None:
    judges = crowd(16)
    campaign = open_campaign(
        manager, judges, pairs=12, scheme_name="if-good-k", budget=budget, gold_percent=30
    )
    all_at_once([Busy(campaign, judge, manager) for judge in judges])
    reroute(campaign)
    promises.check(campaign)
    assert Judgment.objects.exists()
    if budget is not None:
        assert promises.used(campaign) <= budget
