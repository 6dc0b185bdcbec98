"""Campaigns: set-up in the browser, from nothing to open, and who may do it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotate import campaigns, costs, guidelines, imports, jobs, overview, routing
from annotate.models import (
    Campaign,
    Job,
    Membership,
    Pair,
    Seat,
    SignInLink,
    Snapshot,
    Upload,
    User,
)
from ranking.schemes import SCHEMES
from tests.conftest import fill, person, signed_in

NEW = {
    "name": "Shop search",
    "scheme_name": "if-good-k",
    "k": "3",
    "cap": "11",
    "theta": "3",
    "per_pair": "1.4",
    "least_value": "0.002",
    "aggregator": "majority",
    "retrain_hours": "24",
    "retrain_judgments": "500",
    "lease_minutes": "15",
    "gold_percent": "0",
    "qualification_size": "0",
    "qualification_percent": "70",
    "currency": "EUR",
}
CSV = b"query,url,title,snippet\nsort a list,https://example.org/1,Sorting,How to sort.\n"
BAD_CSV = b"query,url\nsort a list,javascript:alert(1)\n,https://example.org/2\n"

PAGES = ["dashboard", "campaign_live", "campaign_settings", "campaign_data", "campaign_judges"]
PAGES += ["campaign_guidelines", "campaign_jobs"]
ACTIONS = ["campaign_state", "campaign_train", "judge_add"]


@pytest.fixture
def draft(dana: User) -> Campaign:
    return campaigns.create(dana, {"name": "Shop search"})


def page(name: str, *args: object) -> str:
    return reverse(name, args=["library", *args])


def text(response: Any) -> str:
    """What a person reads: no tags, single blanks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


# -- Who may see what -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_manager_sees_the_pages_of_her_campaign(
    campaign: Campaign, dana_client: Client, name: str
) -> None:
    assert dana_client.get(page(name)).status_code == 200


@pytest.mark.parametrize("name", PAGES + ACTIONS)
def test_pages_need_log_in(campaign: Campaign, client: Client, name: str) -> None:
    response = client.post(page(name)) if name in ACTIONS else client.get(page(name))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("sign_in"))


@pytest.mark.parametrize("name", PAGES + ACTIONS)
@pytest.mark.parametrize("who", ["alice", "charlie", "erin"])
def test_who_does_not_manage_it_gets_404(
    campaign: Campaign, alice: User, charlie: User, name: str, who: str
) -> None:
    people = {"alice": alice, "charlie": charlie, "erin": person("erin", User.Role.MANAGER)}
    client = signed_in(people[who])
    response = client.post(page(name)) if name in ACTIONS else client.get(page(name))
    assert response.status_code == 404


def test_administrator_sees_every_campaign(campaign: Campaign) -> None:
    client = signed_in(person("root", User.Role.ADMINISTRATOR))
    assert client.get(page("dashboard")).status_code == 200
    assert "Library" in text(client.get(reverse("campaigns")))


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_refuse_get(campaign: Campaign, dana_client: Client, name: str) -> None:
    assert dana_client.get(page(name)).status_code == 405


@pytest.mark.parametrize("name", ["dashboard", "campaign_live", "campaign_judges", "campaign_jobs"])
def test_pages_that_only_show_refuse_post(
    campaign: Campaign, dana_client: Client, name: str
) -> None:
    assert dana_client.post(page(name)).status_code == 405


@pytest.mark.parametrize("name", ["campaigns", "campaign_new"])
def test_list_and_new_are_for_managers(
    alice_client: Client, dana_client: Client, name: str
) -> None:
    assert alice_client.get(reverse(name)).status_code in (403, 404)
    assert dana_client.get(reverse(name)).status_code == 200


def test_list_shows_only_her_own_campaigns(campaign: Campaign, dana_client: Client) -> None:
    campaigns.create(person("erin", User.Role.MANAGER), {"name": "Secret"})
    shown = text(dana_client.get(reverse("campaigns")))
    assert "Library" in shown
    assert "0 of 6" in shown
    assert "Secret" not in shown


def test_empty_list_says_what_to_do(dana_client: Client) -> None:
    assert "Create your first campaign" in text(dana_client.get(reverse("campaigns")))


# -- A new one ------------------------------------------------------------------------------------


