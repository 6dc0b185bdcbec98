"""``manage.py demo``: load the demo campaign."""

from typing import Any

from django.core.management.base import CommandError

from annotate.demo import campaign as demo
from annotate.management.reporting import Report
from annotate.models import Campaign


class Command(Report):
    help = "Loads the demo campaign: searches in the standard library of this Python."

    def work(self, options: dict[str, Any]) -> None:
        if Campaign.objects.filter(slug=demo.SLUG).exists():
            raise CommandError("The demo campaign is here already.")
        with self.progress() as progress:
            campaign = demo.load(progress)
        pairs = campaign.pairs.count()
        sentence = f"{campaign.name}: {pairs} pairs are open to judge."
        self.say(options, sentence, campaign=campaign.slug, name=campaign.name, pairs=pairs)
