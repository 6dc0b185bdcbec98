"""The router's promises, one by one."""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.db import DatabaseError, connection, transaction

from annotate import routing
from annotate.clock import now_plus
from annotate.models import Campaign, Job, Judgment, Membership, Pair, Refusal, Seat, User
from annotate.routing import Answer
from ranking.schemes import SCHEMES
from tests.conftest import fill

B, F, G, E, P = range(5)
T = TypeVar("T")

NewCampaign = Callable[..., Campaign]


@pytest.fixture
def new_campaign(dana: User) -> NewCampaign:
    """An open campaign of so many pairs for so many judges, who are called j1, j2, …"""

    def make(scheme: str, pairs: int = 1, judges: int = 12, **fields: object) -> Campaign:
        campaign = Campaign.objects.create(
            slug="race",
            name="Race",
            state=Campaign.State.OPEN,
            scheme_name=scheme,
            created_by=dana,
            **fields,
        )
        for number in range(1, judges + 1):
            user = User.objects.create_user(f"j{number}")
            Membership.objects.create(campaign=campaign, user=user, role=Membership.Role.JUDGE)
        fill(campaign, queries=1, documents=pairs)
        routing.open_seats(campaign)
        return campaign

    return make


def judges_of(campaign: Campaign) -> list[User]:
    role = Membership.Role.JUDGE
    return list(User.objects.filter(memberships__campaign=campaign, memberships__role=role))


def held(seat: Seat | None) -> tuple[int, uuid.UUID]:
    """What the page of the judge holds of her seat."""
    assert seat is not None
    assert seat.token is not None
    return seat.pk, seat.token


def judge(campaign: Campaign, user: User, grade: int) -> Judgment:
    """Take the next pair and grade it."""
    return routing.submit(user, *held(routing.claim(campaign, user)), answer(grade))


def answer(grade: int) -> Answer:
    return Answer(grade, uuid.uuid4())


def expire(seat: Seat | None) -> None:
    assert seat is not None
    Seat.objects.filter(pk=seat.pk).update(leased_until=now_plus(seconds=-1))


def pair_of(campaign: Campaign) -> Pair:
    return campaign.pairs.get()


# -- Schemes, live --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "fields", "complete"),
    [
        ("single", {}, [[P], [B]]),
        ("k-overlap", {"k": 3}, [[B, B, B], [P, B, G]]),
        ("if-good-k", {"k": 3}, [[E, G, F], [B], [G, G, P], [F], [P, F, G]]),
        ("good-till-bad", {"cap": 11}, [[E, G, F], [B], [G, G, P, E, G, B], [F], [G] * 11]),
        ("if-good-x", {}, [[P], [B]]),
        ("if-it-pays", {"per_pair": None, "least_value": 0.4, "cap": 5}, [[P], [B], [G]]),
    ],
)
def test_pair_is_asked_about_until_its_scheme_has_enough(
    new_campaign: NewCampaign, scheme: str, fields: dict[str, int], complete: list[list[int]]
) -> None:
    campaign = new_campaign(scheme, pairs=len(complete), **fields)
    pairs = list(campaign.pairs.order_by("position"))
    wanted = {pair.pk: list(grades) for pair, grades in zip(pairs, complete, strict=True)}
    for user in judges_of(campaign):
        while seat := routing.claim(campaign, user):
            grade = wanted[seat.pair_id].pop(0)  # fails if one judge more is asked than wanted
            routing.submit(user, *held(seat), answer(grade))
    assert list(wanted.values()) == [[]] * len(complete)
    assert set(campaign.pairs.values_list("state", flat=True)) == {Pair.State.CLOSED}


def test_every_scheme_is_tried_above() -> None:
    mark = test_pair_is_asked_about_until_its_scheme_has_enough.pytestmark[0]  # type: ignore[attr-defined]
    assert {case[0] for case in mark.args[1]} == set(SCHEMES)