def test_new_campaign_is_a_draft_of_its_maker(dana: User, dana_client: Client) -> None:
    response = dana_client.post(reverse("campaign_new"), NEW)
    campaign = Campaign.objects.get()
    assert response["Location"] == reverse("dashboard", args=["shop-search"])
    assert (campaign.name, campaign.state, campaign.created_by) == ("Shop search", "draft", dana)
    membership = campaign.memberships.get()
    assert (membership.user, membership.role) == (dana, Membership.Role.MANAGER)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "   ", "This field is required."),
        ("scheme_name", "coin-toss", "Select a valid choice."),
        ("k", "0", "greater than or equal to 1"),
        ("k", "26", "less than or equal to 25"),
        ("aggregator", "loudest", "Select a valid choice."),
        ("retrain_hours", "-1", "greater than or equal to 0"),
        ("lease_minutes", "0", "greater than or equal to 1"),
        ("budget", "many", "Enter a whole number."),
        ("per_pair", "0.5", "greater than or equal to 1"),
        ("least_value", "0", "greater than or equal to 1e-05"),
        ("least_value", "", "This field is required."),
    ],
)
def test_new_campaign_says_what_is_wrong(
    dana_client: Client, field: str, value: str, reason: str
) -> None:
    response = dana_client.post(reverse("campaign_new"), NEW | {field: value})
    assert response.status_code == 422
    assert reason in text(response)
    assert not Campaign.objects.exists()


def test_if_it_pays_cannot_spend_more_per_pair_than_its_cap(dana_client: Client) -> None:
    pays = NEW | {"scheme_name": "if-it-pays", "cap": "3"}
    response = dana_client.post(reverse("campaign_new"), pays | {"per_pair": "3.5"})
    assert response.status_code == 422
    assert "Judgments per pair must not be more than the cap, 3. Got 3.5 instead." in text(response)
    assert dana_client.post(reverse("campaign_new"), pays | {"per_pair": "2.5"}).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.scheme_label, campaign.scheme.most) == ("if-it-pays to 2.5", 3)


def test_if_it_pays_may_have_a_least_value_instead(dana_client: Client) -> None:
    pays = {"scheme_name": "if-it-pays", "per_pair": "", "least_value": "0.01"}
    assert dana_client.post(reverse("campaign_new"), NEW | pays).status_code == 302
    assert Campaign.objects.get().scheme_label == "if-it-pays-0.01"


def test_same_name_gets_another_address(dana: User) -> None:
    slugs = [campaigns.create(dana, {"name": "Shop search"}).slug for _ in range(3)]
    assert slugs == ["shop-search", "shop-search-2", "shop-search-3"]


def test_every_name_gets_an_address_of_its_own_page(dana: User) -> None:
    assert campaigns.create(dana, {"name": "搜索"}).slug == "campaign"
    assert campaigns.create(dana, {"name": "New"}).slug == "campaign-new"


def test_expected_cost_is_the_schemes_own(dana_client: Client) -> None:
    table = costs.expected_table()
    assert set(table) == set(SCHEMES)
    for name, entry in table.items():
        rows: Any = entry["rows"]
        for share, shown in zip(costs.SHARES, rows[4], strict=True):
            scheme = SCHEMES[name](5) if entry["field"] else SCHEMES[name]()
            assert shown == pytest.approx(scheme.expected_cost(share / (100 - share)), abs=5e-5)


def test_new_page_shows_the_cost_without_script(dana_client: Client) -> None:
    shown = text(dana_client.get(reverse("campaign_new")))
    # if-good-3 at r = 1/4: (1 + 3/4) / (1 + 1/4) = 1.4 judgments, 53 % below three
    assert "20 % 0.25 1.40 −53 %" in shown


# -- Settings -------------------------------------------------------------------------------------


def test_settings_of_a_draft_can_all_change(draft: Campaign, dana_client: Client) -> None:
    address = reverse("campaign_settings", args=[draft.slug])
    changed = {"name": "Shop", "scheme_name": "good-till-bad", "cap": "7", "retrain_hours": "0"}
    assert dana_client.post(address, NEW | changed).status_code == 302
    draft.refresh_from_db()
    assert (draft.name, draft.scheme_name, draft.cap, draft.retrain_hours) == (
        "Shop",
        "good-till-bad",
        7,
        0,
    )


def test_new_scheme_is_applied_to_every_pair_and_recorded(
    campaign: Campaign, dana: User, dana_client: Client
) -> None:
    changed = {"name": "Library", "scheme_name": "k-overlap", "k": "2", "aggregator": "mean"}
    assert dana_client.post(page("campaign_settings"), NEW | changed).status_code == 302
    event = campaign.events.get()
    assert (event.actor, event.sentence) == (
        dana,
        "The rules were changed from if-good-3 with majority labels to 2-overlap with mean labels.",
    )
    job = jobs.take(Job.objects.get(kind="reroute").pk)
    assert job is not None
    routing.reroute(job)
    assert Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN).count() == 12


