"""Which ranker of a campaign is in use: a new one takes over only if it is not worse."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotate import history, webhooks
from annotate.models import Campaign, TrainingRun, User
from annotate.training.errors import TrainingError

#: The depth that decides, as the studies report it.
DEPTH = "3"
#: Differences that only rounding makes do not count.
EPSILON = 1e-9


def current(campaign: Campaign) -> TrainingRun | None:
    """The champion."""
    return campaign.runs.filter(is_champion=True).first()


def previous(campaign: Campaign) -> TrainingRun | None:
    """Who was champion before the present one."""
    champion = current(campaign)
    if champion is None:
        return None
    before = campaign.runs.filter(promoted_at__lt=champion.promoted_at, is_champion=False)
    return before.order_by("-promoted_at", "-number").first()


def decide(run: TrainingRun, champion: TrainingRun | None, compared: dict[str, Any]) -> str:
    """Promote or refuse a run that is done, in the caller's transaction. Returns the sentence.

    ``compared`` is what evaluation.head_to_head gave; empty with the reason under ``reason`` where
    the champion could not be held against it.
    """
    wins, why = verdict(champion, compared, run.campaign.promotion_tolerance)
    if current(run.campaign) != champion:
        wins, why = False, "the champion was changed while it was trained."
    if wins:
        sentence = f"Run {run.number} is the champion now: {why}"
        _promote(run, sentence)
    else:
        sentence = f"Run {run.number} was not promoted: {why}"
    TrainingRun.objects.filter(pk=run.pk).update(decision=sentence)
    history.record(run.campaign, None, sentence)
    return sentence


def verdict(
    champion: TrainingRun | None, compared: dict[str, Any], tolerance: float
) -> tuple[bool, str]:
    """Whether a challenger takes over, and why."""
    if champion is None:
        return True, "it is the first."
    figures = compared.get("ndcg", {}).get(DEPTH)
    if not figures or figures["ranker"]["mean"] is None:
        reason = compared.get("reason", "no held-out query has a relevant document.")
        return True, f"run {champion.number} could not be held against it, because {reason}"
    ours, theirs = figures["ranker"]["mean"], figures["champion"]["mean"]
    said = (
        f"NDCG@3 {ours:.4f} against {theirs:.4f} of run {champion.number} on the same "
        f"{figures['ranker']['n']} held-out queries, where it may lose {tolerance:g}."
    )
    return ours >= theirs - tolerance - EPSILON, said


def promote(run: TrainingRun, manager: User) -> None:
    """A person says: use this one."""
    with transaction.atomic():
        _lock(run.campaign)
        run.refresh_from_db()
        if run.state != TrainingRun.State.DONE:
            raise TrainingError(f"Run {run.number} is {run.state}, so it cannot be the champion.")
        if run.is_champion:
            return
        sentence = f"Run {run.number} was made the champion by {manager}."
        _promote(run, sentence)
        _say(run, manager, sentence)


def roll_back(campaign: Campaign, manager: User) -> TrainingRun:
    """Back to the champion before. The one that goes is not gone back to later."""
    with transaction.atomic():
        _lock(campaign)
        champion, before = current(campaign), previous(campaign)
        if champion is None or before is None:
            raise TrainingError("There is no earlier champion to go back to.")
        TrainingRun.objects.filter(pk=champion.pk).update(is_champion=False, promoted_at=None)
        TrainingRun.objects.filter(pk=before.pk).update(is_champion=True)
        sentence = f"{manager} rolled back from run {champion.number} to run {before.number}."
        _say(champion, manager, sentence)
        TrainingRun.objects.filter(pk=before.pk).update(decision=sentence)
        webhooks.champion_changed(before, sentence)
    before.refresh_from_db()
    return before


def _promote(run: TrainingRun, why: str) -> None:
    """The old one first: at no moment are there two."""
    campaign = run.campaign
    campaign.runs.filter(is_champion=True).update(is_champion=False)
    TrainingRun.objects.filter(pk=run.pk).update(is_champion=True, promoted_at=Now())
    webhooks.champion_changed(run, why)


def _say(run: TrainingRun, manager: User, sentence: str) -> None:
    TrainingRun.objects.filter(pk=run.pk).update(decision=sentence)
    history.record(run.campaign, manager, sentence)


def _lock(campaign: Campaign) -> None:
    Campaign.objects.select_for_update().get(pk=campaign.pk)
