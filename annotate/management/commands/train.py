"""``manage.py train CAMPAIGN``: ask for a training run, or do it here and now."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate import training
from annotate.management.reporting import Report, campaign_named
from annotate.models import TrainingRun
from ranking.rankers import RANKERS


class Command(Report):
    help = "Trains a ranker on the labels there are now."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument(
            "--ranker", choices=sorted(RANKERS), help="Instead of the campaign's own."
        )
        parser.add_argument(
            "--now", action="store_true", help="Train in this process, without a worker."
        )

    def work(self, options: dict[str, Any]) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            run = training.request(campaign, options["ranker"] or "")
        except training.TrainingError as error:
            raise CommandError(str(error)) from None
        if not options["now"]:
            sentence = f"Run {run.number} waits for a worker."
            self.say(options, sentence, **_facts(run))
            return
        with self.progress() as progress:
            training.work(run, progress)
        run.refresh_from_db()
        if run.state != TrainingRun.State.DONE:
            raise CommandError(f"Run {run.number} is {run.state}. {run.message}")
        figures = run.metrics["ndcg"]["3"]["ranker"]
        sentence = f"NDCG@3 {figures['mean']:.4f} on {figures['n']} queries. {run.decision}"
        more = {"ndcg": figures, "champion": run.is_champion, "decision": run.decision}
        self.say(options, sentence, **_facts(run), **more)


def _facts(run: TrainingRun) -> dict[str, Any]:
    return {"run": run.number, "state": run.state, "ranker": run.ranker}
