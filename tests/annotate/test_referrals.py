"""Pairs that several judges could not judge: shown with their reasons, decided by the manager."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate import campaigns, overview, routing
from annotate.models import Campaign, Pair, Refusal, User
from tests.conftest import person, signed_in

PAGE = "/campaigns/library/referrals/"


@pytest.fixture
def referred(campaign: Campaign, alice: User, bob: User) -> Pair:
    """Three judges could not judge it."""
    eve = person("eve")
    campaigns.add_judge(campaign, eve)
    pairs = set()
    for judge, text in ((alice, "Blank page."), (bob, ""), (eve, "")):
        seat = routing.claim(campaign, judge)
        assert seat is not None
        assert seat.token is not None
        routing.refuse(judge, seat.pk, seat.token, Refusal.Reason.NOT_LOADED, text)
        pairs.add(seat.pair_id)
    (number,) = pairs
    return Pair.objects.get(pk=number, state=Pair.State.REFERRED)


def shown(client: Client) -> str:
    html = client.get(PAGE).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def decide(client: Client, pair: Pair, action: str) -> int:
    address = reverse("referral_decide", args=["library", pair.pk])
    return client.post(address, {"action": action}).status_code


def test_page_shows_pairs_with_their_reasons(referred: Pair, dana_client: Client) -> None:
    page = shown(dana_client)
    assert referred.document.url in page
    assert "Did not load : Blank page." in page or "Did not load: Blank page." in page
    assert page.count("Did not load") == 3


def test_empty_page_says_when_pairs_come(campaign: Campaign, dana_client: Client) -> None:
    assert "None. A pair comes here when three judges could not judge it." in shown(dana_client)


def test_dashboard_leads_to_the_page(
    campaign: Campaign, referred: Pair, dana_client: Client
) -> None:
    need = overview.overview(campaign).needs[-1]
    assert (need.text, need.page) == (
        "1 pair could not be judged by several people.",
        "campaign_referrals",
    )
    assert f'href="{PAGE}"' in dana_client.get("/campaigns/library/").content.decode()


def test_pair_can_be_asked_again(referred: Pair, dana_client: Client) -> None:
    assert decide(dana_client, referred, "resume") == 302
    referred.refresh_from_db()
    assert referred.state == Pair.State.OPEN


def test_pair_can_be_dropped_once(referred: Pair, dana_client: Client) -> None:
    assert decide(dana_client, referred, "drop") == 302
    referred.refresh_from_db()
    assert referred.state == Pair.State.DROPPED
    decide(dana_client, referred, "drop")
    assert "This cannot be done with the pair as it is now." in shown(dana_client)


def test_unknown_decision_changes_nothing(referred: Pair, dana_client: Client) -> None:
    assert decide(dana_client, referred, "explode") == 302
    referred.refresh_from_db()
    assert referred.state == Pair.State.REFERRED


def test_pages_are_the_managers(
    referred: Pair, client: Client, alice_client: Client, dana: User, dana_client: Client
) -> None:
    erin = signed_in(person("erin", User.Role.MANAGER))
    for stranger, status in ((client, 302), (alice_client, 404), (erin, 404)):
        assert stranger.get(PAGE).status_code == status
        assert decide(stranger, referred, "drop") == status
    other = campaigns.create(dana, {"name": "Other"})
    address = reverse("referral_decide", args=[other.slug, referred.pk])
    assert dana_client.post(address, {"action": "drop"}).status_code == 404
    assert dana_client.post(PAGE).status_code == 405
    assert dana_client.get(address).status_code == 405
    referred.refresh_from_db()
    assert referred.state == Pair.State.REFERRED