def test_other_settings_touch_no_pair(campaign: Campaign, dana_client: Client) -> None:
    changed = {"name": "Library 2", "retrain_judgments": "50"}
    dana_client.post(page("campaign_settings"), NEW | changed)
    campaign.refresh_from_db()
    assert (campaign.name, campaign.retrain_judgments) == ("Library 2", 50)
    assert not Job.objects.exists()
    assert not campaign.events.exists()


def test_first_budget_counts_what_was_spent_and_a_larger_one_need_not(
    campaign: Campaign, dana_client: Client
) -> None:
    dana_client.post(page("campaign_settings"), NEW | {"budget": "900"})
    assert Job.objects.filter(kind="reroute").count() == 1
    Job.objects.all().delete()
    dana_client.post(page("campaign_settings"), NEW | {"budget": "1200"})
    assert not Job.objects.exists()
    assert [event.sentence for event in campaign.events.order_by("pk")] == [
        "The budget was changed from none to 900 judgments.",
        "The budget was changed from 900 judgments to 1,200 judgments.",
    ]


def test_new_rules_go_over_the_judgments_that_a_draft_was_loaded_with(campaign: Campaign) -> None:
    Campaign.objects.update(state=Campaign.State.DRAFT)
    campaigns.update(campaign, {"k": 2})
    assert Job.objects.filter(kind="reroute").count() == 1
    Job.objects.all().delete()
    Seat.objects.all().delete()
    campaigns.update(campaign, {"k": 4})
    assert not Job.objects.exists()


def test_bad_settings_change_nothing(campaign: Campaign, dana_client: Client) -> None:
    response = dana_client.post(page("campaign_settings"), NEW | {"name": "New", "k": "0"})
    assert response.status_code == 422
    campaign.refresh_from_db()
    assert campaign.name == "Library"


# -- Data -----------------------------------------------------------------------------------------


def upload(client: Client, slug: str, content: bytes) -> Any:
    file = SimpleUploadedFile("pairs.csv", content)
    return client.post(reverse("campaign_data", args=[slug]), {"file": file}, follow=True)


def test_good_file_is_shown_and_loaded_on_request(
    draft: Campaign, dana_client: Client, rings: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    shown = text(upload(dana_client, draft.slug, CSV))
    assert "The file can be loaded. 1 pairs of 1 query, read as CSV." in shown
    assert "sort a list Sorting https://example.org/1 How to sort." in shown
    assert not draft.pairs.exists()
    file = Upload.objects.get()
    address = reverse("upload", args=[draft.slug, file.pk])
    with django_capture_on_commit_callbacks(execute=True):
        assert dana_client.post(address).status_code == 302
    job = Job.objects.get(kind="import")
    assert rings == [job.pk]
    assert "Being loaded." in text(dana_client.get(address))
    taken = jobs.take(job.pk)
    assert taken is not None
    imports.run(taken)
    live = dana_client.get(address, headers={"accept": "application/json"}).json()
    assert "1 pairs of 1 query can be judged" in live["fragments"]["upload-status"]
    assert draft.pairs.count() == 1


def test_bad_file_names_every_line_and_loads_nothing(draft: Campaign, dana_client: Client) -> None:
    shown = text(upload(dana_client, draft.slug, BAD_CSV))
    assert "Nothing was loaded. 2 lines cannot be loaded." in shown
    assert "2 url must begin with http:// or https://" in shown
    assert "3 query must not be empty." in shown
    assert not draft.pairs.exists()
    assert Upload.objects.get().state == Upload.State.REFUSED


def test_load_of_a_refused_file_does_nothing(draft: Campaign, dana_client: Client) -> None:
    upload(dana_client, draft.slug, BAD_CSV)
    dana_client.post(reverse("upload", args=[draft.slug, Upload.objects.get().pk]))
    assert not Job.objects.filter(kind="import").exists()


def test_upload_without_a_file_says_so(draft: Campaign, dana_client: Client) -> None:
    response = dana_client.post(reverse("campaign_data", args=[draft.slug]), {})
    assert response.status_code == 422
    assert "This field is required." in text(response)


def test_too_large_file_is_refused_before_it_is_read(
    draft: Campaign, dana_client: Client, settings: Any, data_dir: Path
) -> None:
    settings.UPLOAD_MAX_BYTES = 2**20
    response = upload(dana_client, draft.slug, CSV + b"x" * 3 * 2**19)
    assert response.status_code == 422
    assert "A file must have at most 1 MB. Got 2 MB instead." in text(response)
    assert not (data_dir / "uploads").exists()


def test_upload_of_another_campaign_is_404(
    campaign: Campaign, draft: Campaign, dana_client: Client
) -> None:
    upload(dana_client, draft.slug, CSV)
    assert dana_client.get(page("upload", Upload.objects.get().pk)).status_code == 404


# -- Judges ---------------------------------------------------------------------------------------


def test_new_judge_gets_a_link_that_is_shown_once(draft: Campaign, dana_client: Client) -> None:
    address = reverse("judge_add", args=[draft.slug])
    shown = dana_client.post(address, {"name": "Ada", "email": "ada@example.org"}, follow=True)
    ada = User.objects.get(email="ada@example.org")
    assert campaigns.judges(draft) == 1
    assert ada.role == User.Role.JUDGE
    found = re.search(r'value="(http://testserver/link/[^"]+)"', shown.content.decode())
    assert found
    judges = reverse("campaign_judges", args=[draft.slug])
    assert found[1] not in dana_client.get(judges).content.decode()
    client = Client()
    client.post(found[1])
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_known_address_is_added_without_a_link(
    draft: Campaign, dana_client: Client, charlie: User
) -> None:
    address = reverse("judge_add", args=[draft.slug])
    dana_client.post(address, {"name": "Whoever", "email": "CHARLIE@example.org"})
    assert draft.memberships.get(role=Membership.Role.JUDGE).user == charlie
    assert not SignInLink.objects.exists()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, "A judge must have a name or an e-mail address."),
        ({"name": "Ada", "email": "nowhere"}, "Enter a valid email address."),
    ],
)
def test_judge_form_says_what_is_wrong(
    draft: Campaign, dana_client: Client, data: dict[str, str], reason: str
) -> None:
    response = dana_client.post(reverse("judge_add", args=[draft.slug]), data)
    assert response.status_code == 422
    assert reason in text(response)
    assert campaigns.judges(draft) == 0


