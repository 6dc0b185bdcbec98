"""What the jobs of a replay do: begin, one draw, finish. Each survives its worker.

``lab`` freezes the judgments and writes one job per draw that is missing. Any number of workers
share the draws; the last one that ends writes ``lab-finish``. Nobody waits.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from django.db import transaction
from django.db.models.functions import Now
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from annotate import jobs
from annotate.lab import runs, sets
from annotate.lab.drawing import drawn
from annotate.lab.errors import LabError
from annotate.lab.results import compare
from annotate.lab.sets import Frozen
from annotate.models import Job, LabCell, LabRun
from annotate.training import TrainingError
from ranking.experiments.cells import Arrays

State = LabRun.State


def begin(job: Job) -> None:
    """Freeze the judgments, unless they are, and write a job for every draw that is missing."""
    run = _of(job)
    with _ending(job, run):
        if run.frozen is None:
            frozen, truth = sets.freeze(job.campaign)
            LabRun.objects.filter(pk=run.pk, frozen=None).update(
                frozen=frozen.to_bytes(),
                snapshot=frozen.digest,
                pairs=len(frozen.ids),
                judgments=len(frozen.pair),
                truth=truth,
            )
        with transaction.atomic():
            jobs.finish(job, f"{run.recipe['draws']} draws are on their way.")
            LabRun.objects.filter(pk=run.pk, state=State.WAITING).update(state=State.RUNNING)
            done = set(run.cells.values_list("draw", flat=True))
            missing = [n for n in range(run.recipe["draws"]) if n not in done]
            for number in missing:
                jobs.enqueue("lab-draw", run.campaign, key=f"lab-{run.pk}-draw-{number}")
            if not missing:
                jobs.enqueue("lab-finish", run.campaign, key=f"lab-{run.pk}-finish")


def draw(job: Job) -> None:
    """Deal one order of the judgments to everything that is compared; the last one has it ended."""
    run, number = _of(job), int(job.key.rpartition("-")[2])
    with _ending(job, run):
        if run.state != State.RUNNING:
            jobs.finish(job, f"Replay {run.number} has ended.")
            return
        frozen = Frozen.from_bytes(bytes(run.frozen or b""))
        words = f"Draw {number + 1} of {run.recipe['draws']}"
        # One thread each: sums in another order are other results, and others use the machine.
        with threadpool_limits(limits=1, user_api="blas"):
            found = drawn(run, frozen, number, lambda share: jobs.keep(job, share, words))
        with transaction.atomic():
            # The lock: of two draws that end at once, the second sees the first.
            LabRun.objects.select_for_update().defer("frozen").get(pk=run.pk)
            LabCell.objects.update_or_create(
                run=run, draw=number, defaults={"content": _bytes(found)}
            )
            jobs.finish(job, f"{words}.")
            if run.cells.count() == run.recipe["draws"]:
                jobs.enqueue("lab-finish", run.campaign, key=f"lab-{run.pk}-finish")


def finish(job: Job) -> None:
    """All draws are there: compare, and let go of what is no longer needed."""
    run = _of(job)
    with _ending(job, run):
        cells = [_arrays(bytes(cell.content)) for cell in run.cells.order_by("draw")]
        result = compare(run.recipe, cells)
        with transaction.atomic():
            jobs.finish(job, f"{len(result['rows'])} rows.")
            LabRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
                state=State.DONE, result=result, message="", finished_at=Now(), frozen=None
            )
            run.cells.all().delete()


#: What each kind of job does for a replay.
STEPS = {"lab": begin, "lab-draw": draw, "lab-finish": finish}


def work(run: LabRun) -> None:
    """Do the jobs of a replay here and now; workers that live may take some of them."""
    while due := runs.jobs_of(run).filter(state=Job.State.DUE).order_by("pk").first():
        job = jobs.take(due.pk)
        if job is not None:
            STEPS[job.kind](job)


@contextmanager
def _ending(job: Job, run: LabRun) -> Iterator[None]:
    """What cannot be replayed is a replay that failed, with the reason."""
    try:
        yield
    except (LabError, TrainingError) as error:
        with transaction.atomic():
            jobs.finish(job, str(error))
            runs.stop(run, State.FAILED, str(error))


def _of(job: Job) -> LabRun:
    return LabRun.objects.select_related("campaign").get(pk=int(job.key.split("-")[1]))


def _bytes(arrays: Arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _arrays(content: bytes) -> Arrays:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
