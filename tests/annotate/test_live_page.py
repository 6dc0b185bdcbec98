"""The live page: off by default, only of public hosts, never of our own."""

import pytest
from django.test import Client

from annotate.addresses import public_host
from annotate.models import Campaign, Document

JUDGE = "/judge/library/"
JSON = {"accept": "application/json"}


@pytest.fixture
def live(campaign: Campaign) -> Campaign:
    Campaign.objects.update(live_page=True)
    return campaign


def test_live_page_is_off_by_default(alice_client: Client, campaign: Campaign) -> None:
    page = alice_client.get(JUDGE)
    assert "Live page" not in page.content.decode()
    assert "frame-src" not in page["Content-Security-Policy"]
    assert alice_client.get(JUDGE, headers=JSON).json()["next"]["live"] is False


def test_only_the_judging_page_may_frame(
    alice_client: Client, dana_client: Client, live: Campaign
) -> None:
    page = alice_client.get(JUDGE)
    assert "Live page" in page.content.decode()
    assert page["Content-Security-Policy"].endswith("frame-src http: https:")
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"
    assert alice_client.get(JUDGE, headers=JSON).json()["next"]["live"] is True
    for client, address in ((alice_client, "/judge/"), (dana_client, "/campaigns/library/")):
        assert "frame-src" not in client.get(address)["Content-Security-Policy"]


def test_manager_allows_it_in_the_settings(dana_client: Client, campaign: Campaign) -> None:
    page = dana_client.get("/campaigns/library/settings/")
    fields = {
        field.html_name: field.value()
        for field in page.context["form"]
        if field.value() is not None and field.value() is not False
    }
    answer = dana_client.post("/campaigns/library/settings/", fields | {"live_page": "on"})
    assert answer.status_code == 302, answer.context["form"].errors
    assert Campaign.objects.get().live_page is True


@pytest.mark.parametrize(
    ("url", "framed"),
    [
        ("https://docs.python.org/3/", True),
        ("http://example.org:8080/", True),
        ("https://8.8.8.8/", True),
        ("http://testserver/judge/library/", False),
        ("http://testserver:9000/", False),
        ("http://localhost/", False),
        ("http://127.0.0.1/", False),
        ("http://192.168.0.1/", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://user@example.org/", False),
        ("", False),
    ],
)
def test_only_public_hosts_that_are_not_ours_are_framed(
    alice_client: Client, live: Campaign, url: str, framed: bool
) -> None:
    Document.objects.update(url=url)
    assert alice_client.get(JUDGE, headers=JSON).json()["next"]["live"] is framed


def test_our_host_is_known_by_all_its_names(
    alice_client: Client, live: Campaign, settings: pytest.FixtureRequest
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", ".judging.example"]  # type: ignore[attr-defined]
    Document.objects.update(url="https://www.judging.example/")
    assert alice_client.get(JUDGE, headers=JSON).json()["next"]["live"] is False


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://10.1.2.3/",
        "http://169.254.169.254/",
        "http://printer.local/",
        "http://wiki.internal./",
        "http://intranet/",
        "https://[::1",
    ],
)
def test_machines_nearby_are_known_however_they_are_written(url: str) -> None:
    assert public_host(url) is None
