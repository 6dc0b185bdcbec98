"""The judging page: with script and without, and everything a judge may get wrong."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import campaigns, judging, routing
from annotate.handles import handle, seat_id
from annotate.models import (
    Campaign,
    Document,
    Guideline,
    Judgment,
    Membership,
    Pair,
    Query,
    Refusal,
    Seat,
    User,
)

JUDGE = "/judge/library/"
JSON = {"accept": "application/json"}

Fields = dict[str, Any]


@pytest.fixture
def held(campaign: Campaign, alice: User) -> Fields:
    """The seat alice holds, as the page would send it back."""
    return fields_of(campaign, alice)


def fields_of(campaign: Campaign, judge: User) -> Fields:
    seat = routing.claim(campaign, judge)
    assert seat
    return {"seat": handle(seat.pk), "token": str(seat.token)}


def grades_of(user: User) -> list[int | None]:
    return list(user.judgments.order_by("pk").values_list("grade", flat=True))


# -- The page -------------------------------------------------------------------------------------


def test_page_shows_a_pair_and_five_grades(alice_client: Client, campaign: Campaign) -> None:
    page = alice_client.get(JUDGE).content.decode()
    assert "query 1" in page
    assert "<b data-host>example.org</b>" in page
    for value, word in enumerate(["Bad", "Fair", "Good", "Excellent", "Perfect"]):
        assert f'name="grade" value="{value}"' in page
        assert f'<span class="grade-name">{word}</span>' in page
    assert "0 of 50" in page


def test_reload_shows_the_same_pair(alice_client: Client, campaign: Campaign) -> None:
    first, second = (alice_client.get(JUDGE).context["pair"] for _ in range(2))
    assert (first.seat, first.token) == (second.seat, second.token)
    assert Seat.objects.filter(judge__isnull=False).count() == 1


@pytest.mark.parametrize(
    "name",
    ["judge", "judge_undo", "judge_refuse", "judge_release", "judge_recent", "judge_guidelines"],
)
class TestEveryPage:
    def test_needs_log_in(self, client: Client, campaign: Campaign, name: str) -> None:
        url = reverse(name, args=["library"])
        assert client.post(url)["Location"].startswith("/sign-in/")

    def test_is_404_for_a_stranger(
        self, charlie_client: Client, dana_client: Client, campaign: Campaign, name: str
    ) -> None:
        url = reverse(name, args=["library"])
        method = "get" if name == "judge_guidelines" else "post"
        assert getattr(charlie_client, method)(url).status_code == 404
        assert getattr(dana_client, method)(url).status_code == 404

    def test_refuses_the_wrong_method(
        self, alice_client: Client, campaign: Campaign, name: str
    ) -> None:
        wrong = {"judge": "put", "judge_recent": "put", "judge_guidelines": "put"}.get(name, "get")
        assert getattr(alice_client, wrong)(reverse(name, args=["library"])).status_code == 405


def test_form_from_another_site_changes_nothing(alice: User, held: Fields) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post(JUDGE, held | {"grade": 3}).status_code == 403
    assert grades_of(alice) == []


# -- Grading --------------------------------------------------------------------------------------


def test_grade_is_saved_and_the_next_pair_shown(
    alice_client: Client, alice: User, held: Fields
) -> None:
    answer = alice_client.post(JUDGE, held | {"grade": 3, "comment": "one\r\ntwo"})
    assert (answer.status_code, answer["Location"]) == (302, JUDGE)
    judgment = Judgment.objects.get()
    assert (judgment.judge, judgment.grade, judgment.comment) == (alice, 3, "one\ntwo")
    page = alice_client.get(JUDGE)
    assert page.context["pair"].seat != held["seat"]
    assert "Saved: Excellent" in page.content.decode()
    assert "1 of 50" in page.content.decode()


def test_script_gets_saved_next_and_progress_in_one_answer(
    alice_client: Client, held: Fields
) -> None:
    answer = alice_client.post(JUDGE, held | {"grade": 2, "active_ms": 4321}, headers=JSON)
    assert answer.status_code == 200
    body = answer.json()
    judgment = Judgment.objects.get()
    assert body["saved"] == {"id": judgment.pk, "grade": 2, "word": "Good"}
    assert judgment.active_ms == 4321
    assert body["next"]["title"] == "Title 1.2"
    assert body["next"]["seat"] != held["seat"]
    assert body["ahead"]["title"] == "Title 1.3"
    assert body["progress"] == {"done": 1, "goal": 50, "seconds": 4, "shown": 1}
    assert body["idle"] is None


@pytest.mark.parametrize("headers", [{}, JSON])
def test_double_click_is_one_judgment(
    alice_client: Client, alice: User, held: Fields, headers: dict[str, str]
) -> None:
    for _ in range(2):
        assert alice_client.post(JUDGE, held | {"grade": 3}, headers=headers).status_code < 400
    assert grades_of(alice) == [3]


def test_second_tab_is_told_that_the_first_grade_stands(
    alice_client: Client, alice: User, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON)
    body = alice_client.post(JUDGE, held | {"grade": 0}, headers=JSON).json()
    assert body["saved"]["grade"] == 3
    assert "already" in body["note"]
    assert grades_of(alice) == [3]


@pytest.mark.parametrize("active_ms", ["", "-5", "soon", "9" * 30, "86400001", "٣"])
def test_wrong_clock_does_not_cost_the_judgment(
    alice_client: Client, held: Fields, active_ms: str
) -> None:
    alice_client.post(JUDGE, held | {"grade": 1, "active_ms": active_ms})
    assert Judgment.objects.get().active_ms is None


# -- Bad input ------------------------------------------------------------------------------------

BAD = [
    ({"grade": "5"}, "A grade must be 0 to 4. Got 5 instead."),
    ({"grade": "-1"}, "A grade must be 0 to 4. Got -1 instead."),
    ({"grade": "9" * 400}, ""),
    ({"grade": "good"}, ""),
    ({"grade": ""}, "Choose a grade."),
    ({"seat": "x"}, "No such pair."),
    ({"seat": ""}, "The pair is missing."),
    ({"seat": "9" * 30}, ""),
    ({"seat": "0"}, ""),
    ({"token": "garbage"}, "No such pair."),
    ({"comment": "x" * 2001}, "A comment must have at most 2000 characters. Got 2001 instead."),
    ({"comment": "a\0b"}, ""),
]


@pytest.mark.parametrize(("change", "sentence"), BAD)
def test_bad_input_is_a_clear_sentence_and_keeps_the_pair(
    alice_client: Client, alice: User, held: Fields, change: Fields, sentence: str
) -> None:
    fields = held | {"grade": "3"} | change
    answer = alice_client.post(JUDGE, fields, headers=JSON)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert answer.json()["error"].endswith(".")
    assert answer.json()["next"]["seat"] == held["seat"]
    assert alice_client.post(JUDGE, fields, follow=True).status_code == 200
    assert grades_of(alice) == []


def test_bad_input_is_said_on_the_page(alice_client: Client, held: Fields) -> None:
    page = alice_client.post(JUDGE, held | {"grade": "7"}, follow=True).content.decode()
    assert '<li class="message message-error">A grade must be 0 to 4. Got 7 instead.</li>' in page


@pytest.fixture
def stale(campaign: Campaign, alice: User, bob: User) -> dict[str, Fields]:
    """Seats that are not alice's."""
    held = fields_of(campaign, alice)
    return {
        "bob's": fields_of(campaign, bob),
        "wrong token": held | {"token": str(uuid.uuid4())},
        "no such seat": held | {"seat": 987654321},
    }


