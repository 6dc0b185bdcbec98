"""The API as a program sees it: what works, who may, what is said when something is wrong."""

import json
import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate import handles, routing, tokens
from annotate.api import docs, urls
from annotate.labels import label_batch
from annotate.models import ApiToken, Campaign, Judgment, Membership, Pair, Refusal, Seat, User

CLAIM = "/api/v1/campaigns/library/claim/"
Json = dict[str, Any]


class Api:
    """A program with a token."""

    def __init__(self, raw: str | None) -> None:
        headers = {"authorization": f"Bearer {raw}"} if raw is not None else {}
        self.client = Client(enforce_csrf_checks=True, headers=headers)

    def get(self, path: str, status: int = 200) -> Json:
        return read(self.client.get(path), status)

    def post(self, path: str, body: Any = None, status: int = 200) -> Json:
        raw = json.dumps({} if body is None else body)
        return read(self.client.post(path, raw, content_type="application/json"), status)


def read(answer: Any, status: int) -> Json:
    assert answer.status_code == status, answer.content
    if status == 204:
        return {}
    said: Json = answer.json()
    if status >= 400:
        assert answer["Content-Type"] == "application/problem+json"
        assert said["status"] == status
        assert said["detail"].endswith(".")
    return said


def program(user: User, *scopes: str) -> Api:
    return Api(tokens.create(user, f"test {uuid.uuid4()}", scopes or ["judge"], 1))


@pytest.fixture
def alice_api(alice: User, campaign: Campaign) -> Api:
    return program(alice)


@pytest.fixture
def bob_api(bob: User, campaign: Campaign) -> Api:
    return program(bob)


def address(seat: Json, step: str = "judgment") -> str:
    return f"/api/v1/seats/{seat['id']}/{step}/"


def judge(api: Api, grade: int = 0) -> Json:
    """Claim and grade one pair; what the submit answered."""
    seat = api.post(CLAIM)["seat"]
    return api.post(address(seat), {"token": seat["token"], "grade": grade}, 201)


# -- Claim ----------------------------------------------------------------------------------------


def test_claim_gives_a_seat_and_its_pair(alice_api: Api, alice: User) -> None:
    said = alice_api.post(CLAIM)
    seat = Seat.objects.get(pk=handles.seat_id(said["seat"]["id"]))
    assert seat.judge == alice
    assert said["seat"]["token"] == str(seat.token)
    assert said["pair"] == {
        "query": "query 1",
        "intent": "",
        "locale": "",
        "title": "Title 1.1",
        "url": "https://example.org/1/1",
        "snippet": "About 1.",
        "text": "",
        "words": 0,
        "cut": False,
        "before": None,
    }
    assert said["reason"] is None


def test_claim_says_until_when_the_seat_is_hers(alice_api: Api, campaign: Campaign) -> None:
    until = alice_api.post(CLAIM)["seat"]["leased_until"]
    left = datetime.fromisoformat(until) - timezone.now()
    assert timedelta(minutes=14) < left <= timedelta(minutes=15)


def test_claim_twice_gives_the_same_seat_and_besides_the_next(alice_api: Api) -> None:
    first = alice_api.post(CLAIM)["seat"]
    assert alice_api.post(CLAIM)["seat"]["id"] == first["id"]
    second = alice_api.post(CLAIM, {"besides": [first["id"]]})["seat"]
    assert second["id"] != first["id"]


def test_claim_works_without_a_body(alice_api: Api) -> None:
    for kind in ("", "application/json", "application/x-www-form-urlencoded"):
        answer = alice_api.client.generic("POST", CLAIM, content_type=kind)
        assert read(answer, 200)["seat"]


def test_claim_says_why_there_is_none(alice_api: Api, campaign: Campaign) -> None:
    for _ in range(6):
        judge(alice_api)
    said = alice_api.post(CLAIM)
    assert said == {
        "seat": None,
        "pair": None,
        "reason": "All pairs of this campaign are judged. Thank you.",
    }


def test_claim_in_a_paused_campaign_gives_a_reason(alice_api: Api, campaign: Campaign) -> None:
    Campaign.objects.update(state=Campaign.State.PAUSED)
    said = alice_api.post(CLAIM)
    assert said["seat"] is None
    assert "paused" in said["reason"]


