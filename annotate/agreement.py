"""Whether the judges agree, and how each of them grades. Reads only."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from annotate.models import Campaign, Membership, Seat, Snapshot, User
from ranking.grades import LEVELS

#: Below this share of chance-corrected agreement labels say little; Krippendorff's own advice
#: is not to conclude anything below 0.667, but five-grade relevance rarely gets there.
LOW_ALPHA = 0.4
ENOUGH_PAIRS = 30
HISTORY = 120


@dataclass(frozen=True)
class Judge:
    """What one judge did in a campaign."""

    name: str
    judgments: int
    histogram: tuple[int, ...]
    last_at: datetime | None
    takes_part: bool


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


def judges(campaign: Campaign) -> list[Judge]:
    """Everybody who judges or judged, the busiest first. Judgments count as they stand now."""
    done = campaign.seats.filter(state=Seat.State.DONE, judgment__grade__isnull=False)
    rows = done.values_list("judge_id", "judgment__grade").annotate(
        number=Count("id"), last=Max("judged_at")
    )
    counts: dict[int, list[int]] = defaultdict(lambda: [0] * LEVELS)
    last: dict[int, datetime] = {}
    for judge, grade, number, at in rows:
        counts[judge][grade] = number
        last[judge] = max(last.get(judge, at), at)
    members = campaign.memberships.filter(role=Membership.Role.JUDGE)
    here = set(members.values_list("user_id", flat=True))
    people = [
        Judge(
            name=user.first_name or user.username,
            judgments=sum(counts[user.pk]),
            histogram=tuple(counts[user.pk]),
            last_at=last.get(user.pk),
            takes_part=user.pk in here,
        )
        for user in User.objects.filter(pk__in=here | set(counts))
    ]
    return sorted(people, key=lambda judge: (-judge.judgments, judge.name))
