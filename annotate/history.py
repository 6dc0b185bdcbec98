"""What people decided, as sentences with a time and a name. The only writer of events."""

from annotate.models import Campaign, Event, Pair, User


def record(campaign: Campaign, actor: User | None, sentence: str, pair: Pair | None = None) -> None:
    """Write it in the transaction of the decision itself."""
    Event.objects.create(campaign=campaign, actor=actor, pair=pair, sentence=sentence[:500])