def test_judge_can_be_removed_and_added_back(
    campaign: Campaign, dana_client: Client, alice: User, draft: Campaign
) -> None:
    address = page("judge_change", alice.pk)
    dana_client.post(address, {"action": "remove"})
    assert campaigns.judges(campaign) == 1
    campaigns.add_judge(draft, alice)
    dana_client.post(address, {"action": "add"})
    assert campaigns.judges(campaign) == 2


def test_manager_makes_no_link_for_people_of_others(
    campaign: Campaign, dana: User, dana_client: Client, alice: User
) -> None:
    erin = person("erin", User.Role.MANAGER)
    campaigns.add_judge(campaigns.create(erin, {"name": "Secret"}), alice)
    campaigns.add_judge(campaign, erin)
    for user in (alice, erin):
        assert not campaigns.may_invite(dana, user)
        dana_client.post(page("judge_change", user.pk), {"action": "link"})
    assert not SignInLink.objects.exists()


def test_manager_makes_a_new_link_for_her_own_judge(
    campaign: Campaign, dana_client: Client, bob: User
) -> None:
    shown = dana_client.post(page("judge_change", bob.pk), {"action": "link"}, follow=True)
    assert SignInLink.objects.get().user == bob
    assert "Sign-in link for bob" in text(shown)


@pytest.mark.parametrize("action", ["add", "remove", "link"])
def test_change_of_somebody_unknown_is_404(
    campaign: Campaign, dana_client: Client, charlie: User, action: str
) -> None:
    response = dana_client.post(page("judge_change", charlie.pk), {"action": action})
    assert response.status_code == 404


# -- Guidelines -----------------------------------------------------------------------------------


def test_guidelines_are_versions(campaign: Campaign, dana_client: Client) -> None:
    address = page("campaign_guidelines")
    assert "Judges read the default text." in text(dana_client.get(address))
    dana_client.post(address, {"text": "# One\r\n", "action": "save"})
    dana_client.post(address, {"text": "# One", "action": "save"})
    dana_client.post(address, {"text": "# Two", "action": "save"})
    saved = list(campaign.guidelines.values_list("version", "text"))
    assert saved == [(2, "# Two\n"), (1, "# One\n")]
    assert guidelines.current(campaign).version == 2


def test_preview_saves_nothing_and_escapes(campaign: Campaign, dana_client: Client) -> None:
    sent = {"text": "**Bold** <script>alert(1)</script>", "action": "preview"}
    response = dana_client.post(page("campaign_guidelines"), sent)
    assert "<strong>Bold</strong> &lt;script&gt;" in response.content.decode()
    assert "Preview, not saved" in text(response)
    assert not campaign.guidelines.exists()


