"""Who judges, with the figures of each. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotate.crowd.warnings import SHORT, SPAM, sentence
from annotate.figures import Row, names, stored
from annotate.models import Campaign, Membership, Seat, Standing
from ranking.grades import Grade

KIND = "judges"


@dataclass(frozen=True)
class Judge:
    """One judge with her figures; ``row`` is empty before her first judgment was counted."""

    pk: int
    name: str
    row: Row
    takes_part: bool
    excluded_at: datetime | None
    warnings: list[str]

    @property
    def judgments(self) -> int:
        return int(self.row.get("judgments", 0))

    @property
    def is_suspected(self) -> bool:
        """Whether she seems not to judge at all."""
        return any(warning["code"] in SPAM for warning in self.row.get("warnings", []))

    @property
    def worry(self) -> str:
        """The first warning in a word, for the table."""
        found = self.row.get("warnings")
        return SHORT[found[0]["code"]] if found else ""


def judges(campaign: Campaign) -> list[Judge]:
    """Everybody who judges or judged, the busiest first."""
    data, _ = stored(campaign, KIND)
    rows = {row["judge"]: row for row in data.get("judges", [])}
    members = campaign.memberships.filter(role=Membership.Role.JUDGE)
    here = set(members.values_list("user_id", flat=True))
    called = names(here | rows.keys())
    barred = Standing.objects.filter(campaign=campaign, excluded_at__isnull=False)
    excluded = dict(barred.values_list("judge_id", "excluded_at"))
    found = [
        Judge(
            pk,
            called[pk],
            rows.get(pk, {}),
            pk in here,
            excluded.get(pk),
            [sentence(warning, called) for warning in rows.get(pk, {}).get("warnings", [])],
        )
        for pk in called
    ]
    return sorted(found, key=lambda judge: (-judge.judgments, judge.name))


def judge(campaign: Campaign, pk: int) -> Judge | None:
    """One of them."""
    return next((found for found in judges(campaign) if found.pk == pk), None)


def disagreements(campaign: Campaign, pk: int) -> QuerySet[Seat]:
    """Her judgments of pairs to which somebody gave another grade, the widest apart first."""
    return (
        Seat.objects.filter(campaign=campaign, judge=pk, state=Seat.State.DONE, pair__spread__gt=0)
        .select_related("judgment", "pair__query", "pair__document")
        .defer("pair__features", "pair__document__text")
        .order_by("-pair__spread", "-judged_at", "pk")
    )


def others_said(seats: list[Seat]) -> dict[int, list[Grade]]:
    """What everybody else said of these pairs."""
    found: dict[int, list[Grade]] = {seat.pair_id: [] for seat in seats}
    rest = Seat.objects.filter(pair__in=found, state=Seat.State.DONE)
    rest = rest.exclude(pk__in=[seat.pk for seat in seats]).order_by("judged_at")
    for pair, grade in rest.values_list("pair_id", "judgment__grade"):
        if grade is not None:
            found[pair].append(Grade(grade))
    return found
