"""People come in by password or by a link, once, and see only what is theirs."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import access, people
from annotate.models import Campaign, Membership, SignInLink, User
from annotate.urls import urlpatterns

PASSWORD = "a long enough pass phrase"


def link_of(user: User) -> str:
    return reverse("sign_in_link", args=[people.sign_in_link(user)])


# -- People ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_new_person_signs_in_by_address_and_has_no_password() -> None:
    person = people.create_person(" Eve Adams ", "Eve@Example.org", User.Role.MANAGER)
    assert (person.username, person.get_full_name()) == ("eve@example.org", "Eve Adams")
    assert person.manages
    assert not person.has_usable_password()


@pytest.mark.django_db
def test_people_without_address_get_names_of_their_own() -> None:
    names = [people.create_person("Jo Li").username for _ in range(3)]
    assert names == ["jo-li", "jo-li-2", "jo-li-3"]


def test_address_is_known_however_it_is_spelt(alice: User) -> None:
    with pytest.raises(people.PeopleError, match="known already"):
        people.create_person("Another", "ALICE@example.ORG")


@pytest.mark.django_db
def test_person_must_have_a_name() -> None:
    with pytest.raises(people.PeopleError, match="must have a name"):
        people.create_person("  ", "x@example.org")
    assert not User.objects.exists()


# -- Links ----------------------------------------------------------------------------------------


def test_only_the_digest_of_a_link_is_kept(alice: User) -> None:
    token = people.sign_in_link(alice)
    kept = SignInLink.objects.get()
    assert len(token) >= 40
    assert token not in (kept.digest, str(kept))
    assert len(kept.digest) == 64


def test_opening_a_link_changes_nothing(client: Client, alice: User) -> None:
    url = link_of(alice)
    for _ in range(3):
        page = client.get(url)
        assert "Sign in as alice" in page.content.decode()
    assert SignInLink.objects.get().used_at is None
    assert "_auth_user_id" not in client.session


def test_link_signs_in_once(client: Client, alice: User) -> None:
    url = link_of(alice)
    answer = client.post(url)
    assert (answer.status_code, answer["Location"]) == (302, reverse("home"))
    assert client.session["_auth_user_id"] == str(alice.pk)
    second = Client().post(url)
    assert second.status_code == 410
    assert "no longer works" in second.content.decode()


def test_link_ends_after_its_days(client: Client, alice: User) -> None:
    url = link_of(alice)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(url).status_code == 410
    assert client.post(url).status_code == 410
    assert "_auth_user_id" not in client.session


def test_link_lasts_as_long_as_the_setting_says(alice: User, settings: object) -> None:
    settings.SIGN_IN_LINK_DAYS = 3  # type: ignore[attr-defined]
    people.sign_in_link(alice)
    left = SignInLink.objects.get().expires_at - timezone.now()
    assert timedelta(days=2, hours=23) < left <= timedelta(days=3)


def test_closed_account_gets_in_by_no_link(client: Client, alice: User) -> None:
    url = link_of(alice)
    User.objects.update(is_active=False)
    assert client.post(url).status_code == 410


@pytest.mark.parametrize("token", ["x", "%00", "a" * 500, "ünlock"])
def test_garbage_link_is_a_clear_sentence(client: Client, db: None, token: str) -> None:
    assert client.get(f"/link/{token}/").status_code == 410
    assert client.post(f"/link/{token}/").status_code == 410


# -- Signing in and out ---------------------------------------------------------------------------


def test_sign_in_takes_address_in_any_case(client: Client, alice: User) -> None:
    person = people.create_person("Eve", "eve@example.org")
    people.set_password(person, PASSWORD)
    answer = client.post(reverse("sign_in"), {"username": " EVE@Example.org", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, reverse("home"))


def test_wrong_password_is_said_on_the_page(client: Client, alice: User) -> None:
    answer = client.post(reverse("sign_in"), {"username": "alice", "password": "wrong"})
    assert answer.status_code == 200
    assert "do not go together" in answer.content.decode()


def test_sign_in_leads_to_no_other_site(client: Client, alice: User) -> None:
    people.set_password(alice, PASSWORD)
    fields = {"username": "alice", "password": PASSWORD, "next": "https://evil.example/"}
    assert client.post(reverse("sign_in"), fields)["Location"] == reverse("home")


def test_sign_out_needs_a_form(alice_client: Client) -> None:
    assert alice_client.get(reverse("sign_out")).status_code == 405
    assert alice_client.post(reverse("sign_out")).status_code == 302
    assert "_auth_user_id" not in alice_client.session


def test_only_signing_in_is_open_to_everybody() -> None:
    views = {pattern.name: pattern.callback for pattern in urlpatterns}
    is_open = {name for name, view in views.items() if not getattr(view, "login_required", True)}
    assert is_open == {"sign_in", "sign_in_link"}


def test_home_sends_each_to_her_work(alice_client: Client, dana_client: Client) -> None:
    assert alice_client.get("/")["Location"] == reverse("judge_home")
    assert dana_client.get("/")["Location"] == reverse("campaigns")


@pytest.mark.parametrize("name", ["home", "set_password", "judge_home"])
def test_page_needs_log_in(client: Client, db: None, name: str) -> None:
    url = reverse(name)
    assert client.get(url)["Location"] == f"{reverse('sign_in')}?next={url}"


# -- Passwords ------------------------------------------------------------------------------------


def test_who_came_by_link_sets_a_first_password(client: Client, db: None) -> None:
    person = people.create_person("Eve", "eve@example.org")
    client.post(link_of(person))
    fields = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    answer = client.post(reverse("set_password"), fields, follow=True)
    assert "Your password is set." in answer.content.decode()
    assert Client().login(username="eve@example.org", password=PASSWORD)


def test_who_has_a_password_must_know_it_to_change_it(alice: User) -> None:
    people.set_password(alice, PASSWORD)
    client = Client()
    client.force_login(alice)
    fields = {"new_password1": "quite another phrase", "new_password2": "quite another phrase"}
    assert client.post(reverse("set_password"), fields).status_code == 200
    assert Client().login(username="alice", password=PASSWORD)
    client.post(reverse("set_password"), fields | {"old_password": PASSWORD})
    assert Client().login(username="alice", password="quite another phrase")


def test_weak_password_is_refused(alice_client: Client, alice: User) -> None:
    fields = {"new_password1": "password", "new_password2": "password"}
    answer = alice_client.post(reverse("set_password"), fields)
    assert "too common" in answer.content.decode()
    alice.refresh_from_db()
    assert not alice.check_password("password")


# -- Whose campaign -------------------------------------------------------------------------------


def test_campaign_is_seen_by_its_own_people_only(
    campaign: Campaign, alice: User, charlie: User, dana: User
) -> None:
    assert access.judged_campaign(alice, "library") == campaign
    assert access.managed_campaign(dana, "library") == campaign
    for stranger, find in (
        (charlie, access.judged_campaign),
        (dana, access.judged_campaign),
        (alice, access.managed_campaign),
        (charlie, access.managed_campaign),
    ):
        with pytest.raises(Http404):
            find(stranger, "library")


def test_administrator_manages_all(campaign: Campaign) -> None:
    root = people.create_person("Root", role=User.Role.ADMINISTRATOR)
    assert access.managed_campaign(root, "library") == campaign


def test_manager_does_not_manage_another_managers_campaign(campaign: Campaign) -> None:
    other = people.create_person("Erin", role=User.Role.MANAGER)
    with pytest.raises(Http404):
        access.managed_campaign(other, "library")


def test_who_is_no_manager_any_more_manages_nothing(campaign: Campaign, dana: User) -> None:
    dana.role = User.Role.JUDGE
    assert not access.managed_campaigns(dana).exists()


def test_two_roles_in_a_campaign_show_it_once(campaign: Campaign, dana: User) -> None:
    Membership.objects.create(campaign=campaign, user=dana, role=Membership.Role.JUDGE)
    assert access.managed_campaigns(dana).count() == 1
    assert access.judged_campaigns(dana).count() == 1


def test_judge_is_told_that_a_page_is_for_managers(alice_client: Client) -> None:
    answer = alice_client.get(reverse("campaigns"))
    assert answer.status_code == 403
    assert "not for you" in answer.content.decode()
