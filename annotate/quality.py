"""How good the trained rankers are on queries they have not seen. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate.models import Campaign, TrainingRun

#: The depth the dashboard shows first, as the studies do.
MAIN_DEPTH = 3
RUNS = 50
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Mean:
    """A mean over queries with its 95 % interval, which a single query does not have."""

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Run:
    """One ranker against the first-stage order, at one depth."""

    number: int
    created_at: datetime
    judgments: int
    train_queries: int
    ranker: Mean
    first_stage: Mean
    p: float | None
    left_out: int
    ceiling: float | None = None
    ceiling_low: float | None = None
    ceiling_high: float | None = None
    is_champion: bool = False

    @property
    def gain(self) -> float:
        return self.ranker.mean - self.first_stage.mean

    @property
    def ranker_left(self) -> float | None:
        """How much a better ranker can still gain."""
        return None if self.ceiling is None else max(self.ceiling - self.ranker.mean, 0.0)

    @property
    def labels_left(self) -> float | None:
        """How much only better labels can give."""
        return None if self.ceiling is None else 1 - max(self.ceiling, self.ranker.mean)

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p < SIGNIFICANT


def runs(campaign: Campaign, depth: int = MAIN_DEPTH) -> list[Run]:
    """The latest runs that ended well, oldest first."""
    return at_depth(done(campaign), depth)


def done(campaign: Campaign) -> Iterable[TrainingRun]:
    """Their rows, newest first."""
    return campaign.runs.filter(state=TrainingRun.State.DONE).order_by("-number")[:RUNS]


def at_depth(rows: Iterable[TrainingRun], depth: int) -> list[Run]:
    """What they reached at one depth, oldest first."""
    found = [of(row, depth) for row in rows]
    return [run for run in reversed(found) if run is not None]


def last_run(campaign: Campaign) -> TrainingRun | None:
    """The latest run, however it ended."""
    return campaign.runs.first()


def champion(campaign: Campaign, found: list[Run]) -> Run | None:
    """The ranker in use; before there is one the latest."""
    row = campaign.runs.filter(is_champion=True).first()
    run = of(row) if row else None
    return run or (found[-1] if found else None)


def of(row: TrainingRun, depth: int = MAIN_DEPTH) -> Run | None:
    """One run at one depth, if it was measured there."""
    limit = _metrics(row).get("ceiling", {}).get(str(depth), {})
    figures = _metrics(row).get("ndcg", {}).get(str(depth))
    if not figures or figures["ranker"]["mean"] is None:
        return None
    return Run(
        number=row.number,
        created_at=row.created_at,
        judgments=row.judgments,
        train_queries=row.train_queries,
        ranker=Mean(**figures["ranker"]),
        first_stage=Mean(**figures["first_stage"]),
        p=figures["p"],
        left_out=_metrics(row).get("left_out", 0),
        ceiling=limit.get("value"),
        ceiling_low=limit.get("low"),
        ceiling_high=limit.get("high"),
        is_champion=row.is_champion,
    )


def _metrics(row: TrainingRun | None) -> dict[str, Any]:
    return row.metrics if row is not None else {}