@pytest.mark.parametrize("which", ["bob's", "wrong token", "no such seat"])
def test_stale_or_foreign_seat_is_a_conflict_with_the_next_pair(
    alice_client: Client, stale: dict[str, Fields], which: str
) -> None:
    answer = alice_client.post(JUDGE, stale[which] | {"grade": 3}, headers=JSON)
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("This pair is no")
    assert answer.json()["next"]["title"] == "Title 1.1"
    refusal = alice_client.post(f"{JUDGE}refuse/", stale[which] | {"reason": "other"}, headers=JSON)
    assert refusal.status_code == 409
    assert not Judgment.objects.exists()
    assert not Refusal.objects.exists()


def test_seat_of_another_campaign_is_not_graded_through_this_one(
    alice_client: Client, campaign: Campaign, alice: User, dana: User
) -> None:
    other = Campaign.objects.create(slug="other", name="Other", state="open", created_by=dana)
    membership = Membership.objects.create(campaign=other, user=alice, role="judge")
    query = Query.objects.create(campaign=other, key="q", text="q")
    document = Document.objects.create(campaign=other, key="d")
    Pair.objects.create(campaign=other, query=query, document=document, rank=1, position=1)
    routing.open_seats(other)
    fields = fields_of(other, alice)
    membership.delete()
    answer = alice_client.post(JUDGE, fields | {"grade": 3}, headers=JSON)
    assert answer.status_code == 409
    assert not Judgment.objects.exists()


