"""Gold pairs and their files, the standing of judges, and the history of decisions."""

import re
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotate import campaigns, gold_files, pairs, routing, standings
from annotate.models import Campaign, Document, Event, Pair, Query, Seat, Standing, User
from annotate.routing import Answer
from tests.conftest import person, signed_in

B, F, G, E, P = range(5)
GOLD = "/campaigns/library/gold/"
JUDGES = "/campaigns/library/judges/"
HISTORY = "/campaigns/library/history/"


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    return campaign.pairs.order_by("position")[0]


def judge(campaign: Campaign, user: User, grade: int) -> Pair:
    seat = routing.claim(campaign, user)
    assert seat is not None
    assert seat.token is not None
    return routing.submit(user, seat.pk, seat.token, Answer(grade, uuid.uuid4())).pair


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def send(client: Client, content: str | bytes) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return client.post(GOLD, {"file": SimpleUploadedFile("gold.csv", raw)})


def gold_grades(campaign: Campaign) -> dict[str, int | None]:
    rows = campaign.pairs.filter(state=Pair.State.GOLD).values_list("document__title", "gold")
    return dict(rows)


def qualify_with(campaign: Campaign, size: int) -> Campaign:
    campaigns.update(campaign, {"qualification_size": size, "gold_percent": 10})
    return campaign


# -- Who may --------------------------------------------------------------------------------------


def test_pages_are_the_managers(
    campaign: Campaign, alice: User, client: Client, alice_client: Client, charlie_client: Client
) -> None:
    erin = signed_in(person("erin", User.Role.MANAGER))
    standing = reverse("judge_standing", args=["library", alice.pk])
    back = reverse("judge_put_back", args=["library", alice.pk])
    strangers = ((client, 302), (alice_client, 404), (charlie_client, 404), (erin, 404))
    for stranger, status in strangers:
        for address in (GOLD, HISTORY, back):
            assert stranger.get(address).status_code == status
        for address in (GOLD, standing, back):
            assert stranger.post(address, {"action": "exclude"}).status_code == status
    assert not Event.objects.exists()


def test_wrong_methods_are_refused(campaign: Campaign, alice: User, dana_client: Client) -> None:
    assert dana_client.post(HISTORY).status_code == 405
    assert dana_client.get(reverse("judge_standing", args=["library", alice.pk])).status_code == 405
    assert dana_client.put(reverse("judge_put_back", args=["library", alice.pk])).status_code == 405
    assert dana_client.put(GOLD).status_code == 405


def test_only_judges_of_the_campaign_have_a_standing(
    campaign: Campaign, charlie: User, dana_client: Client
) -> None:
    for name in ("judge_standing", "judge_put_back"):
        address = reverse(name, args=["library", charlie.pk])
        assert dana_client.post(address, {"action": "exclude"}).status_code == 404
    assert not Standing.objects.exists()


# -- The list -------------------------------------------------------------------------------------


def test_empty_page_says_what_to_do(campaign: Campaign, dana_client: Client) -> None:
    shown = text(dana_client.get(GOLD))
    assert "None yet. Open a pair whose grade you are sure of and make it gold" in shown


def test_page_shows_how_judges_did_on_each_pair(
    campaign: Campaign, pair: Pair, alice: User, bob: User, dana: User, dana_client: Client
) -> None:
    qualify_with(campaign, 1)
    routing.give_gold(dana, pair.pk, E, "It answers fully.")
    judge(campaign, alice, E)
    judge(campaign, bob, B)
    (row,) = pairs.gold(campaign)
    assert (row.made, row.right, row.share) == (2, 1, 0.5)
    shown = text(dana_client.get(GOLD))
    assert "It answers fully. Excellent 50 % of 2" in shown
    assert "10 % of pairs" in shown


