"""Why a pair is where it is, in sentences that managers read."""

import uuid

import pytest

from annotate import campaigns, explain, routing
from annotate.models import Campaign, Pair, Refusal, Seat, User
from annotate.routing import Answer
from tests.conftest import person

B, F, G, E, P = range(5)


@pytest.fixture
def eve(campaign: Campaign) -> User:
    user = person("eve")
    campaigns.add_judge(campaign, user)
    return user


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    """The first pair in the order of judging; the only one that is asked about."""
    first, *others = campaign.pairs.order_by("position")
    Seat.objects.filter(pair__in=others).delete()
    Pair.objects.filter(pk__in=[other.pk for other in others]).update(state=Pair.State.CLOSED)
    return first


def judge(pair: Pair, user: User, grade: int) -> int:
    """The number of the judgment."""
    seat = routing.claim(pair.campaign, user)
    assert seat is not None
    assert seat.token is not None
    assert seat.pair_id == pair.pk
    return routing.submit(user, seat.pk, seat.token, Answer(grade, uuid.uuid4())).pk


def refuse(pair: Pair, user: User, text: str = "") -> None:
    seat = routing.claim(pair.campaign, user)
    assert seat is not None
    assert seat.token is not None
    routing.refuse(user, seat.pk, seat.token, Refusal.Reason.NOT_LOADED, text)


def why(pair: Pair) -> list[str]:
    return explain.explain(Pair.objects.get(pk=pair.pk))


# -- What comes next ------------------------------------------------------------------------------


def test_new_pair_waits_for_its_first_judge(pair: Pair) -> None:
    assert why(pair) == ["Next: a first judge, because if-good-3 begins with one judge."]


def test_pair_of_a_draft_waits_for_the_opening(pair: Pair, campaign: Campaign) -> None:
    Seat.objects.filter(pair=pair).delete()
    assert why(pair) == ["It gets its first judge when the campaign opens."]


def test_who_holds_a_pair_is_named(pair: Pair, campaign: Campaign, alice: User) -> None:
    routing.claim(campaign, alice)
    assert why(pair) == ["alice has it now."]


def test_good_judgment_asks_for_more(pair: Pair, alice: User, bob: User, eve: User) -> None:
    judge(pair, alice, E)
    reason = "because the first judgment was Excellent, and if-good-3 then asks 3 judges in all."
    assert why(pair) == [
        "alice was asked first and said Excellent.",
        "Under if-good-3 that asked for two more judges.",
        f"Next: two more judges, {reason}",
    ]
    judge(pair, bob, F)
    assert why(pair)[2:] == [
        "bob was asked second and said Fair.",
        f"Next: a third judge, {reason}",
    ]


def test_closed_pair_says_why_it_is_closed(pair: Pair, alice: User) -> None:
    judge(pair, alice, B)
    assert why(pair) == [
        "alice was asked first and said Bad.",
        "Closed: the first judgment was Bad, and if-good-3 asks no more.",
    ]


def test_first_names_are_used_where_there_are_any(pair: Pair, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(first_name="Alice Liddell")
    judge(pair, alice, B)
    assert why(pair)[0] == "Alice Liddell was asked first and said Bad."


@pytest.mark.parametrize(
    ("scheme", "grades", "last"),
    [
        ("single", [P], "Closed: single asks one judge, and one has judged."),
        ("k-overlap", [], "Next: three judges, because 3-overlap asks 3 judges, and nobody has"),
        ("k-overlap", [B], "Next: two more judges, because 3-overlap asks 3 judges, and one has"),
        ("good-till-bad", [G], "Next: a second judge, because nobody has said less than Good"),
        ("good-till-bad", [G, F], "Closed: a judgment was Fair, and good-till-bad-11 stops"),
    ],
)
def test_every_scheme_gives_its_reason(
    pair: Pair, alice: User, bob: User, eve: User, *, scheme: str, grades: list[int], last: str
) -> None:
    Campaign.objects.filter(pk=pair.campaign_id).update(scheme_name=scheme)
    pair = Pair.objects.get(pk=pair.pk)
    Seat.objects.filter(pair=pair).delete()
    routing.open_seats(pair.campaign)
    for user, grade in zip((alice, bob, eve), grades, strict=False):
        judge(pair, user, grade)
    assert why(pair)[-1].startswith(last)


# -- What keeps it waiting ------------------------------------------------------------------------


def test_nobody_left_to_ask_is_said(pair: Pair, alice: User, bob: User) -> None:
    judge(pair, alice, G)
    assert len(why(pair)) == 3
    judge(pair, bob, G)
    assert why(pair)[-1] == (
        "It waits: everybody who may judge has judged or refused it. Add a judge."
    )


def test_excluded_and_unqualified_judges_are_not_counted_on(
    pair: Pair, campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    judge(pair, alice, G)
    routing.exclude(campaign, bob, dana)
    assert why(pair)[-1].startswith("It waits: everybody who may judge")
    routing.readmit(campaign, bob, dana)
    Campaign.objects.filter(pk=campaign.pk).update(qualification_size=1)
    assert why(pair)[-1].startswith("It waits: everybody who may judge")
    routing.set_qualified(campaign, bob, dana, True)
    assert why(pair)[-1].startswith("Next:")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"state": Campaign.State.PAUSED}, "It waits: the campaign is paused."),
        ({"budget": 1}, "It waits: the budget of the campaign is used up."),
    ],
)
def test_pause_and_budget_are_said(
    pair: Pair, alice: User, bob: User, fields: dict[str, object], reason: str
) -> None:
    Campaign.objects.filter(pk=pair.campaign_id).update(budget=2)
    judge(Pair.objects.get(pk=pair.pk), alice, G)
    Campaign.objects.filter(pk=pair.campaign_id).update(**fields)
    assert why(pair)[-1] == reason


