"""Training: what a judge is told about the gold pairs by which she qualifies. Reads only.

Only pairs she judged before her qualification was decided are ever explained. Gold pairs that come
later, among the others, are told to nobody.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotate import wording
from annotate.models import Campaign, Judgment, Pair, Seat, Standing, User
from annotate.routing import gold


@dataclass(frozen=True)
class Training:
    """How far she is: gold pairs judged in this attempt, and how many decide."""

    made: int
    needed: int


@dataclass(frozen=True)
class Lesson:
    """The expected grade of a pair she has just judged, and why."""

    query: str
    title: str
    grade: int
    yours: str
    expected: int
    word: str
    note: str

    @property
    def right(self) -> bool:
        return self.grade == self.expected

    @property
    def sentence(self) -> str:
        if self.right:
            return _("Right: %(word)s is what was expected.") % {"word": self.word}
        said = {"yours": self.yours, "word": self.word}
        return _("You said %(yours)s; expected was %(word)s.") % said

    def as_json(self) -> dict[str, Any]:
        return self.__dict__ | {"right": self.right, "sentence": self.sentence}


@dataclass(frozen=True)
class Result:
    """How her qualification ended."""

    passed: bool
    right: int
    made: int
    percent: int
    lessons: list[Lesson]


def training(campaign: Campaign, judge: User) -> Training | None:
    """Where she is in training; None once it is decided, and where nobody has to qualify."""
    if not campaign.qualification_size:
        return None
    standing = _standing(campaign, judge)
    if standing.qualified is not None:
        return None
    made = gold.accuracy(standing, judge)[1]
    return Training(made, max(gold.needed(standing, judge), made))


def lesson(judgment: Judgment) -> Lesson | None:
    """What she learns from a judgment she made in training."""
    pair = judgment.pair
    if pair.state != Pair.State.GOLD or pair.gold is None or judgment.grade is None:
        return None
    return Lesson(
        query=pair.query.text,
        title=str(pair.document),
        grade=judgment.grade,
        yours=str(wording.GRADE_WORDS[judgment.grade]),
        expected=pair.gold,
        word=str(wording.GRADE_WORDS[pair.gold]),
        note=pair.gold_note,
    )


def result(campaign: Campaign, judge: User) -> Result | None:
    """What decided, with the lessons of it; None while nothing is decided."""
    standing = _standing(campaign, judge)
    if not campaign.qualification_size or standing.qualified is None or not standing.examined_at:
        return None
    return Result(
        passed=standing.qualified,
        right=standing.right,
        made=standing.made,
        percent=campaign.qualification_percent,
        lessons=_lessons(campaign, judge, standing.examined_at),
    )


def _lessons(campaign: Campaign, judge: User, until: datetime) -> list[Lesson]:
    seats = Seat.objects.filter(
        campaign=campaign,
        judge=judge,
        state=Seat.State.DONE,
        pair__state=Pair.State.GOLD,
        judged_at__lte=until,
    ).select_related("judgment__pair__query", "judgment__pair__document")
    found = (seat.judgment and lesson(seat.judgment) for seat in seats.order_by("judged_at"))
    return [told for told in found if told]


def _standing(campaign: Campaign, judge: User) -> Standing:
    """Hers, or that of somebody who has not begun."""
    known = Standing.objects.filter(campaign=campaign, judge=judge).first()
    standing = known or Standing(campaign=campaign, judge=judge)
    standing.campaign = campaign
    return standing
