"""``manage.py load CAMPAIGN FILE``: load queries, documents and pairs from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import imports
from annotate.models import Campaign


class Command(BaseCommand):
    help = "Loads a CSV or LETOR file into a campaign, whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("file", metavar="FILE", type=Path, help="CSV or LETOR, also gzipped.")
        parser.add_argument("--check", action="store_true", help="Read the file, load nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign {options['campaign']}.")
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        kind, rows, problems = imports.check(path, campaign)
        for problem in problems:
            self.stderr.write(f"{path}:{problem.line}: {problem.reason}")
        if problems:
            raise CommandError(f"{len(problems)} lines cannot be loaded, so nothing was.")
        if not options["check"]:
            imports.load_rows(campaign, rows)
        done = "read" if options["check"] else "loaded"
        self.stdout.write(f"{len(rows)} pairs {done} from {path} ({kind}).")
