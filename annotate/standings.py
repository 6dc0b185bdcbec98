"""How each judge stands in a campaign: qualified, excluded, right on gold. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from annotate import pairs
from annotate.models import Campaign, Membership, Pair, Seat, Standing, User


@dataclass(frozen=True)
class JudgeStanding:
    """One judge of a campaign."""

    user: User
    excluded_at: datetime | None
    qualified: bool | None
    needs_to_qualify: bool
    gold_right: int
    gold_made: int
    gold_wanted: int

    @property
    def qualification(self) -> str:
        """Where she stands, in words; nothing where nobody has to qualify."""
        if not self.needs_to_qualify:
            return ""
        if self.qualified is None:
            made = min(self.gold_made, self.gold_wanted)
            return f"Trying, {made} of {self.gold_wanted}" if made else "Not tried yet"
        return "Qualified" if self.qualified else "Not qualified"


def of_campaign(campaign: Campaign) -> list[JudgeStanding]:
    """Every judge who takes part, by name."""
    members = campaign.memberships.filter(role=Membership.Role.JUDGE)
    rows = {row.judge_id: row for row in Standing.objects.filter(campaign=campaign)}
    gold = pairs.gold_by_judge(campaign)
    there = campaign.pairs.filter(state=Pair.State.GOLD).count()
    found = []
    for member in members.select_related("user").order_by("user__username"):
        row = rows.get(member.user_id)
        right, made = gold.get(member.user_id, (0, 0))
        found.append(
            JudgeStanding(
                user=member.user,
                excluded_at=row.excluded_at if row else None,
                qualified=row.qualified if row else None,
                needs_to_qualify=campaign.qualification_size > 0,
                gold_right=right,
                gold_made=made,
                gold_wanted=min(campaign.qualification_size, there),
            )
        )
    return found


def judgments(campaign: Campaign, judge: User) -> int:
    """How many of her judgments count now."""
    return Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.DONE).count()