def test_voided_gold_judgments_do_not_count(
    campaign: Campaign, pair: Pair, alice: User, dana: User
) -> None:
    qualify_with(campaign, 2)
    routing.give_gold(dana, pair.pk, E)
    judge(campaign, alice, B)
    judgment = pair.judgments.get()
    routing.void(dana, judgment.pk)
    (row,) = pairs.gold(campaign)
    assert (row.made, row.share) == (0, None)
    assert pairs.gold_by_judge(campaign) == {}


@pytest.mark.parametrize(
    ("size", "gold", "warning"),
    [
        (2, 0, "there is no gold pair yet: nobody can judge"),
        (2, 1, "fewer gold pairs than judges need"),
        (0, 1, "No judge sees them."),
    ],
)
def test_settings_that_do_not_fit_are_said(
    campaign: Campaign, dana: User, dana_client: Client, *, size: int, gold: int, warning: str
) -> None:
    campaigns.update(campaign, {"qualification_size": size})
    for pair in campaign.pairs.all()[:gold]:
        routing.give_gold(dana, pair.pk, G)
    assert warning in text(dana_client.get(GOLD))


# -- Files ----------------------------------------------------------------------------------------


def test_file_makes_pairs_gold(campaign: Campaign, dana_client: Client) -> None:
    answer = send(
        dana_client,
        "\ufeffquery,url,grade,note\r\n"
        'query 1,https://example.org/1/1,4,"The page\nitself."\r\n'
        "query 1,https://example.org/1/2,fair,\r\n",
    )
    assert answer.status_code == 302
    assert gold_grades(campaign) == {"Title 1.1": P, "Title 1.2": F}
    assert campaign.pairs.get(document__title="Title 1.1").gold_note == "The page\nitself."
    assert "2 pairs are gold now." in text(dana_client.get(GOLD))


def test_file_may_name_query_and_document_by_their_keys(
    campaign: Campaign, dana_client: Client
) -> None:
    Document.objects.filter(title="Title 2.3").update(key="doc-7")
    assert send(dana_client, "Query ID,doc_id,grade\nq2,doc-7,0\n").status_code == 302
    assert gold_grades(campaign) == {"Title 2.3": B}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "Line 1. The first line must name the columns"),
        ("query,grade\nquery 1,3\n", "Got query, grade instead."),
        ("query,url,url,grade\na,b,c,1\n", "Line 1. Each column must stand once."),
        ("query,url,grade\n", "Line 1. The file holds no row."),
        ("query,url,grade\nquery 1,https://example.org/1/1,5\n", "Line 2. A grade must be 0 to 4."),
        ("query,url,grade\nquery 1,,3\n", "Line 2. query and doc_id or url must not be empty."),
        ("query,url,grade\nquery 9,https://example.org/1/1,3\n", "Line 2. There is no pair of"),
        ("query,url,grade\nquery 1,https://example.org/2/1,3\n", "Line 2. There is no pair of"),
        ("query,url,grade\na,b\n", "Line 2. There must be 3 columns. Got 2 instead."),
        (b"query,url,grade\nquery \xff,b,1\n", "Line 2. The file must be UTF-8."),
        ('query,url,grade\n\nquery 1,"b"x,1\n', "Line 3. The line is not CSV"),
        (
            "query,url,grade\n" + "query 1,https://example.org/1/1,3\n" * 2,
            "Line 3. The pair stands on line 2 already.",
        ),
        (
            f"query,url,grade,note\nquery 1,https://example.org/1/1,3,{'x' * 2001}\n",
            "Line 2. note must be text of at most 2,000 characters.",
        ),
    ],
)
def test_bad_file_is_refused_with_its_line(
    campaign: Campaign, dana_client: Client, content: str | bytes, problem: str
) -> None:
    answer = send(dana_client, content or b"\n")
    assert answer.status_code == 422
    assert problem in text(answer)
    assert gold_grades(campaign) == {}


def test_one_bad_line_keeps_the_whole_file_out(campaign: Campaign, dana_client: Client) -> None:
    good = "query 1,https://example.org/1/1,3\n"
    answer = send(dana_client, f"query,url,grade\n{good}query 1,https://example.org/1/2,9\n")
    assert "1 line cannot be taken, so nothing was." in text(answer)
    assert gold_grades(campaign) == {}