def test_claim_in_a_closed_campaign_is_a_conflict(alice_api: Api, campaign: Campaign) -> None:
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert "closed" in alice_api.post(CLAIM, status=409)["detail"]


def test_excluded_judge_is_told_so(
    alice_api: Api, campaign: Campaign, alice: User, dana: User
) -> None:
    routing.exclude(campaign, alice, dana)
    assert "no longer asked" in alice_api.post(CLAIM, status=409)["detail"]


# -- Judgment -------------------------------------------------------------------------------------


def test_judgment_is_saved_and_the_next_pair_comes_with_the_answer(
    alice_api: Api, alice: User
) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "grade": 3, "comment": "Clear.\n", "active_seconds": 6.5}
    said = alice_api.post(address(seat), body, 201)
    saved = Judgment.objects.get()
    assert said["saved"] == {"id": saved.pk, "grade": 3, "word": "Excellent"}
    assert said["next"]["pair"]["title"] == "Title 1.2"
    assert (saved.judge, saved.comment, saved.active_ms) == (alice, "Clear.\n", 6500)
    assert str(saved.key) == seat["token"]


def test_same_key_three_times_is_one_judgment(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "grade": 2, "idempotency_key": str(uuid.uuid4())}
    answers = [alice_api.post(address(seat), body, status) for status in (201, 200, 200)]
    assert Judgment.objects.count() == 1
    assert answers[0] == answers[1] | {"next": answers[0]["next"]}
    assert len({said["next"]["seat"]["id"] for said in answers}) == 1


def test_same_token_without_a_key_is_one_judgment(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "grade": 2}
    for status in (201, 200, 200):
        alice_api.post(address(seat), body, status)
    assert Judgment.objects.count() == 1


def test_key_of_another_grade_is_a_conflict(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    alice_api.post(address(seat), {"token": seat["token"], "grade": 2}, 201)
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 4}, 409)
    assert "idempotency key" in said["detail"]
    assert Judgment.objects.get().grade == 2


def test_key_of_another_pair_is_a_conflict_and_no_judgment_is_lost(alice_api: Api) -> None:
    key = str(uuid.uuid4())
    seat = alice_api.post(CLAIM)["seat"]
    body = {"grade": 2, "idempotency_key": key}
    following = alice_api.post(address(seat), body | {"token": seat["token"]}, 201)["next"]["seat"]
    alice_api.post(address(following), body | {"token": following["token"]}, 409)
    alice_api.post(address(following), {"grade": 2, "token": following["token"]}, 201)
    assert Judgment.objects.count() == 2


def test_key_of_a_judgment_that_was_taken_back_is_not_called_saved(alice_api: Api) -> None:
    key = str(uuid.uuid4())
    seat = alice_api.post(CLAIM)["seat"]
    body = {"grade": 2, "idempotency_key": key, "token": seat["token"]}
    saved = alice_api.post(address(seat), body, 201)["saved"]
    again = alice_api.post(f"/api/v1/judgments/{saved['id']}/undo/")["seat"]
    alice_api.post(address(again), body | {"token": again["token"]}, 409)
    assert Seat.objects.get(pk=handles.seat_id(seat["id"])).state == Seat.State.OPEN


def test_stale_seat_is_a_conflict(alice_api: Api, bob_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    said = alice_api.post(address(seat), {"token": str(uuid.uuid4()), "grade": 2}, 409)
    assert said["detail"].startswith("This pair is no longer yours")
    assert said["title"] == "Conflict"
    bob_api.post(address(seat), {"token": seat["token"], "grade": 2}, 409)
    assert not Judgment.objects.exists()


def test_judgment_in_a_closed_campaign_is_a_conflict(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    Campaign.objects.update(state=Campaign.State.CLOSED)
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 2}, 409)
    assert said["detail"] == "This campaign is closed. It takes no more judgments."


def test_judgment_in_a_paused_campaign_is_saved_and_nothing_follows(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    Campaign.objects.update(state=Campaign.State.PAUSED)
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 2}, 201)
    assert said["next"]["seat"] is None
    assert "paused" in said["next"]["reason"]


