"""Budgets, gold pairs, qualification, exclusion, referral, corrections and changed schemes."""

import uuid

import pytest

from annotate import jobs, routing
from annotate.clock import now_plus
from annotate.models import (
    Campaign,
    Event,
    Judgment,
    Ledger,
    Membership,
    Pair,
    Refusal,
    Seat,
    Standing,
    User,
)
from annotate.routing import Answer, RoutingError, StaleSeatError
from tests.annotate import promises
from tests.annotate.crowd import add_pairs
from tests.conftest import person

B, F, G, E, P = range(5)


@pytest.fixture
def carol(campaign: Campaign) -> User:
    """A third judge."""
    carol = person("carol")
    Membership.objects.create(campaign=campaign, user=carol, role=Membership.Role.JUDGE)
    return carol


def change(campaign: Campaign, **fields: object) -> Campaign:
    """The manager changes settings; the job that follows is done."""
    Campaign.objects.filter(pk=campaign.pk).update(**fields)
    changed = Campaign.objects.get(pk=campaign.pk)
    job = jobs.enqueue("reroute", changed)
    taken = job and jobs.take(job.pk)
    assert taken
    routing.reroute(taken)
    promises.check(changed)
    return changed


def claim(campaign: Campaign, judge: User, besides: tuple[int, ...] = ()) -> Seat:
    seat = routing.claim(campaign, judge, besides)
    assert seat is not None
    return seat


def submit(judge: User, seat: Seat, grade: int = G) -> Judgment:
    assert seat.token is not None
    return routing.submit(judge, seat.pk, seat.token, Answer(grade, uuid.uuid4()))


def judge_next(campaign: Campaign, judge: User, grade: int = G) -> Judgment:
    return submit(judge, claim(campaign, judge), grade)


def refuse(judge: User, seat: Seat) -> None:
    assert seat.token is not None
    routing.refuse(judge, seat.pk, seat.token, Refusal.Reason.LANGUAGE)


def run_out(*seats: Seat) -> None:
    held = Seat.objects.filter(pk__in=[seat.pk for seat in seats])
    held.update(leased_until=now_plus(minutes=-1))


def state(pair: Pair) -> str:
    return Pair.objects.get(pk=pair.pk).state


# -- Budget ---------------------------------------------------------------------------------------


def test_routing_stops_exactly_at_the_budget(campaign: Campaign, alice: User, bob: User) -> None:
    campaign = change(campaign, budget=3)
    judge_next(campaign, alice)
    first, second = claim(campaign, alice), claim(campaign, bob)
    assert routing.claim(campaign, alice, [first.pk]) is None
    assert routing.why_none(campaign, alice).startswith("The budget of this campaign is used up.")
    submit(alice, first)
    submit(bob, second)
    assert routing.claim(campaign, bob) is None
    assert Ledger.objects.get().spent == Judgment.objects.count() == 3


def test_a_lease_that_ran_out_makes_room_for_another(
    campaign: Campaign, alice: User, bob: User
) -> None:
    campaign = change(campaign, budget=1)
    hers = claim(campaign, alice)
    assert routing.claim(campaign, bob) is None
    run_out(hers)
    his = claim(campaign, bob)
    assert routing.claim(campaign, alice) is None
    with pytest.raises(RoutingError, match="no longer yours"):
        submit(alice, hers)
    submit(bob, his)
    assert Judgment.objects.count() == 1


def test_a_lease_that_ran_out_does_not_come_back_past_the_budget(
    campaign: Campaign, alice: User, bob: User
) -> None:
    campaign = change(campaign, budget=1)
    hers = claim(campaign, alice)
    run_out(hers)
    claim(campaign, bob)
    Seat.objects.filter(judge=bob).update(judge=None, token=None)  # another seat, same share
    assert hers.token is not None
    assert not routing.extend(alice, hers.pk, hers.token)
    assert routing.claim(campaign, alice) is None
    with pytest.raises(RoutingError):
        submit(alice, hers)


