"""``manage.py demo``: load the demo campaign."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.demo import campaign as demo
from annotate.models import Campaign


class Command(BaseCommand):
    help = "Loads the demo campaign: searches in the standard library of this Python."

    def handle(self, *args: Any, **options: Any) -> None:
        if Campaign.objects.filter(slug=demo.SLUG).exists():
            raise CommandError("The demo campaign is here already.")
        campaign = demo.load()
        self.stdout.write(f"{campaign.name}: {campaign.pairs.count()} pairs are open to judge.")
