"""Why a pair is where it is: what the router did and what it does next, in sentences. Reads only.

For managers: the sentences name people.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotate import explain_paying
from annotate.models import Event, Judgment, Membership, Pair, Refusal, Seat, Standing, User
from annotate.routing.membership import PUT_BACK
from ranking.grades import Grade
from ranking.schemes import Paying

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ENDINGS = {1: "st", 2: "nd", 3: "rd"}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

#: Decisions after which the scheme has no say, and those that give it back.
OUT_OF_PLAY = ("The pair was dropped.", "Gold:")
IN_PLAY = ("The pair is asked about again.", "No longer gold.")

#: When, what comes first at the same moment, and what tells it.
_Happened = tuple[datetime, int, int, Callable[[], Iterator[str]]]


@dataclass(frozen=True)
class Step:
    """One sentence; ``at`` is empty for what is so now."""

    text: str
    at: datetime | None = None


def explain(pair: Pair) -> list[str]:
    """What the router did with the pair and what it does next."""
    return [step.text for step in steps(pair)]


def steps(pair: Pair) -> list[Step]:
    """The same with the time of each step."""
    return [*_Story(pair).told(), *(Step(text) for text in _now(pair))]


def name(person: User) -> str:
    """How pages call a person."""
    return person.first_name or person.username


# -- What happened --------------------------------------------------------------------------------


class _Story:
    """The rows of a pair, played again in the order of time."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.scheme = pair.campaign.scheme
        self.grades: dict[int, int] = {}  # of the seats, in the order of judging
        self.judged: list[int] = []
        self.in_play = True
        changes = pair.campaign.events.filter(sentence__startswith="The rules were changed")
        self.changes = list(changes.select_related("actor"))

    def told(self) -> list[Step]:
        happened = sorted(self._happened(), key=lambda row: row[:3])
        return [Step(text, at) for at, _, _, tell in happened for text in tell()]

    def _happened(self) -> Iterator[_Happened]:
        rows = self.pair.judgments.select_related("judge", "made_by", "supersedes", "seat")
        judgments = list(rows.order_by("id"))
        for row in judgments:
            yield row.created_at, 0, row.pk, partial(self._judgment, row)
        for refusal in self.pair.refusals.select_related("judge"):
            yield refusal.created_at, 1, refusal.pk, partial(_refused, refusal)
        for old in _set_aside(judgments):
            yield self._put_back_at(old), 2, old.pk, partial(self._put_back, old)
        # A voided judgment has a row of its own, which says it better.
        decisions = self.pair.events.exclude(sentence__endswith=" was voided.")
        for event in decisions.select_related("actor"):
            yield event.created_at, 3, event.pk, partial(self._decided, event)
        for event in self.changes:
            if judgments and event.created_at > judgments[0].created_at:
                yield event.created_at, 3, event.pk, partial(self._decided, event)

    def _judgment(self, row: Judgment) -> Iterator[str]:
        before = self._wanting()
        if row.grade is None:
            self.grades.pop(row.seat_id, None)
        else:
            self.grades[row.seat_id] = row.grade
        yield self._said(row)
        # What the scheme made of it is known where the rules are still those of that time.
        # If-it-pays looked at the whole query: what follows from one grade cannot be told.
        if isinstance(self.scheme, Paying):
            return
        if self.in_play and not any(event.created_at > row.created_at for event in self.changes):
            yield from self._followed(row, before)

    def _said(self, row: Judgment) -> str:
        judge, old = name(row.judge), row.supersedes
        if row.made_by:
            return f"{name(row.made_by)} voided {judge}'s {_word(old)}."
        if row.grade is None:
            return f"{judge} took {_word(old)} back."
        if old is not None:
            return f"{judge} changed {_word(old)} to {_word(row)}."
        if row.judge_id in self.judged:
            return f"{judge} judged again and said {_word(row)}."
        self.judged.append(row.judge_id)
        return f"{judge} was asked {_ordinal(len(self.judged))} and said {_word(row)}."

    def _followed(self, row: Judgment, before: int) -> Iterator[str]:
        """How many more or fewer judges are wanted than this row alone accounts for."""
        if row.grade is None:
            expected = before if row.made_by else before + 1  # who takes back is asked again
        else:
            expected = before if row.supersedes else max(before - 1, 0)
        more = self._wanting() - expected
        if row.made_by and more == 1:
            yield "Another judge is asked instead."
        elif more > 0:
            yield f"Under {self.scheme.label} that asked for {_more(more, 'more')}."
        elif more < 0:
            yield f"Under {self.scheme.label} that needs {_more(-more, 'fewer')}."

    def _wanting(self) -> int:
        grades = list(self.grades.values())
        return self.scheme.wanted(grades) - len(grades)

    def _put_back_at(self, old: Judgment) -> datetime:
        words = PUT_BACK.format(judge=old.judge)
        events = self.pair.campaign.events.filter(
            sentence__endswith=words, created_at__gte=old.created_at
        )
        event = events.order_by("id").first()
        return event.created_at if event else old.created_at

    def _put_back(self, old: Judgment) -> Iterator[str]:
        self.grades.pop(old.seat_id, None)
        yield f"{name(old.judge)}'s {_word(old)} was put back: it counts no more."

    def _decided(self, event: Event) -> Iterator[str]:
        if event.sentence.startswith(OUT_OF_PLAY):
            self.in_play = False
        elif event.sentence.startswith(IN_PLAY):
            self.in_play = True
        who = f" ({name(event.actor)})" if event.actor else ""
        yield f"{event.sentence.removesuffix('.')}{who}."


