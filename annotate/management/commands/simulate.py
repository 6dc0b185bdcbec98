"""``manage.py simulate CAMPAIGN``: simulated judges judge through the same router as people."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import simulation
from annotate.models import Campaign
from ranking.simulation import SKILLS


class Command(BaseCommand):
    help = "Lets simulated judges work on a campaign whose pairs have true grades."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("--judges", type=int, default=12, help="How many judges.")
        parser.add_argument("--skill", choices=sorted(SKILLS), default="expert")
        parser.add_argument(
            "--until", type=float, default=1.0, help="Stop when this share of pairs is closed."
        )
        parser.add_argument("--per-second", type=float, help="At most so many judgments a second.")
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign {options['campaign']}.")
        try:
            plan = simulation.Simulation(
                judges=options["judges"],
                skill=options["skill"],
                until=options["until"],
                per_second=options["per_second"],
                seed=options["seed"],
            )
            made = simulation.run(campaign, plan)
        except simulation.SimulationError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{made} judgments by {plan.judges} simulated judges ({plan.skill}).")
