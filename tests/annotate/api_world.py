"""A campaign in which every operation of the API has something to do, and programs of each role."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now
from django.test import Client

from annotate import campaigns, handles, imports, notes, routing, tokens, webhooks
from annotate.api import docs
from annotate.imports.uploads import path_of
from annotate.labels import label_batch
from annotate.models import (
    Campaign,
    Job,
    Judgment,
    Membership,
    Pair,
    Refusal,
    TrainingRun,
    Upload,
    User,
)
from tests.conftest import fill, person

Json = dict[str, Any]
GRADES = {"alice": [4, 0, 2, 1], "bob": [0, 2]}
FILE = b"query,docid,rank\nread a csv file,csv,1\n"


@dataclass(frozen=True)
class World:
    """Who there is, and the numbers of what there is."""

    people: dict[str, User]
    ids: dict[str, Any]
    seat_token: str

    def keep_file(self) -> None:
        """What is rolled back in the database is not rolled back on the disk."""
        path_of(Upload.objects.get(pk=self.ids["upload_id"])).write_bytes(FILE)

    def address(self, operation: docs.Operation) -> str:
        return operation.path.format(**self.ids)

    def body(self, operation: docs.Operation) -> Any:
        """What the schema shows as an example, for the rows of this world."""
        if operation.id in FILES:
            return {"file": SimpleUploadedFile("file.csv", FILES[operation.id])}
        sent = json.loads(operation.request) if operation.request else None
        if isinstance(sent, dict) and "token" in sent:
            sent["token"] = self.seat_token
        return sent


#: Operations that take a file, and one they take.
FILES = {
    "upload_new": FILE,
    "gold_file": b"query,url,grade\nquery 1,https://example.org/1/1,4\n",
}


def make(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    """On the campaign of the fixtures: judged, disputed, refused, with files, jobs and runs."""
    stranger, gina = person("charlie"), person("gina", User.Role.MANAGER)
    root = person("root", User.Role.ADMINISTRATOR)
    other = Campaign.objects.create(slug="other", name="Other", state="open", created_by=gina)
    Membership.objects.create(campaign=other, user=gina, role=Membership.Role.MANAGER)
    fill(other, 1, 1)
    Campaign.objects.filter(pk=campaign.pk).update(k=2)
    campaign.refresh_from_db()
    for judge in (alice, bob):
        for grade in GRADES[judge.username]:
            seat = routing.claim(campaign, judge)
            assert seat
            assert seat.token
            routing.submit(judge, seat.pk, seat.token, routing.Answer(grade, uuid.uuid4()))
    held = routing.claim(campaign, alice)
    assert held
    assert label_batch(campaign)
    ids = _rows(campaign, alice, dana) | {"slug": campaign.slug, "seat_id": handles.handle(held.pk)}
    people = {"alice": alice, "bob": bob, "charlie": stranger, "dana": dana, "gina": gina}
    return World(people | {"root": root}, ids, str(held.token))


def _rows(campaign: Campaign, alice: User, dana: User) -> Json:
    campaigns.save_guidelines(campaign, "Grade what helps.")
    refused = Pair.objects.filter(campaign=campaign).order_by("-pk")[0]
    Pair.objects.filter(pk=refused.pk).update(state=Pair.State.REFERRED)
    Refusal.objects.create(pair=refused, judge=alice, reason="unsafe", text="No.")
    file = SimpleUploadedFile("pairs.csv", FILE)
    upload = imports.check_upload(campaign, dana, file, "pairs.csv")
    assert upload.state == Upload.State.CHECKED, upload.errors
    job = Job.objects.create(
        kind="report", key="failed", campaign=campaign, state=Job.State.FAILED, due_at=Now()
    )
    hook = webhooks.create(campaign, dana, "https://example.org/hook", ["pair.closed"])
    delivery = webhooks.send_test(hook)
    mine = Judgment.objects.filter(pair__campaign=campaign, judge=alice).order_by("-pk")[0]
    _runs(campaign)
    return {
        "pair_id": mine.pair_id,
        "judgment_id": mine.pk,
        "judge_id": alice.pk,
        "note_id": notes.write(campaign, alice, dana, "Look at the date.").pk,
        "upload_id": upload.pk,
        "job_id": job.pk,
        "run": 2,
        "what": "sidecar",
        "name": "judgments.csv",
        "kind": "overview",
        "version": 1,
        "webhook_id": hook.pk,
        "delivery_id": delivery.pk,
    }


def _runs(campaign: Campaign) -> None:
    """A champion and the one before it, as training leaves them."""
    mean = {"mean": 0.7, "low": 0.6, "high": 0.8, "n": 12}
    measured = {"ranker": mean, "first_stage": mean | {"mean": 0.6}, "p": 0.04}
    duel = {"ranker": mean, "champion": mean, "p": None}
    for number in (1, 2):
        TrainingRun.objects.create(
            campaign=campaign,
            number=number,
            state=TrainingRun.State.DONE,
            ranker="lambdamart",
            judgments=number,
            metrics={
                "ndcg": {"3": measured},
                "map": measured,
                "ceiling": {"3": {"value": 0.9}},
                "champion": {"ndcg": {"3": duel}},
            },
            is_champion=number == 2,
            promoted_at=Now(),
        )


# -- Programs -------------------------------------------------------------------------------------

#: Who asks, and what her token allows; without scopes she is signed in on the site.
ROLES: dict[str, tuple[str, list[str]]] = {
    "judge": ("alice", ["judge"]),
    "judge on the site": ("alice", []),
    "stranger": ("charlie", ["judge"]),
    "manager": ("dana", ["judge", "manage"]),
    "manager of another": ("gina", ["judge", "manage"]),
    "administrator": ("root", ["judge", "manage"]),
    "anonymous": ("", []),
}


def headers(world: World, role: str) -> dict[str, str]:
    name, scopes = ROLES[role]
    if not scopes:
        return {}
    raw = tokens.create(world.people[name], f"{role} {uuid.uuid4()}", scopes, 1)
    return {"Authorization": f"Bearer {raw}"}


def program(world: World, role: str) -> Client:
    client = Client(headers=headers(world, role))
    name, scopes = ROLES[role]
    if name and not scopes:
        client.force_login(world.people[name])
    return client


def ask(client: Client, world: World, operation: docs.Operation, **more: Any) -> Any:
    """The operation as its example has it."""
    body, path = world.body(operation), world.address(operation)
    if operation.id in FILES:
        return client.post(path, body, **more)
    raw = b"" if body is None else json.dumps(body).encode()
    return client.generic(operation.method, path, raw, content_type="application/json", **more)


def operations() -> dict[str, docs.Operation]:
    return {operation.id: operation for operation in docs.operations(docs.document())}