def test_a_query_that_is_meant_in_two_ways_must_be_named_by_its_id(
    campaign: Campaign, pair: Pair, dana: User
) -> None:
    twin = Query.objects.create(campaign=campaign, key="twin", text=pair.query.text)
    Pair.objects.create(
        campaign=campaign, query=twin, document=pair.document, rank=1, position=1000
    )
    by_text = f"query,url,grade\n{pair.query.text},{pair.document.url},3\n".encode()
    with pytest.raises(gold_files.GoldRefusedError) as refused:
        gold_files.load(dana, campaign, by_text)
    assert "fits 2 pairs" in refused.value.problems[0].reason
    by_key = f"query_id,url,grade\ntwin,{pair.document.url},3\n".encode()
    assert gold_files.load(dana, campaign, by_key) == 1


def test_files_know_the_pairs_of_their_campaign_only(
    campaign: Campaign, dana: User, dana_client: Client
) -> None:
    other = campaigns.create(dana, {"name": "Other"})
    with pytest.raises(gold_files.GoldRefusedError):
        gold_files.load(dana, other, b"query,url,grade\nquery 1,https://example.org/1/1,3\n")


def test_too_long_and_too_large_files_are_refused(
    campaign: Campaign, dana_client: Client, monkeypatch: Any
) -> None:
    monkeypatch.setattr(gold_files, "MAX_ROWS", 2)
    rows = "".join(f"query 1,https://example.org/1/{d},3\n" for d in (1, 2, 3))
    answer = send(dana_client, f"query,url,grade\n{rows}")
    assert "A file must have at most 2 rows." in text(answer)
    assert send(dana_client, f"query,url,grade\n{rows[: len(rows) // 3 * 2]}").status_code == 302
    monkeypatch.setattr("annotate.forms.pairs.GOLD_FILE_MAX", 10)
    assert "A file must have at most 10 bytes." in text(send(dana_client, "x" * 11))


def test_no_file_is_said(campaign: Campaign, dana_client: Client) -> None:
    answer = dana_client.post(GOLD)
    assert answer.status_code == 422
    assert "This field is required." in text(answer)


# -- Settings -------------------------------------------------------------------------------------


def test_settings_take_gold_and_qualification(campaign: Campaign, dana_client: Client) -> None:
    page = dana_client.get("/campaigns/library/settings/")
    form = page.context["form"]
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in sent.items() if value not in (None, False)}
    sent |= {"gold_percent": 15, "qualification_size": 8, "qualification_percent": 75}
    answer = dana_client.post("/campaigns/library/settings/", sent | {"gold_in_labels": "on"})
    assert answer.status_code == 302
    campaign.refresh_from_db()
    assert (campaign.gold_percent, campaign.qualification_size) == (15, 8)
    assert (campaign.qualification_percent, campaign.gold_in_labels) == (75, True)
    refused = dana_client.post("/campaigns/library/settings/", sent | {"gold_percent": 51})
    assert refused.status_code == 422


# -- Standing -------------------------------------------------------------------------------------


def decide(client: Client, judge: User, action: str) -> int:
    address = reverse("judge_standing", args=["library", judge.pk])
    return client.post(address, {"action": action}).status_code


def words(campaign: Campaign) -> dict[str, str]:
    return {row.user.username: row.qualification for row in standings.of_campaign(campaign)}


def test_standing_follows_the_qualification(
    campaign: Campaign, alice: User, bob: User, dana: User, dana_client: Client
) -> None:
    assert words(campaign) == {"alice": "", "bob": ""}
    qualify_with(campaign, 2)
    for pair in campaign.pairs.order_by("position")[:3]:
        routing.give_gold(dana, pair.pk, G)
    assert words(campaign) == {"alice": "Not tried yet", "bob": "Not tried yet"}
    judge(campaign, alice, G)
    assert words(campaign)["alice"] == "Trying, 1 of 2"
    judge(campaign, alice, G)
    judge(campaign, bob, B)
    judge(campaign, bob, G)
    assert words(campaign) == {"alice": "Qualified", "bob": "Not qualified"}
    shown = text(dana_client.get(JUDGES))
    assert "alice Qualified alice@example.org Gold: 2 of 2 right." in shown
    assert "bob Not qualified bob@example.org Gold: 1 of 2 right." in shown