def test_closed_campaign_takes_no_judgment_and_says_so(
    alice_client: Client, campaign: Campaign, held: Fields
) -> None:
    Campaign.objects.update(state=Campaign.State.CLOSED)
    answer = alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON)
    assert answer.status_code == 409
    assert answer.json()["error"] == "This campaign is closed. It takes no more judgments."
    assert (answer.json()["next"], answer.json()["idle"]["title"]) == (None, "Finished.")
    assert not Judgment.objects.exists()


def test_paused_campaign_takes_the_judgment_that_is_being_made(
    alice_client: Client, campaign: Campaign, held: Fields
) -> None:
    Campaign.objects.update(state=Campaign.State.PAUSED)
    body = alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON).json()
    assert body["saved"]["grade"] == 3
    assert body["idle"]["title"] == "Paused."


def test_judge_taken_off_while_the_page_is_open_gets_404(
    alice_client: Client, alice: User, held: Fields
) -> None:
    Membership.objects.filter(user=alice).delete()
    assert alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON).status_code == 404


# -- Undo, refuse, finish -------------------------------------------------------------------------


def test_undo_brings_the_pair_and_her_grade_back(
    alice_client: Client, alice: User, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON)
    body = alice_client.post(f"{JUDGE}undo/", headers=JSON).json()
    assert (body["next"]["seat"], body["next"]["before"]) == (held["seat"], 3)
    assert body["next"]["token"] != held["token"]
    assert body["progress"]["done"] == 0
    assert grades_of(alice) == [3, None]
    held_now = Seat.objects.filter(judge=alice, state="open")
    assert {handle(seat.pk) for seat in held_now} == {body["next"]["seat"], body["ahead"]["seat"]}


def test_undo_without_script_shows_the_pair_again(alice_client: Client, held: Fields) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    page = alice_client.post(f"{JUDGE}undo/", follow=True)
    assert page.context["pair"].seat == held["seat"]
    assert 'value="3" role="radio" aria-checked="true"' in page.content.decode()


def test_judgment_is_corrected_by_undo_and_a_new_grade(
    alice_client: Client, alice: User, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3}, headers=JSON)
    again = alice_client.post(f"{JUDGE}undo/", headers=JSON).json()["next"]
    fields = {"seat": again["seat"], "token": again["token"], "grade": 1}
    assert alice_client.post(JUDGE, fields, headers=JSON).status_code == 200
    assert grades_of(alice) == [3, None, 1]
    assert Seat.objects.get(pk=seat_id(held["seat"])).judgment == Judgment.objects.latest("pk")


def test_undo_goes_back_step_by_step(alice_client: Client, campaign: Campaign, alice: User) -> None:
    seats = []
    for _ in range(2):
        fields = fields_of(campaign, alice)
        seats.append(fields["seat"])
        alice_client.post(JUDGE, fields | {"grade": 0}, headers=JSON)
    undone = [
        alice_client.post(f"{JUDGE}undo/", headers=JSON).json()["next"]["seat"] for _ in range(2)
    ]
    assert undone == seats[::-1]


def test_nothing_to_undo_is_a_clear_sentence(alice_client: Client, campaign: Campaign) -> None:
    answer = alice_client.post(f"{JUDGE}undo/", headers=JSON)
    assert answer.status_code == 409
    assert answer.json()["error"] == "There is no judgment to take back."


@pytest.mark.parametrize(("judgment", "status"), [("x", 400), ("9" * 40, 400), ("999999", 409)])
def test_garbage_undo_takes_nothing_back(
    alice_client: Client, alice: User, held: Fields, judgment: str, status: int
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    answer = alice_client.post(f"{JUDGE}undo/", {"judgment": judgment}, headers=JSON)
    assert answer.status_code == status
    assert grades_of(alice) == [3]


def test_nobody_undoes_another_judges_grade(
    alice_client: Client, bob_client: Client, campaign: Campaign, bob: User, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 0})
    bob_client.post(JUDGE, fields_of(campaign, bob) | {"grade": 0})
    hers = Judgment.objects.earliest("pk")
    answer = bob_client.post(f"{JUDGE}undo/", {"judgment": hers.pk}, headers=JSON)
    assert answer.status_code == 409
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("headers", [{}, JSON])
def test_refusal_passes_the_pair_on_once(
    alice_client: Client, alice: User, held: Fields, headers: dict[str, str]
) -> None:
    for _ in range(2):
        answer = alice_client.post(
            f"{JUDGE}refuse/", held | {"reason": "language"}, headers=headers
        )
        assert answer.status_code < 400
    refusal = Refusal.objects.get()
    assert (refusal.judge, refusal.reason) == (alice, "language")
    assert not Judgment.objects.exists()
    shown = alice_client.get(JUDGE, headers=JSON).json()["next"]
    assert shown["title"] == "Title 1.2"


