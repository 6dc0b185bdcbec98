"""A manager's program: a campaign from nothing to its labels, and every list and decision."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotate import imports, jobs, people, tokens
from annotate.labels import label_batch
from annotate.models import (
    Campaign,
    Event,
    Job,
    Judgment,
    Membership,
    Pair,
    Seat,
    Upload,
    User,
)
from tests.annotate import api_world
from tests.annotate.api_world import World
from tests.conftest import person

LIBRARY = "/api/v1/campaigns/library/"
Json = dict[str, Any]


@pytest.fixture
def world(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    return api_world.make(campaign, alice, bob, dana)


class Program:
    """A manager's program."""

    def __init__(self, user: User) -> None:
        raw = tokens.create(user, f"test {user.pk}", tokens.scopes_for(user), 1)
        self.client = Client(headers={"authorization": f"Bearer {raw}"})

    def get(self, path: str, status: int = 200) -> Any:
        return self._read(self.client.get(path), status)

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        raw = json.dumps({} if body is None else body)
        answer = self.client.generic(method, path, raw, content_type="application/json")
        return self._read(answer, status)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self.send("POST", path, body, status)

    def upload(self, path: str, content: bytes, status: int = 201, **more: str) -> Any:
        file = SimpleUploadedFile("pairs.csv", content)
        return self._read(self.client.post(path, {"file": file, **more}), status)

    def walk(self, path: str) -> Iterator[Any]:
        """Every row of a list, page by page."""
        address: str | None = path
        while address:
            said = self.get(address)
            yield from said["results"]
            address = said["next"]

    def _read(self, answer: Any, status: int) -> Any:
        assert answer.status_code == status, answer.content
        return None if status == 204 else answer.json()


@pytest.fixture
def api(dana: User) -> Program:
    return Program(dana)


# -- From nothing to labels -----------------------------------------------------------------------


def test_a_campaign_from_nothing_to_its_labels(api: Program, dana: User) -> None:
    made = api.post(
        "/api/v1/campaigns/", {"name": "Docs", "scheme": "single", "price": "0.05"}, 201
    )
    here = f"/api/v1/campaigns/{made['slug']}/"
    assert (made["state"], made["settings"]["price"], made["steps"]) == (
        "draft",
        "0.0500",
        ["open"],
    )
    api.post(f"{here}state/", {"step": "open"}, 409)
    load(api, here, b"query,docid,title\ncsv,a,About csv\ncsv,b,About json\n")
    alice = api.post(f"{here}judges/", {"name": "Alice"}, 201)
    link = api.post(f"{here}judges/{alice['id']}/link/", status=201)["address"]
    assert people.whose(link.rstrip("/").rpartition("/")[2]) == User.objects.get(pk=alice["id"])
    assert api.post(f"{here}state/", {"step": "open"})["steps"] == ["pause", "close"]
    judge_all(made["slug"], alice["id"])
    label_batch(Campaign.objects.get(slug=made["slug"]))
    labels = list(api.walk(f"{here}labels/"))
    assert [(row["document"], row["word"]) for row in labels] == [("a", "Good"), ("b", "Good")]
    assert api.get(here)["closed"] == 2
    qrels = api.client.get(f"{here}exports/qrels.txt/")
    assert qrels.getvalue() == b"csv 0 a 2\ncsv 0 b 2\n"
    assert qrels["Content-Disposition"] == 'attachment; filename="docs-qrels.txt"'


def load(api: Program, here: str, content: bytes) -> None:
    checked = api.upload(f"{here}uploads/", content)
    assert (checked["state"], checked["rows"], len(checked["preview"])) == ("checked", 2, 2)
    assert not Pair.objects.filter(campaign__name="Docs").exists()
    loading = api.post(f"{here}uploads/{checked['id']}/load/", status=202)
    assert loading["state"] == "loading"
    api.post(f"{here}uploads/{checked['id']}/load/", status=409)
    run(Job.objects.get(kind="import"))
    loaded = api.get(f"{here}uploads/{checked['id']}/")
    assert (loaded["state"], loaded["progress"]) == ("loaded", 1.0)


def run(job: Job) -> None:
    taken = jobs.take(job.pk)
    assert taken
    imports.run(taken)


