"""The planner: its page, command, API and files, and the campaign that follows from a plan."""

import csv
import dataclasses
import html
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate import planner, tokens
from annotate.models import Campaign, User
from annotate.planner import PlanError
from tests.annotate.judged import crowd
from tests.conftest import person, signed_in

ASK = {"amount": "4800", "queries": "100", "documents": "16", "judges": "expert"}


def worked_out(**changes: Any) -> planner.Plan:
    known: dict[str, Any] = {
        "budget": 4_800,
        "queries": 100,
        "documents": 16,
        "grades": planner.grades("web"),
        "judges": planner.judges("expert"),
    }
    return planner.work_out(planner.Ask(**(known | changes)))


def page(client: Client, sent: dict[str, str] | None = None, status: int = 200) -> str:
    answer = client.get("/plan/", sent or {})
    assert answer.status_code == status
    return answer.content.decode()


# -- Plans ----------------------------------------------------------------------------------------


def test_a_plan_spends_no_more_than_the_budget_and_names_the_best_first() -> None:
    plan = worked_out()
    worths = [option.worth for option in plan.alternatives]
    assert all(option.judgments <= 4_800 for option in plan.alternatives)
    assert worths == sorted(worths, reverse=True)
    assert len({option.scheme.label for option in plan.alternatives}) == len(planner.SCHEMES)


def test_the_frontier_never_falls_and_holds_the_budget() -> None:
    plan = worked_out()
    steps = [step.best.worth for step in plan.frontier]
    assert steps == sorted(steps)
    (here,) = [step for step in plan.frontier if step.budget == 4_800]
    assert here.best == plan.best
    assert plan.frontier[-1].budget == 7_200


def test_better_judges_leave_a_higher_ceiling() -> None:
    crowd, expert = (worked_out(judges=planner.judges(name)) for name in ("crowd", "expert"))
    assert expert.best.ceiling > crowd.best.ceiling


def test_a_budget_below_one_query_is_refused() -> None:
    with pytest.raises(PlanError, match=r"at least one query, 8 judgments. Got 7 instead."):
        worked_out(budget=7)


@pytest.mark.parametrize("shares", [[1, 2, 3], [0, 0, 0, 0, 0], [-1, 1, 1, 1, 1]])
def test_shares_must_be_five(shares: list[float]) -> None:
    with pytest.raises(PlanError, match="Five shares are needed"):
        planner.own_grades(shares)


def test_own_shares_may_be_per_cent() -> None:
    assert planner.own_grades([50, 30, 10, 5, 5]).shares == pytest.approx(
        (0.5, 0.3, 0.1, 0.05, 0.05)
    )


# -- From a campaign ------------------------------------------------------------------------------


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """300 judgments of 100 pairs by experts."""
    crowd(campaign, judges=6, queries=20)
    return campaign


def test_a_pilot_tells_grades_and_judges(judged: Campaign) -> None:
    grades, judges = planner.pilot(judged)
    assert grades.pilot == 100
    assert sum(grades.shares) == pytest.approx(1)
    assert np.sum(judges.confusion, axis=1) == pytest.approx(np.ones(5))
    # Grades were drawn evenly, and most judges are right more often than not.
    assert max(grades.shares) < 0.45
    assert np.mean(np.diag(judges.confusion)) > 0.4


def test_a_pilot_makes_the_interval_wider(judged: Campaign) -> None:
    grades, judges = planner.pilot(judged)
    sure = dataclasses.replace(grades, pilot=None)
    widths = []
    for known in (sure, grades):
        options = worked_out(grades=known, judges=judges).alternatives
        (one,) = [option for option in options if option.scheme.label == "if-good-3"]
        widths.append(one.high - one.low)
    assert widths[1] > 2 * widths[0]


def test_without_overlap_there_is_no_pilot(campaign: Campaign) -> None:
    with pytest.raises(PlanError, match="At least 20 pairs with two judgments are needed"):
        planner.pilot(campaign)


# -- The page -------------------------------------------------------------------------------------


def test_page_shows_an_example_before_anybody_asks(dana_client: Client) -> None:
    shown = page(dana_client)
    assert "Below is an example." in shown
    assert "Recommended" in shown