@pytest.mark.parametrize("reason", ["", "boring"])
def test_refusal_needs_one_of_the_reasons(alice_client: Client, held: Fields, reason: str) -> None:
    answer = alice_client.post(f"{JUDGE}refuse/", held | {"reason": reason}, headers=JSON)
    assert answer.status_code == 400
    assert "reason" in answer.json()["error"]
    assert not Refusal.objects.exists()


def test_finish_gives_the_seat_back(alice_client: Client, alice: User, held: Fields) -> None:
    answer = alice_client.post(f"{JUDGE}release/", held)
    assert answer["Location"] == "/judge/"
    assert not Seat.objects.filter(judge=alice).exists()


def test_finish_gives_back_the_prefetched_pair_too(
    alice_client: Client, alice: User, campaign: Campaign
) -> None:
    alice_client.get(JUDGE, headers=JSON)
    assert Seat.objects.filter(judge=alice).count() == 2
    alice_client.post(f"{JUDGE}release/", {"seat": "x", "token": "y"})
    assert not Seat.objects.filter(judge=alice).exists()


# -- Recent ---------------------------------------------------------------------------------------


def test_recent_grade_is_changed_once(alice_client: Client, alice: User, held: Fields) -> None:
    alice_client.post(JUDGE, held | {"grade": 3, "comment": "a remark"})
    first = alice.judgments.get()
    page = alice_client.get(f"{JUDGE}recent/").content.decode()
    assert "Title 1.1" in page
    assert "a remark" in page
    for _ in range(2):
        answer = alice_client.post(f"{JUDGE}recent/", {"judgment": first.pk, "grade": 1})
        assert answer["Location"] == f"{JUDGE}recent/"
    assert grades_of(alice) == [3, 1]
    second = alice.judgments.latest("pk")
    assert (second.supersedes, second.comment) == (first, "a remark")
    assert "Saved: Fair." in alice_client.get(f"{JUDGE}recent/").content.decode()


def test_grade_may_change_back_and_forth(alice_client: Client, alice: User, held: Fields) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    for grade in (1, 3, 1):
        judgment = alice.judgments.latest("pk").pk
        alice_client.post(f"{JUDGE}recent/", {"judgment": judgment, "grade": grade})
    assert grades_of(alice) == [3, 1, 3, 1]