def test_submit_closes_pair_when_first_grade_is_bad(campaign: Campaign, alice: User) -> None:
    judgment = judge(campaign, alice, B)
    assert judgment.pair.state == Pair.State.CLOSED
    assert judgment.pair.seats.count() == 1


def test_submit_opens_two_seats_when_first_grade_is_good(campaign: Campaign, alice: User) -> None:
    judgment = judge(campaign, alice, G)
    assert judgment.pair.state == Pair.State.OPEN
    assert judgment.pair.seats.filter(state=Seat.State.OPEN, judge=None).count() == 2


def test_submit_marks_the_pair_and_writes_one_job(campaign: Campaign, alice: User) -> None:
    first, second = judge(campaign, alice, G), judge(campaign, alice, B)
    assert Pair.objects.get(pk=first.pair_id).stale
    assert Pair.objects.get(pk=second.pair_id).stale
    assert Job.objects.get().kind == "aggregate"


# -- Claim ----------------------------------------------------------------------------------------


def test_claim_takes_pairs_in_order_and_finishes_a_query_first(
    campaign: Campaign, alice: User
) -> None:
    titles = [judge(campaign, alice, B).pair.document.title for _ in range(6)]
    assert titles == [f"Title {q}.{d}" for q in (1, 2) for d in (1, 2, 3)]
    assert routing.claim(campaign, alice) is None


def test_claim_shows_the_same_pair_after_a_reload(campaign: Campaign, alice: User) -> None:
    assert held(routing.claim(campaign, alice)) == held(routing.claim(campaign, alice))


def test_claim_gives_each_judge_another_seat(campaign: Campaign, alice: User, bob: User) -> None:
    hers, his = routing.claim(campaign, alice), routing.claim(campaign, bob)
    assert held(hers) != held(his)


