"""Training: what is explained, to whom, and that nothing is explained otherwise."""

from typing import Any

import pytest
from django.test import Client

from annotate import routing
from annotate.models import Campaign, Pair, Standing, User

JUDGE = "/judge/library/"
RESULT = f"{JUDGE}result/"
JSON = {"accept": "application/json"}
NOTE = "It answers the query whole."


@pytest.fixture
def school(campaign: Campaign, dana: User) -> Campaign:
    """Two gold pairs, Excellent each, by which judges qualify."""
    for pair in campaign.pairs.order_by("position")[:2]:
        routing.give_gold(dana, pair.pk, 3, NOTE)
    Campaign.objects.update(qualification_size=2, qualification_percent=50)
    campaign.refresh_from_db()
    return campaign


def grade(client: Client, value: int) -> dict[str, Any]:
    shown = client.get(JUDGE, headers=JSON).json()["next"]
    fields = {"seat": shown["seat"], "token": shown["token"], "grade": value}
    body: dict[str, Any] = client.post(JUDGE, fields, headers=JSON).json()
    return body


def test_training_explains_each_grade_and_then_says_the_result(
    alice_client: Client, school: Campaign
) -> None:
    assert "Training · 0 of 2" in alice_client.get(JUDGE).content.decode()
    first = grade(alice_client, 3)
    assert first["lesson"]["right"] is True
    assert (first["lesson"]["word"], first["lesson"]["note"]) == ("Excellent", NOTE)
    assert (first["training"], first["result"]) == ({"made": 1, "needed": 2}, None)
    assert first["ahead"] is None
    second = grade(alice_client, 0)
    assert second["lesson"]["right"] is False
    assert second["lesson"]["sentence"] == "You said Bad; expected was Excellent."
    assert (second["training"], second["result"]) == (None, RESULT)
    page = alice_client.get(RESULT).content.decode()
    assert "You have qualified." in page
    assert "1 of 2 grades as expected" in page
    assert "50 % are needed." in page
    assert page.count(NOTE) == 2


def test_who_fails_is_told_so_and_what_is_next(alice_client: Client, school: Campaign) -> None:
    body = [grade(alice_client, 0) for _ in range(2)][1]
    assert body["next"] is None
    assert "not qualified" in body["idle"]["text"]
    page = alice_client.get(RESULT).content.decode()
    assert "Not qualified this time." in page
    assert "0 of 2 grades as expected" in page
    assert "can let you try again" in page
    assert RESULT in alice_client.get("/judge/").content.decode()


def test_training_works_without_script(alice_client: Client, school: Campaign) -> None:
    for value, sentence in ((3, "Right: Excellent is what was expected."), (0, "You said Bad;")):
        shown = alice_client.get(JUDGE).context["pair"]
        fields = {"seat": shown.seat, "token": shown.token, "grade": value}
        page = alice_client.post(JUDGE, fields, follow=True)
        assert sentence in page.content.decode()
        assert NOTE in page.content.decode()
    assert page.request["PATH_INFO"] == RESULT


def test_lesson_is_not_undone_or_corrected(
    alice_client: Client, alice: User, school: Campaign
) -> None:
    saved = grade(alice_client, 0)["saved"]
    undone = alice_client.post(f"{JUDGE}undo/", headers=JSON)
    assert undone.status_code == 409
    assert undone.json()["error"] == "This pair was a lesson. Its grade stands."
    alice_client.post(f"{JUDGE}recent/", {"judgment": saved["id"], "grade": 3})
    grade(alice_client, 0)
    alice_client.post(f"{JUDGE}recent/", {"judgment": saved["id"], "grade": 3})
    assert list(alice.judgments.values_list("grade", flat=True)) == [0, 0]
    assert Standing.objects.get(judge=alice).qualified is False


def test_second_attempt_counts_its_own_judgments(
    alice_client: Client, alice: User, dana: User, school: Campaign
) -> None:
    for _ in range(2):
        grade(alice_client, 0)
    for pair in school.pairs.filter(state=Pair.State.OPEN).order_by("position")[:2]:
        routing.give_gold(dana, pair.pk, 3, NOTE)
    routing.set_qualified(school, alice, dana, None)
    assert alice_client.get(RESULT).status_code == 404
    assert grade(alice_client, 3)["training"] == {"made": 1, "needed": 2}
    assert grade(alice_client, 3)["result"] == RESULT
    assert Standing.objects.get(judge=alice).qualified is True
    assert "2 of 2 grades as expected" in alice_client.get(RESULT).content.decode()


def test_gold_after_training_is_explained_to_nobody(
    alice_client: Client, alice: User, dana: User, school: Campaign
) -> None:
    for _ in range(2):
        grade(alice_client, 3)
    for pair in school.pairs.filter(state=Pair.State.OPEN):
        routing.give_gold(dana, pair.pk, 4, "A SECRET")
    Campaign.objects.update(gold_percent=100)
    told = alice_client.get(RESULT).content.decode()
    while shown := alice_client.get(JUDGE, headers=JSON).json()["next"]:
        fields = {"seat": shown["seat"], "token": shown["token"], "grade": 0}
        body = alice_client.post(JUDGE, fields, headers=JSON).json()
        assert "lesson" not in body
        assert "SECRET" not in str(body)
        assert "SECRET" not in alice_client.get(JUDGE).content.decode()
    assert alice.judgments.count() > 2
    assert "SECRET" not in alice_client.get(f"{JUDGE}recent/").content.decode()
    assert alice_client.get(RESULT).content.decode().count("recent-row") == told.count("recent-row")
    undone = alice_client.post(f"{JUDGE}undo/", headers=JSON)
    assert undone.status_code == 200


@pytest.mark.parametrize("size", [0, 2])
def test_there_is_no_result_before_there_is_one(
    alice_client: Client, charlie_client: Client, school: Campaign, size: int
) -> None:
    Campaign.objects.update(qualification_size=size)
    assert alice_client.get(RESULT).status_code == 404
    assert charlie_client.get(RESULT).status_code == 404


def test_result_needs_log_in_and_the_right_method(
    client: Client, alice_client: Client, school: Campaign
) -> None:
    assert client.get(RESULT)["Location"].startswith("/sign-in/")
    assert alice_client.post(RESULT).status_code == 405
