"""The database fails in the middle, the clock of the web host is wrong, there are very many seats:
the router keeps its promises."""

import datetime
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate import routing
from annotate.clock import now_plus
from annotate.models import Campaign, Document, Judgment, Pair, Refusal, Seat, User
from annotate.routing import Answer, claiming
from tests.annotate import promises
from tests.annotate.crowd import add_pairs, crowd, open_campaign

# -- The n-th statement fails ---------------------------------------------------------------------


class Failing:
    """Lets so many statements through, and fails at the next."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.failed = False

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        if self.left == 0 and not self.failed:
            self.failed = True
            raise OperationalError("The database went away.")
        self.left -= 1
        return execute(*arguments)


def fail_at_every_statement(step: Callable[[], object], campaign: Campaign) -> int:
    """Fail at the first statement of the step, then at the second, … until it comes through."""
    for number in range(100):
        failing = Failing(number)
        before = rows()
        try:
            with connection.execute_wrapper(failing):
                step()
        except OperationalError:
            assert rows() == before, f"statement {number} failed, and yet something was written"
            promises.check(campaign)
            continue
        assert not failing.failed, f"the failure of statement {number} was swallowed"
        promises.check(campaign)
        return number
    pytest.fail("The step has more than a hundred statements.")


def rows() -> list[object]:
    return [list(model.objects.order_by("pk").values_list()) for model in (Seat, Judgment, Pair)]


@pytest.fixture
def manager(transactional_db: None) -> User:
    return User.objects.create_user("manager", role=User.Role.MANAGER)


@pytest.fixture
def judge(manager: User) -> User:
    return crowd(3)[0]


def rush(manager: User, **fields: Any) -> Campaign:
    """A campaign with every rule that makes claim and submit write more."""
    rules = {"scheme_name": "if-good-k", "budget": 20, **fields}
    return open_campaign(manager, list(User.objects.exclude(pk=manager.pk)), 3, **rules)


def taken(campaign: Campaign, judge: User) -> tuple[int, uuid.UUID]:
    seat = routing.claim(campaign, judge)
    assert seat is not None
    assert seat.token is not None
    return seat.pk, seat.token


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_fails_at_any_statement_leaves_no_trace(manager: User, judge: User) -> None:
    campaign = rush(manager)
    found: list[Seat | None] = []
    statements = fail_at_every_statement(
        lambda: found.append(routing.claim(campaign, judge)), campaign
    )
    assert statements >= 5
    assert [seat.judge_id for seat in found if seat] == [judge.pk]
    assert Seat.objects.filter(leased_until__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_claim_of_an_abandoned_seat_fails_as_cleanly(manager: User, judge: User) -> None:
    campaign = rush(manager, scheme_name="single")
    other = User.objects.get(username="judge-1")
    for _ in range(2):
        taken(campaign, other)
    Seat.objects.filter(judge=other).update(leased_until=now_plus(minutes=-1))
    for number in range(100):
        failing = Failing(number)
        try:
            with connection.execute_wrapper(failing):
                seat = routing.claim(campaign, judge)
        except OperationalError:
            promises.check(campaign)
            continue
        assert seat is not None
        assert seat.judge_id == judge.pk
        return
    pytest.fail("The claim never came through.")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("gold", [False, True])
def test_a_submit_that_fails_at_any_statement_leaves_no_trace(
    manager: User, judge: User, gold: bool
) -> None:
    campaign = rush(manager, qualification_size=int(gold))
    if gold:
        routing.give_gold(manager, Pair.objects.values_list("pk", flat=True)[0], 3)
    seat, token = taken(campaign, judge)
    answer = Answer(3, uuid.uuid4())
    statements = fail_at_every_statement(
        lambda: routing.submit(judge, seat, token, answer), campaign
    )
    assert statements >= 7
    assert Judgment.objects.get().grade == 3
    assert routing.submit(judge, seat, token, answer) == Judgment.objects.get()


@pytest.mark.django_db(transaction=True)
def test_changes_that_fail_at_any_statement_leave_no_trace(manager: User, judge: User) -> None:
    campaign = rush(manager)
    seat, token = taken(campaign, judge)
    first = routing.submit(judge, seat, token, Answer(3, uuid.uuid4()))
    answer = Answer(0, uuid.uuid4())
    fail_at_every_statement(lambda: routing.correct(judge, first.pk, answer), campaign)
    second = Judgment.objects.get(key=answer.key)
    fail_at_every_statement(lambda: routing.take_back(judge, second.pk), campaign)
    token = Seat.objects.values_list("token", flat=True).get(pk=seat)  # type: ignore[assignment]
    reason = Refusal.Reason.UNSAFE
    fail_at_every_statement(lambda: routing.refuse(judge, seat, token, reason), campaign)
    assert Judgment.objects.count() == 3
    assert Refusal.objects.count() == 1


# -- The clock ------------------------------------------------------------------------------------


@contextmanager
def clock_off_by(monkeypatch: pytest.MonkeyPatch, hours: int) -> Iterator[None]:
    """This process, and only it, believes that it is so much later or earlier."""
    there = datetime.timedelta(hours=hours)
    real_now, real_time = timezone.now, time.time
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: real_now() + there)
        patch.setattr(time, "time", lambda: real_time() + there.total_seconds())
        yield


@pytest.mark.parametrize("hours", [-2, 2])
def test_no_lease_ends_early_when_the_web_host_is_hours_off(
    campaign: Campaign, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    hers = routing.claim(campaign, alice)
    assert hers is not None
    with clock_off_by(monkeypatch, hours):
        his = {seat.pk for seat in all_of(campaign, bob)}
        assert hers.pk not in his
        assert len(his) == 5
        assert routing.claim(campaign, alice) == hers
    held = Seat.objects.filter(pk=hers.pk)
    assert held.filter(leased_until__gt=now_plus(minutes=14)).exists()
    assert held.filter(leased_until__lt=now_plus(minutes=16)).exists()


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_lease_that_ran_out_is_seen_when_the_web_host_is_hours_off(
    campaign: Campaign, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    with clock_off_by(monkeypatch, hours):
        hers = routing.claim(campaign, alice)
        assert hers is not None
        Seat.objects.filter(pk=hers.pk).update(leased_until=now_plus(seconds=-1))
        assert routing.claim(campaign, bob) == hers


def all_of(campaign: Campaign, judge: User) -> list[Seat]:
    """Judge as long as there is something."""
    found = []
    while seat := routing.claim(campaign, judge):
        assert seat.token is not None
        routing.submit(judge, seat.pk, seat.token, Answer(0, uuid.uuid4()))
        found.append(seat)
    return found


# -- Very many seats ------------------------------------------------------------------------------


def fill_by_the_thousand(campaign: Campaign, pairs: int) -> None:
    """Copies of the first pair's seat at later positions: enough for the planner to think."""
    add_pairs(campaign, 1)
    first = Pair.objects.get(campaign=campaign)
    Pair.objects.bulk_create(
        Pair(
            campaign=campaign,
            query=first.query,
            document=document,
            rank=1,
            position=number + 1,
        )
        for number, document in enumerate(documents(campaign, pairs))
    )
    routing.open_seats(campaign)


