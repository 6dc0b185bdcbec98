"""``manage.py simulate CAMPAIGN``: simulated judges judge through the same router as people."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate import simulation
from annotate.management.reporting import Report, UsageError, campaign_named
from ranking.simulation import SKILLS


class Command(Report):
    help = "Lets simulated judges work on a campaign whose pairs have true grades."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("--judges", type=int, default=12, help="How many judges.")
        parser.add_argument("--skill", choices=sorted(SKILLS), default="expert")
        parser.add_argument(
            "--until", type=float, default=1.0, help="Stop when this share of pairs is closed."
        )
        parser.add_argument("--per-second", type=float, help="At most so many judgments a second.")
        parser.add_argument("--seed", type=int, default=1)

    def work(self, options: dict[str, Any]) -> None:
        campaign = campaign_named(options["campaign"])
        names = ("judges", "skill", "until", "per_second", "seed")
        try:
            plan = simulation.Simulation(**{name: options[name] for name in names})
        except simulation.SimulationError as error:
            raise UsageError(str(error)) from None
        try:
            with self.progress() as progress:
                made = simulation.run(
                    campaign,
                    plan,
                    lambda done, share: progress(min(share / plan.until, 1), f"{done} judgments"),
                )
        except simulation.SimulationError as error:
            raise CommandError(str(error)) from None
        sentence = f"{made} judgments by {plan.judges} simulated judges ({plan.skill})."
        self.say(options, sentence, judgments=made, judges=plan.judges, skill=plan.skill)
