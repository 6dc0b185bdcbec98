"""Pairs: lists, one pair with everything said about it, and what a manager decides."""

import re
import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import adjudication, campaigns, pairs, routing
from annotate.models import Adjudication, Campaign, Event, Job, Judgment, Pair, Refusal, User
from annotate.routing import Answer
from tests.conftest import person, signed_in

B, F, G, E, P = range(5)
LIST = "/campaigns/library/pairs/"


@pytest.fixture
def eve(campaign: Campaign) -> User:
    user = person("eve")
    campaigns.add_judge(campaign, user)
    return user


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    """The one that is judged first."""
    return campaign.pairs.order_by("position")[0]


def judge(campaign: Campaign, user: User, grade: int, comment: str = "") -> Judgment:
    seat = routing.claim(campaign, user)
    assert seat is not None
    assert seat.token is not None
    answer = Answer(grade, uuid.uuid4(), comment, 12_400)
    return routing.submit(user, seat.pk, seat.token, answer)


@pytest.fixture
def dispute(campaign: Campaign, pair: Pair, alice: User, bob: User) -> Pair:
    """Alice says Perfect, Bob says Bad."""
    assert judge(campaign, alice, P, "The page itself.").pair == pair
    assert judge(campaign, bob, B).pair == pair
    pair.refresh_from_db()
    return pair