@pytest.mark.parametrize(
    "change", [{"grade": "9"}, {"grade": ""}, {"judgment": "x"}, {"judgment": "99999999"}]
)
def test_bad_correction_is_a_clear_sentence(
    alice_client: Client, alice: User, held: Fields, change: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    fields = {"judgment": alice.judgments.get().pk, "grade": "1"} | change
    page = alice_client.post(f"{JUDGE}recent/", fields, follow=True).content.decode()
    assert "message-error" in page
    assert grades_of(alice) == [3]


def test_nobody_corrects_another_judges_grade(
    alice_client: Client, bob_client: Client, alice: User, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    bob_client.post(f"{JUDGE}recent/", {"judgment": alice.judgments.get().pk, "grade": 0})
    assert grades_of(alice) == [3]
    assert Judgment.objects.count() == 1
    assert "Nothing here yet." in bob_client.get(f"{JUDGE}recent/").content.decode()


# -- Blind ----------------------------------------------------------------------------------------


def test_judge_is_sent_nothing_but_the_pair(
    alice_client: Client, campaign: Campaign, bob: User
) -> None:
    Pair.objects.update(truth=4, features=b"SECRET", rank=777_777)
    seat = routing.claim(campaign, bob)
    assert seat
    assert seat.token
    routing.submit(bob, seat.pk, seat.token, routing.Answer(3, uuid.uuid4(), "a telling remark"))
    body = alice_client.get(JUDGE, headers=JSON).json()
    assert body["next"].keys() == {
        *("seat", "token", "query", "intent", "locale", "lang", "title", "address"),
        *("snippet", "text", "words", "cut", "before", "live"),
    }
    assert body["next"]["before"] is None
    assert body["progress"]["done"] == 0
    page = alice_client.get(JUDGE).content.decode()
    for secret in ("777777", "SECRET", "a telling remark", "truth", "bob"):
        assert secret not in page
        assert secret not in str(body)


# -- What is shown --------------------------------------------------------------------------------


@pytest.fixture
def show(campaign: Campaign, alice: User) -> Callable[..., judging.ShownPair]:
    """The first pair as alice sees it, with some columns changed."""

    def change(**columns: str) -> judging.ShownPair:
        seat = routing.claim(campaign, alice)
        assert seat
        of_query = {k: v for k, v in columns.items() if k in ("query", "intent", "locale")}
        if "query" in of_query:
            of_query["text"] = of_query.pop("query")
        of_document = {k: v for k, v in columns.items() if k in ("title", "url", "snippet", "text")}
        Query.objects.filter(pk=seat.pair.query_id).update(**of_query)
        Document.objects.filter(pk=seat.pair.document_id).update(**of_document)
        seat = routing.claim(campaign, alice)
        assert seat
        return judging.shown(seat)

    return change


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://docs.python.org/3/", True),
        ("HTTP://example.org", True),
        ("http://[::1]:8000/x", True),
        ("javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        (" https://example.org", False),
        ("data:text/html,hello", False),
        ("//evil.example/", False),
        ("https:///path", False),
        ("https://docs.python.org@evil.example/", False),
        ("https://docs.python.org\\@evil.example/", False),
        ("http://[::1", False),
        ("ftp://example.org/", False),
        ("", False),
    ],
)
def test_only_plain_web_addresses_are_linked(
    alice_client: Client, show: Callable[..., judging.ShownPair], url: str, linked: bool
) -> None:
    address = show(url=url).address
    assert address.href == (url if linked else "")
    assert address.before + address.host + address.after == url
    page = alice_client.get(JUDGE).content.decode()
    assert ('rel="noopener noreferrer"' in page) is linked


def test_host_is_told_apart(show: Callable[..., judging.ShownPair]) -> None:
    address = show(url="https://example.org:8080/a?b=https://evil.example/").address
    assert address.host == "example.org:8080"


def test_words_of_the_query_are_marked(show: Callable[..., judging.ShownPair]) -> None:
    pair = show(query="how to parse the command line", snippet="Parsing a command line, the end.")
    assert pair.snippet == [
        ("Parsing", True),
        (" a ", False),
        ("command line", True),
        (", the end.", False),
    ]


@pytest.mark.parametrize("text", ["", "no hit", "parse", "parse parse\n parse", "解析します 解析"])
def test_marking_loses_no_character(show: Callable[..., judging.ShownPair], text: str) -> None:
    pair = show(query="parse 解析", snippet=text)
    assert "".join(segment.text for segment in pair.snippet) == text


def test_hostile_text_stays_text(
    alice_client: Client, show: Callable[..., judging.ShownPair]
) -> None:
    evil = "<script>alert('x')</script>"
    show(query=evil, intent=evil, locale="<b>", title=evil, snippet=evil, text=evil)
    page = alice_client.get(JUDGE).content.decode()
    assert "<script>alert" not in page
    assert 'lang=""' in page


def test_language_is_that_of_the_query(show: Callable[..., judging.ShownPair]) -> None:
    assert show(locale="de_AT").lang == "de-AT"
    assert show(locale='x" onload="').lang == ""


def test_long_text_is_cut_and_says_so(
    alice_client: Client, show: Callable[..., judging.ShownPair]
) -> None:
    pair = show(text="word " * 10_000)
    assert (pair.cut, pair.words) == (True, 10_000)
    assert "the beginning of 10000 words" in alice_client.get(JUDGE).content.decode()


# -- Guidelines -----------------------------------------------------------------------------------


def test_guidelines_are_shown_safely(alice_client: Client, campaign: Campaign) -> None:
    text = (
        "# Rules\n\n<script>alert(1)</script> **bold** [ok](https://example.org) "
        "[bad](javascript:alert(1)) [worse](data:text/html,x) ![image](https://example.org/x.png)"
    )
    Guideline.objects.create(campaign=campaign, version=1, text="old")
    Guideline.objects.create(campaign=campaign, version=2, text=text)
    page = alice_client.get(f"{JUDGE}guidelines/").content.decode()
    assert "<h2>Rules</h2>" in page
    assert "<strong>bold</strong>" in page
    assert '<a href="https://example.org" rel="noopener noreferrer" target="_blank">ok</a>' in page
    assert "Version 2" in page
    for never in ("<script>alert", 'href="javascript:', 'href="data:', "<img"):
        assert never not in page


def test_default_guidelines_define_every_grade(alice_client: Client, campaign: Campaign) -> None:
    page = alice_client.get(f"{JUDGE}guidelines/").content.decode()
    for word in ("Perfect", "Excellent", "Good", "Fair", "Bad"):
        assert f"<h3>{word}</h3>" in page
    assert page.count("Not this:") == 5


def test_new_version_is_read_before_going_on(
    alice_client: Client, bob_client: Client, campaign: Campaign, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 3})
    assert alice_client.get(JUDGE).status_code == 200
    campaigns.save_guidelines(campaign, "Now judge **strictly**.")
    assert alice_client.get(JUDGE)["Location"] == f"{JUDGE}guidelines/"
    page = alice_client.get(f"{JUDGE}guidelines/").content.decode()
    assert "have changed since your last grade" in page
    alice_client.post(f"{JUDGE}guidelines/", {"version": 0})
    assert alice_client.get(JUDGE).status_code == 302
    alice_client.post(f"{JUDGE}guidelines/", {"version": 1})
    assert alice_client.get(JUDGE).status_code == 200
    assert bob_client.get(JUDGE).status_code == 200