def test_no_judge_gets_a_pair_twice(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("k-overlap", k=3, judges=1)
    (only,) = judges_of(campaign)
    judge(campaign, only, G)
    assert pair_of(campaign).seats.filter(state=Seat.State.OPEN).count() == 2
    assert routing.claim(campaign, only) is None
    assert "other judges" in routing.why_none(campaign, only)


def test_the_database_itself_refuses_a_second_seat_of_a_judge(
    new_campaign: NewCampaign,
) -> None:
    campaign = new_campaign("k-overlap", k=3)
    user = judges_of(campaign)[0]
    judge(campaign, user, G)
    other = pair_of(campaign).seats.filter(state=Seat.State.OPEN)[0]
    with pytest.raises(DatabaseError), transaction.atomic():
        Seat.objects.filter(pk=other.pk).update(judge=user)


def test_claim_refuses_a_stranger(campaign: Campaign, charlie: User, dana: User) -> None:
    for user in (charlie, dana):
        with pytest.raises(routing.RoutingError, match=r"^You are not a judge of this campaign\.$"):
            routing.claim(campaign, user)


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_claim_gives_nothing_unless_the_campaign_is_open(
    campaign: Campaign, alice: User, state: str
) -> None:
    campaign.state = state
    campaign.save()
    assert routing.claim(campaign, alice) is None


def test_release_frees_the_seat_at_once(campaign: Campaign, alice: User, bob: User) -> None:
    seat = routing.claim(campaign, alice)
    routing.release(alice, *held(seat))
    again = routing.claim(campaign, bob)
    assert seat is not None
    assert again is not None
    assert again.pk == seat.pk


# -- Submit: once, and only with a seat of one's own ----------------------------------------------


def test_same_key_twice_is_one_judgment(campaign: Campaign, alice: User) -> None:
    seat = held(routing.claim(campaign, alice))
    said = answer(G)
    assert routing.submit(alice, *seat, said) == routing.submit(alice, *seat, said)
    assert Judgment.objects.count() == 1


def test_retry_after_the_campaign_closed_hears_that_it_was_saved(
    campaign: Campaign, alice: User
) -> None:
    seat, said = held(routing.claim(campaign, alice)), answer(G)
    first = routing.submit(alice, *seat, said)
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert routing.submit(alice, *seat, said) == first


def test_another_key_on_a_judged_seat_is_refused(campaign: Campaign, alice: User) -> None:
    seat = held(routing.claim(campaign, alice))
    routing.submit(alice, *seat, answer(G))
    with pytest.raises(routing.StaleSeatError, match="no longer yours"):
        routing.submit(alice, *seat, answer(B))
    assert Judgment.objects.get().grade == G


def test_submit_refuses_a_seat_of_somebody_else(
    campaign: Campaign, alice: User, bob: User, charlie: User
) -> None:
    seat = held(routing.claim(campaign, alice))
    for user in (bob, charlie):
        with pytest.raises(routing.StaleSeatError, match="no longer yours"):
            routing.submit(user, *seat, answer(G))
    assert not Judgment.objects.exists()


def test_submit_refuses_a_seat_that_is_none(alice: User) -> None:
    with pytest.raises(routing.StaleSeatError):
        routing.submit(alice, 12345, uuid.uuid4(), answer(G))


@pytest.mark.parametrize("grade", [-1, 5, 100])
def test_grade_outside_the_scale_is_refused(grade: int) -> None:
    with pytest.raises(
        routing.RoutingError, match=rf"^A grade must be 0 to 4\. Got {grade} instead\.$"
    ):
        answer(grade)


def test_submit_is_welcome_while_paused_and_refused_when_closed(
    campaign: Campaign, alice: User, bob: User
) -> None:
    hers, his = held(routing.claim(campaign, alice)), held(routing.claim(campaign, bob))
    Campaign.objects.update(state=Campaign.State.PAUSED)
    assert routing.submit(alice, *hers, answer(G)).grade == G
    Campaign.objects.update(state=Campaign.State.CLOSED)
    with pytest.raises(routing.CampaignNotOpenError, match="closed"):
        routing.submit(bob, *his, answer(G))
    assert Judgment.objects.count() == 1


# -- Leases ---------------------------------------------------------------------------------------


def test_expired_lease_is_taken_over_and_the_late_answer_refused(
    new_campaign: NewCampaign,
) -> None:
    campaign = new_campaign("single", judges=2)
    late, quick = judges_of(campaign)
    seat = routing.claim(campaign, late)
    assert routing.claim(campaign, quick) is None
    expire(seat)
    assert judge(campaign, quick, E).grade == E
    with pytest.raises(routing.StaleSeatError, match="went to somebody else"):
        routing.submit(late, *held(seat), answer(B))
    assert Judgment.objects.get().judge == quick


def test_expired_lease_is_honoured_while_nobody_else_took_the_seat(
    campaign: Campaign, alice: User
) -> None:
    seat = routing.claim(campaign, alice)
    expire(seat)
    assert routing.submit(alice, *held(seat), answer(G)).grade == G


def test_extend_keeps_a_lease_that_is_hers(campaign: Campaign, alice: User, bob: User) -> None:
    seat = routing.claim(campaign, alice)
    expire(seat)
    assert routing.extend(alice, *held(seat))
    other = routing.claim(campaign, bob)
    assert seat is not None
    assert other is not None
    assert other.pk != seat.pk
    assert not routing.extend(bob, *held(seat))


# -- Refuse ---------------------------------------------------------------------------------------


def test_refusal_frees_the_seat_and_is_not_offered_again(
    campaign: Campaign, alice: User, bob: User
) -> None:
    seat = routing.claim(campaign, alice)
    routing.refuse(alice, *held(seat), Refusal.Reason.LANGUAGE)
    assert seat is not None
    assert judge(campaign, bob, B).seat_id == seat.pk
    offered = {judge(campaign, alice, B).pair_id for _ in range(5)}
    assert seat.pair_id not in offered
    assert routing.claim(campaign, alice) is None


def test_refusal_is_no_judgment(campaign: Campaign, alice: User) -> None:
    seat = routing.claim(campaign, alice)
    routing.refuse(alice, *held(seat), Refusal.Reason.OTHER, "It is about something else.")
    assert not Judgment.objects.exists()
    assert Refusal.objects.get().text == "It is about something else."


# -- Take back and correct ------------------------------------------------------------------------


def open_seats_of(pair_id: int) -> int:
    return Seat.objects.filter(pair=pair_id, state=Seat.State.OPEN).count()


def test_take_back_withdraws_the_seats_a_good_grade_opened(campaign: Campaign, alice: User) -> None:
    judgment = judge(campaign, alice, G)
    assert open_seats_of(judgment.pair_id) == 2
    seat = routing.take_back(alice, judgment.pk)
    assert open_seats_of(judgment.pair_id) == 1
    routing.submit(alice, *held(seat), answer(B))
    pair = Pair.objects.get(pk=judgment.pair_id)
    assert pair.state == Pair.State.CLOSED
    assert open_seats_of(pair.pk) == 0


def test_take_back_leaves_the_seat_that_somebody_holds(
    campaign: Campaign, alice: User, bob: User
) -> None:
    judgment = judge(campaign, alice, G)
    his = routing.claim(campaign, bob)
    assert his is not None
    assert his.pair_id == judgment.pair_id
    routing.take_back(alice, judgment.pk)
    assert routing.submit(bob, *held(his), answer(E)).grade == E


def test_taking_the_first_judgment_back_runs_the_rule_on_what_is_left(
    new_campaign: NewCampaign,
) -> None:
    campaign = new_campaign("if-good-k", k=3)
    first, second = judges_of(campaign)[:2]
    good = judge(campaign, first, G)
    judge(campaign, second, B)
    seat = routing.take_back(first, good.pk)
    routing.release(first, *held(seat))
    pair = pair_of(campaign)
    routing.reroute(running_job(campaign))
    pair.refresh_from_db()
    assert pair.state == Pair.State.CLOSED  # the Bad that is left is the first now


def running_job(campaign: Campaign) -> Job:
    return Job.objects.create(
        kind="reroute",
        key="test",
        campaign=campaign,
        state=Job.State.RUNNING,
        token=uuid.uuid4(),
        due_at=now_plus(seconds=0),
        leased_until=now_plus(minutes=1),
    )


def test_take_back_writes_a_row_and_changes_none(campaign: Campaign, alice: User) -> None:
    judgment = judge(campaign, alice, G)
    seat = routing.take_back(alice, judgment.pk)
    routing.submit(alice, *held(seat), answer(F))
    assert list(Judgment.objects.order_by("pk").values_list("grade", flat=True)) == [G, None, F]


def test_take_back_is_for_the_latest_judgment_and_its_judge_only(
    campaign: Campaign, alice: User, bob: User
) -> None:
    judgment = judge(campaign, alice, G)
    with pytest.raises(routing.StaleSeatError, match="not the latest"):
        routing.take_back(bob, judgment.pk)
    routing.take_back(alice, judgment.pk)
    with pytest.raises(routing.StaleSeatError, match="not the latest"):
        routing.take_back(alice, judgment.pk)


def test_correct_supersedes_and_settles_again(campaign: Campaign, alice: User) -> None:
    judgment = judge(campaign, alice, B)
    said = answer(P)
    corrected = routing.correct(alice, judgment.pk, said)
    assert corrected.supersedes == judgment
    assert open_seats_of(judgment.pair_id) == 2
    assert routing.correct(alice, judgment.pk, said) == corrected
    assert Judgment.objects.count() == 2


# -- Append-only ----------------------------------------------------------------------------------


def test_the_database_refuses_to_change_or_delete_a_judgment(
    campaign: Campaign, alice: User
) -> None:
    judgment = judge(campaign, alice, G)
    table = Judgment.objects.filter(pk=judgment.pk)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        table.update(grade=P)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        table._raw_delete(using="default")
    assert table.get().grade == G


# -- Races ----------------------------------------------------------------------------------------


def at_once(work: Callable[[User], T], users: Sequence[User]) -> list[T]:
    """Each in a thread of its own, all let go at the same moment."""
    barrier = threading.Barrier(len(users))

    def run(user: User) -> T:
        try:
            barrier.wait()
            return work(user)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(users)) as pool:
        return list(pool.map(run, users))


