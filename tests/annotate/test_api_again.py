"""What is sent again with its key has one effect and one answer, on both databases."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from annotate import replies, tasks, tokens
from annotate.api import docs
from annotate.models import Campaign, Job, Note, Reply, User
from tests.annotate import api_world
from tests.annotate.api_world import World

CAMPAIGNS = "/api/v1/campaigns/"

#: Writes without a key, and why they need none.
NATURAL = {
    "claim": "a seat she holds comes again",
    "judge": "the judgment has a key of its own",
    "correct": "the judgment has a key of its own",
    "refuse": "a pair is refused once",
    "release": "a seat that is not hers stays as it is",
    "extend": "the lease begins anew",
    "undo": "the seat she got back comes again",
    "note_read": "read is read",
    "guidelines_new": "the same text is the same version",
    "judge_link": "its answer is a secret, which is not kept",
    "rank": "it changes nothing",
    "plan": "it changes nothing",
}


@pytest.fixture
def world(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    return api_world.make(campaign, alice, bob, dana)


@pytest.fixture
def dana_api(dana: User) -> Client:
    return client(dana)


def client(user: User) -> Client:
    raw = tokens.create(user, f"test {user.pk}", ["manage"], 1)
    return Client(headers={"authorization": f"Bearer {raw}"})


def post(api: Client, path: str, body: Any, key: str | None = "k-1") -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return api.post(path, json.dumps(body), content_type="application/json", headers=headers)


def names() -> list[str]:
    return sorted(Campaign.objects.values_list("name", flat=True))


# -- One effect -----------------------------------------------------------------------------------


def test_same_key_and_body_is_one_campaign_and_the_same_answer(dana_api: Client) -> None:
    first, second = (post(dana_api, CAMPAIGNS, {"name": "Shop", "k": 2}) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert names() == ["Shop"]


def test_order_of_the_fields_makes_no_other_body(dana_api: Client) -> None:
    first = post(dana_api, CAMPAIGNS, {"name": "Shop", "k": 2})
    assert post(dana_api, CAMPAIGNS, {"k": 2, "name": "Shop"}).json() == first.json()
    assert names() == ["Shop"]


def test_same_key_with_another_body_is_refused(dana_api: Client) -> None:
    post(dana_api, CAMPAIGNS, {"name": "Shop"})
    answer = post(dana_api, CAMPAIGNS, {"name": "Library"})
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "Every request must have its own key. This one came with another body.",
    }
    assert names() == ["Shop"]


def test_other_keys_and_no_key_are_other_requests(dana_api: Client) -> None:
    for key in ("a", "b", None, None):
        assert post(dana_api, CAMPAIGNS, {"name": "Shop"}, key).status_code == 201
    assert len(names()) == 4
    assert Reply.objects.count() == 2


def test_key_is_her_own_and_of_one_address(campaign: Campaign, dana: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(role=User.Role.MANAGER)
    bob.refresh_from_db()
    for api in (client(dana), client(bob)):
        assert post(api, CAMPAIGNS, {"name": "Shop"}).status_code == 201
    state = post(client_of(dana), f"{CAMPAIGNS}library/state/", {"step": "pause"})
    assert state.json()["state"] == "paused"
    assert names() == ["Library", "Shop", "Shop"]


def client_of(user: User) -> Client:
    raw = tokens.create(user, "another token", ["manage"], 1)
    return Client(headers={"authorization": f"Bearer {raw}"})


def test_key_is_the_persons_whichever_token_she_uses(dana: User) -> None:
    first = post(client(dana), CAMPAIGNS, {"name": "Shop"})
    assert post(client_of(dana), CAMPAIGNS, {"name": "Shop"}).json() == first.json()
    assert names() == ["Shop"]


def test_what_failed_is_tried_again(dana_api: Client, campaign: Campaign) -> None:
    job = Job.objects.create(
        kind="report", key="x", campaign=campaign, state="done", due_at=timezone.now()
    )
    path = f"{CAMPAIGNS}library/jobs/{job.pk}/retry/"
    assert post(dana_api, path, {}).status_code == 409
    assert not Reply.objects.exists()
    Job.objects.filter(pk=job.pk).update(state="failed")
    assert post(dana_api, path, {}).json()["state"] == "due"


@pytest.mark.parametrize("key", ["", " ", "a b", "ü", "k" * 256, "a\tb"])
def test_bad_key_is_refused(dana_api: Client, key: str) -> None:
    answer = post(dana_api, CAMPAIGNS, {"name": "Shop"}, key)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"
    assert not names()


def test_same_file_is_one_upload_and_another_file_is_refused(world: World, dana: User) -> None:
    api = client(dana)
    path = f"{CAMPAIGNS}library/uploads/"
    operation = api_world.operations()["upload_new"]
    headers = {"Idempotency-Key": "file"}
    first, second = (
        api.post(path, world.body(operation), headers=headers).json() for _ in range(2)
    )
    assert first == second
    other = SimpleUploadedFile("file.csv", b"query,docid\nother,x\n")
    assert api.post(path, {"file": other}, headers=headers).status_code == 422


def test_link_that_lets_somebody_in_is_not_kept(world: World, dana: User) -> None:
    path = f"{CAMPAIGNS}library/judges/{world.ids['judge_id']}/link/"
    api = client(dana)
    links = [post(api, path, {}).json()["address"] for _ in range(2)]
    assert links[0] != links[1]
    assert not Reply.objects.exists()


# -- At once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_many_at_once_have_one_effect_and_one_answer(campaign: Campaign, dana: User) -> None:
    api = client(dana)
    judge = campaign.memberships.get(user__username="alice").user
    path = f"{CAMPAIGNS}library/judges/{judge.pk}/notes/"

    def tell(_: int) -> tuple[int, Any]:
        answer = post(api, path, {"text": "Look at the date."}, "one")
        connection.close()
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tell, range(24)))
    assert answers == [answers[0]] * 24
    assert answers[0][0] == 201
    assert Note.objects.count() == 1


# -- For a day ------------------------------------------------------------------------------------


def test_key_is_forgotten_after_a_day(dana_api: Client, dana: User) -> None:
    for hours in (23, 25):
        Reply.objects.all().delete()
        post(dana_api, CAMPAIGNS, {"name": f"After {hours}"})
        Reply.objects.update(created_at=timezone.now() - timedelta(hours=hours))
        post(dana_api, CAMPAIGNS, {"name": f"After {hours}"})
    assert names() == ["After 23", "After 25", "After 25"]


def test_sweep_removes_what_is_old_and_nothing_else(dana: User) -> None:
    for number, hours in enumerate((0, 23, 25, 100)):
        made = timezone.now() - timedelta(hours=hours)
        Reply.objects.create(user=dana, digest=str(number), body="", created_at=made)
    tasks.sweep.apply()
    assert sorted(Reply.objects.values_list("digest", flat=True)) == ["0", "1"]
    replies.forget()
    assert Reply.objects.count() == 2


# -- Everywhere -----------------------------------------------------------------------------------


def keyed(name: str) -> bool:
    operation = api_world.operations()[name]
    return any(field.name == "Idempotency-Key" for field in operation.fields)


def writes() -> list[docs.Operation]:
    return [one for one in api_world.operations().values() if one.method == "POST"]


def test_every_post_takes_a_key_or_needs_none() -> None:
    assert {one.id for one in writes() if not keyed(one.id)} == set(NATURAL)


def test_every_keyed_write_gives_the_same_answer_again(world: World) -> None:
    api = api_world.program(world, "manager")
    headers = {"Idempotency-Key": "again"}
    seen = []
    for operation in filter(lambda one: keyed(one.id), writes()):
        with transaction.atomic():
            first, second = (
                api_world.ask(api, world, operation, headers=headers) for _ in range(2)
            )
            transaction.set_rollback(True)
        world.keep_file()
        assert first.status_code == second.status_code, operation.id
        if first.status_code < 300:
            assert second["Idempotent-Replayed"] == "true", operation.id
            assert first.content == second.content, operation.id
            seen.append(operation.id)
    assert len(seen) > 15
