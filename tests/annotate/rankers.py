"""Labelled campaigns and workers for the tests of rankers."""

from pathlib import Path

import numpy as np
import pytest

from annotate import imports, jobs, tasks
from annotate.formats import Row
from annotate.models import Campaign, Job, Label, Membership, Pair, TrainingRun, User
from annotate.training import fitting
from ranking import fit, score


def letor(manager: User, slug: str = "letor", queries: int = 24) -> Campaign:
    """Queries of 8 documents; feature 1 tells the grade, feature 2 nothing."""
    campaign = Campaign.objects.create(slug=slug, name="Letor", created_by=manager, state="open")
    Membership.objects.create(campaign=campaign, user=manager, role=Membership.Role.MANAGER)
    rng = np.random.default_rng(7)
    rows: list[Row] = []
    for q in range(queries):
        for d in range(8):
            grade = int(rng.integers(0, 5))
            features = (grade + float(rng.normal(0, 0.3)), float(rng.normal()))
            rows.append(
                Row(
                    line=len(rows) + 1,
                    query_key=f"q{q}",
                    query=f"q{q}",
                    document_key=f"d{q}-{d}",
                    truth=grade,
                    features=features,
                )
            )
    imports.load_rows(campaign, rows)
    label_by_truth(campaign)
    return campaign


def label_by_truth(campaign: Campaign) -> None:
    Label.objects.bulk_create(
        Label(pair=pair, grade=pair.truth or 0, score=pair.truth or 0, judgments=1, method="first")
        for pair in Pair.objects.filter(campaign=campaign)
    )


@pytest.fixture
def fits_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit in the process of the test, where the process itself is not what is tested."""

    def run(command: list[str], folder: Path, keep: fitting.Keep) -> None:
        keep(0.5)
        (fit if command[:3] == fitting.FIT else score).run(folder)

    monkeypatch.setattr(fitting, "_run", run)


def drain(most: int = 100) -> None:
    """A worker that does what is due, at most so many jobs."""
    for _ in range(most):
        job = Job.objects.filter(state=Job.State.DUE).order_by("pk").first()
        if job is None:
            return
        tasks.run(job.pk)


def train(campaign: Campaign) -> TrainingRun:
    job = jobs.enqueue("train", campaign)
    assert job is not None
    drain()
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    return TrainingRun.objects.get(job=job)
