"""The router as a machine: any steps in any order, and its promises hold after every one."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotate import jobs, routing
from annotate.clock import now_plus
from annotate.models import (
    Campaign,
    Document,
    Job,
    Judgment,
    Membership,
    Pair,
    Query,
    Refusal,
    Seat,
    Standing,
    User,
)
from annotate.routing import Answer, RoutingError
from annotate.routing.claiming import HOLD
from tests.annotate import promises
from tests.annotate.promises import ROUTED, wanted

JUDGES = 4
#: More than any scheme below wants: whatever the others did, these can finish.
NEWCOMERS = 5

SCHEMES: list[dict[str, Any]] = [
    {"scheme_name": "single"},
    {"scheme_name": "k-overlap", "k": 2},
    {"scheme_name": "k-overlap", "k": 3},
    {"scheme_name": "if-good-k", "k": 3},
    {"scheme_name": "if-good-k", "k": 4},
    {"scheme_name": "good-till-bad", "cap": 3},
    {"scheme_name": "good-till-bad", "cap": 4},
    {"scheme_name": "if-good-x", "theta": 2},
    {"scheme_name": "if-it-pays", "per_pair": None, "least_value": 0.0001, "cap": 4},
    {"scheme_name": "if-it-pays", "per_pair": 1.5, "cap": 4},
]

#: The ones that look at all pairs of a query, and one that a campaign may come from or go to.
PAYING = [*SCHEMES[-2:], SCHEMES[0]]

indexes = st.integers(0, 1000)
grades = st.integers(0, 4)
judges = st.integers(0, JUDGES - 1)


@dataclass(frozen=True)
class Ticket:
    """What a page in some tab holds: it may be long out of date."""

    judge: User
    seat: int
    token: uuid.UUID


class Router(RuleBasedStateMachine):
    """One campaign, four judges, a manager, and everything they can do."""

    manager: User
    people: list[User]
    schemes: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.tickets: list[Ticket] = []
        self.answers: list[tuple[Ticket, Answer, int]] = []
        self.known: dict[int, tuple[Any, ...]] = {}
        self.pairs = 0
        self.allowance = 0

    @initialize(
        scheme=indexes,
        budget=st.none() | st.integers(0, 12),
        gold=st.sampled_from([0, 0, 50]),
        qualification=st.sampled_from([0, 0, 0, 1]),
    )
    def open_campaign(self, scheme: int, budget: int | None, gold: int, qualification: int) -> None:
        self.campaign = Campaign.objects.create(
            slug="machine",
            name="Machine",
            state=Campaign.State.OPEN,
            created_by=self.manager,
            budget=budget,
            gold_percent=gold,
            qualification_size=qualification,
            **self.schemes[scheme % len(self.schemes)],
        )
        Membership.objects.bulk_create(
            Membership(campaign=self.campaign, user=user, role=Membership.Role.JUDGE)
            for user in self.people
        )
        self.allowance = budget or 0
        for query in ("first", "second", "first"):
            self.import_pair(query)

    # -- Judges -----------------------------------------------------------------------------------

    @rule(judge=judges, ahead=st.booleans())
    def claim(self, judge: int, ahead: bool) -> None:
        user = self.people[judge]
        held = Seat.objects.filter(campaign=self.campaign, judge=user, state="open")
        before = list(held.values_list("pk", flat=True))
        active = set(held.filter(leased_until__gt=Now()).values_list("pk", flat=True))
        try:
            seat = routing.claim(self.campaign, user, before if ahead else ())
        except RoutingError:
            assert Standing.objects.get(campaign=self.campaign, judge=user).excluded_at
            return
        if seat is None:
            return
        assert seat.token is not None
        self.tickets.append(Ticket(user, seat.pk, seat.token))
        assert not (ahead and seat.pk in before)
        if seat.pk not in before:
            assert len(before) < HOLD
            assert not Refusal.objects.filter(pair=seat.pair_id, judge=user).exists()
        if seat.pk not in active:
            self.require_wanted(seat)

    def require_wanted(self, seat: Seat) -> None:
        """Nobody is asked for what nobody wants."""
        pair = Pair.objects.get(pk=seat.pair_id)
        if seat.position != pair.position:
            assert pair.state == "gold"
            return
        assert pair.state == "open"
        places = pair.seats.filter(state__in=["open", "done"]).count()
        assert places <= wanted(self.campaign, self.given(pair.pk), pair), (
            "an unwanted seat was handed out"
        )

    @precondition(lambda self: self.tickets)
    @rule(index=indexes, grade=grades)
    def submit(self, index: int, grade: int) -> None:
        ticket = self.tickets[index % len(self.tickets)]
        answer = Answer(grade, uuid.uuid4())
        try:
            judgment = routing.submit(ticket.judge, ticket.seat, ticket.token, answer)
        except RoutingError:
            assert not Judgment.objects.filter(key=answer.key).exists()
        else:
            self.answers.append((ticket, answer, judgment.pk))

    @rule(judge=judges, grade=grades)
    def judge_next(self, judge: int, grade: int) -> None:
        before = len(self.tickets)
        self.claim(judge, ahead=False)
        if len(self.tickets) > before:
            self.submit(before, grade)

    @precondition(lambda self: self.tickets)
    @rule(grade=grades)
    def submit_latest(self, grade: int) -> None:
        self.submit(len(self.tickets) - 1, grade)

    @precondition(lambda self: self.answers)
    @rule(index=indexes)
    def submit_again(self, index: int) -> None:
        ticket, answer, saved = self.answers[index % len(self.answers)]
        count = Judgment.objects.count()
        again = routing.submit(ticket.judge, ticket.seat, ticket.token, answer)
        assert again.pk == saved
        assert Judgment.objects.count() == count

    @precondition(lambda self: self.known)
    @rule(index=indexes, grade=grades)
    def correct(self, index: int, grade: int) -> None:
        judgment = self.any_judgment(index)
        answer = Answer(grade, uuid.uuid4())
        try:
            new = routing.correct(judgment.judge, judgment.pk, answer)
        except RoutingError:
            return
        assert new.supersedes_id == judgment.pk
        assert routing.correct(judgment.judge, judgment.pk, answer).pk == new.pk

    @precondition(lambda self: self.known)
    @rule(index=indexes)
    def take_back(self, index: int) -> None:
        judgment = self.any_judgment(index)
        try:
            seat = routing.take_back(judgment.judge, judgment.pk)
        except RoutingError:
            return
        assert seat.token is not None
        self.tickets.append(Ticket(judgment.judge, seat.pk, seat.token))

    @precondition(lambda self: self.tickets)
    @rule(index=indexes)
    def refuse(self, index: int) -> None:
        ticket = self.tickets[index % len(self.tickets)]
        try:
            routing.refuse(ticket.judge, ticket.seat, ticket.token, Refusal.Reason.LANGUAGE)
        except RoutingError:
            return
        pair = Pair.objects.get(seats=ticket.seat)
        assert pair.refusals.count() < 3 or pair.state not in ROUTED

    @precondition(lambda self: self.tickets)
    @rule(index=indexes)
    def release(self, index: int) -> None:
        ticket = self.tickets[index % len(self.tickets)]
        routing.release(ticket.judge, ticket.seat, ticket.token)
        assert not Seat.objects.filter(pk=ticket.seat, token=ticket.token, state="open").exists()

    @precondition(lambda self: self.tickets)
    @rule(index=indexes)
    def extend(self, index: int) -> None:
        ticket = self.tickets[index % len(self.tickets)]
        seat = Seat.objects.filter(pk=ticket.seat)
        ran = seat.filter(leased_until__gt=Now()).exists()
        if routing.extend(ticket.judge, ticket.seat, ticket.token):
            assert seat.get().judge_id == ticket.judge.pk
            if not ran:
                self.require_wanted(seat.get())

    @rule(index=indexes)
    def walk_away(self, index: int) -> None:
        leased = Seat.objects.filter(campaign=self.campaign, leased_until__gt=Now())
        found = list(leased.order_by("pk").values_list("pk", flat=True))
        if found:
            chosen = Seat.objects.filter(pk=found[index % len(found)])
            chosen.update(leased_until=now_plus(minutes=-1))

    # -- The manager ------------------------------------------------------------------------------

    @rule(judge=judges)
    def exclude(self, judge: int) -> None:
        routing.exclude(self.campaign, self.people[judge], self.manager)

    @rule(judge=judges)
    def readmit(self, judge: int) -> None:
        routing.readmit(self.campaign, self.people[judge], self.manager)

    @rule(judge=judges)
    def put_back(self, judge: int) -> None:
        user = self.people[judge]
        routing.put_back(self.campaign, user, self.manager)
        assert not Seat.objects.filter(campaign=self.campaign, judge=user, state="done").exists()

    @rule(judge=judges, qualified=st.sampled_from([True, False, None]))
    def set_qualified(self, judge: int, qualified: bool | None) -> None:
        routing.set_qualified(self.campaign, self.people[judge], self.manager, qualified)

    @precondition(lambda self: self.known)
    @rule(index=indexes)
    def void(self, index: int) -> None:
        judgment = self.any_judgment(index)
        try:
            routing.void(self.manager, judgment.pk)
        except RoutingError:
            return
        assert judgment.seat.state == "aside"

    @rule(scheme=indexes)
    def change_scheme(self, scheme: int) -> None:
        fields = self.schemes[scheme % len(self.schemes)]
        Campaign.objects.filter(pk=self.campaign.pk).update(**fields)
        self.reroute()

    @rule()
    def estimate(self) -> None:
        """What if-it-pays learns between two judgments; under other schemes it does nothing."""
        run_job("estimate", self.campaign, routing.estimate)
        promises.check_worth(self.campaign)

    @rule(budget=st.none() | st.integers(0, 15))
    def change_budget(self, budget: int | None) -> None:
        Campaign.objects.filter(pk=self.campaign.pk).update(budget=budget)
        routing.recount(self.campaign)
        self.campaign = Campaign.objects.get(pk=self.campaign.pk)
        self.allowance = max(budget or 0, promises.used(self.campaign))

    def reroute(self) -> None:
        self.campaign = Campaign.objects.get(pk=self.campaign.pk)
        run_job("reroute", self.campaign, routing.reroute)

    @precondition(lambda self: self.pairs < 8)
    @rule(query=st.sampled_from(["first", "second"]))
    def import_pair(self, query: str) -> None:
        self.pairs += 1
        campaign = self.campaign
        Pair.objects.create(
            campaign=campaign,
            query=Query.objects.get_or_create(campaign=campaign, key=query)[0],
            document=Document.objects.create(campaign=campaign, key=str(self.pairs)),
            rank=self.pairs,
            position=self.pairs * 7 % 5,
        )
        routing.open_seats(campaign)

    @rule(index=indexes, deed=st.sampled_from(["gold", "not gold", "drop", "resume"]))
    def decide(self, index: int, deed: str) -> None:
        pairs = list(Pair.objects.filter(campaign=self.campaign).order_by("pk"))
        pair = pairs[index % len(pairs)].pk
        try:
            match deed:
                case "gold":
                    routing.give_gold(self.manager, pair, index % 5)
                case "not gold":
                    routing.take_gold(self.manager, pair)
                case "drop":
                    routing.drop(self.manager, pair)
                case _:
                    routing.resume(self.manager, pair)
        except RoutingError:
            return

    # -- The promises -----------------------------------------------------------------------------

    @invariant()
    def every_pair_has_the_seats_its_scheme_wants(self) -> None:
        promises.check_seats(self.campaign)

    @invariant()
    def judgments_never_change_and_each_counts_once(self) -> None:
        rows = {row[0]: row for row in Judgment.objects.values_list()}
        assert all(rows.get(pk) == row for pk, row in self.known.items())
        self.known = rows
        promises.check_judgments(self.campaign)

    @invariant()
    def the_budget_is_kept(self) -> None:
        promises.check_ledger(self.campaign)
        if self.campaign.budget is None:
            return
        used = promises.used(self.campaign)
        assert used <= self.allowance, f"{used} used of {self.campaign.budget}"
        self.allowance = max(self.campaign.budget, used)

    @invariant()
    def whoever_is_excluded_holds_nothing(self) -> None:
        promises.check_excluded(self.campaign)

    @rule()
    def a_newcomer_finds_what_is_free(self) -> None:
        newcomer = self.people[-1]
        with transaction.atomic():
            self.welcome([newcomer])
            if routing.claim(self.campaign, newcomer) is None:
                assert not self.free_seats() or self.budget_is_used_up()
            transaction.set_rollback(True)

    def teardown(self) -> None:
        try:
            if hasattr(self, "campaign"):
                self.newcomers_finish()
        finally:
            transaction.set_rollback(True)
            self.transaction.__exit__(None, None, None)

    def newcomers_finish(self) -> None:
        """All walk away, others come: everything is judged, or the budget is used up exactly."""
        Seat.objects.filter(campaign=self.campaign, leased_until__isnull=False).update(
            leased_until=now_plus(minutes=-1)
        )
        before, others = promises.made(self.campaign), self.people[JUDGES:]
        self.welcome(others)
        while sum(self.judge_one(newcomer) for newcomer in others):
            self.every_pair_has_the_seats_its_scheme_wants()
            self.judgments_never_change_and_each_counts_once()
            self.the_budget_is_kept()
        if self.budget_is_used_up():
            assert promises.made(self.campaign) == max(self.campaign.budget or 0, before)
        else:
            assert not Pair.objects.filter(campaign=self.campaign, state="open").exists()

    # -- Reckoning --------------------------------------------------------------------------------

    def welcome(self, newcomers: list[User]) -> None:
        for newcomer in newcomers:
            routing.set_qualified(self.campaign, newcomer, self.manager, True)

    def judge_one(self, judge: User) -> bool:
        seat = routing.claim(self.campaign, judge)
        if seat is None:
            return False
        assert seat.token is not None
        routing.submit(judge, seat.pk, seat.token, Answer(3, uuid.uuid4()))
        return True

    def any_judgment(self, index: int) -> Judgment:
        pks = sorted(self.known)
        return Judgment.objects.get(pk=pks[index % len(pks)])

    def given(self, pair: int) -> list[int]:
        done = Seat.objects.filter(pair=pair, state="done").order_by("judged_at", "ordinal")
        return [
            grade for grade in done.values_list("judgment__grade", flat=True) if grade is not None
        ]

    def budget_is_used_up(self) -> bool:
        return (
            self.campaign.budget is not None
            and promises.used(self.campaign) >= self.campaign.budget
        )

    def free_seats(self) -> list[Seat]:
        free = Q(leased_until=None) | Q(leased_until__lt=Now())
        seats = Seat.objects.filter(free, campaign=self.campaign, state="open")
        return list(seats.filter(pair__state__in=ROUTED))


def run_job(kind: str, campaign: Campaign, work: Callable[[Job], None]) -> None:
    """Do it now, also where it was to be done later."""
    jobs.enqueue(kind, campaign)
    due = Job.objects.filter(kind=kind, campaign=campaign, state=Job.State.DUE)
    due.update(due_at=now_plus(minutes=-1))
    taken = jobs.take(due.get().pk)
    assert taken is not None
    work(taken)


def run_machine(runs: int, steps: int, schemes: list[dict[str, Any]] = SCHEMES) -> None:
    """So many campaigns of so many steps each, always the same ones."""
    Router.schemes = schemes
    names = ["dana", *(f"j{number}" for number in range(JUDGES + NEWCOMERS))]
    Router.manager, *Router.people = [User.objects.create_user(name) for name in names]
    run_state_machine_as_test(
        Router,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            derandomize=True,
            database=None,
            deadline=None,
            # Every step asks the database: to find a shorter way to a failure would take minutes.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_promises_hold_after_every_step() -> None:
    run_machine(runs=60, steps=40)


@pytest.mark.django_db
def test_promises_of_if_it_pays_hold_after_every_step() -> None:
    run_machine(runs=20, steps=50, schemes=PAYING)