def judge_all(slug: str, judge_id: int) -> None:
    judge = User.objects.get(pk=judge_id)
    raw = tokens.create(judge, "hers", ["judge"], 1)
    client = Client(headers={"authorization": f"Bearer {raw}"})
    claim = f"/api/v1/campaigns/{slug}/claim/"
    offer = client.post(claim, "{}", content_type="application/json").json()
    while seat := offer["seat"]:
        body = json.dumps({"token": seat["token"], "grade": 2})
        path = f"/api/v1/seats/{seat['id']}/judgment/"
        offer = client.post(path, body, content_type="application/json").json()["next"]


# -- Settings -------------------------------------------------------------------------------------


def test_settings_that_are_sent_change_and_the_others_stay(
    api: Program, campaign: Campaign
) -> None:
    before = api.get(LIBRARY)["settings"]
    said = api.send("PATCH", LIBRARY, {"scheme": "k-overlap", "budget": 50, "max_pnoise": 0.3})
    changed = {"scheme": "k-overlap", "budget": 50, "max_pnoise": 0.3}
    assert said["settings"] == before | changed
    assert said["scheme_label"] == "3-overlap"
    assert Job.objects.filter(kind="reroute").exists()
    assert Event.objects.filter(sentence__startswith="The rules were changed from if-good").exists()
    assert api.send("PATCH", LIBRARY, {"budget": None})["settings"]["budget"] is None
    assert api.send("PATCH", LIBRARY, {})["settings"] == before | changed | {"budget": None}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"k": 0}, "k"),
        ({"k": "3"}, "k"),
        ({"k": True}, "k"),
        ({"cap": 26}, "cap"),
        ({"theta": 0.01}, "theta"),
        ({"theta": 1e309}, "body"),
        ({"scheme": "coin"}, "scheme"),
        ({"scheme": None}, "scheme"),
        ({"aggregator": ["mean"]}, "aggregator"),
        ({"price": "-1"}, "price"),
        ({"price": 1}, "price"),
        ({"price": "0.00001"}, "price"),
        ({"name": " "}, "name"),
        ({"name": "n" * 121}, "name"),
        ({"name": "\x00"}, "name"),
        ({"live_page": 1}, "live_page"),
        ({"budget": -1}, "budget"),
        ({"budget": 2**31}, "budget"),
        ({"retrain_hours": 40_000}, "retrain_hours"),
        ({"max_pnoise": 1.1}, "max_pnoise"),
        ({"ranker": "oracle"}, "ranker"),
        ({"slug": "mine"}, "slug"),
        ({"created_by": 1}, "created_by"),
    ],
)
def test_bad_setting_is_named(api: Program, campaign: Campaign, change: Json, field: str) -> None:
    before = api.get(LIBRARY)
    said = api.send("PATCH", LIBRARY, change, 400)
    assert [error["field"] for error in said.get("errors", [{"field": "body"}])] == [field]
    assert api.get(LIBRARY) == before


def test_name_is_tidied_as_on_the_page(api: Program, campaign: Campaign) -> None:
    said = api.send("PATCH", LIBRARY, {"name": "  The   library "})
    assert said["settings"]["name"] == "The library"


def test_campaign_goes_its_way_and_not_back_to_a_draft(api: Program, campaign: Campaign) -> None:
    for step, state in (("pause", "paused"), ("open", "open"), ("close", "closed")):
        assert api.post(f"{LIBRARY}state/", {"step": step})["state"] == state
        assert api.post(f"{LIBRARY}state/", {"step": step})["state"] == state
    assert (
        "cannot be told to pause" in api.post(f"{LIBRARY}state/", {"step": "pause"}, 409)["detail"]
    )


# -- Pairs ----------------------------------------------------------------------------------------


def test_pairs_are_listed_with_grades_and_filtered_by_name(world: World, api: Program) -> None:
    rows = list(api.walk(f"{LIBRARY}pairs/?page_size=4"))
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert len(rows) == Pair.objects.filter(campaign__slug="library").count() == 6
    assert rows[0]["grades"] == [4, 0]
    assert rows[0]["spread"] == 4
    shown = {
        show: ids(api, f"pairs/?show={show}") for show in ("all", "open", "closed", "referred")
    }
    assert shown["all"] == sorted(shown["open"] + shown["closed"] + shown["referred"])
    assert ids(api, "pairs/?show=disputed") == [row["id"] for row in rows if row["spread"] > 1]
    query = rows[0]["query"]["id"]
    assert ids(api, f"pairs/?query={query}") == [r["id"] for r in rows if r["query"]["id"] == query]
    assert ids(api, "pairs/?text=QUERY+2") == [r["id"] for r in rows if r["query"]["key"] == "q2"]
    assert [row["key"] for row in api.walk(f"{LIBRARY}queries/?text=2")] == ["q2"]


