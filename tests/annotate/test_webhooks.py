"""Webhooks: whoever wants to know is told, at least once, and can tell who speaks."""

import base64
import hashlib
import hmac
import ipaddress
import json
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import jobs, labels, routing, tasks, tokens, webhooks
from annotate.clock import now_plus
from annotate.models import (
    Campaign,
    Closing,
    Delivery,
    Event,
    Job,
    Judgment,
    Membership,
    Pair,
    TrainingRun,
    User,
    Webhook,
)
from annotate.training import champion
from annotate.webhooks import announcing, checking, delivering, sending
from tests.annotate.receiver import Receiver, receiver
from tests.conftest import person

pytestmark = pytest.mark.django_db

ALL = list(webhooks.EVENTS)
URL = "https://example.org/hook"


@pytest.fixture(autouse=True)
def nearby(settings: Any) -> None:
    """Tests send to this machine."""
    settings.WEBHOOK_PRIVATE = True


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def hook(campaign: Campaign, dana: User, server: Receiver) -> Webhook:
    return webhooks.create(campaign, dana, server.url, ALL)


def judge(campaign: Campaign, user: User, *grades: int) -> None:
    for grade in grades:
        seat = routing.claim(campaign, user)
        assert seat is not None
        assert seat.token is not None
        routing.submit(user, seat.pk, seat.token, routing.Answer(grade, uuid.uuid4()))


def latest() -> int:
    """The judgment that was made last."""
    return Judgment.objects.latest("pk").pk


def work(*kinds: str) -> None:
    """Do what is due of these kinds, as if it were time, the oldest first."""
    for kind in kinds:
        due = Job.objects.filter(kind=kind, state=Job.State.DUE)
        due.update(due_at=now_plus(seconds=-1))
        for pk in list(due.order_by("pk").values_list("pk", flat=True)):
            tasks.run(pk)


def all_work() -> None:
    work("aggregate", "announce", "deliver")


def ripen() -> None:
    """The waits are over."""
    Delivery.objects.update(due_at=now_plus(seconds=-1))
    Webhook.objects.update(retry_at=None)


def said(server: Receiver, event: str) -> list[dict[str, Any]]:
    messages = [json.loads(one.body) for one in server.received]
    return [message for message in messages if message["type"] == event]


def state_of(delivery: Delivery) -> tuple[str, int, int | None]:
    delivery.refresh_from_db()
    return delivery.state, delivery.attempts, delivery.status


# -- Pairs that close -----------------------------------------------------------------------------


def test_pairs_that_close_are_told_together(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0, 1, 3)
    all_work()
    (message,) = said(server, "pair.closed")
    assert message["campaign"] == "library"
    assert message["id"] == server.ids[0]
    assert message["data"]["pairs"] == [
        {
            "query_id": "q1",
            "query": "query 1",
            "doc_id": f"https://example.org/1/{number}",
            "url": f"https://example.org/1/{number}",
            "grade": grade,
            "grade_name": name,
            "score": float(grade),
            "judgments": 1,
            "method": "majority",
        }
        for number, grade, name in ((1, 0, "Bad"), (2, 1, "Fair"))  # the third wants two more
    ]


def test_a_closed_pair_is_told_once(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0)
    all_work()
    Pair.objects.update(stale=True)  # as if another thing about it had changed
    jobs.enqueue("aggregate", campaign)
    all_work()
    assert len(said(server, "pair.closed")) == 1


def test_a_pair_that_was_opened_again_is_told_again_when_it_closes(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0)
    all_work()
    routing.take_back(alice, latest())
    all_work()
    assert not Closing.objects.exists()
    judge(campaign, alice, 1)
    all_work()
    assert [m["data"]["pairs"][0]["grade"] for m in said(server, "pair.closed")] == [0, 1]


def test_a_pair_that_opens_before_it_is_told_is_not_told(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0)
    work("aggregate")
    routing.take_back(alice, latest())
    work("aggregate", "announce", "deliver")
    assert said(server, "pair.closed") == []