@pytest.mark.django_db(transaction=True)
def test_same_submit_from_many_threads_is_one_judgment(alice_api: Api, alice: User) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "grade": 0, "idempotency_key": str(uuid.uuid4())}

    def submit(_: int) -> tuple[int, int]:
        raw = json.dumps(body)
        answer = alice_api.client.post(address(seat), raw, content_type="application/json")
        connection.close()
        return answer.status_code, answer.json()["saved"]["id"]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(submit, range(24)))
    assert {status for status, _ in answers} <= {200, 201}
    assert {saved for _, saved in answers} == {Judgment.objects.get().pk}


# -- Refuse, release, extend ----------------------------------------------------------------------


def test_refusal_passes_the_pair_on(alice_api: Api, bob_api: Api, alice: User) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "reason": "other", "text": "Blank page."}
    for _ in range(3):  # sent again it is the same refusal
        said = alice_api.post(address(seat, "refuse"), body)
        assert said["next"]["pair"]["title"] == "Title 1.2"
    refusal = Refusal.objects.get()
    assert (refusal.judge, refusal.reason, refusal.text) == (alice, "other", "Blank page.")
    assert bob_api.post(CLAIM)["pair"]["title"] == "Title 1.1"


def test_refusal_of_a_stale_seat_is_a_conflict(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": str(uuid.uuid4()), "reason": "unsafe"}
    alice_api.post(address(seat, "refuse"), body, 409)
    assert not Refusal.objects.exists()


def test_released_seat_is_free_for_others(alice_api: Api, bob_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    for _ in range(2):
        alice_api.post(address(seat, "release"), {"token": seat["token"]}, 204)
    assert bob_api.post(CLAIM)["pair"]["title"] == "Title 1.1"


def test_seat_is_extended(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    Seat.objects.filter(pk=handles.seat_id(seat["id"])).update(leased_until=timezone.now())
    said = alice_api.post(address(seat, "extend"), {"token": seat["token"]})
    assert said["leased_until"] > seat["leased_until"]


def test_stale_seat_is_not_extended(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    alice_api.post(address(seat, "extend"), {"token": str(uuid.uuid4())}, 409)


# -- Undo, correct --------------------------------------------------------------------------------


def test_undo_gives_the_pair_back_and_again_when_sent_again(alice_api: Api) -> None:
    saved = judge(alice_api, 3)["saved"]
    answers = [alice_api.post(f"/api/v1/judgments/{saved['id']}/undo/") for _ in range(3)]
    for said in answers:
        assert said["seat"]["token"] == answers[0]["seat"]["token"]
        assert said["pair"]["title"] == "Title 1.1"
        assert said["pair"]["before"] == 3
    assert [j.grade for j in Judgment.objects.order_by("pk")] == [3, None]


def test_undo_of_a_judgment_that_was_corrected_is_a_conflict(alice_api: Api) -> None:
    saved = judge(alice_api)["saved"]
    alice_api.post(f"/api/v1/judgments/{saved['id']}/correct/", {"grade": 1})
    said = alice_api.post(f"/api/v1/judgments/{saved['id']}/undo/", status=409)
    assert "not the latest" in said["detail"]


def test_correction_supersedes_and_sent_again_is_the_same(alice_api: Api) -> None:
    saved = judge(alice_api, 3)["saved"]
    path = f"/api/v1/judgments/{saved['id']}/correct/"
    answers = [alice_api.post(path, {"grade": 0})["saved"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["grade"] == 0
    assert [j.grade for j in Judgment.objects.order_by("pk")] == [3, 0]
    alice_api.post(path, {"grade": 1}, 409)
    alice_api.post(path, {"grade": 1, "idempotency_key": str(uuid.uuid4())}, 409)


# -- Campaigns ------------------------------------------------------------------------------------


def test_campaigns_are_listed_with_roles(campaign: Campaign, alice: User, dana: User) -> None:
    row = {"slug": "library", "name": "Library", "state": "open"}
    path = "/api/v1/campaigns/"
    page = {"count": 1, "next": None, "previous": None}
    assert program(alice).get(path) == page | {"results": [row | {"roles": ["judge"]}]}
    manage = program(dana, "manage")
    assert manage.get(path) == page | {"results": [row | {"roles": ["manager"]}]}
    assert program(dana, "judge").get(path)["results"] == []
    Membership.objects.create(campaign=campaign, user=dana, role="judge")
    assert program(dana, "judge", "manage").get(path)["results"] == [
        row | {"roles": ["judge", "manager"]}
    ]
    assert manage.get(path)["results"] == [row | {"roles": ["manager"]}]


def test_stranger_has_no_campaigns_and_a_judge_sees_no_draft(
    campaign: Campaign, alice: User, charlie: User, dana: User
) -> None:
    assert program(charlie).get("/api/v1/campaigns/")["results"] == []
    Campaign.objects.update(state=Campaign.State.DRAFT)
    assert program(alice).get("/api/v1/campaigns/")["results"] == []
    assert program(dana, "manage").get("/api/v1/campaigns/")["count"] == 1


def test_campaigns_come_in_pages(campaign: Campaign, alice: User, dana: User) -> None:
    for number in range(4):
        more = Campaign.objects.create(slug=f"c{number}", name="C", state="open", created_by=dana)
        Membership.objects.create(campaign=more, user=alice, role="judge")
    api, seen = program(alice), []
    path = "/api/v1/campaigns/?page_size=2"
    while path:
        said = api.get(path)
        assert said["count"] == 5
        seen += [row["slug"] for row in said["results"]]
        path = said["next"]
    assert seen == ["c3", "c2", "c1", "c0", "library"]
    api.get("/api/v1/campaigns/?page=4000000", 404)


@pytest.mark.parametrize(
    "query",
    [
        "created_by__password__startswith=a",
        "order=created_by__password",
        "slug__contains=x",
        "members__email=a",
        "format=html",
        "state=closed%00",
    ],
)
def test_unknown_filters_change_nothing(alice_api: Api, query: str) -> None:
    plain = alice_api.get("/api/v1/campaigns/")
    assert alice_api.get(f"/api/v1/campaigns/?{query}") == plain


@pytest.mark.parametrize("size", ["0", "-1", "501", "x", "", "null", "٣", "9" * 5000])
def test_bad_page_size_is_refused(alice_api: Api, size: str) -> None:
    said = alice_api.get(f"/api/v1/campaigns/?page_size={size}", 400)
    assert said["errors"][0]["field"] == "page_size"


# -- Who may --------------------------------------------------------------------------------------


def paths(seat: int, judgment: int) -> list[str]:
    steps = ["judgment", "refuse", "release", "extend"]
    return [
        CLAIM,
        *(f"/api/v1/seats/{seat}/{step}/" for step in steps),
        *(f"/api/v1/judgments/{judgment}/{step}/" for step in ("undo", "correct")),
    ]


@pytest.fixture
def routes(alice_api: Api) -> list[str]:
    """Every step of alice's, with ids that exist."""
    said = judge(alice_api)
    return paths(said["next"]["seat"]["id"], said["saved"]["id"])


def bodies(seat: Json) -> dict[str, Json]:
    """What each step of a seat wants."""
    token = {"token": seat["token"]}
    return {
        "judgment": token | {"grade": 1},
        "refuse": token | {"reason": "unsafe"},
        "release": token,
        "extend": token,
    }


def rows() -> list[Any]:
    kinds = (Seat, Judgment, Refusal)
    return [list(kind.objects.order_by("pk").values_list()) for kind in kinds]


def test_who_does_not_sign_in_gets_401(routes: list[str]) -> None:
    before = rows()
    for api in (Api(None), Api(""), Api("so_wrong"), Api("ü")):
        for path in routes:
            api.post(path, status=401)
        answer = api.client.get("/api/v1/campaigns/")
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Bearer"
        api.get("/api/v1/schema/", 401)
    assert rows() == before


def test_expired_revoked_and_orphaned_tokens_get_401(alice_api: Api, alice: User) -> None:
    alice_api.post(CLAIM)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "does not work" in alice_api.post(CLAIM, status=401)["detail"]
    again = program(alice)
    tokens.revoke(alice, ApiToken.objects.latest("pk").pk)
    again.post(CLAIM, status=401)
    last = program(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    last.post(CLAIM, status=401)


def test_token_without_the_scope_gets_403(
    campaign: Campaign, dana: User, routes: list[str]
) -> None:
    Membership.objects.create(campaign=campaign, user=dana, role="judge")
    api = program(dana, "manage")
    for path in routes:
        said = api.post(path, status=403)
        assert said["detail"] == "This needs a token with the scope judge."
    program(dana, "judge").post(CLAIM)


def test_strangers_managers_and_judges_of_other_campaigns_get_404(
    campaign: Campaign, charlie: User, dana: User, alice_api: Api
) -> None:
    said = judge(alice_api)
    seat = said["next"]["seat"]
    other = Campaign.objects.create(slug="other", name="Other", state="open", created_by=dana)
    Membership.objects.create(campaign=other, user=charlie, role="judge")
    before = rows()
    for api in (program(charlie), program(dana, "judge", "manage")):
        for step, body in bodies(seat).items():
            api.post(address(seat, step), body, 404)
        for step in ("undo", "correct"):
            path = f"/api/v1/judgments/{said['saved']['id']}/{step}/"
            answer = api.post(path, {"grade": 1}, 404)
            assert answer["detail"] == "There is nothing here for you."
        api.post(CLAIM, status=404)
    assert rows() == before


def test_judgment_of_another_judge_of_the_campaign_gets_404(alice_api: Api, bob_api: Api) -> None:
    saved = judge(alice_api)["saved"]
    bob_api.post(f"/api/v1/judgments/{saved['id']}/undo/", status=404)
    bob_api.post(f"/api/v1/judgments/{saved['id']}/correct/", {"grade": 4}, 404)
    assert Judgment.objects.get().grade == 0


def test_judge_who_left_the_campaign_gets_404(alice_api: Api, alice: User) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    alice.memberships.all().delete()
    alice_api.post(address(seat), {"token": seat["token"], "grade": 2}, 404)
    alice_api.post(CLAIM, status=404)


def test_page_of_the_site_may_use_the_api_with_its_csrf_token_only(
    campaign: Campaign, alice: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    said = read(client.post(CLAIM, "{}", content_type="application/json"), 403)
    assert "CSRF" in said["detail"]
    client.get(reverse("tokens"))
    headers = {"x-csrftoken": client.cookies["csrftoken"].value}
    answer = client.post(CLAIM, "{}", content_type="application/json", headers=headers)
    assert read(answer, 200)["seat"]
    assert read(client.get("/api/v1/campaigns/"), 200)["count"] == 1


def test_wrong_methods_are_refused(alice_api: Api, routes: list[str]) -> None:
    before = rows()
    for path in routes:
        for method in ("get", "put", "patch", "delete", "options"):
            answer = getattr(alice_api.client, method)(path)
            read(answer, 405)
            assert "POST" in answer["Allow"]
    read(alice_api.client.put("/api/v1/campaigns/"), 405)
    assert rows() == before


def test_unknown_address_is_told_in_json(alice_api: Api) -> None:
    for path in (
        "",
        "nothing/",
        "campaigns",
        "campaigns/library/claim",
        "seats/x/judgment/",
        "%0A%00/",
    ):
        assert "no such address" in alice_api.get(f"/api/v1/{path}", 404)["detail"]
        alice_api.post(f"/api/v1/{path}", status=404)
        read(alice_api.client.options(f"/api/v1/{path}"), 404)


# -- Blind ----------------------------------------------------------------------------------------

#: Every name that may ever stand in an answer to a judge.
SEEN = set(
    re.findall(
        r"\w+",
        "seat id token leased_until; pair query intent locale title url snippet text words cut "
        "before; reason; saved grade word; next; count previous results slug name state roles; "
        "type status detail errors field",
    )
)


def walk(said: Any) -> Iterator[tuple[str, Any]]:
    """Every name in an answer with its value, however deep."""
    if isinstance(said, dict):
        for name, value in said.items():
            yield name, value
            yield from walk(value)
    elif isinstance(said, list):
        for value in said:
            yield from walk(value)


def test_judge_never_sees_what_others_or_the_machine_think(
    campaign: Campaign, alice: User, bob: User, dana: User
) -> None:
    User.objects.filter(pk=bob.pk).update(first_name="Bob Secretname")
    Pair.objects.update(truth=4, rank=987_654_321, gold_note="")
    Campaign.objects.update(gold_percent=50)
    gold = Pair.objects.order_by("-position").first()
    assert gold
    routing.give_gold(dana, gold.pk, 3, "secret-note")
    other = program(bob)
    seat = other.post(CLAIM)["seat"]
    body = {"token": seat["token"], "grade": 4, "comment": "secret-comment"}
    other.post(address(seat), body, 201)
    heard = everything(program(alice))
    assert len(heard) > 15
    names = {name for said in heard for name, _ in walk(said)}
    assert names <= SEEN
    text = json.dumps(heard)
    for secret in ("secret", "Secretname", "bob", "dana", "987654321", "gold", "truth", "rank"):
        assert secret not in text
    assert all(value == 1 for said in heard for name, value in walk(said) if name == "grade")


def everything(api: Api) -> list[Json]:
    """All a judge hears: every operation, and every mistake she can make."""
    heard = [api.get("/api/v1/campaigns/"), api.post("/api/v1/campaigns/x/claim/", status=404)]
    seat = api.post(CLAIM)["seat"]
    heard.append(api.post(address(seat, "extend"), {"token": seat["token"]}))
    refusal = {"token": seat["token"], "reason": "unsafe"}
    heard.append(api.post(address(seat, "refuse"), refusal))
    for _ in range(8):
        said = api.post(CLAIM)
        heard.append(said)
        if said["seat"] is None:
            break
        answer = {"token": said["seat"]["token"], "grade": 1}
        heard.append(api.post(address(said["seat"]), {"grade": 9}, 400))
        heard.append(api.post(address(said["seat"]), answer, 201))
        heard.append(api.post(address(said["seat"]), answer | {"grade": 2}, 409))
    saved = next(said["saved"] for said in heard if "saved" in said)
    path = f"/api/v1/judgments/{saved['id']}"
    heard.append(api.post(f"{path}/undo/"))
    seat = heard[-1]["seat"]
    heard.append(api.post(address(seat), {"token": seat["token"], "grade": 1}, 201))
    heard.append(api.post(f"/api/v1/judgments/{heard[-1]['saved']['id']}/correct/", {"grade": 1}))
    return heard


def test_gold_pair_looks_like_any_other(campaign: Campaign, alice: User, dana: User) -> None:
    last = Pair.objects.order_by("-position")[0]
    routing.give_gold(dana, last.pk, 3, "why")
    Campaign.objects.update(qualification_size=1)
    api = program(alice)
    gold = api.post(CLAIM)
    assert gold["pair"]["title"] == str(last.document)
    plain = api.post(address(gold["seat"]), {"token": gold["seat"]["token"], "grade": 3}, 201)
    assert plain["next"]["pair"]["title"] == "Title 1.1"
    shapes = [[(name, type(value)) for name, value in walk(one)] for one in (gold, plain["next"])]
    assert shapes[0] == shapes[1]


# -- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"grade": 5}, "grade"),
        ({"grade": -1}, "grade"),
        ({"grade": 10**400}, "grade"),
        ({"grade": "3"}, "grade"),
        ({"grade": 3.0}, "grade"),
        ({"grade": True}, "grade"),
        ({"grade": None}, "grade"),
        ({"grade": [1]}, "grade"),
        ({"grade": "\ud800"}, "grade"),
        ({"token": "x"}, "token"),
        ({"token": 7}, "token"),
        ({"token": None}, "token"),
        ({"token": {"a": "\ud800"}}, "token"),
        ({"token": 2**128}, "token"),
        ({"token": -1}, "token"),
        ({"idempotency_key": "later"}, "idempotency_key"),
        ({"idempotency_key": [[[]]]}, "idempotency_key"),
        ({"comment": "a\x00b"}, "comment"),
        ({"comment": "\udfff"}, "comment"),
        ({"comment": "c" * 2001}, "comment"),
        ({"comment": ["c"]}, "comment"),
        ({"comment": None}, "comment"),
        ({"active_seconds": "nan"}, "active_seconds"),
        ({"active_seconds": -0.1}, "active_seconds"),
        ({"active_seconds": 86_401}, "active_seconds"),
        ({"active_seconds": 10**400}, "active_seconds"),
        ({"active_seconds": False}, "active_seconds"),
        ({"grad": 3}, "grad"),
        ({"\ud800": 3}, "?"),
    ],
)
def test_bad_field_is_named(alice_api: Api, change: Json, field: str) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 3} | change, 400)
    assert [error["field"] for error in said["errors"]] == [field]
    assert said["errors"][0]["detail"].endswith(".")
    assert not Judgment.objects.exists()


def test_bad_grade_says_the_rule_and_what_came(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 7}, 400)
    assert said == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "grade: A grade must be a whole number, 0 to 4. Got 7 instead.",
        "errors": [
            {"field": "grade", "detail": "A grade must be a whole number, 0 to 4. Got 7 instead."}
        ],
    }


def test_everything_that_is_missing_is_named(alice_api: Api) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    said = alice_api.post(address(seat), {}, 400)
    assert {error["field"] for error in said["errors"]} == {"grade", "token"}


@pytest.mark.parametrize(
    "reason", ["", "boring", None, 5, ["unsafe"], {"a": 1}, "\ud800", "x" * 50_000]
)
def test_bad_reason_is_refused(alice_api: Api, reason: Any) -> None:
    seat = alice_api.post(CLAIM)["seat"]
    body = {"token": seat["token"], "reason": reason}
    said = alice_api.post(address(seat, "refuse"), body, 400)
    assert said["errors"][0]["field"] == "reason"
    assert len(said["detail"]) < 500


@pytest.mark.parametrize("besides", [[0], [2**63], ["x"], "all", {"a": 1}, [[1]], list(range(11))])
def test_bad_besides_is_refused(alice_api: Api, besides: Any) -> None:
    said = alice_api.post(CLAIM, {"besides": besides}, 400)
    assert said["errors"][0]["field"].startswith("besides")


HOSTILE = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"3",
    b'"text"',
    b"\xff\xfe{}",
    b"\x00",
    b'{"grade": NaN}',
    b'{"grade": Infinity}',
    b'{"grade": 1e309}',
    b'{"grade": ' + b"9" * 5000 + b"}",
    b"[" * 30_000,
    b'{"a":' * 10_000,
    b'{"grade": ' + b"[" * 500 + b"]" * 500 + b"}",
    b'{"token": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
]


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body[:20]))
def test_garbage_is_refused(alice_api: Api, routes: list[str], body: bytes) -> None:
    before = rows()
    steps = [path for path in routes if "/undo/" not in path and path != CLAIM]
    for path in steps:
        answer = alice_api.client.post(path, body, content_type="application/json")
        read(answer, 400)
    assert rows() == before


