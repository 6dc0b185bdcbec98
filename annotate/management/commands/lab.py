"""``manage.py lab replay --campaign SLUG``: the experiments of the Lab, one command each."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import lab
from annotate.models import Campaign
from ranking.experiments import limit, overlap, paying, replay, robust, shallow
from ranking.experiments.command import Options

#: Each takes the options that docs/lab.md tells.
EXPERIMENTS: dict[str, Callable[[Sequence[str]], int]] = {
    "replay": replay.main,
    "overlap": overlap.main,
    "limit": limit.main,
    "robust": robust.main,
    "shallow": shallow.main,
    "paying": paying.main,
}


class Command(BaseCommand):
    help = "Runs an experiment of the Lab: a study again, or schemes on judgments."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("experiment", choices=list(EXPERIMENTS))
        parser.add_argument(
            "options",
            nargs=argparse.REMAINDER,
            help="Those of the experiment: --data, --draws, --json, …; replay takes --campaign.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, rest = options["experiment"], list(options["options"])
        try:
            if name == "replay" and _campaign(rest):
                _replay(rest)
            else:
                EXPERIMENTS[name](rest)
        except (lab.LabError, ValueError, OSError) as error:
            raise CommandError(str(error)) from None


def _campaign(rest: list[str]) -> str:
    """The campaign that is named among the options, if any."""
    known = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    known.add_argument("--campaign", default="")
    return str(known.parse_known_args(rest)[0].campaign)


def _replay(rest: list[str]) -> None:
    slug = _campaign(rest)
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        raise CommandError(f"There is no campaign {slug}.")
    frozen, truth = lab.freeze(campaign)
    command = replay.arguments()
    command.add_argument("--campaign")
    given = command.parse_args(rest, Options())
    replay.compare(given, frozen.judged(), f"{campaign}, measured by {truth}")