def test_undo_gives_the_budget_back_and_void_does_not(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    campaign = change(campaign, budget=2)
    first = judge_next(campaign, alice)
    routing.take_back(alice, first.pk)
    assert Ledger.objects.get().spent == 0
    second = judge_next(campaign, alice)
    routing.void(dana, second.pk)
    assert Ledger.objects.get().spent == 1
    judge_next(campaign, bob)
    assert routing.claim(campaign, bob) is None


def test_what_was_judged_without_a_budget_counts_when_there_is_one(
    campaign: Campaign, alice: User
) -> None:
    campaign = change(campaign, budget=5)
    judge_next(campaign, alice)
    campaign = change(campaign, budget=None)
    judge_next(campaign, alice)
    judge_next(campaign, alice)
    campaign = change(campaign, budget=4)
    judge_next(campaign, alice)
    assert routing.claim(campaign, alice) is None


# -- Gold and qualification -----------------------------------------------------------------------


def make_gold(campaign: Campaign, manager: User, count: int, grade: int = E) -> list[Pair]:
    pairs = list(campaign.pairs.filter(state=Pair.State.OPEN).order_by("pk")[:count])
    for pair in pairs:
        routing.give_gold(manager, pair.pk, grade)
    return pairs


def test_gold_pairs_come_at_their_rate_once_to_each_judge(
    campaign: Campaign, alice: User, dana: User
) -> None:
    golden = {pair.pk for pair in make_gold(campaign, dana, 3)}
    # Enough others: when a gold pair comes depends on numbers that differ between runs.
    add_pairs(campaign, 40)
    campaign = change(campaign, gold_percent=50)
    seen = [judge_next(campaign, alice, B).pair_id for _ in range(40)]
    assert len(set(seen)) == 40
    assert set(seen) >= golden


def test_no_gold_pair_comes_at_a_rate_of_none(campaign: Campaign, alice: User, dana: User) -> None:
    golden = {pair.pk for pair in make_gold(campaign, dana, 3)}
    seen = {judge_next(campaign, alice, B).pair_id for _ in range(3)}
    assert not seen & golden
    assert routing.claim(campaign, alice) is None


def test_a_pair_she_judged_before_it_was_gold_does_not_come_again(
    campaign: Campaign, alice: User, dana: User
) -> None:
    judged = judge_next(campaign, alice, B).pair_id
    routing.give_gold(dana, judged, E)
    campaign = change(campaign, gold_percent=50)
    seen = [judge_next(campaign, alice, B).pair_id for _ in range(5)]
    assert judged not in seen
    assert routing.claim(campaign, alice) is None


def test_a_pair_that_is_no_longer_gold_is_asked_about_like_any_other(
    campaign: Campaign, alice: User, bob: User, carol: User, dana: User
) -> None:
    (pair,) = make_gold(campaign, dana, 1)
    campaign = change(campaign, qualification_size=1, scheme_name="k-overlap", k=3)
    refuse(bob, claim(campaign, bob))
    submit(alice, claim(campaign, alice), E)
    held = claim(campaign, carol)
    assert held.pair_id == pair.pk
    routing.take_gold(dana, pair.pk)
    promises.check(campaign)
    run_out(held)
    campaign = change(campaign, qualification_size=0)
    others = {judge_next(campaign, person_in(campaign, f"new{n}")).pair_id for n in range(2)}
    assert others == {pair.pk}
    assert state(pair) == "closed"
    promises.check(campaign)


def person_in(campaign: Campaign, name: str) -> User:
    user = person(name)
    Membership.objects.create(campaign=campaign, user=user, role=Membership.Role.JUDGE)
    return user


@pytest.mark.parametrize(("grade", "qualified"), [(E, True), (B, False)])
def test_a_judge_qualifies_by_her_gold_judgments(
    campaign: Campaign, alice: User, dana: User, grade: int, qualified: bool
) -> None:
    golden = {pair.pk for pair in make_gold(campaign, dana, 2)}
    campaign = change(campaign, qualification_size=2)
    assert {judge_next(campaign, alice, grade).pair_id for _ in range(2)} == golden
    assert Standing.objects.get(judge=alice).qualified is qualified
    seat = routing.claim(campaign, alice)
    assert (seat is not None) is qualified
    assert seat is None or seat.pair_id not in golden
    if not qualified:
        assert routing.why_none(campaign, alice).startswith("You have not qualified")


def test_a_refused_gold_pair_does_not_keep_a_judge_from_qualifying(
    campaign: Campaign, alice: User, dana: User
) -> None:
    make_gold(campaign, dana, 2)
    campaign = change(campaign, qualification_size=2)
    refuse(alice, claim(campaign, alice))
    judge_next(campaign, alice, E)
    assert Standing.objects.get(judge=alice).qualified is True


def test_nobody_qualifies_without_a_gold_judgment(
    campaign: Campaign, alice: User, dana: User
) -> None:
    seat = claim(campaign, alice)
    campaign = change(campaign, qualification_size=2)
    submit(alice, seat)
    assert Standing.objects.get(judge=alice).qualified is None
    routing.set_qualified(campaign, alice, dana, True)
    assert claim(campaign, alice)


# -- Exclusion ------------------------------------------------------------------------------------


def test_exclusion_ends_her_leases_at_once_and_keeps_her_judgments(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    judged = judge_next(campaign, alice)
    held = claim(campaign, alice)
    routing.exclude(campaign, alice, dana)
    with pytest.raises(StaleSeatError):
        submit(alice, held)
    with pytest.raises(RoutingError, match="no longer asked"):
        routing.claim(campaign, alice)
    with pytest.raises(RoutingError, match="no longer asked"):
        routing.take_back(alice, judged.pk)
    with pytest.raises(RoutingError, match="no longer asked"):
        routing.correct(alice, judged.pk, Answer(B, uuid.uuid4()))
    assert Seat.objects.get(judgment=judged).state == "done"
    assert held.pair_id in {judge_next(campaign, bob).pair_id for _ in range(2)}
    routing.readmit(campaign, alice, dana)
    assert claim(campaign, alice)
    promises.check(campaign)


def test_put_back_asks_others_for_what_she_judged(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    hers = [judge_next(campaign, alice, B) for _ in range(6)]
    assert not Pair.objects.filter(state="open").exists()
    assert routing.put_back(campaign, alice, dana) == 6
    promises.check(campaign)
    assert Pair.objects.filter(state="open").count() == 6
    assert routing.claim(campaign, alice) is None
    assert {judge_next(campaign, bob, B).pair_id for _ in range(6)} == {j.pair_id for j in hers}
    assert Judgment.objects.filter(judge=alice).count() == 6
    assert "6 judgments of alice were put back." in Event.objects.values_list("sentence", flat=True)


# -- Refusal and referral -------------------------------------------------------------------------


def test_three_refusals_take_the_pair_to_the_manager(
    campaign: Campaign, alice: User, bob: User, carol: User, dana: User
) -> None:
    pair = claim(campaign, alice).pair
    for judge in (alice, bob, carol):
        assert state(pair) == "open"
        refuse(judge, claim(campaign, judge))
    assert state(pair) == "referred"
    assert claim(campaign, person_in(campaign, "new")).pair_id != pair.pk
    routing.resume(dana, pair.pk)
    promises.check(campaign)
    assert claim(campaign, person_in(campaign, "newer")).pair_id == pair.pk
    assert claim(campaign, alice).pair_id != pair.pk


def test_nobody_else_is_asked_about_a_pair_that_was_dropped_while_held(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    held = claim(campaign, alice)
    routing.drop(dana, held.pair_id)
    run_out(held)
    assert claim(campaign, bob).pair_id != held.pair_id
    assert claim(campaign, alice).pair_id != held.pair_id
    promises.check(campaign)


def test_whoever_holds_a_dropped_pair_may_finish(
    campaign: Campaign, alice: User, dana: User
) -> None:
    held = claim(campaign, alice)
    routing.drop(dana, held.pair_id)
    submit(alice, held)
    assert state(held.pair) == "dropped"
    assert Pair.objects.get(pk=held.pair_id).stale
    promises.check(campaign)


# -- Corrections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", ["release", "walk away"])
def test_a_seat_that_a_correction_made_unwanted_goes_with_its_holder(
    campaign: Campaign, alice: User, bob: User, carol: User, leave: str
) -> None:
    good = judge_next(campaign, alice, G)
    held = claim(campaign, bob)
    assert held.pair_id == good.pair_id
    routing.correct(alice, good.pk, Answer(B, uuid.uuid4()))
    assert state(held.pair) == "open"
    if leave == "release":
        assert held.token is not None
        routing.release(bob, held.pk, held.token)
    else:
        run_out(held)
    assert claim(campaign, carol).pair_id != good.pair_id
    assert state(held.pair) == "closed"
    promises.check(campaign)


def test_an_unwanted_seat_goes_even_if_nobody_could_be_asked(
    campaign: Campaign, alice: User, bob: User
) -> None:
    for pair in campaign.pairs.order_by("pk")[1:]:
        Pair.objects.filter(pk=pair.pk).update(state="closed")
        Seat.objects.filter(pair=pair).update(state="withdrawn")
    good = judge_next(campaign, alice, G)
    held = claim(campaign, bob)
    routing.correct(alice, good.pk, Answer(B, uuid.uuid4()))
    run_out(held)
    assert routing.claim(campaign, alice) is None
    assert state(held.pair) == "closed"


def test_a_judgment_already_made_stays_when_a_correction_makes_it_unwanted(
    campaign: Campaign, alice: User, bob: User
) -> None:
    good = judge_next(campaign, alice, G)
    judge_next(campaign, bob, E)
    routing.correct(alice, good.pk, Answer(B, uuid.uuid4()))
    pair = Pair.objects.get(pk=good.pair_id)
    assert pair.state == "closed"
    assert pair.seats.filter(state="done").count() == 2


def test_void_asks_somebody_else(campaign: Campaign, alice: User, bob: User, dana: User) -> None:
    bad = judge_next(campaign, alice, B)
    routing.void(dana, bad.pk)
    promises.check(campaign)
    assert claim(campaign, alice).pair_id != bad.pair_id
    assert claim(campaign, bob).pair_id == bad.pair_id
    with pytest.raises(StaleSeatError, match="not the latest"):
        routing.void(dana, bad.pk)
    with pytest.raises(StaleSeatError, match="no such judgment"):
        routing.void(dana, 0)


# -- Another scheme -------------------------------------------------------------------------------


def test_a_changed_scheme_holds_for_open_and_closed_pairs(
    campaign: Campaign, alice: User, bob: User
) -> None:
    bad, good = judge_next(campaign, alice, B), judge_next(campaign, alice, G)
    campaign = change(campaign, scheme_name="k-overlap", k=2)
    assert open_seats(bad) == open_seats(good) == 1
    campaign = change(campaign, scheme_name="single")
    assert open_seats(bad) == open_seats(good) == 0
    campaign = change(campaign, scheme_name="good-till-bad", cap=5)
    assert (open_seats(bad), open_seats(good)) == (0, 1)
    assert Judgment.objects.count() == 2


def open_seats(judgment: Judgment) -> int:
    return Seat.objects.filter(pair=judgment.pair_id, state="open").count()


def test_a_changed_scheme_leaves_a_seat_to_whoever_holds_it(
    campaign: Campaign, alice: User, bob: User, carol: User
) -> None:
    good = judge_next(campaign, alice, G)
    held = claim(campaign, bob)
    campaign = change(campaign, scheme_name="single")
    assert open_seats(good) == 1
    assert claim(campaign, carol).pair_id != good.pair_id
    submit(bob, held, E)
    assert state(held.pair) == "closed"
    promises.check(campaign)


# -- A whole turn ---------------------------------------------------------------------------------


def turn(
    campaign: Campaign, judge: User, seat: Seat, grade: int = G
) -> tuple[Judgment, list[Seat]]:
    assert seat.token is not None
    answer = Answer(grade, uuid.uuid4())
    return routing.submit_and_hold(campaign, judge, (seat.pk, seat.token), answer)


def test_a_turn_saves_and_gives_the_pair_to_judge_and_the_one_after(
    campaign: Campaign, alice: User
) -> None:
    first, second = routing.hold(campaign, alice)
    saved, (now, ahead) = turn(campaign, alice, first)
    assert saved.pair_id == first.pair_id
    assert now == second
    assert now.token == second.token
    assert ahead.pair.query.text == "query 1"
    assert ahead.pair.document.title == "Title 1.3"
    promises.check(campaign)


def test_a_turn_ends_when_nothing_is_left(campaign: Campaign, alice: User) -> None:
    seats = routing.hold(campaign, alice)
    sizes = []
    while seats:
        _, seats = turn(campaign, alice, seats[0])
        sizes.append(len(seats))
    assert sizes == [2, 2, 2, 2, 1, 0]


def test_a_turn_is_saved_whatever_comes_after(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    his = claim(campaign, bob)
    hers = routing.hold(campaign, alice)
    run_out(his)
    saved, seats = turn(campaign, alice, hers[0])
    assert len(seats) == 2
    Membership.objects.filter(user=alice).delete()
    other, none = turn(campaign, alice, seats[0])
    assert none == []
    assert Judgment.objects.filter(pk__in=[saved.pk, other.pk]).count() == 2
    promises.check(campaign)


def test_a_turn_with_gold_pairs_is_the_same(campaign: Campaign, alice: User, dana: User) -> None:
    make_gold(campaign, dana, 3)
    campaign = change(campaign, gold_percent=50)
    seats, seen = routing.hold(campaign, alice), []
    while seats:
        saved, seats = turn(campaign, alice, seats[0])
        seen.append(saved.pair_id)
    assert len(seen) == len(set(seen)) >= 3
    promises.check(campaign)