@pytest.mark.django_db(transaction=True)
def test_twenty_judges_for_one_seat_make_one_winner(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("single", judges=20)
    for _ in range(3):
        seats = at_once(lambda user: routing.claim(campaign, user), judges_of(campaign))
        (winner,) = [seat for seat in seats if seat is not None]
        assert winner.judge is not None
        routing.release(winner.judge, *held(winner))


@pytest.mark.django_db(transaction=True)
def test_no_judge_is_sent_away_while_there_is_a_seat(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("k-overlap", k=3, pairs=7, judges=20)
    seats = at_once(lambda user: routing.claim(campaign, user), judges_of(campaign))
    assert len({held(seat)[0] for seat in seats}) == 20


@pytest.mark.django_db(transaction=True)
def test_one_answer_sent_ten_times_at_once_is_one_judgment(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("if-good-k", k=3, judges=1)
    (user,) = judges_of(campaign)
    seat, said = held(routing.claim(campaign, user)), answer(G)
    made = at_once(lambda user: routing.submit(user, *seat, said), [user] * 10)
    assert {judgment.pk for judgment in made} == {Judgment.objects.get().pk}


@pytest.mark.django_db(transaction=True)
def test_many_tabs_of_one_judge_hold_one_seat(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("single", pairs=12, judges=1)
    users = judges_of(campaign) * 10
    assert len({held(seat) for seat in at_once(lambda u: routing.claim(campaign, u), users)}) == 1


@pytest.mark.django_db(transaction=True)
def test_judges_at_once_never_make_more_judgments_than_wanted(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("good-till-bad", cap=4, pairs=5, judges=8)

    def work(user: User) -> int:
        made = 0
        while seat := routing.claim(campaign, user):
            routing.submit(user, *held(seat), answer(G if made % 3 else E))
            made += 1
        return made

    at_once(work, judges_of(campaign))
    for user in judges_of(campaign):  # who was told "none" a moment too early comes again
        work(user)
    assert [pair.judgments.count() for pair in campaign.pairs.all()] == [4] * 5


@pytest.mark.django_db(transaction=True)
def test_budget_holds_when_everybody_comes_at_once(new_campaign: NewCampaign) -> None:
    campaign = new_campaign("k-overlap", k=3, pairs=10, judges=12, budget=7)
    seats = at_once(lambda user: routing.claim(campaign, user), judges_of(campaign))
    assert sum(seat is not None for seat in seats) == 7


@pytest.mark.django_db(transaction=True)
def test_holder_of_an_expired_lease_does_not_take_the_seat_back_from_its_taker(
    new_campaign: NewCampaign,
) -> None:
    campaign = new_campaign("single", judges=2)
    late, quick = judges_of(campaign)
    expire(routing.claim(campaign, late))
    taking = threading.Event()

    def claim(user: User) -> Seat | None:
        if user == late:
            taking.wait()
            return routing.claim(campaign, late)
        with transaction.atomic():
            seat = routing.claim(campaign, quick)
            taking.set()
            time.sleep(0.5)  # the other claim comes before this one is committed
        return seat

    hers, his = at_once(claim, [late, quick])
    assert hers is None
    current = pair_of(campaign).seats.get()
    assert (current.judge, held(current)) == (quick, held(his))