def text(response: Any) -> str:
    """What a person reads: no tags, single blanks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def page(pair: Pair) -> str:
    return reverse("pair", args=["library", pair.pk])


def change(client: Client, pair: Pair, action: str, **fields: object) -> Any:
    address = reverse("pair_change", args=["library", pair.pk])
    return client.post(address, {"action": action, **fields})


# -- Who may --------------------------------------------------------------------------------------


def test_pages_are_the_managers(
    campaign: Campaign, pair: Pair, client: Client, alice_client: Client, charlie_client: Client
) -> None:
    erin = signed_in(person("erin", User.Role.MANAGER))
    strangers = ((client, 302), (alice_client, 404), (charlie_client, 404), (erin, 404))
    for stranger, status in strangers:
        assert stranger.get(LIST).status_code == status
        assert stranger.get(page(pair)).status_code == status
        assert change(stranger, pair, "drop").status_code == status
    pair.refresh_from_db()
    assert pair.state == Pair.State.OPEN


def test_pair_of_another_campaign_does_not_exist(
    campaign: Campaign, pair: Pair, dana: User, dana_client: Client
) -> None:
    other = campaigns.create(dana, {"name": "Other"})
    for name in ("pair", "pair_change"):
        address = reverse(name, args=[other.slug, pair.pk])
        send = dana_client.get if name == "pair" else dana_client.post
        assert send(address).status_code == 404


def test_wrong_methods_are_refused(campaign: Campaign, pair: Pair, dana_client: Client) -> None:
    assert dana_client.post(LIST).status_code == 405
    assert dana_client.post(page(pair)).status_code == 405
    assert dana_client.get(reverse("pair_change", args=["library", pair.pk])).status_code == 405


# -- Lists ----------------------------------------------------------------------------------------


def test_list_shows_every_pair_with_its_grades(dispute: Pair, dana_client: Client) -> None:
    shown = text(dana_client.get(LIST))
    assert "All 6" in shown
    assert "query 1 Title 1.1 https://example.org/1/1 Perfect Bad" in shown


def test_choices_count_and_filter(
    campaign: Campaign, dispute: Pair, dana: User, dana_client: Client
) -> None:
    gold, dropped, *_ = campaign.pairs.exclude(pk=dispute.pk).order_by("position")
    routing.give_gold(dana, gold.pk, E)
    routing.drop(dana, dropped.pk)
    assert pairs.counts(campaign) == {
        "all": 6,
        "open": 4,
        "closed": 0,
        "disputed": 1,
        "referred": 0,
        "dropped": 1,
        "gold": 1,
    }
    for show, here in (("gold", gold), ("dropped", dropped), ("disputed", dispute)):
        assert list(pairs.shown(campaign, show)) == [here]
        shown = dana_client.get(LIST, {"show": show})
        assert page(here) in shown.content.decode()
        assert shown.content.decode().count('scope="row"') == 1


def test_pairs_of_a_file_that_is_being_loaded_do_not_exist_yet(
    campaign: Campaign, pair: Pair, dana_client: Client
) -> None:
    Pair.objects.filter(pk=pair.pk).update(state=Pair.State.LOADING)
    assert pairs.counts(campaign)[pairs.ALL] == 5
    assert pair not in pairs.shown(campaign)
    assert dana_client.get(page(pair)).status_code == 404
    assert change(dana_client, pair, "gold", grade="2").status_code == 404


def test_unknown_choice_and_page_show_what_there_is(
    campaign: Campaign, dana_client: Client
) -> None:
    shown = dana_client.get(LIST, {"show": "nonsense", "page": "99"})
    assert shown.status_code == 200
    assert "Title 1.1" in text(shown)


def test_search_finds_queries_by_all_their_words(campaign: Campaign, dana_client: Client) -> None:
    found = text(dana_client.get(LIST, {"query": "2 QUERY"}))
    assert "Title 2.1" in found
    assert "Title 1.1" not in found
    nothing = text(dana_client.get(LIST, {"query": "% zebra"}))
    assert "No query holds these words here." in nothing


def test_list_is_paged(campaign: Campaign, dana_client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("annotate.views.pairs.PER_PAGE", 4)
    first = dana_client.get(LIST)
    assert "1–4 of 6" in text(first)
    assert "?page=2" in first.content.decode()
    assert "5–6 of 6" in text(dana_client.get(LIST, {"page": "2"}))
    kept = dana_client.get(LIST, {"query": "query", "show": "open"}).content.decode()
    assert "?query=query&amp;show=open&amp;page=2" in kept


@pytest.mark.parametrize("show", list(pairs.SHOWS))
def test_empty_lists_say_so(dana: User, dana_client: Client, show: str) -> None:
    campaigns.create(dana, {"name": "Empty"})
    shown = text(dana_client.get("/campaigns/empty/pairs/", {"show": show}))
    assert "None." in shown or "No pairs yet." in shown


def test_a_page_of_the_list_costs_the_same_few_statements(
    campaign: Campaign, dana_client: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        dana_client.get(LIST)


# -- Disputes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "spread"), [(P, B, 4), (E, F, 2), (G, F, 1), (G, G, 0)]
)
def test_spread_follows_the_judgments(
    campaign: Campaign, alice: User, bob: User, dana: User, *, first: int, second: int, spread: int
) -> None:
    pair = judge(campaign, alice, first).pair
    last = judge(campaign, bob, second)
    pair.refresh_from_db()
    assert pair.spread == spread
    assert (pair in pairs.disputed(campaign)) == (spread >= 2)
    routing.void(dana, last.pk)
    pair.refresh_from_db()
    assert pair.spread == 0


def test_most_disputed_pairs_come_first_and_decided_ones_go(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    mild = judge(campaign, alice, E).pair
    sharp = judge(campaign, alice, P).pair
    judge(campaign, bob, F)
    judge(campaign, bob, B)
    assert list(pairs.disputed(campaign)) == [sharp, mild]
    adjudication.decide(dana, sharp.pk, G)
    assert list(pairs.disputed(campaign)) == [mild]


def test_queue_leads_from_one_to_the_next(
    campaign: Campaign, alice: User, bob: User, dana_client: Client
) -> None:
    numbers = [judge(campaign, alice, grade).pair_id for grade in (P, E, G)]
    for _ in numbers:
        judge(campaign, bob, B)
    first, second, third = (Pair.objects.get(pk=number) for number in numbers)
    assert pairs.place(second) == pairs.Place(left=3, before=first.pk, after=third.pk)
    assert pairs.place(first).before is None
    assert pairs.place(third).after is None
    shown = dana_client.get(page(second), {"queue": "disputed"})
    assert "3 disputed pairs to decide" in text(shown)
    for number in (first, third):
        assert f'href="{page(number)}?queue=disputed"' in shown.content.decode()
    assert "disputed" not in text(dana_client.get(page(second)))


def test_deciding_in_the_queue_goes_to_the_next_and_ends_at_the_list(
    campaign: Campaign, alice: User, bob: User, dana_client: Client
) -> None:
    first, second = (judge(campaign, alice, grade).pair for grade in (P, E))
    for _ in range(2):
        judge(campaign, bob, B)
    for here, following in (
        (first, f"{page(second)}?queue=disputed"),
        (second, f"{LIST}?show=disputed"),
    ):
        address = f"{reverse('pair_change', args=['library', here.pk])}?queue=disputed"
        answer = dana_client.post(address, {"action": "adjudicate", "grade": "2"})
        assert answer["Location"] == following


# -- One pair -------------------------------------------------------------------------------------


def test_page_shows_all_judgments_and_why(dispute: Pair, dana_client: Client) -> None:
    shown = text(dana_client.get(page(dispute)))
    assert "alice Perfect 12 s default" in shown
    assert "Comment: The page itself." in shown
    assert "alice was asked first and said Perfect." in shown
    assert "Next: a third judge, because the first judgment was Perfect" in shown


def test_page_shows_what_no_longer_counts(
    dispute: Pair, alice: User, bob: User, dana: User, dana_client: Client
) -> None:
    hers, his = Judgment.objects.filter(pair=dispute).order_by("id")
    routing.correct(alice, hers.pk, Answer(E, uuid.uuid4()))
    routing.void(dana, his.pk)
    fates = [(said.judgment.grade, said.counts, said.fate) for said in pairs.judgments(dispute)]
    assert fates == [
        (P, False, "Changed to Excellent"),
        (B, False, "Voided"),
        (E, True, "Counts"),
    ]
    assert text(dana_client.get(page(dispute))).count("Void the judgment") == 1


def test_fates_of_judgments_taken_back_and_put_back(
    dispute: Pair, campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    hers, _ = Judgment.objects.filter(pair=dispute).order_by("id")
    routing.take_back(alice, hers.pk)
    routing.put_back(campaign, bob, dana)
    assert [said.fate for said in pairs.judgments(dispute)] == ["Taken back", "Put back"]


def test_texts_of_strangers_are_shown_as_texts(
    campaign: Campaign, pair: Pair, alice: User, dana_client: Client
) -> None:
    judge(campaign, alice, B, "<script>alert(1)</script>")
    html = dana_client.get(page(pair)).content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert 'rel="noopener noreferrer nofollow"' in html


# -- Decisions ------------------------------------------------------------------------------------


def test_void_takes_a_judgment_out(dispute: Pair, dana_client: Client) -> None:
    first = dispute.judgments.order_by("id")[0]
    assert change(dana_client, dispute, "void", judgment=first.pk).status_code == 302
    assert [said.fate for said in pairs.judgments(dispute)] == ["Voided", "Counts"]


@pytest.mark.parametrize("number", ["", "x", "999999", "²", "9" * 30])
def test_void_of_no_judgment_of_the_pair_changes_nothing(
    campaign: Campaign, dispute: Pair, alice: User, dana_client: Client, number: str
) -> None:
    other = judge(campaign, alice, G)
    for sent in (number, other.pk):
        assert change(dana_client, dispute, "void", judgment=sent).status_code == 302
        assert "There is no such judgment of this pair." in text(dana_client.get(page(dispute)))
    assert Judgment.objects.filter(grade=None).count() == 0


def test_pair_is_dropped_and_asked_about_again(pair: Pair, dana_client: Client) -> None:
    change(dana_client, pair, "drop")
    pair.refresh_from_db()
    assert pair.state == Pair.State.DROPPED
    change(dana_client, pair, "resume")
    pair.refresh_from_db()
    assert pair.state == Pair.State.OPEN
    change(dana_client, pair, "resume")
    assert "This cannot be done with the pair as it is now." in text(dana_client.get(page(pair)))


def test_pair_becomes_gold_and_ordinary_again(pair: Pair, dana_client: Client) -> None:
    change(dana_client, pair, "gold", grade="3", note="It answers fully.")
    pair.refresh_from_db()
    assert (pair.state, pair.gold, pair.gold_note) == (Pair.State.GOLD, E, "It answers fully.")
    change(dana_client, pair, "ungold")
    pair.refresh_from_db()
    assert (pair.state, pair.gold, pair.gold_note) == (Pair.State.OPEN, None, "")


@pytest.mark.parametrize("action", ["gold", "adjudicate"])
@pytest.mark.parametrize("grade", ["", "5", "-1", "Good", "2.5"])
def test_bad_grades_are_refused_with_the_reason(
    pair: Pair, dana_client: Client, action: str, grade: str
) -> None:
    answer = change(dana_client, pair, action, grade=grade)
    assert answer.status_code == 422
    wanted = "Choose a grade." if not grade else f"A grade must be 0 to 4. Got {grade} instead."
    assert wanted in text(answer)
    pair.refresh_from_db()
    assert pair.state == Pair.State.OPEN
    assert not Adjudication.objects.exists()


def test_unknown_action_changes_nothing(pair: Pair, dana_client: Client) -> None:
    assert change(dana_client, pair, "explode").status_code == 302
    assert "There is no such action." in text(dana_client.get(page(pair)))
    assert not Event.objects.filter(pair=pair).exists()


# -- Adjudication ---------------------------------------------------------------------------------


def test_final_grade_is_kept_with_who_and_why(
    dispute: Pair, dana: User, dana_client: Client
) -> None:
    change(dana_client, dispute, "adjudicate", grade="2", note="Half an answer.")
    final = Adjudication.objects.get()
    assert (final.pair, final.grade, final.note, final.by) == (dispute, G, "Half an answer.", dana)
    shown = text(dana_client.get(page(dispute)))
    assert "Final, by dana" in shown
    assert "The final grade is Good (dana)." in shown


def test_final_grade_marks_the_label_as_out_of_date(dispute: Pair, dana: User) -> None:
    Pair.objects.update(stale=False)
    Job.objects.all().delete()
    adjudication.decide(dana, dispute.pk, G)
    dispute.refresh_from_db()
    assert dispute.stale
    assert Job.objects.get().kind == "aggregate"


def test_second_decision_replaces_the_first_and_both_are_on_record(
    dispute: Pair, dana: User
) -> None:
    adjudication.decide(dana, dispute.pk, G)
    before = Adjudication.objects.get()
    adjudication.decide(dana, dispute.pk, F, "On second thoughts.")
    after = Adjudication.objects.get()
    assert (after.grade, after.note) == (F, "On second thoughts.")
    assert after.created_at >= before.created_at
    assert Event.objects.filter(sentence__startswith="The final grade is").count() == 2


def test_final_grade_can_be_withdrawn(dispute: Pair, dana: User, dana_client: Client) -> None:
    adjudication.decide(dana, dispute.pk, G)
    change(dana_client, dispute, "withdraw")
    assert not Adjudication.objects.exists()
    change(dana_client, dispute, "withdraw")
    assert Event.objects.filter(sentence="The final grade was withdrawn.").count() == 1


def test_gold_pair_is_not_decided(pair: Pair, dana: User, dana_client: Client) -> None:
    routing.give_gold(dana, pair.pk, E)
    change(dana_client, pair, "adjudicate", grade="2")
    assert "A gold pair has its grade already." in text(dana_client.get(page(pair)))
    assert not Adjudication.objects.exists()


def test_grade_out_of_range_is_no_final_grade(pair: Pair, dana: User) -> None:
    with pytest.raises(adjudication.AdjudicationError, match=r"must be 0 to 4\. Got 5"):
        adjudication.decide(dana, pair.pk, 5)


# -- What judges see ------------------------------------------------------------------------------


def test_judges_see_nothing_of_it(campaign: Campaign, dispute: Pair, eve: User, dana: User) -> None:
    adjudication.decide(dana, dispute.pk, G, "A note for managers.")
    html = signed_in(eve).get("/judge/library/").content.decode()
    assert "Title 1.1" in html
    for secret in ("A note for managers.", "alice", "bob", "The page itself."):
        assert secret not in html


def test_refused_pair_shows_its_reasons(
    campaign: Campaign, pair: Pair, alice: User, dana_client: Client
) -> None:
    seat = routing.claim(campaign, alice)
    assert seat is not None
    assert seat.token is not None
    routing.refuse(alice, seat.pk, seat.token, Refusal.Reason.LANGUAGE)
    assert "alice could not judge: wrong language." in text(dana_client.get(page(pair)))