def test_manager_qualifies_and_lets_try_again(
    campaign: Campaign, alice: User, dana_client: Client
) -> None:
    qualify_with(campaign, 1)
    assert decide(dana_client, alice, "qualify") == 302
    assert Standing.objects.get(judge=alice).qualified is True
    assert "Let try again" in text(dana_client.get(JUDGES))
    assert decide(dana_client, alice, "retry") == 302
    assert Standing.objects.get(judge=alice).qualified is None


def test_exclusion_and_return(campaign: Campaign, alice: User, dana_client: Client) -> None:
    held = routing.claim(campaign, alice)
    assert held is not None
    assert decide(dana_client, alice, "exclude") == 302
    assert Seat.objects.get(pk=held.pk).judge is None
    shown = text(dana_client.get(JUDGES))
    assert "Excluded" in shown
    assert "alice gets no more pairs" in shown
    assert decide(dana_client, alice, "readmit") == 302
    assert Standing.objects.get(judge=alice).excluded_at is None
    assert routing.claim(campaign, alice) is not None


def test_unknown_decision_changes_nothing(
    campaign: Campaign, alice: User, dana_client: Client
) -> None:
    assert decide(dana_client, alice, "explode") == 302
    assert "An action must be one of exclude" in text(dana_client.get(JUDGES))
    assert not Standing.objects.exists()


def test_put_back_says_how_many_before_it_happens(
    campaign: Campaign, alice: User, dana_client: Client
) -> None:
    for grade in (B, B, G):
        judge(campaign, alice, grade)
    address = reverse("judge_put_back", args=["library", alice.pk])
    asked = text(dana_client.get(address))
    assert "3 judgments count now." in asked
    assert "Put back 3 judgments" in asked
    assert standings.judgments(campaign, alice) == 3
    assert dana_client.post(address).status_code == 302
    assert standings.judgments(campaign, alice) == 0
    assert "3 judgments of alice put back. Others are asked." in text(dana_client.get(JUDGES))
    assert "There is no judgment of alice that counts." in text(dana_client.get(address))


# -- History --------------------------------------------------------------------------------------


def test_history_names_who_decided_what(
    campaign: Campaign, pair: Pair, alice: User, dana_client: Client
) -> None:
    assert "Nothing yet." in text(dana_client.get(HISTORY))
    decide(dana_client, alice, "exclude")
    change = reverse("pair_change", args=["library", pair.pk])
    dana_client.post(change, {"action": "adjudicate", "grade": "2"})
    page = dana_client.get(HISTORY)
    shown = text(page)
    assert shown.index("The final grade is Good.") < shown.index("alice was excluded.")
    assert "dana" in shown
    assert reverse("pair", args=["library", pair.pk]) in page.content.decode()


def test_history_of_another_campaign_stays_there(
    campaign: Campaign, alice: User, dana: User, dana_client: Client
) -> None:
    decide(dana_client, alice, "exclude")
    other = campaigns.create(dana, {"name": "Other"})
    assert "Nothing yet." in text(dana_client.get(reverse("campaign_history", args=[other.slug])))


def test_history_is_paged(
    campaign: Campaign, alice: User, dana_client: Client, monkeypatch: Any
) -> None:
    monkeypatch.setattr("annotate.views.standing.PER_PAGE", 2)
    for action in ("exclude", "readmit", "exclude"):
        decide(dana_client, alice, action)
    assert "1–2 of 3" in text(dana_client.get(HISTORY))
    assert "3–3 of 3" in text(dana_client.get(HISTORY, {"page": "2"}))