def documents(campaign: Campaign, count: int) -> list[Document]:
    new = (Document(campaign=campaign, key=f"document {number}") for number in range(count))
    return Document.objects.bulk_create(new)


@pytest.mark.django_db
def test_a_claim_reads_the_index_of_open_seats_in_order() -> None:
    manager = User.objects.create_user("manager")
    judge, other = crowd(2)
    campaign = open_campaign(manager, [judge], 0, scheme_name="single")
    fill_by_the_thousand(campaign, 3000)
    Seat.objects.filter(position__lt=2000).update(judge=other, leased_until=now_plus(minutes=5))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as captured:
        assert len(routing.hold(campaign, judge)) == 2
    in_order = '"annotate_seat"."ordinal" ASC LIMIT 1'
    window, search, here = (explain(q["sql"]) for q in captured if in_order in q["sql"])
    assert "seat_open_in_order" in window
    assert "seat_open_in_order" in search
    assert "seat_open_in_order" in here or "seat_open_of_query" in here
    held = next(explain(q["sql"]) for q in captured if "NULLS LAST" in q["sql"])
    assert "seat_held" in held or "seat_of_judge" in held


def explain(sql: str) -> str:
    prefix = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    with connection.cursor() as cursor:
        cursor.execute(prefix + sql)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.django_db
def test_windows_of_a_search_meet_every_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge with little left to judge finds it, wherever it stands and whatever precedes it."""
    monkeypatch.setattr(claiming, "WINDOW", 5)
    manager = User.objects.create_user("manager")
    alice, bob = crowd(2)
    campaign = open_campaign(manager, [alice, bob], 12, scheme_name="k-overlap", k=3)
    # Two pairs at each position, so that windows end in the middle of one.
    Seat.objects.update(position=F("position") / 2)
    assert len(all_of(campaign, alice)) == 12
    assert routing.claim(campaign, alice) is None
    add_pairs(campaign, 1)
    assert len(all_of(campaign, alice)) == 1
    assert len(all_of(campaign, bob)) == 13
