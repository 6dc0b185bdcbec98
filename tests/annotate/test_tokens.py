"""API tokens: made once, kept as a digest, revoked on a page."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import tokens
from annotate.models import ApiToken, User

FIELDS = {"name": "my script", "scopes": ["judge"], "days": "30"}


def make(user: User, name: str = "script") -> str:
    return tokens.create(user, name, [tokens.JUDGE], 30)


def found(raw: str) -> ApiToken:
    token = tokens.find(raw)
    assert token
    return token


# -- Tokens ---------------------------------------------------------------------------------------


def test_token_is_found_by_its_text_and_its_text_is_kept_nowhere(alice: User) -> None:
    raw = make(alice)
    row = ApiToken.objects.values().get()
    assert found(raw).user == alice
    assert raw not in str(row)
    assert row["prefix"] == raw[:11]
    assert len(raw) >= 46  # 256 bits in base 64, and the mark


def test_two_tokens_are_never_alike(alice: User) -> None:
    assert make(alice, "one") != make(alice, "two")


@pytest.mark.parametrize("raw", ["", "so_", "so_nothing", "ü\x00", "x" * 10_000])
def test_other_text_finds_nothing(alice: User, raw: str) -> None:
    make(alice)
    assert tokens.find(raw) is None


def test_expired_token_finds_nothing(alice: User) -> None:
    raw = make(alice)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.find(raw) is None
    assert not tokens.live(alice)


def test_token_of_a_closed_account_finds_nothing(alice: User) -> None:
    raw = make(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert tokens.find(raw) is None


def test_revoked_token_finds_nothing_and_its_name_is_free(alice: User) -> None:
    raw = make(alice)
    assert tokens.revoke(alice, found(raw).pk)
    assert tokens.find(raw) is None
    assert tokens.find(make(alice))


def test_nobody_revokes_the_token_of_another(alice: User, bob: User) -> None:
    raw = make(alice)
    assert tokens.revoke(bob, found(raw).pk) is None
    assert tokens.find(raw)


def test_use_is_noted_at_most_once_a_minute(alice: User, django_assert_num_queries: Any) -> None:
    raw = make(alice)
    with django_assert_num_queries(2):
        tokens.find(raw)
    first = ApiToken.objects.get().last_used_at
    assert first
    with django_assert_num_queries(1):
        tokens.find(raw)
    ApiToken.objects.update(last_used_at=first - timedelta(seconds=61))
    with django_assert_num_queries(2):
        tokens.find(raw)
    used = ApiToken.objects.get().last_used_at
    assert used
    assert used >= first


@pytest.mark.parametrize(
    ("name", "scopes", "days", "sentence"),
    [
        (" ", ["judge"], 30, "A name must have 1 to 100 characters. Got 0."),
        ("n" * 101, ["judge"], 30, "Got 101"),
        ("n", [], 30, "A token must be for one of: judge. Got none instead."),
        ("n", ["judge", "root"], 30, "Got root instead."),
        ("n", ["manage"], 30, "Got manage instead."),
        ("n", ["judge"], 0, "A token must last 1 to 366 days. Got 0 instead."),
        ("n", ["judge"], 10**9, "Got 1000000000 instead."),
    ],
)
def test_bad_token_is_refused_in_a_sentence(
    alice: User, name: str, scopes: list[str], days: int, sentence: str
) -> None:
    with pytest.raises(tokens.TokenError, match=re.escape(sentence)):
        tokens.create(alice, name, scopes, days)
    assert not ApiToken.objects.exists()


def test_manager_may_have_both_scopes(dana: User) -> None:
    raw = tokens.create(dana, "both", ["manage", "judge"], 1)
    assert found(raw).scopes == ["judge", "manage"]


# -- The page -------------------------------------------------------------------------------------


def raw_on(page: str) -> list[str]:
    return re.findall(r"so_[\w-]{43}", page)


def test_page_shows_a_new_token_once(alice_client: Client, alice: User) -> None:
    answer = alice_client.post(reverse("tokens"), FIELDS)
    assert answer.status_code == 201
    (raw,) = raw_on(answer.content.decode())
    assert found(raw).user == alice
    assert answer["Cache-Control"] == "no-store"
    page = alice_client.get(reverse("tokens")).content.decode()
    assert not raw_on(page)
    assert raw[:11] in page
    assert "my script" in page


def test_form_sent_again_makes_no_second_token(alice_client: Client) -> None:
    alice_client.post(reverse("tokens"), FIELDS)
    again = alice_client.post(reverse("tokens"), FIELDS)
    assert again.status_code == 400
    assert "must have a name of its own" in again.content.decode()
    assert ApiToken.objects.count() == 1


def test_page_revokes_a_token(alice_client: Client, alice: User) -> None:
    raw = make(alice)
    answer = alice_client.post(reverse("token_revoke", args=[found(raw).pk]), follow=True)
    assert "no longer works." in answer.content.decode()
    assert tokens.find(raw) is None


def test_stranger_gets_404_for_the_token_of_another(alice: User, charlie_client: Client) -> None:
    raw = make(alice)
    for number in (found(raw).pk, 10**30):
        answer = charlie_client.post(reverse("token_revoke", args=[number]))
        assert answer.status_code == 404
    assert tokens.find(raw)


def test_page_shows_own_tokens_only(alice: User, bob_client: Client) -> None:
    make(alice, "secret plan")
    assert "secret plan" not in bob_client.get(reverse("tokens")).content.decode()


def test_pages_need_log_in(client: Client, alice: User) -> None:
    raw = make(alice)
    assert client.get(reverse("tokens")).status_code == 302
    assert client.post(reverse("token_revoke", args=[found(raw).pk])).status_code == 302
    assert tokens.find(raw)


def test_wrong_methods_are_refused(alice_client: Client, alice: User) -> None:
    number = found(make(alice)).pk
    assert alice_client.put(reverse("tokens")).status_code == 405
    assert alice_client.get(reverse("token_revoke", args=[number])).status_code == 405


def test_page_without_csrf_token_changes_nothing(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post(reverse("tokens"), FIELDS).status_code == 403
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "a\x00b"},
        {"name": "n" * 101},
        {"scopes": []},
        {"scopes": ["manage"]},
        {"days": "31"},
        {"days": "9" * 5000},
    ],
)
def test_bad_form_is_shown_again(alice_client: Client, change: dict[str, Any]) -> None:
    answer = alice_client.post(reverse("tokens"), FIELDS | change)
    assert answer.status_code == 400
    assert "errorlist" in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_manager_is_offered_both_scopes_a_judge_one(
    alice_client: Client, dana_client: Client
) -> None:
    assert 'value="manage"' not in alice_client.get(reverse("tokens")).content.decode()
    assert 'value="manage"' in dana_client.get(reverse("tokens")).content.decode()


def test_hostile_name_is_shown_as_text(alice_client: Client) -> None:
    alice_client.post(reverse("tokens"), FIELDS | {"name": "<script>alert(1)</script>"})
    page = alice_client.get(reverse("tokens")).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
