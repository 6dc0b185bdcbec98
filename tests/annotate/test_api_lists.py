"""Every list of the API: only filters with a name, pages that stay, queries that do not grow."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate import history, imports, notes, routing
from annotate.models import (
    Campaign,
    Document,
    Job,
    Membership,
    Pair,
    Query,
    Refusal,
    TrainingRun,
    User,
)
from tests.annotate import api_world
from tests.annotate.api_world import World
from tests.conftest import person

LIBRARY = "/api/v1/campaigns/library/"

LEAKS = [
    "judge__password__startswith=a",
    "order=judge__password",
    "ordering=-pk",
    "created_by__email=a",
    "campaign__slug=other",
    "fields=password",
    "format=html",
    "search=x",
]


@pytest.fixture
def world(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    return api_world.make(campaign, alice, bob, dana)


@pytest.fixture
def api(world: World) -> Client:
    return api_world.program(world, "manager")


def addresses(world: World) -> dict[str, str]:
    """Every address that is only read, about this world's rows."""
    found = api_world.operations().values()
    return {one.id: world.address(one) for one in found if one.method == "GET"}


# -- Filters --------------------------------------------------------------------------------------


def test_no_filter_reaches_further_than_its_name(world: World, api: Client) -> None:
    """Lookups through rows gave password hashes away elsewhere."""
    for path in addresses(world).values():
        plain = without_links(api.get(path).getvalue())
        for leak in LEAKS:
            assert without_links(api.get(f"{path}?{leak}").getvalue()) == plain


def without_links(content: bytes) -> bytes:
    return re.sub(rb'"(next|previous)":"[^"]*"', b"", content)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        *[
            ("judgments", query)
            for query in (
                *("after=0", "after=x", "after=", "after=-1", "after=9223372036854775808"),
                *("page_size=0", "page_size=501", "pair=0", "judge=x", "grade=5", "grade=-1"),
                *("counts=1", "counts="),
            )
        ],
        *[("pairs", query) for query in ("text=%00", f"text={'x' * 201}", "show=loading", "show=")],
        *[("pairs", query) for query in ("query=0", "query=1.5")],
        *[("judges", query) for query in ("page=0", "page=x", "page=", "page=last", "page=%D9%A3")],
        ("jobs", "state=lost"),
    ],
)
def test_bad_filter_is_named(world: World, api: Client, path: str, query: str) -> None:
    answer = api.get(f"{LIBRARY}{path}/?{query}")
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == [query.partition("=")[0]]


def test_signs_that_databases_know_are_only_text(world: World, api: Client) -> None:
    for text in ("%25", "_", "%5C", "'", "%22;--"):
        assert api.get(f"{LIBRARY}pairs/?text={text}").json()["results"] == []


# -- Pages ----------------------------------------------------------------------------------------


def test_what_is_added_meanwhile_moves_no_page(world: World, api: Client) -> None:
    before = sorted(Pair.objects.filter(campaign__slug="library").values_list("pk", flat=True))
    said = api.get(f"{LIBRARY}pairs/?page_size=4").json()
    assert [row["id"] for row in said["results"]] == before[:4]
    added = more_pairs(Campaign.objects.get(slug="library"), world.people["dana"], "more")
    rest = api.get(said["next"].replace("page_size=4", "page_size=100")).json()
    assert [row["id"] for row in rest["results"]] == before[4:] + added
    assert rest["next"] is None


def test_page_behind_the_last_is_not_there(world: World, api: Client) -> None:
    assert api.get(f"{LIBRARY}judges/?page=2").status_code == 404
    after = api.get(f"{LIBRARY}judgments/?after=9223372036854775807").json()
    assert after == {"next": None, "results": []}


# -- Queries --------------------------------------------------------------------------------------


def test_no_list_asks_the_database_more_often_for_more_rows(
    world: World, api: Client, dana: User
) -> None:
    campaign = Campaign.objects.get(slug="library")
    grow(campaign, dana, "some")
    before = counted(api, world)
    grow(campaign, dana, "more")
    assert counted(api, world) == before


def counted(api: Client, world: World) -> dict[str, int]:
    """Queries of every reading operation, once what is kept ready is there."""
    found = {}
    for name, path in addresses(world).items():
        api.get(path).getvalue()
        with CaptureQueriesContext(connection) as queries:
            api.get(path).getvalue()
        found[name] = len(queries)
    return found


def grow(campaign: Campaign, dana: User, name: str) -> None:
    """Three more of everything that is listed."""
    alice = User.objects.get(username="alice")
    for number in range(3):
        judge, known = person(f"judge-{name}-{number}"), person(f"known-{name}-{number}")
        Membership.objects.create(campaign=campaign, user=judge, role=Membership.Role.JUDGE)
        notes.write(campaign, alice, dana, "More.")
        file = SimpleUploadedFile("more.csv", api_world.FILE)
        imports.check_upload(campaign, dana, file, "more.csv")
        Job.objects.create(kind="report", key=f"{name}-{number}", campaign=campaign, due_at=Now())
        history.record(campaign, dana, "Something was decided.")
        last = campaign.runs.count()
        TrainingRun.objects.create(
            campaign=campaign, number=last + 1, ranker="ranksvm", judgments=1, state="done"
        )
        other = Campaign.objects.create(slug=f"{name}-{number}", name="More", created_by=dana)
        Membership.objects.create(campaign=other, user=dana, role=Membership.Role.MANAGER)
        Membership.objects.create(campaign=other, user=known, role=Membership.Role.JUDGE)
    more_pairs(campaign, dana, name)


def more_pairs(campaign: Campaign, dana: User, name: str) -> list[int]:
    """Open ones, refused ones, disputed ones and gold."""
    found = []
    for number in range(8):
        query = Query.objects.create(campaign=campaign, key=f"{name}-{number}", text="more")
        document = Document.objects.create(campaign=campaign, key=f"{name}-{number}")
        pair = Pair.objects.create(
            campaign=campaign, query=query, document=document, rank=1, position=100 + number
        )
        found.append(pair.pk)
    Pair.objects.filter(pk__in=found[:2]).update(state=Pair.State.REFERRED)
    Pair.objects.filter(pk__in=found[2:4]).update(spread=4)
    for refused in found[:2]:
        for judge in campaign.members.filter(username__startswith=f"judge-{name}"):
            Refusal.objects.create(pair_id=refused, judge=judge, reason="unsafe")
    for gold in found[4:6]:
        routing.give_gold(dana, gold, 3)
    return found
