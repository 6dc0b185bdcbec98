"""What a campaign costs, how far it is and when it will be done. Reads only."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count

from annotate.models import Campaign, Pair, Snapshot, scheme_of
from annotate.models.campaigns import NUMBERS
from ranking.schemes import SCHEMES

#: Shares of first judgments that are Good+, in per cent, that the cost is tabled for.
SHARES = tuple(range(5, 100, 5))
#: What to show first: few good results, as in the study, and many.
PRESETS = (10, 20, 35, 50)
OVERLAP = 3
K_MAX = 25
PACE_HOURS = 1
PACE_JUDGMENTS = 10


@dataclass(frozen=True)
class Progress:
    """Pairs that are to be judged, by state. Gold and dropped pairs are not among them."""

    open: int
    closed: int
    referred: int
    queries: int

    @property
    def pairs(self) -> int:
        return self.open + self.closed + self.referred

    @property
    def share(self) -> float | None:
        return self.closed / self.pairs if self.pairs else None


@dataclass(frozen=True)
class Cost:
    """Judgments per judged pair, beside what the scheme's formula gives for the measured r."""

    judgments: int
    pairs: int
    first_good: int
    formula: float | None
    finished: bool

    @property
    def per_pair(self) -> float:
        return self.judgments / self.pairs

    @property
    def final(self) -> float:
        """What it comes to in the end: pairs that are still open want more judgments."""
        return self.per_pair if self.finished else max(self.per_pair, self.formula or 0)

    @property
    def r(self) -> float | None:
        """Good+ : Fair- of the first judgments; None while there is no Fair-."""
        fair = self.pairs - self.first_good
        return self.first_good / fair if fair else None

    @property
    def saving(self) -> float:
        """The share of judgments saved in the end against three for every pair."""
        return 1 - self.final / OVERLAP


@dataclass(frozen=True)
class Expected:
    """What a scheme is expected to cost at one share of Good+."""

    share: int
    r: float
    per_pair: float

    @property
    def saving(self) -> float:
        return 1 - self.per_pair / OVERLAP


def progress(campaign: Campaign) -> Progress:
    """How many pairs there are and how many have all the judgments they need."""
    by_state = dict(campaign.pairs.values_list("state").annotate(Count("id")).order_by())
    return Progress(
        open=by_state.get(Pair.State.OPEN, 0),
        closed=by_state.get(Pair.State.CLOSED, 0),
        referred=by_state.get(Pair.State.REFERRED, 0),
        queries=campaign.queries.count(),
    )


def cost(campaign: Campaign, snapshot: Snapshot | None, now: Progress) -> Cost | None:
    """The cost so far, or None before the first judgment."""
    if snapshot is None or not snapshot.pairs:
        return None
    good, fair = snapshot.first_good, snapshot.pairs - snapshot.first_good
    return Cost(
        judgments=snapshot.judgments,
        pairs=snapshot.pairs,
        first_good=good,
        formula=campaign.scheme.expected_cost(good / fair) if fair else None,
        finished=not now.open,
    )


def time_left(campaign: Campaign, snapshot: Snapshot | None, now: Progress) -> timedelta | None:
    """When the rest is judged at the pace of the last hour of judging, if there was a pace."""
    so_far = cost(campaign, snapshot, now)
    if snapshot is None or so_far is None:
        return None
    since = snapshot.created_at - timedelta(hours=PACE_HOURS)
    first = campaign.snapshots.filter(created_at__gte=since).order_by("id").first()
    if first is None or snapshot.judgments - first.judgments < PACE_JUDGMENTS:
        return None
    wanted = so_far.final * now.pairs
    per_judgment = (snapshot.created_at - first.created_at) / (snapshot.judgments - first.judgments)
    return per_judgment * max(wanted - snapshot.judgments, 0)


def expected(
    scheme_name: str, number: float | None, shares: tuple[int, ...] = PRESETS
) -> list[Expected]:
    """The cost per pair of a scheme at each share (per cent) of Good+ first judgments."""
    scheme = scheme_of(scheme_name, number)
    ratios = [(share, share / (100 - share)) for share in shares]
    return [Expected(share, r, scheme.expected_cost(r)) for share, r in ratios]


def expected_table() -> dict[str, dict[str, object]]:
    """The cost of every scheme at each of SHARES, for each number it may have, to show live.

    ``field`` is where a campaign keeps the number, ``rows`` begin with the number 1.
    """
    return {
        name: {
            "field": NUMBERS.get(name),
            "rows": [
                [round(row.per_pair, 4) for row in expected(name, number, SHARES)]
                for number in range(1, K_MAX + 1)
            ],
        }
        for name in SCHEMES
    }
