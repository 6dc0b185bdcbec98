"""What a manager decides about a judge in a campaign."""

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from annotate import history, jobs
from annotate.models import Campaign, Pair, Seat, Standing, User
from annotate.routing.judgments import set_aside
from annotate.routing.seats import give_back
from annotate.routing.settling import BATCH, settle

#: How the history says it; by these words the explanation of a pair finds when it was.
PUT_BACK = "judgments of {judge} were put back."


def exclude(campaign: Campaign, judge: User, manager: User) -> None:
    """She gets no more pairs, and what she holds ends now. What she judged stays."""
    with transaction.atomic():
        Standing.objects.get_or_create(campaign=campaign, judge=judge)
        _standing(campaign, judge).update(excluded_at=Now())
        held = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.OPEN)
        pairs = Pair.objects.select_for_update().filter(
            pk__in=list(held.values_list("pair", flat=True))
        )
        locked = list(pairs.order_by("pk"))
        give_back(list(held.values_list("pk", flat=True)), locked, campaign)
        history.record(campaign, manager, f"{judge} was excluded.")


def readmit(campaign: Campaign, judge: User, manager: User) -> None:
    """She gets pairs again."""
    with transaction.atomic():
        _standing(campaign, judge).update(excluded_at=None)
        history.record(campaign, manager, f"{judge} was readmitted.")


def set_qualified(campaign: Campaign, judge: User, manager: User, qualified: bool | None) -> None:
    """By the manager's word; None lets her try with the gold pairs she has not seen."""
    words = {True: "qualified", False: "not qualified", None: "to be tried again"}
    with transaction.atomic():
        Standing.objects.get_or_create(campaign=campaign, judge=judge)
        _standing(campaign, judge).update(qualified=qualified)
        history.record(campaign, manager, f"{judge} was said to be {words[qualified]}.")


def _standing(campaign: Campaign, judge: User) -> QuerySet[Standing]:
    return Standing.objects.filter(campaign=campaign, judge=judge)


def put_back(campaign: Campaign, judge: User, manager: User) -> int:
    """Leave her judgments out and ask others instead. Returns how many there were."""
    moved = 0
    while batch := _put_back_batch(campaign, judge):
        moved += batch
    with transaction.atomic():
        history.record(campaign, manager, f"{moved} {PUT_BACK.format(judge=judge)}")
        jobs.enqueue("aggregate", campaign)
    return moved


def _put_back_batch(campaign: Campaign, judge: User) -> int:
    with transaction.atomic():
        hers = Seat.objects.filter(campaign=campaign, judge=judge, state=Seat.State.DONE).order_by(
            "pair_id"
        )
        found = list(hers.values_list("pk", "pair_id")[:BATCH])
        pairs = Pair.objects.select_for_update().filter(pk__in=[pair for _, pair in found])
        locked = list(pairs.order_by("pk"))
        set_aside([seat for seat, _ in found])
        settle(locked, Campaign.objects.get(pk=campaign.pk).scheme)
    return len(found)
