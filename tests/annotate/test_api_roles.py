"""Who may do what by the API: one line for every operation, held against every role."""

from http import HTTPStatus
from typing import Any

import pytest
from django.db import transaction

from annotate.api import docs
from annotate.models import Campaign, User
from tests.annotate import api_world
from tests.annotate.api_world import World

#: What each role is answered; None where she may.
JUDGES = {
    "judge": None,
    "judge on the site": None,
    "stranger": 404,
    "manager": 404,
    "manager of another": 404,
    "administrator": 404,
    "anonymous": 401,
}
MANAGERS = {
    "judge": 403,
    "judge on the site": 404,
    "stranger": 403,
    "manager": None,
    "manager of another": 404,
    "administrator": None,
    "anonymous": 401,
}
#: Judges read it, managers too.
READERS = MANAGERS | {"judge": None, "judge on the site": None, "stranger": 404}
#: About no campaign: every manager.
ANY_MANAGER = MANAGERS | {"judge on the site": 403, "manager of another": None}
#: About herself.
EVERYBODY = dict.fromkeys(JUDGES) | {"anonymous": 401}

#: Whoever adds an operation says here who may.
OPERATIONS: dict[str, dict[str, int | None]] = {
    # Judging
    "campaigns": EVERYBODY,
    "claim": JUDGES,
    "judge": JUDGES,
    "refuse": JUDGES,
    "release": JUDGES,
    "extend": JUDGES,
    "undo": JUDGES,
    "correct": JUDGES,
    "recent": JUDGES,
    "mine": JUDGES,
    "notes": EVERYBODY,
    "note_read": JUDGES,
    "keys": EVERYBODY,
    "keys_change": EVERYBODY,
    # Campaigns
    "campaign_new": ANY_MANAGER,
    "campaign": MANAGERS,
    "campaign_change": MANAGERS,
    "campaign_state": MANAGERS,
    "guidelines": READERS,
    "guidelines_new": MANAGERS | {"judge on the site": 403},
    "guidelines_version": MANAGERS,
    "report": MANAGERS,
    "plan": ANY_MANAGER | {"judge on the site": None},
    # Pairs and judgments
    "queries": MANAGERS,
    "pairs": MANAGERS,
    "disputes": MANAGERS,
    "referrals": MANAGERS,
    "pair": MANAGERS,
    "pair_drop": MANAGERS,
    "pair_resume": MANAGERS,
    "pair_gold": MANAGERS,
    "pair_ungold": MANAGERS,
    "pair_final": MANAGERS,
    "pair_undecide": MANAGERS,
    "judgments": MANAGERS,
    "judgment_void": MANAGERS,
    "labels": MANAGERS,
    # Judges
    "judges": MANAGERS,
    "people": MANAGERS,
    "judge_add": MANAGERS,
    "judge_detail": MANAGERS,
    "judge_remove": MANAGERS,
    "judge_standing": MANAGERS,
    "judge_put_back": MANAGERS,
    "judge_link": MANAGERS,
    "judge_notes": MANAGERS,
    "judge_note": MANAGERS,
    # Files
    "uploads": MANAGERS,
    "upload_new": MANAGERS,
    "upload": MANAGERS,
    "upload_check": MANAGERS,
    "upload_load": MANAGERS,
    "upload_discard": MANAGERS,
    "gold": MANAGERS,
    "gold_file": MANAGERS,
    "exports": MANAGERS,
    "export": MANAGERS,
    # Work and rankers
    "jobs": MANAGERS,
    "job_retry": MANAGERS,
    "job_cancel": MANAGERS,
    "events": MANAGERS,
    "train": MANAGERS,
    "rank": MANAGERS,
    "runs": MANAGERS,
    "run": MANAGERS,
    "run_promote": MANAGERS,
    "run_roll_back": MANAGERS,
    "run_cancel": MANAGERS,
    "run_file": MANAGERS,
    # Webhooks
    "webhooks": MANAGERS,
    "webhook_new": MANAGERS,
    "webhook": MANAGERS,
    "webhook_remove": MANAGERS,
    "webhook_test": MANAGERS,
    "deliveries": MANAGERS,
    "delivery_again": MANAGERS,
}

#: What may be answered although she may: the row is not in the state for it.
CONFLICTS = {"pair_resume", "rank", "job_cancel", "run_promote", "run_cancel"}


@pytest.fixture
def world(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    return api_world.make(campaign, alice, bob, dana)


def test_every_operation_says_who_may() -> None:
    assert sorted(api_world.operations()) == sorted(OPERATIONS)


@pytest.mark.parametrize("role", api_world.ROLES)
def test_everybody_gets_what_is_hers_and_nothing_else(world: World, role: str) -> None:
    client = api_world.program(world, role)
    wrong: dict[str, Any] = {}
    for name, operation in api_world.operations().items():
        with transaction.atomic():
            answer = api_world.ask(client, world, operation)
            content = answer.getvalue()
            transaction.set_rollback(True)
        world.keep_file()
        if not fits(operation, answer.status_code, OPERATIONS[name][role]):
            wrong[name] = answer.status_code, content[:300]
    assert not wrong


def fits(operation: docs.Operation, status: int, expected: int | None) -> bool:
    if expected is not None:
        return status == expected
    if status == HTTPStatus.CONFLICT:
        return operation.id in CONFLICTS
    good = {code for code, _ in operation.statuses if code < 300}
    return status in good
