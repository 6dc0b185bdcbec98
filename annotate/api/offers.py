"""What a judge is offered: a seat with its pair as she may see it, or why there is none."""

from typing import Any

from annotate import judging, routing
from annotate.models import Campaign, Seat, User

Offer = dict[str, Any]


def offer(seat: Seat) -> Offer:
    """The pair comes from the module that decides what judges see, and from nowhere else."""
    shown = judging.shown(seat)
    pair = {
        "query": shown.query,
        "intent": shown.intent,
        "locale": shown.locale,
        "title": shown.title,
        "url": shown.address.href,
        "snippet": "".join(segment.text for segment in shown.snippet),
        "text": "".join(segment.text for segment in shown.text),
        "words": shown.words,
        "cut": shown.cut,
        "before": shown.before,
    }
    held = {"id": shown.seat, "token": seat.token, "leased_until": leased_until(seat.pk)}
    return {"seat": held, "pair": pair, "reason": None}


def leased_until(seat_id: int) -> Any:
    """By the clock of the database, which alone decides."""
    return Seat.objects.values_list("leased_until", flat=True).get(pk=seat_id)


def none(reason: str) -> Offer:
    return {"seat": None, "pair": None, "reason": reason}


def following(campaign: Campaign, judge: User) -> Offer:
    """What comes next, after a step that was taken: whatever is wrong now is only a reason."""
    try:
        seat = routing.claim(campaign, judge)
    except routing.RoutingError as error:  # she was excluded a moment ago
        return none(str(error))
    return offer(seat) if seat else none(routing.why_none(campaign, judge))
