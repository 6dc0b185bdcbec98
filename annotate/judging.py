"""What a judge may see: the pair before her, her own progress, what waits for her.

Everything a judge is ever sent of a pair is built here, field by field: no rank, no truth, no
feature, no score and no other judge's grade can slip in.
"""

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.access import judged_campaigns
from annotate.addresses import Address, address
from annotate.handles import handle
from annotate.highlight import Segment, segments
from annotate.models import Campaign, Judgment, Pair, Refusal, Seat, Standing, User
from annotate.prepared import Prepared

#: How many judgments a session should have. A goal to see the end of, not a duty.
SESSION_GOAL = 50

#: Of how many of her latest judgments the pace is told.
PACE = 20

#: How much of a stored text the page shows.
TEXT_SHOWN = 20_000

#: How many of her latest judgments a judge sees; the router lets her change as many.
RECENT = 20

#: More waiting pairs than this are just many.
MANY = 500

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


# -- The pair -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShownPair:
    """A pair as its judge sees it."""

    seat: int
    token: str
    query: str
    intent: str
    locale: str
    lang: str
    title: str
    address: Address
    snippet: list[Segment]
    text: list[Segment]
    words: int
    cut: bool
    before: int | None

    def as_json(self) -> dict[str, Any]:
        return self.__dict__ | {"address": self.address._asdict()}


def shown(seat: Seat) -> ShownPair:
    """What the holder of this seat sees."""
    query, document = seat.pair.query, seat.pair.document
    return ShownPair(
        seat=handle(seat.pk),
        token=str(seat.token),
        query=query.text,
        intent=query.intent,
        locale=query.locale,
        lang=_language(query.locale),
        title=document.title or document.url or document.key,
        address=address(document.url),
        snippet=segments(document.snippet, query.text),
        text=segments(document.text[:TEXT_SHOWN], query.text),
        words=len(document.text.split()),
        cut=len(document.text) > TEXT_SHOWN,
        before=_grade_before(seat),
    )


def _language(locale: str) -> str:
    return locale.replace("_", "-") if _LANGUAGE.fullmatch(locale) else ""


def _grade_before(seat: Seat) -> int | None:
    """The grade she herself gave before she took it back."""
    if seat.judged_at is None:
        return None
    hers = Judgment.objects.filter(seat=seat, judge=seat.judge_id, grade__isnull=False)
    return hers.order_by("-pk").values_list("grade", flat=True).first()


# -- Progress -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """How far this judge is today."""

    done: int
    goal: int
    seconds: int | None

    @property
    def shown(self) -> int:
        """The bar is full at the goal."""
        return min(self.done, self.goal)

    def as_json(self) -> dict[str, Any]:
        return self.__dict__ | {"shown": self.shown}


def progress(campaign: Campaign, judge: User) -> Progress:
    latest = _LATEST.rows(campaign.pk, judge.pk, _midnight())
    done = latest[0][1] if latest else 0
    timed = [milliseconds for milliseconds, _ in latest if milliseconds is not None]
    seconds = round(sum(timed) / len(timed) / 1000) if timed else None
    return Progress(done, SESSION_GOAL, seconds)


def _judged(campaign: Campaign | int, judge: User | int) -> QuerySet[Seat]:
    return Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.DONE)


def _since(campaign: int, judge: int, since: datetime) -> QuerySet[Seat]:
    return _judged(campaign, judge).filter(judged_at__gte=since)


def _counted(campaign: int, judge: int, since: datetime) -> Subquery:
    """Counted in the index alone: the rows themselves are not read."""
    today = _since(campaign, judge, since).order_by().values("campaign")
    return Subquery(today.annotate(done=Count("*")).values("done"))


# The pace is that of her latest judgments: to read a whole day would take longer every time.
_LATEST = Prepared(
    lambda campaign, judge, since: (
        _since(campaign, judge, since)
        .order_by("-judged_at")
        .values_list("judgment__active_ms", _counted(campaign, judge, since))[:PACE]
    ),
    int,
    int,
    datetime,
)


def _midnight() -> datetime:
    return timezone.make_aware(datetime.combine(timezone.localdate(), time.min))