def ids(api: Program, path: str) -> list[int]:
    return [row["id"] for row in api.walk(LIBRARY + path)]


def test_one_pair_has_its_judgments_and_says_why(world: World, api: Program) -> None:
    pair = api.get(f"{LIBRARY}pairs/{ids(api, 'pairs/')[0]}/")
    assert [(one["judge"]["name"], one["word"]) for one in pair["judgments"]] == [
        ("alice", "Perfect"),
        ("bob", "Bad"),
    ]
    assert all(one["counts"] for one in pair["judgments"])
    assert pair["explanation"][0]["text"] == "alice was asked first and said Perfect."
    assert pair["label"]["judgments"] == 2


def test_final_grade_is_decided_and_withdrawn(world: World, api: Program) -> None:
    (number,) = [row["id"] for row in api.get(f"{LIBRARY}disputes/")["results"]]
    path = f"{LIBRARY}pairs/{number}/final/"
    for _ in range(2):
        pair = api.send("PUT", path, {"grade": 1, "note": "Old."})
        assert (pair["final"]["word"], pair["final"]["note"]) == ("Fair", "Old.")
    assert api.get(f"{LIBRARY}disputes/")["count"] == 0
    for _ in range(2):
        assert api.send("DELETE", path)["final"] is None
    assert api.get(f"{LIBRARY}disputes/")["count"] == 1
    api.send("PUT", path, {"grade": 5}, 400)


def test_gold_is_given_and_taken(world: World, api: Program) -> None:
    number = ids(api, "pairs/?show=open")[0]
    path = f"{LIBRARY}pairs/{number}/gold/"
    for _ in range(2):
        pair = api.send("PUT", path, {"grade": 4, "note": "Official."})
        assert (pair["state"], pair["gold"]["word"]) == ("gold", "Perfect")
    assert [row["note"] for row in api.get(f"{LIBRARY}gold/")["results"]] == ["Official."]
    for _ in range(2):
        pair = api.send("DELETE", path)
        assert pair["gold"] is None
    assert pair["state"] in ("open", "closed")


def test_refused_pair_is_listed_with_reasons_and_dropped_or_asked_again(
    world: World, api: Program
) -> None:
    (row,) = api.get(f"{LIBRARY}referrals/")["results"]
    assert [(one["judge"]["name"], one["reason"]) for one in row["refusals"]] == [
        ("alice", "unsafe")
    ]
    path = f"{LIBRARY}pairs/{row['id']}/"
    assert api.post(f"{path}drop/")["state"] == "dropped"
    assert "cannot be done" in api.post(f"{path}drop/", status=409)["detail"]
    assert api.post(f"{path}resume/")["state"] == "open"


def test_pair_of_another_campaign_is_not_there(world: World, api: Program) -> None:
    foreign = Pair.objects.get(campaign__slug="other").pk
    for path in (f"pairs/{foreign}/", "pairs/0/", f"pairs/{10**30}/"):
        api.get(LIBRARY + path, 404)
    for step in ("drop", "resume"):
        api.post(f"{LIBRARY}pairs/{foreign}/{step}/", status=404)
    api.send("PUT", f"{LIBRARY}pairs/{foreign}/gold/", {"grade": 1}, 404)
    assert Pair.objects.get(pk=foreign).state == "open"


# -- Judgments and labels -------------------------------------------------------------------------


def test_judgments_are_walked_through_and_voided(world: World, api: Program, alice: User) -> None:
    rows = list(api.walk(f"{LIBRARY}judgments/?page_size=3"))
    assert len(rows) == Judgment.objects.count() == 6
    assert ids(api, f"judgments/?judge={alice.pk}") == [
        row["id"] for row in rows if row["judge"]["id"] == alice.pk
    ]
    first = rows[0]
    assert ids(api, f"judgments/?pair={first['pair']}&grade=4") == [first["id"]]
    assert api.post(f"{LIBRARY}judgments/{first['id']}/void/")["counts"] is False
    assert first["id"] in ids(api, "judgments/?counts=false")
    assert first["id"] not in ids(api, "judgments/?counts=true")
    assert list(api.walk(f"{LIBRARY}judgments/"))[-1]["voided_by"]["name"] == "dana"
    api.post(f"{LIBRARY}judgments/{first['id']}/void/", status=409)