# -- Nothing to judge -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "title"),
    [("draft", "Not open yet."), ("paused", "Paused."), ("closed", "Finished.")],
)
def test_page_says_why_there_is_nothing(
    alice_client: Client, campaign: Campaign, state: str, title: str
) -> None:
    Campaign.objects.update(state=state)
    page = alice_client.get(JUDGE)
    assert page.context["pair"] is None
    assert f"<h1 data-idle-title>{title}</h1>" in page.content.decode()


def test_page_says_when_others_have_the_rest(
    alice_client: Client, campaign: Campaign, bob: User
) -> None:
    Seat.objects.exclude(position=1).delete()
    assert routing.claim(campaign, bob)
    page = alice_client.get(JUDGE).content.decode()
    assert "Nothing for you right now." in page
    assert "what is open waits for other judges." in page


def test_page_says_when_all_is_judged(alice_client: Client, campaign: Campaign) -> None:
    shown = alice_client.get(JUDGE, headers=JSON).json()["next"]
    judged = 0
    while shown:
        fields = {"seat": shown["seat"], "token": shown["token"], "grade": 0}
        body = alice_client.post(JUDGE, fields, headers=JSON).json()
        shown, judged = body["next"], judged + 1
    assert judged == 6
    assert body["idle"]["title"] == "All done for now."
    assert body["progress"]["done"] == 6


# -- Her home -------------------------------------------------------------------------------------


def test_home_shows_what_waits_and_her_own_count(
    alice_client: Client, bob_client: Client, held: Fields
) -> None:
    alice_client.post(JUDGE, held | {"grade": 0})
    (hers,) = alice_client.get("/judge/").context["desks"]
    assert (hers.today, hers.judged, hers.waiting) == (1, 1, 5)
    (his,) = bob_client.get("/judge/").context["desks"]
    assert (his.today, his.judged, his.waiting) == (0, 0, 5)


def test_refused_pair_waits_no_more(alice_client: Client, held: Fields) -> None:
    alice_client.post(f"{JUDGE}refuse/", held | {"reason": "other"})
    assert alice_client.get("/judge/").context["desks"][0].waiting == 5


def test_home_hides_drafts_and_shows_finished_ones(
    alice_client: Client, campaign: Campaign
) -> None:
    Campaign.objects.update(state="closed")
    assert "Finished. Thank you" in alice_client.get("/judge/").content.decode()
    Campaign.objects.update(state="draft")
    assert "No campaign yet." in alice_client.get("/judge/").content.decode()


def test_stranger_sees_an_empty_home(charlie_client: Client, campaign: Campaign) -> None:
    page = charlie_client.get("/judge/").content.decode()
    assert "No campaign yet." in page
    assert "Library" not in page


def test_no_page_has_inline_script_or_style(alice_client: Client, held: Fields) -> None:
    for url in (JUDGE, "/judge/", f"{JUDGE}guidelines/", "/password/"):
        answer = alice_client.get(url)
        page = answer.content.decode()
        assert "style=" not in page
        assert " onclick=" not in page
        assert page.count("<script") == page.count('<script src="') + page.count(
            '<script type="module" src="'
        ) + page.count('<script id="setup" type="application/json">')
        assert "script-src 'self'" in answer["Content-Security-Policy"]
