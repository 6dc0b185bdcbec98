"""A judge's turn: she hands in one judgment and gets what comes next, in one transaction."""

import uuid

from django.db import IntegrityError, transaction

from annotate.models import Campaign, Judgment, Seat, Standing, User
from annotate.routing.claiming import hold, try_to_fill_up
from annotate.routing.errors import RoutingError
from annotate.routing.judgments import Answer, made_before, save
from annotate.routing.standing import welcome_standing
from annotate.routing.worth import follow
from ranking.schemes import Paying


def submit_and_hold(
    campaign: Campaign, judge: User, held: tuple[int, uuid.UUID], answer: Answer
) -> tuple[Judgment, list[Seat]]:
    """Submit for the seat and token she holds; then the pair to judge now and the one after it.

    Whatever keeps her from getting another pair keeps no judgment from being saved.
    """
    seats: list[Seat] | None = None
    try:
        with transaction.atomic():
            standing = _standing(campaign, judge)
            judgment = save(campaign, judge, held, answer)
            if not _locks_more(campaign):
                seats = try_to_fill_up(standing, judge) if standing else []
    except (RoutingError, IntegrityError):
        known = made_before(judge, answer)
        if known is None:
            raise
        judgment = known
    follow(campaign, judgment.pair_id)
    return judgment, _hold(campaign, judge) if seats is None else seats


def _standing(campaign: Campaign, judge: User) -> Standing | None:
    """Locked first, as always; none if she is not to get more."""
    try:
        return welcome_standing(campaign, judge)
    except RoutingError:
        return None


def _locks_more(campaign: Campaign) -> bool:
    """To get a gold pair locks it, and if-it-pays looks at the whole query: nobody locks a second
    pair who holds one."""
    gold = campaign.gold_percent or campaign.qualification_size
    return bool(gold) or campaign.scheme_name == Paying.name


def _hold(campaign: Campaign, judge: User) -> list[Seat]:
    try:
        return hold(campaign, judge)
    except RoutingError:
        return []
