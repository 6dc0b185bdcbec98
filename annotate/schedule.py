"""What is wanted periodically, written as jobs. However many beats tick: one job a period."""

from datetime import UTC, datetime

from annotate import jobs, lab, training
from annotate.models import Campaign, Pair, TrainingRun
from ranking.schemes import Paying

State = TrainingRun.State


def plan() -> None:
    """Look at every campaign that is under way."""
    training.settle()
    lab.settle()
    for campaign in Campaign.objects.exclude(state=Campaign.State.DRAFT):
        if Pair.objects.filter(campaign=campaign, stale=True).exists():
            jobs.enqueue("aggregate", campaign)
        if campaign.state != Campaign.State.CLOSED:
            _plan_relabelling(campaign)
            _plan_estimating(campaign)
            _plan_training(campaign)


def _plan_relabelling(campaign: Campaign) -> None:
    """Once a day all labels are held against all judgments, whatever was missed before."""
    if campaign.snapshots.exists():
        jobs.enqueue("relabel", campaign, period=_period(24))


def _plan_estimating(campaign: Campaign) -> None:
    """Once an hour: there may be new judges for pairs that nobody was left for."""
    if campaign.scheme_name == Paying.name and campaign.snapshots.exists():
        jobs.enqueue("estimate", campaign, period=_period(1))


def _plan_training(campaign: Campaign) -> None:
    snapshot = campaign.snapshots.first()
    judged = snapshot.judgments if snapshot else 0
    last = TrainingRun.objects.filter(campaign=campaign).first()
    new = judged - (last.judgments if last else 0)
    if new <= 0 or (last and last.state in (State.WAITING, State.RUNNING)):
        return
    by_count = campaign.retrain_judgments
    if by_count and new >= by_count:
        jobs.enqueue("train", campaign, period=f"{campaign.retrain_judgments}×{judged // by_count}")
    elif campaign.retrain_hours:
        jobs.enqueue("train", campaign, period=_period(campaign.retrain_hours))


def _period(hours: int) -> str:
    """The name of the stretch of ``hours`` we are in; the same on every machine."""
    number = int(datetime.now(UTC).timestamp()) // (hours * 3600)
    return f"{hours}h-{number}"