def _set_aside(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that were put back: nothing supersedes them, and yet they do not count."""
    superseded = {row.supersedes_id for row in judgments}
    return [
        row
        for row in judgments
        if row.grade is not None and row.pk not in superseded and row.seat.state == Seat.State.ASIDE
    ]


def _refused(refusal: Refusal) -> Iterator[str]:
    reason = _clause(refusal.get_reason_display())
    more = f" ({refusal.text})" if refusal.text else ""
    yield f"{name(refusal.judge)} could not judge: {reason}{more}."


# -- What is so now, and what comes next ----------------------------------------------------------


def _now(pair: Pair) -> Iterator[str]:
    if pair.state == Pair.State.DROPPED:
        yield "Dropped: nobody is asked any more. What was judged stays."
    elif pair.state == Pair.State.GOLD and pair.gold is not None:
        yield f"Gold: its grade is known to be {Grade(pair.gold).word}. It is shown to test judges."
    elif pair.state == Pair.State.REFERRED:
        refusals = pair.refusals.count()
        yield f"Waits for a manager: {_number(refusals)} judges could not judge it."
    else:
        yield from _by_the_scheme(pair)


def _by_the_scheme(pair: Pair) -> Iterator[str]:
    seats = pair.seats.exclude(state=Seat.State.ASIDE).exclude(state=Seat.State.WITHDRAWN)
    done = seats.filter(state=Seat.State.DONE).order_by("judged_at", "ordinal")
    grades = [
        grade for grade in done.values_list("judgment__grade", flat=True) if grade is not None
    ]
    reason = _clause(_reason(pair, grades))
    if pair.state == Pair.State.CLOSED:
        yield f"Closed: {reason}"
        return
    held = seats.filter(state=Seat.State.OPEN, leased_until__gt=Now()).select_related("judge")
    holders = [name(seat.judge) for seat in held if seat.judge]
    free = seats.filter(state=Seat.State.OPEN).count() - len(holders)
    yield from (f"{holder} has it now." for holder in holders)
    if free:
        yield f"Next: {_next(len(grades) + len(holders), free)}, because {reason}"
        yield from _waiting_for(pair)
    elif not holders:
        yield "It gets its first judge when the campaign opens."


def _reason(pair: Pair, grades: list[int]) -> str:
    scheme = pair.campaign.scheme
    if isinstance(scheme, Paying):
        return explain_paying.reason(pair, scheme, grades)
    return scheme.because(grades)


def _next(before: int, free: int) -> str:
    if free == 1:
        return f"a {_ordinal(before + 1)} judge"
    return _more(free, "more" if before else "")


def _waiting_for(pair: Pair) -> Iterator[str]:
    """Why nobody may come although somebody is wanted."""
    campaign = pair.campaign
    ledger = getattr(campaign, "ledger", None)
    if campaign.state != campaign.State.OPEN:
        yield f"It waits: the campaign is {campaign.state}."
    elif campaign.budget is not None and ledger and ledger.spent >= campaign.budget:
        yield "It waits: the budget of the campaign is used up."
    elif not _could_come(pair):
        yield "It waits: everybody who may judge has judged or refused it. Add a judge."


def _could_come(pair: Pair) -> bool:
    campaign = pair.campaign
    finished = Seat.objects.filter(
        pair=pair, judge=OuterRef("user"), state__in=[Seat.State.DONE, Seat.State.ASIDE]
    )
    refused = Refusal.objects.filter(pair=pair, judge=OuterRef("user"))
    standing = Standing.objects.filter(campaign=campaign, judge=OuterRef("user"))
    judges = campaign.memberships.filter(
        ~Exists(finished),
        ~Exists(refused),
        ~Exists(standing.filter(excluded_at__isnull=False)),
        role=Membership.Role.JUDGE,
        user__is_active=True,
    )
    if campaign.qualification_size:
        judges = judges.filter(Exists(standing.filter(qualified=True)))
    return judges.exists()


# -- Words ----------------------------------------------------------------------------------------


def _word(judgment: Judgment | None) -> str:
    return Grade(judgment.grade).word if judgment and judgment.grade is not None else "nothing"


def _ordinal(number: int) -> str:
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else ENDINGS.get(number % 10, 'th')}"


def _number(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _more(number: int, than: str) -> str:
    """``two more judges``, ``one fewer judge``, ``three judges``."""
    noun = "judge" if number == 1 else "judges"
    return " ".join(filter(None, (_number(number), than, noun)))


def _clause(sentence: str) -> str:
    """The sentence as it stands behind a colon."""
    return sentence[:1].lower() + sentence[1:]
