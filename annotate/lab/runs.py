"""Replays as rows: asked for, under way, stopped, gone on with. What their jobs do: ``steps``."""

from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Now

from annotate import jobs
from annotate.lab.errors import LabError
from annotate.models import Campaign, Job, LabRun, User
from ranking.aggregation import AGGREGATORS
from ranking.experiments.replay import parse_router
from ranking.rankers import RANKERS

State = LabRun.State
UNDER_WAY = (State.WAITING, State.RUNNING)
MOST_ROUTERS = 12
MOST_AGGREGATORS = 4
MOST_DRAWS = 100
#: Every scheme, aggregator, draw and fold is one ranker to fit.
MOST_FITS = 600
FOLDS = 5

Recipe = dict[str, Any]


def recipe(
    routers: list[str],
    aggregators: list[str],
    *,
    draws: int = 20,
    seed: int = 1,
    ranker: str = "",
    shuffle: bool = True,
) -> Recipe:
    """What is compared, checked. Raises LabError."""
    labels = list(dict.fromkeys(_label(router) for router in routers))
    if not 1 <= len(labels) <= MOST_ROUTERS:
        raise LabError(f"Choose between 1 and {MOST_ROUTERS} schemes. There are {len(labels)}.")
    if not 1 <= len(aggregators) <= MOST_AGGREGATORS or set(aggregators) - set(AGGREGATORS):
        raise LabError(f"Choose between 1 and {MOST_AGGREGATORS} ways to make labels.")
    if not 1 <= draws <= MOST_DRAWS:
        raise LabError(f"draws must be between 1 and {MOST_DRAWS}. Got {draws} instead.")
    if ranker and ranker not in RANKERS:
        raise LabError(f"A ranker must be one of {', '.join(RANKERS)}. Got {ranker} instead.")
    fits = len(labels) * len(aggregators) * draws * FOLDS
    if ranker and fits > MOST_FITS:
        raise LabError(
            f"With a ranker that is {fits:,} rankers to fit, and {MOST_FITS} are allowed. "
            "Choose fewer schemes or draws."
        )
    return {
        "routers": labels,
        "aggregators": list(aggregators),
        # In the order they were made there is nothing to draw.
        "draws": draws if shuffle else 1,
        "seed": seed,
        "ranker": ranker,
        "shuffle": shuffle,
    }


def _label(text: str) -> str:
    try:
        return parse_router(text.strip()).label
    except ValueError as error:
        raise LabError(str(error)) from None


def request(campaign: Campaign, made_by: Recipe) -> LabRun:
    """Ask for a replay. Raises LabError if one is under way already."""
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        known = campaign.lab_runs.filter(state__in=UNDER_WAY).first()
        if known is not None:
            raise LabError(f"Replay {known.number} is {known.state} already.")
        last = campaign.lab_runs.aggregate(last=Max("number"))["last"] or 0
        run = LabRun.objects.create(campaign=campaign, number=last + 1, recipe=made_by)
        jobs.enqueue("lab", campaign, key=f"lab-{run.pk}-start")
    return run


def cancel(run: LabRun, manager: User) -> None:
    """Stop a replay. The draws that are done stay, so that it can go on later."""
    with transaction.atomic():
        _end_jobs(run)
        stop(run, State.CANCELLED, f"Cancelled by {manager}.")


def resume(run: LabRun) -> None:
    """Go on where a replay was stopped: only what is missing is done."""
    with transaction.atomic():
        locked = LabRun.objects.select_for_update().defer("frozen").get(pk=run.pk)
        if locked.state not in (State.CANCELLED, State.FAILED):
            raise LabError(f"Replay {run.number} is {locked.state}, so it cannot go on.")
        if run.campaign.lab_runs.filter(state__in=UNDER_WAY).exists():
            raise LabError("Another replay is under way.")
        LabRun.objects.filter(pk=run.pk).update(state=State.WAITING, message="", finished_at=None)
        jobs.enqueue("lab", run.campaign, key=f"lab-{run.pk}-start")


def jobs_of(run: LabRun) -> QuerySet[Job]:
    """Every job that works or worked on a replay."""
    return Job.objects.filter(key__startswith=f"lab-{run.pk}-")


def progress(run: LabRun) -> float:
    """The draws that are done, and how far those at work are."""
    at_work = jobs_of(run).filter(kind="lab-draw", state=Job.State.RUNNING)
    parts = sum(at_work.values_list("progress", flat=True))
    return float(min((run.cells.count() + parts) / run.recipe["draws"], 1.0))


def settle() -> None:
    """Replays whose work was cancelled or parked have ended too."""
    for run in LabRun.objects.filter(state__in=UNDER_WAY).defer("frozen"):
        alive = jobs_of(run).filter(state__in=[Job.State.DUE, Job.State.RUNNING])
        parked = jobs_of(run).filter(state=Job.State.FAILED).order_by("-pk").first()
        # What was cancelled before it went on is parked for good, and does not matter.
        if parked is not None and not alive.exists():
            stop(run, State.FAILED, parked.message)


def stop(run: LabRun, state: State, message: str) -> None:
    """End a replay that will not be finished now, and what else works on it."""
    ended = LabRun.objects.filter(pk=run.pk, state__in=UNDER_WAY).update(
        state=state, message=message, finished_at=Now()
    )
    if ended:
        _end_jobs(run)


def _end_jobs(run: LabRun) -> None:
    for job in jobs_of(run).filter(state__in=[Job.State.DUE, Job.State.RUNNING]):
        jobs.cancel(job)
