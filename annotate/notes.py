"""What a manager tells a judge. The only writer of notes."""

from django.db.models import QuerySet
from django.db.models.functions import Now

from annotate.models import Campaign, Note, User


def write(campaign: Campaign, judge: User, manager: User, text: str) -> Note:
    """She sees it on her pages until she says that she has read it."""
    return Note.objects.create(campaign=campaign, judge=judge, by=manager, text=text)


def unread(judge: User, campaign: Campaign | None = None) -> QuerySet[Note]:
    """What she has not read yet, the oldest first."""
    mine = Note.objects.filter(judge=judge, read_at__isnull=True).select_related("campaign")
    if campaign is not None:
        mine = mine.filter(campaign=campaign)
    return mine.order_by("id")


def sent(campaign: Campaign, judge: User) -> QuerySet[Note]:
    """Everything she was told in a campaign, the latest first."""
    return Note.objects.filter(campaign=campaign, judge=judge).select_related("by")


def read(judge: User, number: int) -> None:
    """She has read it. Nobody else's note is touched."""
    Note.objects.filter(pk=number, judge=judge, read_at__isnull=True).update(read_at=Now())
