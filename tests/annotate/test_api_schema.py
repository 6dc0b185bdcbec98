"""Whatever the schema allows and whatever it forbids, whoever sends it: no server error, and every
answer is as the schema says.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotate.api import docs
from annotate.models import Campaign, User
from config.wsgi import application
from tests.annotate import api_world
from tests.annotate.api_world import World
from tests.annotate.test_api_roles import OPERATIONS

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
#: Requests for each operation that a role may do, and for the others: those are answered alike.
EXAMPLES = {"manager": 12, "judge": 12}
SOME, FEW = 3, 1


@pytest.fixture
def world(campaign: Campaign, alice: User, bob: User, dana: User) -> World:
    return api_world.make(campaign, alice, bob, dana)


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """A server closes its connection after a request; here it holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@cache
def described() -> Any:
    schema = schemathesis.openapi.from_dict(docs.document())
    schema.app = application
    return schema


def cases(operation: Any, world: World) -> st.SearchStrategy[Case[Any]]:
    """Requests as they should be and as they should not, about rows that are there and not."""
    named = {parameter.name for parameter in operation.path_parameters}
    here = {name: world.ids[name] for name in named}
    return st.one_of(
        operation.as_strategy(GenerationMode.POSITIVE, path_parameters=here),
        operation.as_strategy(GenerationMode.NEGATIVE, path_parameters=here),
        operation.as_strategy(GenerationMode.POSITIVE),
    )


@pytest.mark.parametrize("role", [role for role in api_world.ROLES if "site" not in role])
def test_every_answer_is_as_the_schema_says(world: World, role: str) -> None:
    headers = api_world.headers(world, role)
    for found in described().get_all_operations():
        operation = found.ok()
        may = OPERATIONS[operation.definition.raw["operationId"]][role] is None
        check(operation, world, headers, EXAMPLES.get(role, SOME) if may else FEW)


def check(operation: Any, world: World, headers: dict[str, str], examples: int) -> None:
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(operation, world))
    def send(case: Case[Any]) -> None:
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        world.keep_file()
        case.validate_response(answer, checks=CHECKS)

    send()
