"""Lists of pairs, and everything that is known of one. Reads only."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet

from annotate.models import Adjudication, Campaign, Judgment, Pair, Query, Seat
from annotate.models.pool import DISPUTED
from ranking.grades import Grade

#: What a list may show: a state of the pairs, all of them, or the disputed ones.
ALL, DISPUTES = "all", "disputed"
SHOWS = {
    ALL: "All",
    Pair.State.OPEN.value: "Open",
    Pair.State.CLOSED.value: "Closed",
    DISPUTES: "Disputed",
    Pair.State.REFERRED.value: "Could not be judged",
    Pair.State.DROPPED.value: "Dropped",
    Pair.State.GOLD.value: "Gold",
}
MOST_WORDS = 8


# -- Lists ----------------------------------------------------------------------------------------


def shown(campaign: Campaign, show: str = ALL, text: str = "") -> QuerySet[Pair]:
    """The pairs of one choice, as far as their query holds every word of the text."""
    pairs = disputed(campaign) if show == DISPUTES else loaded(campaign).order_by("id")
    if show in Pair.State.values:
        pairs = pairs.filter(state=show)
    return pairs.filter(query__in=queries(campaign, text)) if text.split() else pairs


def queries(campaign: Campaign, text: str = "") -> QuerySet[Query]:
    """The queries that hold every word of the text."""
    found = campaign.queries.all()
    for word in text.split()[:MOST_WORDS]:
        found = found.filter(text__icontains=word)
    return found


def loaded(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs there are; those of a file that is being loaded do not count yet."""
    return campaign.pairs.exclude(state=Pair.State.LOADING)


def disputed(campaign: Campaign) -> QuerySet[Pair]:
    """Pairs whose grades lie far apart and that nobody has decided, the furthest apart first."""
    decided = Adjudication.objects.filter(pair=OuterRef("pk"))
    return campaign.pairs.filter(
        ~Exists(decided),
        state__in=[Pair.State.OPEN, Pair.State.CLOSED],
        spread__gte=DISPUTED,
    ).order_by("-spread", "id")


def referred(campaign: Campaign) -> QuerySet[Pair]:
    """Pairs that several judges could not judge, with their reasons, in the order of judging."""
    return (
        campaign.pairs.filter(state=Pair.State.REFERRED)
        .select_related("query", "document")
        .defer("features", "document__text", "document__snippet")
        .prefetch_related("refusals__judge")
        .order_by("position", "pk")
    )


def counts(campaign: Campaign) -> dict[str, int]:
    """How many pairs there are under each choice."""
    rows = loaded(campaign).order_by().values_list("state").annotate(n=Count("id"))
    states = dict(rows)
    found = {show: states.get(show, 0) for show in SHOWS}
    return found | {ALL: sum(states.values()), DISPUTES: disputed(campaign).count()}


def with_grades(numbers: Collection[int]) -> list[Pair]:
    """For a page of a list, in its order: what was searched, what was found, what was said."""
    done = Seat.objects.filter(state=Seat.State.DONE).select_related("judgment")
    rows = (
        Pair.objects.filter(pk__in=numbers)
        .defer("features", "document__text", "document__snippet")
        .select_related("query", "document", "label", "adjudication")
        .prefetch_related(Prefetch("seats", done.order_by("judged_at", "ordinal"), to_attr="done"))
    )
    found = {pair.pk: pair for pair in rows}
    return [found[number] for number in numbers if number in found]


# -- The queue of disputes ------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a pair stands among the disputed ones."""

    left: int
    before: int | None
    after: int | None


def place(pair: Pair) -> Place:
    """The neighbours of a pair, also of one that was decided just now."""
    queue = disputed(pair.campaign)
    earlier = queue.filter(Q(spread__gt=pair.spread) | Q(spread=pair.spread, pk__lt=pair.pk))
    later = queue.filter(Q(spread__lt=pair.spread) | Q(spread=pair.spread, pk__gt=pair.pk))
    return Place(
        left=queue.count(),
        before=earlier.order_by("spread", "-id").values_list("pk", flat=True).first(),
        after=later.values_list("pk", flat=True).first(),
    )


# -- One pair -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One judgment, and whether it counts."""

    judgment: Judgment
    counts: bool
    fate: str

    @property
    def seconds(self) -> float | None:
        """How long she was active on the pair."""
        active = self.judgment.active_ms
        return None if active is None else active / 1000


def judgments(pair: Pair) -> list[Said]:
    """Every judgment ever made of a pair, in the order they were made."""
    rows = list(pair.judgments.select_related("judge", "seat").order_by("id"))
    later = {row.supersedes_id: row for row in rows}
    return [
        Said(row, row.seat.judgment_id == row.pk, _fate(row, later.get(row.pk)))
        for row in rows
        if row.grade is not None
    ]


def _fate(row: Judgment, later: Judgment | None) -> str:
    if later is None:
        return "Counts" if row.seat.judgment_id == row.pk else "Put back"
    if later.grade is not None:
        return f"Changed to {Grade(later.grade).word}"
    return "Voided" if later.made_by_id else "Taken back"


# -- Gold -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoldPair:
    """A pair with a known grade, and how judges did on it."""

    pair: Pair
    grade: Grade
    made: int
    right: int

    @property
    def share(self) -> float | None:
        return self.right / self.made if self.made else None


def gold(campaign: Campaign) -> Iterator[GoldPair]:
    """Every gold pair, the oldest first."""
    made = Q(seats__state=Seat.State.DONE)
    rows = (
        campaign.pairs.filter(state=Pair.State.GOLD)
        .select_related("query", "document")
        .annotate(
            made=Count("seats", filter=made),
            right=Count("seats", filter=made & Q(seats__judgment__grade=F("gold"))),
        )
        .order_by("id")
    )
    for row in rows:
        yield GoldPair(row, Grade(row.gold or 0), row.made, row.right)


def gold_by_judge(campaign: Campaign) -> Mapping[int, tuple[int, int]]:
    """For each judge who judged gold pairs: how many judgments are right, of how many."""
    rows = Seat.objects.filter(
        pair__campaign=campaign, pair__state=Pair.State.GOLD, state=Seat.State.DONE
    ).values_list("judge_id", "judgment__grade", "pair__gold")
    made: Counter[int] = Counter()
    right: Counter[int] = Counter()
    # Counted here: grouped by judge, a database would walk all seats instead of the gold ones.
    for judge, grade, known in rows:
        if judge is not None:
            made[judge] += 1
            right[judge] += grade == known
    return {judge: (right[judge], number) for judge, number in made.items()}