def latest(campaign: Campaign, judge: User) -> Judgment | None:
    """Her last judgment that still stands: what undo takes back."""
    seat = _judged(campaign, judge).select_related("judgment").order_by("-judged_at", "-pk").first()
    return seat.judgment if seat else None


# -- Her campaigns --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Desk:
    """A campaign on the judge's home page."""

    campaign: Campaign
    today: int
    judged: int
    waiting: int
    examined: bool


def desks(judge: User) -> list[Desk]:
    """Her campaigns with her own count and what waits, those that need her first."""
    campaigns = judged_campaigns(judge).exclude(state=Campaign.State.DRAFT)
    found = [_desk(campaign, judge) for campaign in campaigns]
    order: list[str] = [Campaign.State.OPEN, Campaign.State.PAUSED, Campaign.State.CLOSED]
    return sorted(found, key=lambda desk: (order.index(desk.campaign.state), -desk.waiting))


def _desk(campaign: Campaign, judge: User) -> Desk:
    counts = _judged(campaign, judge).aggregate(
        judged=Count("pk"), today=Count("pk", filter=Q(judged_at__gte=_midnight()))
    )
    examined = Standing.objects.filter(
        campaign=campaign, judge=judge, qualified__isnull=False, examined_at__isnull=False
    )
    return Desk(
        campaign=campaign,
        today=counts["today"],
        judged=counts["judged"],
        waiting=waiting(campaign, judge),
        examined=bool(campaign.qualification_size) and examined.exists(),
    )


def waiting(campaign: Campaign, judge: User) -> int:
    """Pairs this judge could be asked for now or later: open, neither judged nor refused by her.

    Counted up to one more than a page would tell: nobody needs the exact number of thousands.
    """
    if campaign.state != Campaign.State.OPEN:
        return 0
    seen = Q(
        pair__in=Seat.objects.filter(campaign=campaign, judge=judge, state="done").values("pair")
    )
    refused = Q(pair__in=Refusal.objects.filter(judge=judge).values("pair"))
    open_seats = Seat.objects.filter(
        campaign=campaign, state=Seat.State.OPEN, pair__state=Pair.State.OPEN
    )
    return open_seats.exclude(seen | refused).values("pair").distinct()[: MANY + 1].count()


# -- Nothing to judge -----------------------------------------------------------------------------


class Idle(NamedTuple):
    """Why there is no pair, and what is next."""

    title: str
    text: str
    look_again: bool


def idle(campaign: Campaign, judge: User, reason: str) -> Idle:
    """``reason`` is what the router says of an open campaign."""
    if campaign.state == Campaign.State.DRAFT:
        return Idle(_("Not open yet."), _("Your manager is still preparing this campaign."), True)
    if campaign.state == Campaign.State.PAUSED:
        return Idle(
            _("Paused."),
            _("Your judgments are kept. Judging goes on when it is opened again."),
            True,
        )
    if campaign.state == Campaign.State.CLOSED:
        return Idle(_("Finished."), _("This campaign is closed. Thank you for your work."), False)
    if waiting(campaign, judge):
        return Idle(_("Nothing for you right now."), reason, True)
    return Idle(_("All done for now."), reason, True)


# -- What she did lately --------------------------------------------------------------------------


class Recent(NamedTuple):
    """One of her latest judgments."""

    judgment: int
    query: str
    lang: str
    title: str
    address: Address
    grade: int | None
    comment: str


def recent(campaign: Campaign, judge: User) -> list[Recent]:
    """What she may still change, latest first."""
    seats = _judged(campaign, judge).select_related("judgment", "pair__query", "pair__document")
    latest = seats.order_by("-judged_at", "-pk")[:RECENT]
    return [_recent(seat, seat.judgment) for seat in latest if seat.judgment]


def _recent(seat: Seat, judgment: Judgment) -> Recent:
    query, document = seat.pair.query, seat.pair.document
    return Recent(
        judgment=judgment.pk,
        query=query.text,
        lang=_language(query.locale),
        title=document.title or document.url or document.key,
        address=address(document.url),
        grade=judgment.grade,
        comment=judgment.comment,
    )
