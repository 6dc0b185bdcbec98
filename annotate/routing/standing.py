"""A judge's standing in a campaign, and the campaign's ledger: the two locks that come first."""

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotate.models import Campaign, Ledger, Membership, Seat, Standing, User
from annotate.routing.errors import RoutingError


def locked_standing(campaign: Campaign, judge: User) -> Standing:
    """Her standing, locked; made when she comes for the first time."""
    mine = Standing.objects.select_for_update().filter(campaign=campaign, judge=judge)
    standing = mine.first()
    if standing is None:
        _require_membership(campaign, judge)
        Standing.objects.get_or_create(campaign=campaign, judge=judge)
        standing = mine.get()
    standing.campaign = campaign
    return standing


def require_welcome(standing: Standing, judge: User) -> None:
    """A judge who was taken off or excluded gets no more pairs."""
    _require_membership(standing.campaign_id, judge)
    if standing.excluded_at is not None:
        raise RoutingError("You are no longer asked in this campaign. Please ask its manager.")


def _require_membership(campaign: Campaign | int, judge: User) -> None:
    role = Membership.Role.JUDGE
    if not Membership.objects.filter(campaign=campaign, user=judge, role=role).exists():
        raise RoutingError("You are not a judge of this campaign.")


# -- Budget ---------------------------------------------------------------------------------------


def budget_left(campaign: Campaign) -> bool:
    """Whether one more seat may be leased: judgments made and seats held stay within the budget.

    Locks the ledger, so that of many claims at once none goes beyond.
    """
    if campaign.budget is None:
        return True
    return locked_ledger(campaign).spent + _leased(campaign).count() < campaign.budget


def spend(ledger: Ledger, campaign: Campaign, seat: Seat) -> None:
    """One judgment more. A seat whose lease ran out counts only if there is still room for it."""
    if campaign.budget is not None:
        others = _leased(campaign).exclude(pk=seat.pk).count()
        if ledger.spent + others >= campaign.budget:
            raise RoutingError("The budget of this campaign is used up.")
    Ledger.objects.filter(pk=ledger.pk).update(spent=F("spent") + 1)


def refund(ledger: Ledger) -> None:
    """A judge took her judgment back: it can be made again."""
    Ledger.objects.filter(pk=ledger.pk).update(spent=F("spent") - 1)


def kept_ledger(campaign: Campaign) -> Ledger | None:
    """The ledger, locked, where there is one to keep: it is kept on when a budget is lifted."""
    if campaign.budget is None and getattr(campaign, "ledger", None) is None:
        return None
    return locked_ledger(campaign)


def locked_ledger(campaign: Campaign) -> Ledger:
    """The ledger; one that is new begins with what was spent before there was a budget."""
    mine = Ledger.objects.select_for_update().filter(campaign=campaign)
    ledger = mine.first()
    if ledger is None:
        defaults = {"spent": _made(campaign)}
        Ledger.objects.get_or_create(campaign=campaign, defaults=defaults)
        ledger = mine.get()
    return ledger


def recount(campaign: Campaign) -> None:
    """Reckon anew what was spent: judgments were under way when the first budget was set."""
    with transaction.atomic():
        ledger = Ledger.objects.select_for_update().filter(campaign=campaign).first()
        if ledger is not None:
            Ledger.objects.filter(pk=ledger.pk).update(spent=_made(campaign))


def _made(campaign: Campaign) -> int:
    judged = [Seat.State.DONE, Seat.State.ASIDE]
    return Seat.objects.filter(campaign=campaign, state__in=judged).count()


def _leased(campaign: Campaign) -> QuerySet[Seat]:
    return Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN, leased_until__gt=Now())
