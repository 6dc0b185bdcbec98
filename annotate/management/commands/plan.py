"""``manage.py plan --budget 5000 --queries 200 --documents 50``: how to spend a budget."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import planner, planner_figures
from annotate.models import Campaign
from annotate.planner import Ask, Plan, PlanError


class Command(BaseCommand):
    help = "Says how many queries to judge, how deep and by which scheme, for a budget."

    def add_arguments(self, parser: CommandParser) -> None:
        budget = parser.add_mutually_exclusive_group(required=True)
        budget.add_argument("--budget", type=int, help="In judgments.")
        budget.add_argument("--money", help="In money; --price says what a judgment costs.")
        parser.add_argument("--price", help="Of one judgment.")
        parser.add_argument("--currency", default="EUR")
        parser.add_argument("--queries", type=int, required=True, help="How many there are.")
        parser.add_argument("--documents", type=int, required=True, help="Found for each query.")
        parser.add_argument("--grades", choices=sorted(planner.GRADES), default="web")
        parser.add_argument("--judges", choices=sorted(planner.JUDGES), default="crowd")
        parser.add_argument("--campaign", help="A slug: grades and judges as measured in it.")
        parser.add_argument("--k", type=int, choices=sorted(planner.DEPTHS), default=3)
        parser.add_argument("--halving", type=float, default=2.0, help="Points of NDCG.")
        parser.add_argument("--shallowing", type=float, default=1.0, help="Points of NDCG.")
        parser.add_argument("--json", action="store_true", help="As JSON, with the frontier.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            plan = planner.work_out(_ask(options))
        except PlanError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(planner_figures.as_json(plan), indent=1))
        else:
            self._tell(plan)

    def _tell(self, plan: Plan) -> None:
        best = planner_figures.as_row(plan.ask, plan.best)
        self.stdout.write(
            f"Judge {plan.best.queries:,} of {plan.ask.queries:,} queries, {plan.best.depth} "
            f"documents each, by {best['scheme']}: {best['judgments']:,} judgments (95 %: "
            f"{best['low']:,} to {best['high']:,}), ceiling of NDCG@{plan.ask.k} "
            f"{best['ceiling']:.3f}."
        )
        self.stdout.write("")
        for line in planner_figures.table(planner_figures.alternatives(plan)):
            self.stdout.write(line)


def _ask(options: dict[str, Any]) -> Ask:
    price = _decimal("price", options["price"])
    budget = options["budget"]
    if budget is None:
        money = _decimal("money", options["money"])
        if price is None or money is None:
            raise CommandError("A budget in money needs the price of a judgment: --price.")
        budget = int(money / price)
    grades, judges = _known(options)
    return Ask(
        budget=_within("budget", budget, planner.MOST_JUDGMENTS),
        queries=_within("queries", options["queries"], planner.MOST_QUERIES),
        documents=_within("documents", options["documents"], planner.MOST_DOCUMENTS),
        grades=grades,
        judges=judges,
        k=options["k"],
        halving=options["halving"] / 100,
        shallowing=options["shallowing"] / 100,
        price=price,
        currency=options["currency"],
    )


def _known(options: dict[str, Any]) -> tuple[planner.Grades, planner.Judges]:
    if not options["campaign"]:
        return planner.grades(options["grades"]), planner.judges(options["judges"])
    campaign = Campaign.objects.filter(slug=options["campaign"]).first()
    if campaign is None:
        raise CommandError(f"There is no campaign {options['campaign']}.")
    return planner.pilot(campaign)


def _decimal(name: str, text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not value > 0 or not value.is_finite():
        raise CommandError(f"{name} must be a number above 0. Got {text} instead.")
    return value


def _within(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise CommandError(f"{name} must be between 1 and {most:,}. Got {value:,} instead.")
    return value