# -- Changes --------------------------------------------------------------------------------------


def test_correction_withdraws_what_it_had_asked_for(pair: Pair, alice: User) -> None:
    first = judge(pair, alice, G)
    routing.correct(alice, first, Answer(B, uuid.uuid4()))
    assert why(pair)[2:] == [
        "alice changed Good to Bad.",
        "Under if-good-3 that needs two fewer judges.",
        "Closed: the first judgment was Bad, and if-good-3 asks no more.",
    ]


def test_taken_back_judgment_is_hers_to_make_again(pair: Pair, alice: User) -> None:
    routing.take_back(alice, judge(pair, alice, B))
    assert why(pair) == [
        "alice was asked first and said Bad.",
        "alice took Bad back.",
        "alice has it now.",
    ]
    judge(pair, alice, F)
    assert why(pair)[2] == "alice judged again and said Fair."


def test_void_names_the_manager_and_asks_somebody_else(
    pair: Pair, alice: User, bob: User, dana: User
) -> None:
    routing.void(dana, judge(pair, alice, B))
    assert why(pair) == [
        "alice was asked first and said Bad.",
        "dana voided alice's Bad.",
        "Another judge is asked instead.",
        "Next: a first judge, because if-good-3 begins with one judge.",
    ]


def test_put_back_judgment_counts_no_more(
    pair: Pair, campaign: Campaign, alice: User, bob: User, eve: User, dana: User
) -> None:
    judge(pair, alice, G)
    judge(pair, bob, F)
    routing.put_back(campaign, alice, dana)
    told = why(pair)
    assert told[3:5] == [
        "alice's Good was put back: it counts no more.",
        "Closed: the first judgment was Fair, and if-good-3 asks no more.",
    ]


def test_effects_are_said_only_under_the_rules_of_their_time(
    pair: Pair, campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    judge(pair, alice, G)
    campaigns.update(campaign, {"scheme_name": "good-till-bad"}, dana)
    judge(pair, bob, G)
    told = why(pair)
    assert told[:4] == [
        "alice was asked first and said Good.",
        "The rules were changed from if-good-3 with majority labels to good-till-bad-11 with "
        "majority labels (dana).",
        "bob was asked second and said Good.",
        "Under good-till-bad-11 that asked for one more judge.",
    ]


# -- Refusals and decisions -----------------------------------------------------------------------


def test_refusals_give_their_reason(pair: Pair, alice: User, bob: User, eve: User) -> None:
    refuse(pair, alice, "Blank page")
    refuse(pair, bob)
    assert why(pair)[:2] == [
        "alice could not judge: did not load (Blank page).",
        "bob could not judge: did not load.",
    ]
    refuse(pair, eve)
    assert why(pair)[-1] == "Waits for a manager: three judges could not judge it."


def test_dropped_pair_says_who_dropped_it(pair: Pair, dana: User) -> None:
    routing.drop(dana, pair.pk)
    assert why(pair) == [
        "The pair was dropped (dana).",
        "Dropped: nobody is asked any more. What was judged stays.",
    ]
    routing.resume(dana, pair.pk)
    assert why(pair)[1:] == [
        "The pair is asked about again (dana).",
        "Next: a first judge, because if-good-3 begins with one judge.",
    ]


def test_gold_pair_follows_no_scheme(
    pair: Pair, campaign: Campaign, alice: User, dana: User
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(gold_percent=50, qualification_size=1)
    campaign.refresh_from_db()
    pair.campaign = campaign
    routing.give_gold(dana, pair.pk, E)
    judge(pair, alice, G)
    assert why(pair) == [
        "Gold: Excellent (dana).",
        "alice was asked first and said Good.",
        "Gold: its grade is known to be Excellent. It is shown to test judges.",
    ]


def test_steps_carry_their_time_and_what_is_so_now_none(pair: Pair, alice: User) -> None:
    judge(pair, alice, B)
    told, now = explain.steps(Pair.objects.get(pk=pair.pk))
    assert told.at is not None
    assert now.at is None


@pytest.mark.parametrize(
    ("number", "word"), [(1, "first"), (9, "ninth"), (10, "10th"), (11, "11th"), (22, "22nd")]
)
def test_ordinals(number: int, word: str) -> None:
    assert explain._ordinal(number) == word
