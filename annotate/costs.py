"""What a campaign costs, how far it is and when it will be done. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count

from annotate.figures import Column, Figure, stored
from annotate.models import Campaign, Ledger, Pair, Snapshot, scheme_of
from annotate.models.campaigns import NUMBERS
from ranking.grades import GOOD
from ranking.schemes import SCHEMES, formula

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
    good: int = 0

    @property
    def ratio(self) -> float | None:
        """Fair- : Good+ of all judgments; None while there is no Good+."""
        return (self.judgments - self.good) / self.good if self.good else None

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
    return _progress(_states([campaign]).get(campaign.pk, {}), campaign.queries.count())


def progress_of(found: Collection[Campaign]) -> dict[int, Progress]:
    """The same of several campaigns at once; their queries are not counted."""
    states = _states(found)
    return {campaign.pk: _progress(states.get(campaign.pk, {}), 0) for campaign in found}


def _states(found: Collection[Campaign]) -> dict[int, dict[str, int]]:
    """Pairs by campaign and state, a walk along one index."""
    rows = Pair.objects.filter(campaign__in=found).values_list("campaign_id", "state")
    states: dict[int, dict[str, int]] = {}
    for campaign, state, pairs in rows.annotate(Count("id")).order_by():
        states.setdefault(campaign, {})[state] = pairs
    return states


def _progress(by_state: dict[str, int], queries: int) -> Progress:
    return Progress(
        open=by_state.get(Pair.State.OPEN, 0),
        closed=by_state.get(Pair.State.CLOSED, 0),
        referred=by_state.get(Pair.State.REFERRED, 0),
        queries=queries,
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
        formula=formula(campaign.scheme, good / fair if fair else None),
        finished=not now.open,
        good=sum(snapshot.histogram[GOOD:]),
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


# -- The page -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bill:
    """What was spent and what it will come to, in judgments, hours and money."""

    judgments: int
    pairs: int
    formula: float | None
    ratio: float | None
    training: float
    hours: float | None
    expected: int
    spent: int | None
    budget: int | None
    price: Decimal | None
    currency: str

    @property
    def labelling(self) -> float | None:
        return self.judgments / self.pairs if self.pairs else None

    @property
    def money(self) -> Decimal | None:
        return None if self.price is None else self.price * self.judgments

    @property
    def money_expected(self) -> Decimal | None:
        return None if self.price is None else self.price * self.expected

    @property
    def used(self) -> float | None:
        """The share of the budget that is used."""
        return self.spent / self.budget if self.budget and self.spent is not None else None


def bill(campaign: Campaign) -> Bill:
    """The cost so far, and in the end if the scheme's formula holds."""
    data, _ = stored(campaign, "cost")
    now = progress(campaign)
    judgments, pairs = data.get("judgments", 0), data.get("pairs", 0)
    per_pair = judgments / pairs if pairs else 0.0
    by_formula = data["schemes"][0]["formula"] if pairs else None
    final = max(per_pair, by_formula or 0.0) if now.open else per_pair
    return Bill(
        judgments=judgments,
        pairs=pairs,
        formula=by_formula,
        ratio=data["fair"] / data["good"] if data.get("good") else None,
        training=per_pair if campaign.training_rows == "use-all" else 1.0,
        hours=_hours(data),
        expected=max(round(final * now.pairs), judgments),
        spent=spent(campaign),
        budget=campaign.budget,
        price=campaign.price,
        currency=campaign.currency,
    )


def spent(campaign: Campaign) -> int | None:
    """Judgments that count against the budget, where one is kept."""
    ledger = Ledger.objects.filter(campaign=campaign).first()
    return ledger.spent if ledger else None


def _hours(data: dict[str, Any]) -> float | None:
    """Active hours; judgments that were not timed take as long as the others."""
    if not data.get("timed"):
        return None
    return float(data["active_seconds"] / data["timed"] * data["judgments"] / 3600)


def figures(campaign: Campaign) -> list[Figure]:
    """Every figure of the page."""
    return [schemes(campaign)]


def schemes(campaign: Campaign) -> Figure:
    """Every scheme on this campaign's own judgments."""
    data, _ = stored(campaign, "cost")
    own = data["judgments"] if data.get("pairs") else 0
    rows = [
        row
        | {
            "difference": row["labelling"] * data["pairs"] / own - 1,
            "short_share": row["short"] / data["pairs"],
            "money": None
            if campaign.price is None
            else float(campaign.price) * row["labelling"] * data["pairs"],
            "bound": "at least" if row["short"] else "",
        }
        for row in data.get("schemes", [])
    ]
    money = [] if campaign.price is None else [Column("money", campaign.currency, "figure")]
    return Figure(
        "schemes",
        "What every scheme would have cost",
        "Replayed on the judgments of this campaign in the order they came; n = "
        f"{data.get('pairs', 0):,} judged pairs. Where a scheme would have asked for judgments "
        "that nobody made, its bar is pale and too short; the mark says what its formula gives at "
        "the measured r.",
        [
            Column("scheme", "Scheme", "scheme"),
            Column("bound", ""),
            Column("labelling", "Judgments per pair", "figure"),
            Column("formula", "By formula", "figure"),
            Column("difference", "Against yours", "change"),
            Column("training", "Training rows per pair", "figure"),
            Column("ratio", "Fair- : Good+", "figure"),
            *money,
            Column("short", "Pairs short of judgments", "whole"),
            Column("missing", "Judgments missing at least", "whole"),
        ],
        rows,
        "No judgment yet. Costs appear with the first ones.",
    )