def test_empty_guidelines_are_refused(campaign: Campaign, dana_client: Client) -> None:
    response = dana_client.post(page("campaign_guidelines"), {"text": " "})
    assert response.status_code == 422
    assert not campaign.guidelines.exists()


@pytest.mark.parametrize("version", ["1", "0", "99", "x", "²"])
def test_editor_opens_with_any_version(
    campaign: Campaign, dana_client: Client, version: str
) -> None:
    campaigns.save_guidelines(campaign, "First words.")
    campaigns.save_guidelines(campaign, "Second words.")
    response = dana_client.get(page("campaign_guidelines"), {"version": version})
    expected = {"1": "First words.", "0": guidelines.default_text()}.get(version, "Second words.")
    assert response.context["form"].initial["text"].strip() == expected.strip()


# -- Open, pause, close ---------------------------------------------------------------------------


def step(client: Client, slug: str, name: str) -> str:
    address = reverse("campaign_state", args=[slug])
    return text(client.post(address, {"step": name}, follow=True))


def test_checklist_leads_from_nothing_to_open(
    draft: Campaign, dana_client: Client, alice: User
) -> None:
    address = reverse("dashboard", args=[draft.slug])
    assert "What is still missing" in text(dana_client.get(address))
    assert "Load data first: there is nothing to judge yet." in step(
        dana_client, draft.slug, "open"
    )
    fill(draft)
    assert "Add a judge first: there is nobody to judge yet." in step(
        dana_client, draft.slug, "open"
    )
    campaigns.add_judge(draft, alice)
    shown = text(dana_client.get(address))
    assert "Ready to open" in shown
    assert "6 pairs of 2 queries are loaded." in shown
    assert "if-good-3 asks up to 3 different people per pair" in shown
    assert "The campaign is open." in step(dana_client, draft.slug, "open")
    assert Seat.objects.filter(campaign=draft, state=Seat.State.OPEN).count() == 6
    assert [event.sentence for event in draft.events.all()] == ["The campaign is open now."]


def test_checklist_knows_a_file_that_waits(draft: Campaign, dana_client: Client) -> None:
    upload(dana_client, draft.slug, CSV)
    assert "pairs.csv is checked but not loaded yet." in text(
        dana_client.get(reverse("dashboard", args=[draft.slug]))
    )
    dana_client.post(reverse("upload", args=[draft.slug, Upload.objects.get().pk]))
    assert overview.checklist(draft)[0].text == "A file is being loaded."


@pytest.mark.parametrize(
    ("state", "name", "after"),
    [
        ("open", "pause", "paused"),
        ("open", "close", "closed"),
        ("paused", "open", "open"),
        ("paused", "close", "closed"),
        ("closed", "open", "open"),
        ("closed", "pause", "closed"),
        ("draft", "pause", "draft"),
        ("draft", "close", "draft"),
        ("open", "explode", "open"),
    ],
)
def test_steps_between_states(
    campaign: Campaign, dana_client: Client, state: str, name: str, after: str
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    shown = step(dana_client, "library", name)
    campaign.refresh_from_db()
    assert campaign.state == after
    if state == after:
        assert "cannot be told to" in shown or "must be open, pause or close" in shown


def test_second_click_on_open_changes_nothing(campaign: Campaign) -> None:
    seats = set(Seat.objects.values_list("pk", flat=True))
    campaigns.change_state(campaign, "open")
    assert set(Seat.objects.values_list("pk", flat=True)) == seats


def test_pairs_without_seats_get_them_when_opened_again(campaign: Campaign) -> None:
    Seat.objects.filter(pair__rank=1).delete()
    campaigns.change_state(campaign, "pause")
    campaigns.change_state(campaign, "open")
    assert not Pair.objects.filter(campaign=campaign, seats__isnull=True).exists()


@pytest.mark.parametrize(
    ("scheme", "needed"),
    [({"scheme_name": "single"}, 1), ({"k": 3}, 3), ({"scheme_name": "good-till-bad"}, 11)],
)
def test_judges_needed_follow_the_scheme(dana: User, scheme: dict[str, Any], needed: int) -> None:
    assert campaigns.judges_needed(campaigns.create(dana, {"name": "A", **scheme})) == needed


def test_train_now_writes_one_job(campaign: Campaign, dana_client: Client) -> None:
    for words in ("Training run 1 is on its way", "Run 1 is waiting already"):
        assert words in text(dana_client.post(page("campaign_train"), follow=True))
    assert Job.objects.filter(kind="train", campaign=campaign).count() == 1
    assert not Snapshot.objects.exists()
