"""``manage.py train CAMPAIGN``: ask for a training run, or do it here and now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import training
from annotate.models import Campaign, TrainingRun
from ranking.rankers import RANKERS


class Command(BaseCommand):
    help = "Trains a ranker on the labels there are now."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument(
            "--ranker", choices=sorted(RANKERS), help="Instead of the campaign's own."
        )
        parser.add_argument(
            "--now", action="store_true", help="Train in this process, without a worker."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign {options['campaign']}.")
        try:
            run = training.request(campaign, options["ranker"] or "")
        except training.TrainingError as error:
            raise CommandError(str(error)) from None
        if not options["now"]:
            self.stdout.write(f"Run {run.number} waits for a worker.")
            return
        training.work(run)
        run.refresh_from_db()
        if run.state != TrainingRun.State.DONE:
            raise CommandError(f"Run {run.number} is {run.state}. {run.message}")
        figures = run.metrics["ndcg"]["3"]["ranker"]
        self.stdout.write(f"NDCG@3 {figures['mean']:.4f} on {figures['n']} queries. {run.decision}")