def test_too_large_a_body_is_refused(alice_api: Api) -> None:
    body = json.dumps({"comment": "c" * 70_000})
    answer = alice_api.client.post(CLAIM, body, content_type="application/json")
    assert "65536 bytes" in read(answer, 413)["detail"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=zlib", 200),
        ("application/json; charset=nonsense", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("multipart/form-data", 415),
        ("", 415),
        ("\x7f", 415),
    ],
)
def test_body_is_json_whatever_its_sender_calls_it(alice_api: Api, kind: str, status: int) -> None:
    read(alice_api.client.generic("POST", CLAIM, b"{}", content_type=kind), status)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.uuids().map(str),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KEYS = st.sampled_from(["token", "grade", "comment", "active_seconds", "reason", "text", "besides"])


@pytest.fixture
def held(alice_api: Api) -> Json:
    """The seat alice holds."""
    seat: Json = alice_api.post(CLAIM)["seat"]
    return seat


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=st.dictionaries(KEYS | st.text(), JSON) | JSON)
def test_no_body_makes_a_server_error(alice_api: Api, held: Json, body: Any) -> None:
    bound = body | {"token": held["token"]} if isinstance(body, dict) else body
    for path in paths(held["id"], 1):
        for sent in (body, bound):
            answer = alice_api.client.post(path, json.dumps(sent), content_type="application/json")
            assert answer.status_code < 500