def test_labels_are_filtered_by_grade_and_query(world: World, api: Program) -> None:
    rows = list(api.walk(f"{LIBRARY}labels/"))
    assert len(rows) == 4
    bad = ids(api, "labels/?grade=0")
    assert bad == [row["id"] for row in rows if row["grade"] == 0]
    query = Pair.objects.get(pk=rows[0]["pair"]).query_id
    assert ids(api, f"labels/?query={query}") == [
        row["id"] for row in rows if Pair.objects.get(pk=row["pair"]).query_id == query
    ]


# -- Judges ---------------------------------------------------------------------------------------


def test_judge_is_excluded_readmitted_and_her_judgments_put_back(
    world: World, api: Program, alice: User
) -> None:
    path = f"{LIBRARY}judges/{alice.pk}/"
    assert api.post(f"{path}standing/", {"action": "exclude"})["excluded_at"]
    assert api.post(f"{path}standing/", {"action": "readmit"})["excluded_at"] is None
    assert api.post(f"{path}standing/", {"action": "qualify"})["qualified"] is True
    assert api.post(f"{path}standing/", {"action": "retry"})["qualified"] is None
    assert api.post(f"{path}put-back/") == {"judgments": 4}
    assert api.post(f"{path}put-back/") == {"judgments": 0}
    assert not Seat.objects.filter(judge=alice, state=Seat.State.DONE).exists()


def test_judge_is_added_once_by_address_and_removed(campaign: Campaign, api: Program) -> None:
    body = {"name": "Erin", "email": "Erin@example.org"}
    first, second = (api.post(f"{LIBRARY}judges/", body, 201) for _ in range(2))
    assert first == second
    assert User.objects.filter(email__iexact="erin@example.org").count() == 1
    api.send("DELETE", f"{LIBRARY}judges/{first['id']}/", status=204)
    api.send("DELETE", f"{LIBRARY}judges/{first['id']}/", status=404)
    api.get(f"{LIBRARY}judges/{first['id']}/", 404)


@pytest.mark.parametrize("body", [{}, {"email": "nobody"}, {"name": " "}, {"id": "1"}, {"name": 5}])
def test_nobody_is_added_by_half_a_name(campaign: Campaign, api: Program, body: Json) -> None:
    before = User.objects.count()
    api.post(f"{LIBRARY}judges/", body, 400)
    assert User.objects.count() == before


def test_known_judge_is_added_by_id_and_a_stranger_is_not(
    campaign: Campaign, api: Program, dana: User, charlie: User
) -> None:
    other = Campaign.objects.create(slug="mine", name="Mine", created_by=dana)
    erin = person("erin")
    Membership.objects.create(campaign=other, user=dana, role=Membership.Role.MANAGER)
    Membership.objects.create(campaign=other, user=erin, role=Membership.Role.JUDGE)
    assert [row["name"] for row in api.get(f"{LIBRARY}people/")["results"]] == ["erin"]
    api.post(f"{LIBRARY}judges/", {"id": charlie.pk}, 404)
    assert api.post(f"{LIBRARY}judges/", {"id": erin.pk}, 201)["name"] == "erin"
    assert api.get(f"{LIBRARY}people/")["results"] == []


def test_no_link_for_somebody_who_belongs_to_others(world: World, api: Program, bob: User) -> None:
    other = Campaign.objects.get(slug="other")
    Membership.objects.create(campaign=other, user=bob, role=Membership.Role.JUDGE)
    assert "belongs to others" in api.post(f"{LIBRARY}judges/{bob.pk}/link/", status=409)["detail"]