def test_page_answers_what_is_asked(dana_client: Client) -> None:
    shown = page(dana_client, ASK)
    plan = worked_out(price=Decimal("0.05"))
    assert f"by <strong>{plan.best.scheme.label}</strong>" in shown
    assert f"{round(plan.best.judgments):,}" in shown
    for option in plan.alternatives:
        assert f'<th scope="row">{option.scheme.label}</th>' in shown
    assert f'<td class="numeric">{plan.best.ceiling:.3f}</td>' in shown


def test_budget_in_money_is_what_it_buys(dana_client: Client) -> None:
    bought = page(dana_client, ASK | {"amount": "240", "unit": "money", "price": "0.05"})
    asked = page(dana_client, ASK | {"price": "0.05"})
    assert best(bought) == best(asked)


def best(shown: str) -> list[str]:
    return re.findall(r'<h2 id="best-title".*?</h2>', shown)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"amount": "0"}, "greater than or equal to 1"),
        ({"amount": "x"}, "Enter a number"),
        ({"documents": "1001"}, "less than or equal to 1000"),
        ({"queries": "-1"}, "greater than or equal to 1"),
        ({"unit": "money", "price": ""}, "needs the price of a judgment"),
        ({"unit": "money", "amount": "1", "price": "5"}, "must buy between 1 and"),
        ({"grades": "own", "shares": "1 2"}, "Five shares are needed"),
        ({"grades": "own", "shares": "a b c d e"}, "Shares must be five numbers"),
        ({"judges": "campaign:secret"}, "Select a valid choice"),
        ({"amount": "7", "documents": "8"}, "at least one query, 8 judgments. Got 7 instead."),
    ],
)
def test_page_says_what_is_wrong(dana_client: Client, sent: dict[str, str], message: str) -> None:
    assert message in page(dana_client, ASK | sent, 422)


def test_page_takes_shares_as_people_write_them(dana_client: Client) -> None:
    page(dana_client, ASK | {"grades": "own", "shares": "55%, 30%, 12%, 2%, 1%"})


def test_page_plans_by_a_campaign_of_hers(dana_client: Client, judged: Campaign) -> None:
    sent = ASK | {"judges": "campaign:library", "grades": "campaign:library"}
    assert "Library, from 100 pairs" in page(dana_client, sent)


def test_page_knows_no_campaign_of_others(judged: Campaign) -> None:
    stranger = signed_in(person("erin", User.Role.MANAGER))
    assert "Library" not in page(stranger, ASK)
    page(stranger, ASK | {"judges": "campaign:library"}, 422)


def test_page_is_for_managers(alice_client: Client, client: Client) -> None:
    assert alice_client.get("/plan/").status_code == 403
    assert client.get("/plan/").status_code == 302
    assert alice_client.get("/plan/frontier.csv").status_code == 403


def test_page_cannot_be_posted_to(dana_client: Client) -> None:
    assert dana_client.post("/plan/").status_code == 405


@pytest.mark.parametrize("name", ["alternatives", "frontier"])
def test_every_figure_can_be_saved(dana_client: Client, name: str) -> None:
    answer = dana_client.get(f"/plan/{name}.csv", ASK)
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    plan = worked_out(price=Decimal("0.05"))
    assert len(rows) == len(plan.alternatives if name == "alternatives" else plan.frontier)
    assert rows[0]["scheme"]


def test_there_is_no_other_file(dana_client: Client) -> None:
    assert dana_client.get("/plan/secrets.csv", ASK).status_code == 404
    assert dana_client.get("/plan/frontier.csv", {"amount": "x"}).status_code == 404


# -- From a plan to a campaign --------------------------------------------------------------------


def test_a_plan_fills_in_the_form_of_a_new_campaign(dana_client: Client) -> None:
    (href,) = re.findall(r'href="(/campaigns/new/[^"]+)"', page(dana_client, ASK))
    shown = dana_client.get(html.unescape(href)).content.decode()
    plan = worked_out()
    scheme = plan.best.scheme
    assert re.search(rf'<input[^>]*value="{scheme.name}"[^>]*checked', shown)
    assert 'value="4800"' in shown
    assert 'value="0.05"' in shown
    assert f"load {plan.best.queries:,} queries" in shown