def test_huge_ids_are_not_found(alice_api: Api) -> None:
    for number in (0, 2**63, 10**30, "9" * 5000):
        for path in paths(number, number)[1:]:  # type: ignore[arg-type]
            alice_api.post(path, {"token": str(uuid.uuid4()), "grade": 1}, 404)


def test_silent_database_is_told_and_nothing_is_called_saved(
    alice_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = alice_api.post(CLAIM)["seat"]

    def full(*_: Any) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(routing, "submit", full)
    said = alice_api.post(address(seat), {"token": seat["token"], "grade": 1}, 503)
    assert "Nothing was saved" in said["detail"]
    assert "disk" not in said["detail"]


# -- Schema and docs ------------------------------------------------------------------------------

#: The schema itself, its page, and what every other address leads to.
UNDESCRIBED = {"schema/", "docs/", "^"}


def test_schema_is_valid_openapi_and_has_every_route(alice_api: Api) -> None:
    schema = alice_api.get("/api/v1/schema/")
    validate_schema(schema)  # type: ignore[no-untyped-call]
    routes = {route(pattern) for pattern in urls.urlpatterns} - UNDESCRIBED
    assert {path.removeprefix("/api/v1/") for path in schema["paths"]} == routes


def route(pattern: URLPattern) -> str:
    """As the schema writes it: ``seats/{seat_id}/judgment/``."""
    return re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))


