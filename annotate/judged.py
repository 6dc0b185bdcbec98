"""What was judged in a campaign, as rows: judgments and labels. Reads only."""

from django.db.models import F, QuerySet

from annotate.models import Campaign, Judgment, Label


def judgments(campaign: Campaign, counting: bool | None = None) -> QuerySet[Judgment]:
    """Every row of every judgment; or only those that count now, or only the others."""
    rows = Judgment.objects.filter(pair__campaign=campaign)
    if counting is not None:
        now = rows.filter(seat__judgment=F("pk"))
        rows = now if counting else rows.exclude(pk__in=now.values("pk"))
    return rows.select_related("judge", "made_by", "seat")


def labels(campaign: Campaign) -> QuerySet[Label]:
    """Every label with its pair."""
    rows = Label.objects.filter(pair__campaign=campaign)
    return rows.select_related("pair__query", "pair__document").only(
        *("grade", "score", "judgments", "method", "updated_at"),
        *("pair__query__key", "pair__document__key"),
    )
