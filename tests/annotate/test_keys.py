"""Keys of her own: one for each step, checked when they come and when they are read."""

from typing import Any

import pytest
from django.test import Client

from annotate import keys
from annotate.models import Campaign, User

PAGE = "/keys/"


@pytest.mark.parametrize(
    "wanted",
    [
        {"undo": "xy"},
        {"undo": ""},
        {"undo": " "},
        {"undo": "\n"},
        {"undo": "\x00"},
        {"undo": "s"},
        {"undo": "S"},
        {"undo": "b", "open": "B"},
        {"undo": 5},
        {"undo": ["u"]},
        {"fly": "f"},
        {"__proto__": "x"},
        ["u"],
        "u",
        None,
    ],
)
def test_unsound_keys_are_refused_and_never_used(wanted: Any) -> None:
    with pytest.raises(keys.KeysError):
        keys.checked(wanted)
    assert keys.chosen(wanted) == keys.DEFAULTS


def test_two_steps_may_change_places() -> None:
    chosen = keys.chosen({"grade-4": "1", "grade-0": "5"})
    assert (chosen["grade-4"], chosen["grade-0"], chosen["undo"]) == ("1", "5", "u")


def test_only_what_differs_is_stored(alice_client: Client, alice: User) -> None:
    answer = alice_client.post(PAGE, keys.DEFAULTS | {"undo": "Z"}, follow=True)
    assert "Your keys are saved." in answer.content.decode()
    alice.refresh_from_db()
    assert alice.keys == {"undo": "z"}
    assert 'name="undo" value="Z"' in answer.content.decode()
    alice_client.post(PAGE, {"reset": "1"})
    alice.refresh_from_db()
    assert alice.keys == {}


def test_bad_choice_is_said_and_changes_nothing(alice_client: Client, alice: User) -> None:
    answer = alice_client.post(PAGE, {"undo": "s"})
    assert answer.status_code == 422
    assert "Every step must have a key of its own. S has two." in answer.content.decode()
    alice.refresh_from_db()
    assert alice.keys == {}


def test_keys_are_her_own(alice_client: Client, bob_client: Client, bob: User) -> None:
    alice_client.post(PAGE, {"undo": "z", "user": bob.pk, "id": bob.pk})
    bob.refresh_from_db()
    assert bob.keys == {}
    assert 'name="undo" value="U"' in bob_client.get(PAGE).content.decode()


def test_page_needs_log_in_and_the_right_method(client: Client, alice_client: Client) -> None:
    assert client.get(PAGE)["Location"].startswith("/sign-in/")
    assert alice_client.put(PAGE).status_code == 405


def test_judging_page_shows_her_keys(alice_client: Client, campaign: Campaign) -> None:
    alice_client.post(PAGE, {"undo": "z", "grade-4": "p"})
    page = alice_client.get("/judge/library/").content.decode()
    assert "<kbd>Z</kbd> Undo" in page
    assert '<kbd aria-hidden="true">P</kbd>' in page


def test_hostile_key_stays_text(alice_client: Client, alice: User, campaign: Campaign) -> None:
    alice_client.post(PAGE, {"undo": "<"})
    for address in (PAGE, "/judge/library/"):
        page = alice_client.get(address).content.decode()
        assert "<<" not in page
        assert "&lt;" in page
    User.objects.filter(pk=alice.pk).update(keys={"undo": "<script>alert(1)</script>"})
    assert "<script>alert" not in alice_client.get("/judge/library/").content.decode()