def test_schema_is_made_without_a_doubt() -> None:
    GENERATOR_STATS.reset()
    docs.document.cache_clear()
    docs.document()
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache


def test_every_operation_is_described_with_an_example() -> None:
    for operation in docs.operations(docs.document()):
        statuses = {status for status, _ in operation.statuses}
        assert operation.text.endswith("."), operation.id
        assert "Scope: " in operation.text
        assert operation.answer or 204 in statuses, operation.id
        body = [field for field in operation.fields if field.place == "body"]
        assert operation.request or not body or body[0].kind == "file", operation.id
        assert {401, 403} <= statuses
        assert 404 in statuses or "{" not in operation.path, operation.id
        assert all(text.endswith(".") for _, text in operation.statuses)


def examples(content: Json) -> Iterator[tuple[Json, Any]]:
    """Each example of a body of JSON with the shape that it is to have."""
    for kind, media in content.items():
        if kind == "application/json":
            for one in media.get("examples", {}).values():
                yield media["schema"], one["value"]


def with_null(shape: Any) -> Any:
    """OpenAPI 3.0 says of a field that it may be null; JSON Schema names null as a type."""
    if isinstance(shape, list):
        return [with_null(inner) for inner in shape]
    if not isinstance(shape, dict):
        return shape
    plain = {name: with_null(inner) for name, inner in shape.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if shape.get("nullable") is True else plain


def test_every_example_is_as_the_schema_says() -> None:
    made = with_null(docs.document())
    tried = 0
    for methods in made["paths"].values():
        for operation in methods.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                for shape, value in examples(body.get("content", {})):
                    jsonschema.validate(value, shape | {"components": made["components"]})
                    tried += 1
    assert tried > 80


def test_docs_page_shows_every_operation_and_fetches_nothing(alice_client: Client) -> None:
    page = alice_client.get("/api/v1/docs/").content.decode()
    for operation in docs.operations(docs.document()):
        assert operation.path in page
        assert operation.summary in page
    assert "0 Bad, 1 Fair, 2 Good, 3 Excellent, 4 Perfect." in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<style" not in page
    assert " style=" not in page


def test_docs_page_needs_log_in_and_is_only_read(client: Client, alice_client: Client) -> None:
    assert client.get("/api/v1/docs/").status_code == 302
    assert alice_client.post("/api/v1/docs/").status_code == 405


PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_docs_name_every_route_and_no_other() -> None:
    """Numbers of rows are all called ``{id}`` there."""
    named = set(re.findall(r"^\| `([A-Z]+ [^`]+)` \|", PAGE.read_text(), flags=re.MULTILINE))
    routes = {
        f"{one.method} {re.sub(r'{[a-z]+_id}', '{id}', one.path).removeprefix('/api/v1/')}"
        for one in docs.operations(docs.document())
    }
    assert named == routes


def example(number: int, server: str, raw: str) -> str:
    """The code of the docs, for this server and token."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    assert len([line for line in code.splitlines() if line]) == 10
    code = code.replace("https://labels.example.org", server)
    return str(code.replace("so_…", raw).replace("my-campaign", "library"))


@pytest.mark.django_db(transaction=True)
def test_example_of_the_docs_runs(
    live_server: Any, campaign: Campaign, alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    code = example(0, live_server.url, tokens.create(alice, "example", ["judge"], 1))
    exec(compile(code, "docs/api.md", "exec"), {"__name__": "example"})
    assert alice.judgments.count() == 6
    assert capsys.readouterr().out == "All pairs of this campaign are judged. Thank you.\n"


@pytest.mark.django_db(transaction=True)
def test_example_of_a_manager_runs(
    live_server: Any,
    campaign: Campaign,
    alice_api: Api,
    dana: User,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        judge(alice_api, 1)
    label_batch(campaign)
    code = example(1, live_server.url, tokens.create(dana, "example", ["manage"], 1))
    exec(compile(code, "docs/api.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == (
        "q1 https://example.org/1/1 Fair\nq1 https://example.org/1/2 Fair\n"
    )
