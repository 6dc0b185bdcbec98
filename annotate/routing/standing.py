"""A judge's standing in a campaign, and the campaign's ledger: the two locks that come first."""

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import Campaign, Ledger, Membership, Seat, Standing, User
from annotate.prepared import Prepared, as_object, columns
from annotate.routing.errors import RoutingError

NO_JUDGE = gettext_lazy("You are not a judge of this campaign.")


def locked_standing(campaign: Campaign, judge: User) -> Standing:
    """Her standing, locked; made when she comes for the first time."""
    return _locked(campaign, judge)[0]


def welcome_standing(campaign: Campaign, judge: User) -> Standing:
    """The same, of a judge who may go on: one who was taken off or excluded is told so."""
    standing, member = _locked(campaign, judge)
    _require(member, standing)
    return standing


def require_welcome(standing: Standing, judge: User) -> None:
    """A judge who was taken off or excluded gets no more pairs."""
    _require(_membership(standing.campaign_id, judge.pk).exists(), standing)


def _require(member: bool, standing: Standing) -> None:
    if not member:
        raise RoutingError(NO_JUDGE)
    if standing.excluded_at is not None:
        raise RoutingError(_("You are no longer asked in this campaign. Please ask its manager."))


def _locked(campaign: Campaign, judge: User) -> tuple[Standing, bool]:
    """Her standing, and whether she is a judge of the campaign now."""
    row = _STANDING.first(campaign.pk, judge.pk)
    if row is None:
        if not _membership(campaign.pk, judge.pk).exists():
            raise RoutingError(NO_JUDGE)
        Standing.objects.get_or_create(campaign=campaign, judge=judge)
        row = _STANDING.rows(campaign.pk, judge.pk)[0]
    standing = as_object(Standing, row[:-1])
    standing.campaign = campaign
    return standing, bool(row[-1])


def _membership(campaign: int, judge: int) -> QuerySet[Membership]:
    return Membership.objects.filter(campaign=campaign, user=judge, role=Membership.Role.JUDGE)


_STANDING = Prepared(
    lambda campaign, judge: (
        Standing.objects.select_for_update()
        .filter(campaign=campaign, judge=judge)
        .values_list(*columns(Standing), Exists(_membership(campaign, judge)))
    ),
    int,
    int,
)


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
            raise RoutingError(_("The budget of this campaign is used up."))
    Ledger.objects.filter(pk=ledger.pk).update(spent=F("spent") + 1)


def refund(ledger: Ledger) -> None:
    """A judge took her judgment back: it can be made again."""
    Ledger.objects.filter(pk=ledger.pk).update(spent=F("spent") - 1)


def kept_ledger(campaign: Campaign) -> Ledger | None:
    """The ledger, locked, where there is a budget. A new one has it counted anew."""
    return None if campaign.budget is None else locked_ledger(campaign)


def locked_ledger(campaign: Campaign) -> Ledger:
    """The ledger; one that is new begins with what was spent before there was a budget."""
    row = _LEDGER.first(campaign.pk)
    if row is None:
        defaults = {"spent": _made(campaign)}
        Ledger.objects.get_or_create(campaign=campaign, defaults=defaults)
        row = _LEDGER.rows(campaign.pk)[0]
    return as_object(Ledger, row)


_LEDGER = Prepared(
    lambda campaign: (
        Ledger.objects.select_for_update().filter(campaign=campaign).values_list(*columns(Ledger))
    ),
    int,
)


def recount(campaign: Campaign) -> None:
    """Reckon anew what was spent: nobody counts as long as there is no budget."""
    with transaction.atomic():
        ledger = Ledger.objects.select_for_update().filter(campaign=campaign).first()
        if ledger is not None:
            Ledger.objects.filter(pk=ledger.pk).update(spent=_made(campaign))


def _made(campaign: Campaign) -> int:
    judged = [Seat.State.DONE, Seat.State.ASIDE]
    return Seat.objects.filter(campaign=campaign, state__in=judged).count()


def _leased(campaign: Campaign) -> QuerySet[Seat]:
    return Seat.objects.filter(campaign=campaign, state=Seat.State.OPEN, leased_until__gt=Now())


# -- Who may judge --------------------------------------------------------------------------------


def may_come(campaign: Campaign) -> set[int]:
    """The judges who may be asked: those who take part, are not excluded, and have qualified."""
    found = _MAY_COME[campaign.qualification_size > 0].rows(campaign.pk)
    return {judge for (judge,) in found}


def _judges(campaign: int, qualified: bool) -> QuerySet[Membership, tuple[int]]:
    standing = Standing.objects.filter(campaign=campaign, judge=OuterRef("user"))
    judges = Membership.objects.filter(
        ~Exists(standing.filter(excluded_at__isnull=False)),
        campaign=campaign,
        role=Membership.Role.JUDGE,
        user__is_active=True,
    )
    if qualified:
        judges = judges.filter(Exists(standing.filter(qualified=True)))
    return judges.values_list("user_id")


_MAY_COME = {
    needed: Prepared(lambda campaign, needed=needed: _judges(campaign, needed), int)
    for needed in (False, True)
}
