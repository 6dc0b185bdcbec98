"""Agreement at one moment, over time, and whether it falls. Reads only."""

from annotate.figures import stored
from annotate.models import Campaign, Snapshot

KIND = "agreement"

#: Below this share of chance-corrected agreement labels say little; Krippendorff's own advice
#: is not to conclude anything below 0.667, but five-grade relevance rarely gets there.
LOW_ALPHA = 0.4
ENOUGH_PAIRS = 30
HISTORY = 120


def latest(campaign: Campaign) -> Snapshot | None:
    """The figures as they stood when labels were last made."""
    return campaign.snapshots.first()


def history(campaign: Campaign) -> list[Snapshot]:
    """Snapshots from first to last, thinned evenly where there are many."""
    ids = list(campaign.snapshots.order_by("id").values_list("pk", flat=True))
    if len(ids) > HISTORY:
        step = (len(ids) - 1) / (HISTORY - 1)
        ids = [ids[round(number * step)] for number in range(HISTORY)]
    return list(campaign.snapshots.filter(pk__in=ids).order_by("id"))


def is_low(snapshot: Snapshot | None) -> bool:
    """Whether enough overlapping pairs say that the judges hardly agree."""
    return (
        snapshot is not None
        and snapshot.alpha is not None
        and snapshot.overlapping >= ENOUGH_PAIRS
        and snapshot.alpha < LOW_ALPHA
    )


def fall(campaign: Campaign) -> tuple[float, float, int] | None:
    """α of the latest fifth of the pairs, of those before, and n, where it surely fell."""
    recent = stored(campaign, KIND)[0].get("recent")
    if not recent or not recent["falls"]:
        return None
    return recent["now"]["value"], recent["before"]["value"], recent["now"]["pairs"]
