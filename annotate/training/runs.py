"""Runs as rows: asked for, under way, stopped. What a run's jobs do is in ``steps``."""

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from annotate import jobs
from annotate.models import Campaign, Job, TrainingRun, User
from annotate.training import sets
from annotate.training.errors import TrainingError

State = TrainingRun.State
UNDER_WAY = (State.WAITING, State.RUNNING)


def request(campaign: Campaign, ranker: str = "") -> TrainingRun:
    """Ask for a run, now. Raises TrainingError if one is under way already."""
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        known = campaign.runs.filter(state__in=UNDER_WAY).first()
        if known is not None:
            raise TrainingError(f"Run {known.number} is {known.state} already.")
        sets.recipe(campaign, ranker or campaign.ranker)
        job = jobs.enqueue("train", campaign)
        if job is None:
            raise TrainingError("A training run is waiting for a worker already.")
        return _create(campaign, job, ranker or campaign.ranker, State.WAITING)


def cancel(run: TrainingRun, manager: User) -> None:
    """Stop a run. Its workers notice when they next keep their lease."""
    with transaction.atomic():
        for job in jobs_of(run).filter(state__in=[Job.State.DUE, Job.State.RUNNING]):
            jobs.cancel(job)
        stop(run, State.CANCELLED, f"Cancelled by {manager}.")


def jobs_of(run: TrainingRun) -> QuerySet[Job]:
    """Every job that works or worked on a run."""
    return Job.objects.filter(Q(pk=run.job_id) | Q(key__startswith=f"run-{run.pk}-"))


def progress(run: TrainingRun) -> float:
    """How much of a run's work is done: its folds and its last fit count alike."""
    steps = list(jobs_of(run).values_list("progress", flat=True))
    return min(sum(steps) / (run.folds + 2), 1.0) if run.folds else max(steps, default=0.0)


def settle() -> None:
    """Runs whose work was cancelled or parked have ended too."""
    for run in TrainingRun.objects.filter(state__in=UNDER_WAY):
        settle_one(run)


def settle_one(run: TrainingRun) -> None:
    dead = jobs_of(run).filter(state=Job.State.FAILED).first()
    if dead is not None:
        cancelled = dead.message == "Cancelled."
        stop(run, State.CANCELLED if cancelled else State.FAILED, dead.message)


def stop(run: TrainingRun, state: State, message: str) -> None:
    """End a run that will not be finished, and what else works on it."""
    ended = TrainingRun.objects.filter(pk=run.pk, state__in=UNDER_WAY).update(
        state=state, message=message, finished_at=Now()
    )
    if ended:
        for job in jobs_of(run).filter(state__in=[Job.State.DUE, Job.State.RUNNING]):
            jobs.cancel(job)


def begin(job: Job) -> TrainingRun:
    """One run per job: a second attempt goes on with the first one's row."""
    campaign = job.campaign
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        run = TrainingRun.objects.filter(job=job).first()
        if run is None:
            run = _create(campaign, job, campaign.ranker, State.RUNNING)
        TrainingRun.objects.filter(pk=run.pk).update(
            state=State.RUNNING, message="", finished_at=None
        )
        run.refresh_from_db()
    return run


def _create(campaign: Campaign, job: Job, ranker: str, state: State) -> TrainingRun:
    last = campaign.runs.aggregate(last=Max("number"))["last"] or 0
    snapshot = campaign.snapshots.first()
    return TrainingRun.objects.create(
        campaign=campaign,
        job=job,
        number=last + 1,
        state=state,
        ranker=ranker,
        judgments=snapshot.judgments if snapshot else 0,
    )