def test_what_an_address_says_is_only_text(dana_client: Client) -> None:
    shown = dana_client.get(
        "/campaigns/new/", {"budget": '"><script>', "queries": "9" * 50, "depth": "1"}
    ).content.decode()
    assert "<script>" not in shown
    assert "Your plan" not in shown


# -- The command ----------------------------------------------------------------------------------


def command(**options: Any) -> str:
    out = io.StringIO()
    known = {"budget": 4_800, "queries": 100, "documents": 16, "judges": "expert"}
    call_command("plan", stdout=out, **(known | options))
    return out.getvalue()


def test_command_says_the_plan_in_a_sentence_and_a_table() -> None:
    said = command()
    plan = worked_out()
    assert said.startswith(f"Judge {plan.best.queries} of 100 queries, {plan.best.depth} documents")
    assert all(option.scheme.label in said for option in plan.alternatives)


def test_command_gives_json() -> None:
    said = json.loads(command(json=True))
    plan = worked_out()
    assert said["recommended"]["scheme"] == plan.best.scheme.label
    assert len(said["frontier"]) == len(plan.frontier)


def test_command_plans_by_a_campaign(judged: Campaign) -> None:
    said = json.loads(command(json=True, campaign="library"))
    assert said["judges"]["words"] == "Library, from 100 pairs"


def test_command_takes_money() -> None:
    out = io.StringIO()
    arguments = ["--money", "240", "--price", "0.05", "--queries", "100", "--documents", "16"]
    call_command("plan", *arguments, "--judges", "expert", stdout=out)
    assert out.getvalue().splitlines()[0] == command().splitlines()[0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 7}, "at least one query"),
        ({"documents": 0}, r"documents must be between 1 and 1,000. Got 0 instead."),
        ({"price": "-1"}, r"price must be a number above 0. Got -1 instead."),
        ({"campaign": "none"}, r"There is no campaign none."),
    ],
)
def test_command_says_what_is_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        command(**options)


# -- The API --------------------------------------------------------------------------------------


@pytest.fixture
def ask(dana: User) -> Callable[..., Any]:
    raw = tokens.create(dana, "plans", ["manage"], 1)
    client = Client(headers={"authorization": f"Bearer {raw}"})

    def ask(status: int = 200, **body: Any) -> Any:
        known = {"budget": 4_800, "queries": 100, "documents": 16, "judges": "expert"}
        answer = client.post("/api/v1/plan/", known | body, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    return ask


def test_api_gives_what_the_command_gives(ask: Callable[..., Any]) -> None:
    assert ask() == json.loads(command(json=True))


def test_api_takes_shares_and_a_price(ask: Callable[..., Any]) -> None:
    said = ask(shares=[50, 30, 10, 5, 5], price=0.1)
    assert said["grades"]["shares"] == pytest.approx([0.5, 0.3, 0.1, 0.05, 0.05])
    assert said["recommended"]["money"] == pytest.approx(
        0.1 * said["recommended"]["judgments"], abs=1
    )


def test_api_plans_by_a_campaign_of_hers(ask: Callable[..., Any], judged: Campaign) -> None:
    assert ask(campaign="library")["grades"]["words"] == "Library, from 100 pairs"
    judged.memberships.filter(role="manager").delete()
    ask(404, campaign="library")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"budget": 7}, "at least one query"),
        ({"shares": [1, 2]}, "Five shares are needed"),
        ({"documents": 5_000}, "documents"),
        ({"judges": "nobody"}, "judges"),
        ({"secret": 1}, "There is no such field."),
    ],
)
def test_api_says_what_is_wrong(
    ask: Callable[..., Any], body: dict[str, Any], message: str
) -> None:
    assert message in ask(400, **body)["detail"]


def test_api_needs_the_scope(alice: User) -> None:
    raw = tokens.create(alice, "judge", ["judge"], 1)
    client = Client(headers={"authorization": f"Bearer {raw}"})
    answer = client.post("/api/v1/plan/", {}, content_type="application/json")
    assert answer.status_code == 403