def test_many_closed_pairs_come_in_parts(
    campaign: Campaign,
    hook: Webhook,
    server: Receiver,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(announcing, "PAIRS", 4)
    judge(campaign, alice, 0, 0, 0, 0, 0, 0)
    all_work()
    assert [len(m["data"]["pairs"]) for m in said(server, "pair.closed")] == [4, 2]
    assert len(set(server.ids)) == len(server.ids)


def test_a_campaign_without_webhooks_writes_nothing(campaign: Campaign, alice: User) -> None:
    judge(campaign, alice, 0)
    work("aggregate")
    assert not Closing.objects.exists()
    assert not Job.objects.filter(kind__in=["announce", "deliver"]).exists()


def test_judging_costs_no_more_queries_with_a_webhook(
    campaign: Campaign, dana: User, alice: User, django_assert_num_queries: Any
) -> None:
    judge(campaign, alice, 0)
    with CaptureQueriesContext(connection) as without:
        judge(campaign, alice, 0)
    webhooks.create(campaign, dana, URL, ALL)
    with django_assert_num_queries(len(without)):
        judge(campaign, alice, 0)


def test_a_webhook_is_told_only_what_it_wants(
    campaign: Campaign, dana: User, server: Receiver, alice: User
) -> None:
    webhooks.create(campaign, dana, server.url, ["labels.ready"])
    judge(campaign, alice, 0, 0, 0, 0, 0, 0)
    all_work()
    assert [json.loads(one.body)["type"] for one in server.received] == ["labels.ready"]


# -- Labels and champions -------------------------------------------------------------------------


def test_labels_are_ready_when_no_pair_waits(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0, 0, 0, 0, 0)
    all_work()
    assert said(server, "labels.ready") == []
    judge(campaign, alice, 1)
    all_work()
    (message,) = said(server, "labels.ready")
    assert message["data"] == {"labels": 6, "method": "majority", "referred": 0}


def test_ready_labels_are_told_once_and_again_when_they_changed(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    judge(campaign, alice, 0, 0, 0, 0, 0, 0)
    all_work()
    jobs.enqueue("relabel", campaign)
    work("relabel", "announce", "deliver")
    assert len(said(server, "labels.ready")) == 1  # nothing changed
    routing.correct(alice, latest(), routing.Answer(1, uuid.uuid4()))
    all_work()
    assert len(said(server, "labels.ready")) == 2


def test_provisional_labels_are_not_ready(
    campaign: Campaign, hook: Webhook, server: Receiver, alice: User
) -> None:
    Campaign.objects.update(aggregator="ordinal")
    judge(campaign, alice, 0, 0, 0, 0, 0, 0)
    all_work()
    assert said(server, "labels.ready") == []
    work("relabel", "announce", "deliver")
    assert [m["data"]["method"] for m in said(server, "labels.ready")] == ["ordinal"]


def test_the_word_for_a_decided_label_is_the_labels_own() -> None:
    assert announcing.ADJUDICATED == labels.ADJUDICATED


def test_a_new_champion_is_told_and_so_is_the_way_back(
    campaign: Campaign, hook: Webhook, server: Receiver, dana: User
) -> None:
    one, two = (
        TrainingRun.objects.create(
            campaign=campaign, number=n, state="done", ranker="lambdamart", judgments=6
        )
        for n in (1, 2)
    )
    for run in (one, two):
        champion.promote(run, dana)
    TrainingRun.objects.filter(pk=one.pk).update(promoted_at=now_plus(days=-1))
    champion.roll_back(campaign, dana)
    work("deliver")
    told = [message["data"] for message in said(server, "champion.promoted")]
    assert [one["run"] for one in told] == [1, 2, 1]
    assert told[0]["ranker"] == "lambdamart"
    assert told[0]["why"] == "Run 1 was made the champion by dana."
    assert "rolled back" in told[2]["why"]


# -- Signatures -----------------------------------------------------------------------------------


def test_a_receiver_can_verify_who_speaks_with_the_example_of_the_documentation(
    hook: Webhook, server: Receiver
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    webhooks.send_test(hook)
    work("deliver")
    (got,) = server.received
    verified = names["verified"]
    assert verified(hook.secret, got.headers, got.body)
    assert not verified(hook.secret, got.headers, got.body + b" ")
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    assert not verified(other, got.headers, got.body)
    late = got.headers | {"webhook-timestamp": str(int(time.time()) - 3600)}
    assert not verified(hook.secret, late, got.body)


def test_the_signature_is_the_one_of_standard_webhooks() -> None:
    key, number = b"k" * 32, uuid.uuid4()
    secret = "whsec_" + base64.b64encode(key).decode()
    headers = webhooks.sign(secret, number, 1_700_000_000, "{}")
    digest = hmac.new(key, f"{number}.1700000000.{{}}".encode(), hashlib.sha256).digest()
    assert headers == {
        "webhook-id": str(number),
        "webhook-timestamp": "1700000000",
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_secrets_are_never_alike(campaign: Campaign, dana: User) -> None:
    made = [webhooks.create(campaign, dana, f"{URL}{n}", ALL).secret for n in range(3)]
    assert len(set(made)) == 3
    assert all(len(base64.b64decode(secret.removeprefix("whsec_"))) == 32 for secret in made)


# -- Delivery -------------------------------------------------------------------------------------


def test_a_server_that_fails_twice_gets_it_the_third_time(hook: Webhook, server: Receiver) -> None:
    server.answers, server.text = [500, 503], b"not now"
    delivery = webhooks.send_test(hook)
    work("deliver")
    assert state_of(delivery) == ("waiting", 1, 500)
    assert delivery.error == "It answered 500 Internal Server Error."
    assert delivery.answer == "not now"
    for expected in (("waiting", 2, 503), ("sent", 3, 200)):
        ripen()
        work("deliver")
        assert state_of(delivery) == expected
    assert server.ids == [str(delivery.event_id)] * 3
    assert delivery.error == ""
    assert delivery.sent_at is not None
    work("deliver")
    assert len(server.received) == 3


def test_it_waits_longer_from_failure_to_failure(hook: Webhook, server: Receiver) -> None:
    server.answers = [500] * webhooks.MOST_ATTEMPTS
    delivery = webhooks.send_test(hook)
    waits = []
    for _ in range(webhooks.MOST_ATTEMPTS - 1):
        work("deliver")
        due = Job.objects.get(kind="deliver", state=Job.State.DUE)
        waits.append((due.due_at - due.created_at).total_seconds())
        ripen()
    expected = [*delivering.WAITS, *[delivering.WAITS[-1]] * 10][: len(waits)]
    assert waits == pytest.approx(expected, abs=5)
    work("deliver")
    assert state_of(delivery) == ("failed", webhooks.MOST_ATTEMPTS, 500)
    assert not Job.objects.filter(kind="deliver", state=Job.State.DUE).exists()


def test_a_server_that_is_down_is_left_alone_for_a_while(
    campaign: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    hook = webhooks.create(campaign, dana, url, ALL)
    tried: list[str] = []
    post = sending.post

    def counting(url: str, headers: Any, body: bytes) -> sending.Outcome:
        tried.append(url)
        return post(url, headers, body)

    monkeypatch.setattr(delivering, "post", counting)
    first, second = (announcing.tell(campaign, "labels.ready", {})[0] for _ in range(2))
    work("deliver")
    assert len(tried) == 1  # the second waits for the first
    assert state_of(first) == ("waiting", 1, None)
    assert "could not be reached" in first.error
    assert state_of(second) == ("waiting", 0, None)
    announcing.tell(campaign, "labels.ready", {})
    work("deliver")
    assert len(tried) == 1
    hook.refresh_from_db()
    assert hook.failures == 1
    assert hook.retry_at is not None


def test_when_it_is_back_everything_is_delivered_in_order(
    campaign: Campaign, hook: Webhook, server: Receiver
) -> None:
    right, wrong = server.url, "http://127.0.0.1:9/"
    Webhook.objects.update(url=wrong)
    told = [announcing.tell(campaign, "labels.ready", {"n": n})[0] for n in range(3)]
    work("deliver")
    Webhook.objects.update(url=right)
    ripen()
    work("deliver")
    assert server.ids == [str(one.event_id) for one in told]
    hook.refresh_from_db()
    assert (hook.failures, hook.retry_at) == (0, None)


def test_a_message_that_is_refused_does_not_hold_up_the_others(
    campaign: Campaign, hook: Webhook, server: Receiver
) -> None:
    server.answers = [400]
    first, second = (announcing.tell(campaign, "labels.ready", {})[0] for _ in range(2))
    work("deliver")
    assert state_of(first)[0] == "waiting"
    assert state_of(second)[0] == "sent"
    third = announcing.tell(campaign, "labels.ready", {})[0]
    work("deliver")
    assert state_of(third)[0] == "sent"


def test_a_worker_killed_between_sending_and_marking_sends_the_same_id_again(
    hook: Webhook, server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        """As the end of a process: nobody catches it."""

    def killed(*_: object) -> None:
        raise KilledError

    delivery = webhooks.send_test(hook)
    with monkeypatch.context() as patch:
        patch.setattr(delivering, "_mark", killed)
        with pytest.raises(KilledError):
            work("deliver")
    assert len(server.received) == 1
    assert state_of(delivery) == ("waiting", 1, None)
    Job.objects.update(leased_until=now_plus(seconds=-1))
    monkeypatch.setattr(jobs.sweeping.bell, "room", lambda: 0)
    jobs.sweep()
    work("deliver")
    assert len(server.received) == 1  # it might still be on its way
    ripen()
    work("deliver")
    assert server.ids == [str(delivery.event_id)] * 2
    assert server.received[0].body == server.received[1].body
    assert state_of(delivery) == ("sent", 2, 200)


def test_two_workers_do_not_send_the_same_message(hook: Webhook, server: Receiver) -> None:
    webhooks.send_test(hook)
    assert delivering._next(hook) is not None
    work("deliver")
    assert server.received == []


def test_a_worker_that_lost_the_job_marks_nothing(
    hook: Webhook, server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = webhooks.send_test(hook)
    post = sending.post

    def slow(*args: Any) -> sending.Outcome:
        Job.objects.filter(kind="deliver").update(token=uuid.uuid4())
        return post(*args)

    monkeypatch.setattr(delivering, "post", slow)
    work("deliver")
    assert len(server.received) == 1
    assert state_of(delivery) == ("waiting", 1, None)


def test_what_cannot_be_delivered_for_days_is_given_up(hook: Webhook, server: Receiver) -> None:
    server.answers = [500]
    delivery = webhooks.send_test(hook)
    work("deliver")
    Delivery.objects.update(created_at=now_plus(days=-delivering.GIVE_UP_DAYS - 1))
    ripen()
    work("deliver")
    assert state_of(delivery) == ("failed", 1, 500)
    assert len(server.received) == 1


def test_old_deliveries_are_forgotten(hook: Webhook, server: Receiver) -> None:
    webhooks.send_test(hook)
    work("deliver")
    Delivery.objects.update(created_at=now_plus(days=-delivering.KEEP_DAYS - 1))
    kept = webhooks.send_test(hook)
    work("deliver")
    assert list(Delivery.objects.all()) == [kept]


def test_send_again_sends_the_same_message_also_one_that_arrived(
    hook: Webhook, server: Receiver
) -> None:
    delivery = webhooks.send_test(hook)
    work("deliver")
    webhooks.send_again(delivery)
    work("deliver")
    assert server.ids == [str(delivery.event_id)] * 2
    assert state_of(delivery) == ("sent", 1, 200)


def test_a_removed_webhook_is_told_nothing_more(
    campaign: Campaign, hook: Webhook, server: Receiver, dana: User, alice: User
) -> None:
    judge(campaign, alice, 0)
    work("aggregate")
    webhooks.send_test(hook)
    webhooks.remove(hook, dana)
    work("announce", "deliver")
    assert server.received == []
    assert not Delivery.objects.exists()
    assert not Closing.objects.exists()
    assert not Job.objects.filter(state=Job.State.FAILED).exists()


# -- Where it may go ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:secret@example.org/",
        "https://example.org:99999/",
        "https://example.org/\r\nX-Evil: 1",
        "https://exämple.org/",
        "https:///path",
        "https://example.org/" + "x" * 2048,
    ],
)
def test_addresses_that_are_refused(campaign: Campaign, dana: User, url: str) -> None:
    with pytest.raises(webhooks.WebhookError, match=r"An address must"):
        webhooks.create(campaign, dana, url, ALL)
    assert not Webhook.objects.exists()


NEARBY = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0.0.0.0",
    "100.64.0.1",
    "224.0.0.1",
    "::1",
    "fe80::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "2002:7f00:1::",
    "64:ff9b::a00:1",
]


@pytest.mark.parametrize("number", NEARBY)
def test_nearby_machines_are_refused_unless_the_site_allows_them(
    campaign: Campaign, dana: User, number: str, settings: Any
) -> None:
    url = f"http://[{number}]/" if ":" in number else f"http://{number}/"
    settings.WEBHOOK_PRIVATE = False
    with pytest.raises(webhooks.WebhookError, match="must be on the open web"):
        webhooks.create(campaign, dana, url, ALL)
    settings.WEBHOOK_PRIVATE = True
    assert webhooks.create(campaign, dana, url, ALL).url == url


@pytest.mark.parametrize("number", ["93.184.216.34", "2606:2800:220:1::1"])
def test_the_open_web_is_allowed(number: str, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = False
    checking.check_ip(ipaddress.ip_address(number))


def test_a_name_is_looked_at_when_sending(
    hook: Webhook, server: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may stand for another machine than it did when the webhook was made."""
    settings.WEBHOOK_PRIVATE = False
    Webhook.objects.update(url="http://innocent.example:80/")
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inside)
    delivery = webhooks.send_test(hook)
    work("deliver")
    assert state_of(delivery) == ("waiting", 1, None)
    assert delivery.error == (
        "An address must be on the open web. 10.0.0.7 is not, and WEBHOOK_PRIVATE is off."
    )


def test_localhost_is_refused_by_its_name(campaign: Campaign, dana: User, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = False
    for host in ("localhost", "x.localhost", "LOCALHOST:8000"):
        with pytest.raises(webhooks.WebhookError, match="must be on the open web"):
            webhooks.create(campaign, dana, f"http://{host}/", ALL)


def test_redirects_are_not_followed(hook: Webhook, server: Receiver) -> None:
    server.answers = [302]
    server.headers = {"Location": server.url}
    delivery = webhooks.send_test(hook)
    work("deliver")
    assert len(server.received) == 1
    assert state_of(delivery) == ("waiting", 1, 302)


def test_little_of_an_answer_is_kept(hook: Webhook, server: Receiver) -> None:
    server.text = b"\xff\x00" + b"x" * 100_000
    delivery = webhooks.send_test(hook)
    work("deliver")
    delivery.refresh_from_db()
    assert delivery.answer == "\ufffd\ufffd" + "x" * (sending.EXCERPT - 2)


def test_a_server_that_never_ends_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "WHOLE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def drip() -> None:
            line, _ = server.accept()
            with line:
                while not over.wait(0.05):
                    try:
                        line.sendall(b"X")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        outcome = sending.post(f"http://127.0.0.1:{server.getsockname()[1]}/", {}, b"{}")
        over.set()
        thread.join()
    assert outcome.status is None
    assert "could not be reached" in outcome.error


def test_a_server_without_a_valid_certificate_is_refused(
    campaign: Campaign, dana: User, server: Receiver
) -> None:
    outcome = sending.post(server.url.replace("http:", "https:"), {}, b"{}")
    assert outcome.status is None
    assert "could not be reached" in outcome.error


# -- Making and removing --------------------------------------------------------------------------


def test_making_and_removing_is_on_record(campaign: Campaign, dana: User) -> None:
    hook = webhooks.create(campaign, dana, "https://example.org/secret-path", ALL)
    webhooks.remove(hook, dana)
    assert [event.sentence for event in Event.objects.order_by("pk")] == [
        "dana added a webhook to example.org.",
        "dana removed the webhook to example.org.",
    ]


def test_an_address_is_used_once_and_ten_are_enough(campaign: Campaign, dana: User) -> None:
    for number in range(webhooks.MOST_WEBHOOKS):
        webhooks.create(campaign, dana, f"{URL}/{number}", ALL)
    with pytest.raises(webhooks.WebhookError, match="at most 10"):
        webhooks.create(campaign, dana, f"{URL}/more", ALL)
    Webhook.objects.filter(url=f"{URL}/9").delete()
    with pytest.raises(webhooks.WebhookError, match="already"):
        webhooks.create(campaign, dana, f"{URL}/0", ALL)


@pytest.mark.parametrize("events", [[], ["pair.opened"], ["pair.closed", "x"]])
def test_unknown_events_are_refused(campaign: Campaign, dana: User, events: list[str]) -> None:
    with pytest.raises(webhooks.WebhookError, match="Events must be some of"):
        webhooks.create(campaign, dana, URL, events)


# -- The page -------------------------------------------------------------------------------------


@pytest.fixture
def page(campaign: Campaign) -> str:
    return reverse("campaign_webhooks", args=[campaign.slug])


def test_the_secret_is_shown_once(dana_client: Client, page: str) -> None:
    answer = dana_client.post(page, {"url": URL, "events": ["pair.closed"]})
    hook = Webhook.objects.get()
    assert answer.status_code == 201
    assert hook.secret in answer.content.decode()
    assert hook.events == ["pair.closed"]
    again = dana_client.get(page)
    assert URL in again.content.decode()
    assert hook.secret not in again.content.decode()


def test_what_cannot_be_taken_is_said(dana_client: Client, page: str, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = False
    answer = dana_client.post(page, {"url": "http://127.0.0.1/", "events": ["pair.closed"]})
    assert answer.status_code == 422
    assert "must be on the open web" in answer.content.decode()
    answer = dana_client.post(page, {"url": URL})
    assert answer.status_code == 422
    assert not Webhook.objects.exists()


def test_the_log_shows_what_came_of_each_and_sends_again(
    dana_client: Client, page: str, hook: Webhook, server: Receiver
) -> None:
    server.answers = [500]
    answer = dana_client.post(
        reverse("webhook_change", args=["library", hook.pk]), {"action": "test"}
    )
    assert answer.status_code == 302
    work("deliver")
    text = dana_client.get(page).content.decode()
    assert "It answered 500 Internal Server Error." in text
    delivery = Delivery.objects.get()
    dana_client.post(reverse("delivery_again", args=["library", delivery.pk]))
    work("deliver")
    assert state_of(delivery) == ("sent", 1, 200)


def test_a_manager_removes_a_webhook(dana_client: Client, hook: Webhook) -> None:
    address = reverse("webhook_change", args=["library", hook.pk])
    assert dana_client.post(address, {"action": "other"}).status_code == 302
    assert Webhook.objects.exists()
    dana_client.post(address, {"action": "remove"})
    assert not Webhook.objects.exists()


def test_strangers_and_judges_find_nothing(
    alice_client: Client, charlie_client: Client, hook: Webhook, page: str
) -> None:
    delivery = webhooks.send_test(hook)
    change = reverse("webhook_change", args=["library", hook.pk])
    again = reverse("delivery_again", args=["library", delivery.pk])
    for client in (alice_client, charlie_client):
        assert client.get(page).status_code == 404
        assert client.post(change, {"action": "remove"}).status_code == 404
        assert client.post(again).status_code == 404
    assert Client().get(page).status_code == 302
    assert Webhook.objects.exists()


def test_a_webhook_of_another_campaign_is_out_of_reach(hook: Webhook) -> None:
    other = person("erin", User.Role.MANAGER)
    theirs = Campaign.objects.create(slug="theirs", name="Theirs", created_by=other)
    Membership.objects.create(campaign=theirs, user=other, role=Membership.Role.MANAGER)
    client = Client()
    client.force_login(other)
    delivery = webhooks.send_test(hook)
    for name, number in (("webhook_change", hook.pk), ("delivery_again", delivery.pk)):
        assert client.post(reverse(name, args=["theirs", number])).status_code == 404
        assert client.get(reverse(name, args=["theirs", number])).status_code == 405


# -- The API --------------------------------------------------------------------------------------

HOOKS = "/api/v1/campaigns/library/webhooks/"


class Program:
    """A program with a token of its owner."""

    def __init__(self, user: User, scope: str = "manage") -> None:
        raw = tokens.create(user, f"test {uuid.uuid4()}", [scope], 1)
        self.client = Client(headers={"authorization": f"Bearer {raw}"})

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        sent = {} if body is None else {"data": json.dumps(body)}
        answer = self.client.generic(method, path, content_type="application/json", **sent)
        assert answer.status_code == status, answer.content
        return json.loads(answer.content) if answer.content else None


def test_a_program_makes_tries_and_removes_a_webhook(
    campaign: Campaign, dana: User, server: Receiver
) -> None:
    program = Program(dana)
    made = program.ask("POST", HOOKS, {"url": server.url, "events": ["pair.closed"]}, 201)
    assert made["secret"] == Webhook.objects.get().secret
    (listed,) = program.ask("GET", HOOKS)["results"]
    assert listed == {name: made[name] for name in listed}
    assert "secret" not in listed
    hook = f"{HOOKS}{made['id']}/"
    assert program.ask("GET", hook) == listed
    sent = program.ask("POST", f"{hook}test/", {}, 202)
    work("deliver")
    (row,) = program.ask("GET", f"{hook}deliveries/")["results"]
    assert (row["event_id"], row["state"], row["status"]) == (sent["event_id"], "sent", 200)
    assert program.ask("POST", f"{hook}deliveries/{row['id']}/send/", {}, 202)["state"] == "waiting"
    work("deliver")
    assert server.ids == [sent["event_id"]] * 2
    program.ask("DELETE", hook, status=204)
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"url": URL}, 400),
        ({"url": URL, "events": []}, 400),
        ({"url": URL, "events": ["other"]}, 400),
        ({"url": URL, "events": [["pair.closed"]]}, 400),
        ({"url": 3, "events": ["pair.closed"]}, 400),
        ({"url": URL, "events": ["pair.closed"], "secret": "mine"}, 400),
        ({"url": "ftp://example.org/", "events": ["pair.closed"]}, 409),
        ({"url": "https://u@example.org/", "events": ["pair.closed"]}, 409),
    ],
)
def test_a_program_is_told_what_is_wrong(
    campaign: Campaign, dana: User, body: Any, status: int
) -> None:
    said = Program(dana).ask("POST", HOOKS, body, status)
    assert said["detail"].endswith(".")
    assert not Webhook.objects.exists()


def test_the_same_address_again_is_a_conflict(campaign: Campaign, dana: User) -> None:
    program, body = Program(dana), {"url": URL, "events": ALL}
    program.ask("POST", HOOKS, body, 201)
    program.ask("POST", HOOKS, body, 409)


def test_only_who_manages_has_webhooks_in_the_api(
    hook: Webhook, alice: User, charlie: User, dana: User
) -> None:
    delivery = webhooks.send_test(hook)
    addresses = [
        ("GET", HOOKS),
        ("POST", HOOKS),
        ("GET", f"{HOOKS}{hook.pk}/"),
        ("DELETE", f"{HOOKS}{hook.pk}/"),
        ("POST", f"{HOOKS}{hook.pk}/test/"),
        ("GET", f"{HOOKS}{hook.pk}/deliveries/"),
        ("POST", f"{HOOKS}{hook.pk}/deliveries/{delivery.pk}/send/"),
    ]
    stranger = person("erin", User.Role.MANAGER)
    for method, path in addresses:
        for user in (alice, charlie):
            Program(user, "judge").ask(method, path, status=403)
        Program(stranger).ask(method, path, status=404)
        assert Client().generic(method, path).status_code == 401
    assert Webhook.objects.count() == Delivery.objects.count() == 1