def test_note_reaches_the_judge_until_she_has_read_it(
    campaign: Campaign, api: Program, alice: User
) -> None:
    path = f"{LIBRARY}judges/{alice.pk}/notes/"
    api.post(path, {"text": "Look at the date."}, 201)
    hers = Program(alice)
    (note,) = hers.get("/api/v1/notes/")["results"]
    assert (note["text"], note["campaign"]) == ("Look at the date.", "library")
    hers.post(f"/api/v1/notes/{note['id']}/read/", status=204)
    assert hers.get("/api/v1/notes/")["count"] == 0
    assert api.get(path)["results"][0]["read_at"]
    api.post(f"/api/v1/notes/{note['id']}/read/", status=404)


# -- A judge's own --------------------------------------------------------------------------------


def test_judge_reads_what_is_hers(world: World, alice: User) -> None:
    hers = Program(alice)
    assert [row["word"] for row in hers.get(f"{LIBRARY}recent/")] == [
        "Fair",
        "Good",
        "Bad",
        "Perfect",
    ]
    assert hers.get(f"{LIBRARY}me/")["today"]["done"] == 4
    assert hers.get(f"{LIBRARY}guidelines/")["text"] == "Grade what helps.\n"
    hers.post(f"{LIBRARY}guidelines/", {"text": "Mine."}, 403)


def test_judge_chooses_her_keys(alice: User) -> None:
    hers = Program(alice)
    assert hers.get("/api/v1/keys/")["undo"] == "u"
    assert hers.send("PUT", "/api/v1/keys/", {"undo": "z"})["undo"] == "z"
    assert "has two" in hers.send("PUT", "/api/v1/keys/", {"undo": "r"}, 409)["detail"]
    assert hers.send("PUT", "/api/v1/keys/", {})["undo"] == "u"


# -- Guidelines -----------------------------------------------------------------------------------


def test_changed_guidelines_are_a_version_and_the_same_are_not(
    campaign: Campaign, api: Program
) -> None:
    path = f"{LIBRARY}guidelines/"
    start = api.get(path)
    assert (start["version"], start["created_at"], start["versions"]) == (0, None, [])
    assert api.post(path, {"text": start["text"]})["version"] == 0
    for text, version in (("Ä" * 50_000, 1), ("Second.", 2), ("Second.", 2)):
        assert api.post(path, {"text": text})["version"] == version
    assert api.get(f"{path}1/")["text"] == "Ä" * 50_000 + "\n"
    assert api.get(f"{path}0/")["text"] == start["text"]
    api.get(f"{path}3/", 404)
    api.post(path, {"text": "x" * 50_001}, 400)


# -- Files ----------------------------------------------------------------------------------------


def test_grades_on_an_unknown_scale_are_asked_about(campaign: Campaign, api: Program) -> None:
    content = b"query,docid,rating\ncsv,a,5\ncsv,b,1\n"
    asked = api.upload(f"{LIBRARY}uploads/", content)
    assert asked["state"] == "asked"
    assert "1-5" in asked["scales"]
    path = f"{LIBRARY}uploads/{asked['id']}/"
    api.post(f"{path}load/", status=409)
    api.post(f"{path}check/", {"scale": "five"}, 400)
    checked = api.post(f"{path}check/", {"scale": "1-5", "judge": "erin"})
    assert (checked["state"], checked["judgments"], checked["judge"]) == ("checked", 2, "erin")
    assert api.send("DELETE", path)["state"] == "refused"
    api.post(f"{path}check/", {}, 409)


def test_bad_lines_are_named_and_nothing_is_loaded(campaign: Campaign, api: Program) -> None:
    refused = api.upload(f"{LIBRARY}uploads/", b"query,docid,rank\ncsv,a,first\n,b,2\n")
    assert refused["state"] == "refused"
    assert [error["line"] for error in refused["errors"]] == [2, 3]
    assert api.get(f"{LIBRARY}uploads/")["results"][0]["problems"] == 2


def test_too_large_or_strange_forms_are_refused(
    campaign: Campaign, api: Program, settings: Any
) -> None:
    settings.UPLOAD_MAX_BYTES = 100
    path = f"{LIBRARY}uploads/"
    api.upload(path, b"x" * 101, 400)
    api.upload(path, b"x" * 70_000, 413)
    api.upload(path, b"query,docid\na,b\n", 400, format="soup")
    api.upload(path, b"query,docid\na,b\n", 400, colour="red")
    api.post(path, {"file": "x"}, 415)
    assert api.client.post(path, {}).status_code == 400
    broken = api.client.generic("POST", path, b"--x", content_type="multipart/form-data")
    assert broken.status_code == 400
    assert broken["Content-Type"] == "application/problem+json"
    assert not Upload.objects.exists()


