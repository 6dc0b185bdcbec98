"""A campaign in which something has happened, so that every page has something to show."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from annotate import campaigns, jobs, lab, routing, tokens
from annotate.models import (
    ApiToken,
    Campaign,
    Job,
    Membership,
    Pair,
    Refusal,
    TrainingRun,
    Upload,
    User,
)
from tests.annotate.test_dashboard import run, snapshot


@dataclass
class World:
    campaign: Campaign
    judge: User
    manager: User

    @property
    def slugs(self) -> list[str]:
        return [self.campaign.slug, "draft", "closed"]

    @property
    def numbers(self) -> list[int]:
        """Of everything that has a page of its own."""
        kinds: list[type[Any]] = [Upload, Pair, TrainingRun, User, Job, ApiToken]
        return [_newest(kind) for kind in kinds]


def _newest(kind: type[Model]) -> int:
    newest = kind._default_manager.order_by("-pk").values_list("pk", flat=True).first()
    assert newest, f"There is no {kind.__name__}."
    return int(newest)


def furnish(campaign: Campaign, judge: User, manager: User) -> World:
    """Judgments, refusals, files, runs, jobs; and campaigns that are not open."""
    world = World(campaign, judge, manager)
    _judge(campaign, judge)
    _refer(campaign, judge)
    snapshot(campaign, minutes_ago=60, judgments=100, alpha=0.5)
    snapshot(campaign)
    run(campaign, 1, 0.61)
    run(campaign, 2, 0.72)
    lab.work(lab.request(campaign, lab.recipe(["single", "if-good-3"], ["mean"], draws=2)))
    tokens.create(judge, "a program", [tokens.JUDGE], 30)
    _upload(campaign, manager)
    failed = jobs.enqueue("train", campaign)
    Job.objects.filter(pk=failed and failed.pk).update(state="failed", message="No label yet.")
    campaigns.save_guidelines(campaign, "# Rules\n\n| a | b |\n|---|---|\n| c | d |\n\n- `code`\n")
    for state in (Campaign.State.DRAFT, Campaign.State.CLOSED):
        other = Campaign.objects.create(
            slug=state, name=state.label, state=state, created_by=manager
        )
        campaigns.add_judge(other, judge)
        Membership.objects.create(campaign=other, user=manager, role=Membership.Role.MANAGER)
    return world


def _judge(campaign: Campaign, judge: User) -> None:
    for grade in (4, 1):
        seat = routing.claim(campaign, judge)
        assert seat is not None
        assert seat.token is not None
        answer = routing.Answer(grade, uuid.uuid4(), "A remark.", 4000)
        routing.submit(judge, seat.pk, seat.token, answer)


def _refer(campaign: Campaign, judge: User) -> None:
    seat = routing.claim(campaign, judge)
    assert seat is not None
    assert seat.token is not None
    routing.refuse(judge, seat.pk, seat.token, Refusal.Reason.OTHER, "It moved away.")
    Pair.objects.filter(pk=seat.pair_id).update(state=Pair.State.REFERRED)


def preview_row(line: int, text: str) -> dict[str, Any]:
    """A row of a file as its preview keeps it."""
    texts = ("query", "query_key", "document_key", "title", "url", "snippet")
    return {"line": line, "rank": 1, "grades": ["4"], **dict.fromkeys(texts, text)}


def _upload(campaign: Campaign, manager: User) -> None:
    """A file that was checked, with one good row and one bad one."""
    Upload.objects.create(
        campaign=campaign,
        created_by=manager,
        state=Upload.State.CHECKED,
        name="pairs.csv",
        file="pairs",
        format="csv",
        rows=2,
        preview=[preview_row(2, "parse json")],
        errors=[{"line": 3, "reason": "A row must have a query. Got none instead."}],
    )