def test_gold_file_is_taken_whole_or_not_at_all(campaign: Campaign, api: Program) -> None:
    path = f"{LIBRARY}gold/"
    good = b"query,url,grade\nquery 1,https://example.org/1/1,4\n"
    said = api.upload(path, good + b"query 9,x,1\n", 422)
    assert said["errors"][0]["field"] == "line 3"
    assert not Pair.objects.filter(state="gold").exists()
    assert api.upload(path, good) == {"pairs": 1}
    assert api.get(path)["results"][0]["gold"] == {"grade": 4, "word": "Perfect"}


def test_every_export_comes_as_its_list_says(world: World, api: Program) -> None:
    for row in api.get(f"{LIBRARY}exports/"):
        answer = api.client.get(f"{LIBRARY}exports/{row['name']}/")
        if answer.status_code == 409:
            assert row["name"] in ("letor.txt", "run.txt"), answer.content
            continue
        assert answer.status_code == 200
        assert answer["Content-Type"] == row["content_type"]
        assert answer.streaming
        assert answer.getvalue()
    api.get(f"{LIBRARY}exports/secrets.csv/", 404)
    api.get(f"{LIBRARY}exports/labels.csv/?labels=guess", 400)


def test_pseudonyms_hide_the_judges(world: World, api: Program) -> None:
    path = f"{LIBRARY}exports/judgments.csv/"
    assert b"alice" in api.client.get(path).getvalue()
    hidden = api.client.get(f"{path}?judges=pseudonyms").getvalue()
    assert b"alice" not in hidden
    api.get(f"{path}?judges=nobody", 400)


# -- Work and rankers -----------------------------------------------------------------------------


def test_failed_job_is_tried_again_and_stopped(world: World, api: Program) -> None:
    path = f"{LIBRARY}jobs/{world.ids['job_id']}/"
    assert world.ids["job_id"] in ids(api, "jobs/?state=failed")
    assert api.post(f"{path}retry/")["state"] == "due"
    api.post(f"{path}retry/", status=409)
    assert api.post(f"{path}cancel/")["message"] == "Cancelled."
    api.post(f"{path}cancel/", status=409)
    api.get(f"{LIBRARY}jobs/?state=lost", 400)


def test_champion_is_promoted_and_rolled_back(world: World, api: Program) -> None:
    path = f"{LIBRARY}runs/"
    assert [row["number"] for row in api.get(path)["results"]] == [2, 1]
    run = api.get(f"{path}2/")
    assert run["measures"][0]["name"] == "NDCG@3"
    assert run["measures"][0]["ranker"] == {"mean": 0.7, "low": 0.6, "high": 0.8, "n": 12}
    api.post(f"{path}1/roll-back/", status=409)
    assert api.post(f"{path}1/promote/")["is_champion"] is True
    back = api.post(f"{path}1/roll-back/")
    assert (back["number"], back["is_champion"]) == (2, True)
    assert api.get(f"{path}2/files/sidecar/")["run"] == 2
    api.get(f"{path}2/files/model/", 409)
    api.get(f"{path}2/files/secret/", 404)
    api.get(f"{path}9/", 404)


def test_run_is_asked_for_and_cancelled(campaign: Campaign, api: Program) -> None:
    asked = api.post(f"{LIBRARY}train/", {"ranker": "ranksvm"}, 202)
    api.post(f"{LIBRARY}train/", {}, 409)
    path = f"{LIBRARY}runs/{asked['run']}/"
    assert api.get(path)["progress"] == 0.0
    assert api.post(f"{path}cancel/")["state"] == "cancelled"
    api.post(f"{path}cancel/", status=409)
    api.get(f"{path}files/model/", 404)


def test_history_says_who_decided_what_the_latest_first(world: World, api: Program) -> None:
    pair = ids(api, "pairs/?show=open")[0]
    api.post(f"{LIBRARY}pairs/{pair}/drop/")
    rows = list(api.walk(f"{LIBRARY}events/?page_size=1"))
    assert (rows[0]["sentence"], rows[0]["by"]["name"]) == ("The pair was dropped.", "dana")
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)
    assert [row["pair"] for row in api.walk(f"{LIBRARY}events/?pair={pair}")] == [pair]
