"""What the page *Ranker* shows: every run, what is left, what matters, who gained. Reads only."""

from collections.abc import Sequence
from typing import Any

from annotate import quality, rankers
from annotate.figures import Column, Figure, Row
from annotate.models import Campaign, Query, TrainingRun

#: The depths that are drawn, the main one first.
DEPTHS = (quality.MAIN_DEPTH, 1, 5, 10)
NO_RUN = "No ranker is trained yet. Train the first one as soon as a few queries have labels."
CEILING = "The ceiling is what these judges’ disagreement allows any ranker."


def figures(campaign: Campaign, run: TrainingRun | None = None) -> list[Figure]:
    """Every figure of the page. Without a run those of the champion."""
    run = run or rankers.chosen(campaign, "")
    done = list(quality.done(campaign))
    return [
        *(by_run(f"ndcg_{depth}", quality.at_depth(done, depth), depth) for depth in DEPTHS),
        left(run),
        importance(run),
        queries(run),
    ]


# -- Every run ------------------------------------------------------------------------------------


def by_run(name: str, runs: Sequence[quality.Run], depth: int, empty: str = NO_RUN) -> Figure:
    """NDCG at one depth of every run that ended well, oldest first."""
    n = f"; n = {runs[-1].ranker.n:,} queries in the latest" if runs else ""
    return Figure(
        name,
        f"NDCG@{depth} of every run",
        f"Each run on queries it has not seen, with its 95 % interval{n}. {CEILING}",
        [
            Column("run", "Run", "whole"),
            Column("at", "When", "when"),
            Column("judgments", "Judgments", "whole"),
            Column("mean", f"NDCG@{depth}", "figure3"),
            Column("low:high", "95 % interval", "interval"),
            Column("first_stage", "First stage", "figure3"),
            Column("ceiling", "Ceiling", "figure3"),
            Column("ceiling_low:ceiling_high", "Its 95 % interval", "interval"),
            Column("p", "p against first stage", "p"),
            Column("n", "Queries", "whole"),
            Column("champion", ""),
        ],
        [_row(run) for run in runs],
        empty,
    )


def _row(run: quality.Run) -> Row:
    return {
        "run": run.number,
        "at": run.created_at.isoformat(),
        "judgments": run.judgments,
        "mean": run.ranker.mean,
        "low": run.ranker.low,
        "high": run.ranker.high,
        "first_stage": run.first_stage.mean,
        "ceiling": run.ceiling,
        "ceiling_low": run.ceiling_low,
        "ceiling_high": run.ceiling_high,
        "p": run.p,
        "n": run.ranker.n,
        "champion": "champion" if run.is_champion else "",
    }


# -- One run --------------------------------------------------------------------------------------


def called(run: TrainingRun | None) -> str:
    if run is None:
        return ""
    return f"run {run.number}, the champion" if run.is_champion else f"run {run.number}"


def left(run: TrainingRun | None) -> Figure:
    """How far it is to the ceiling, and from there to a perfect list."""
    found = rankers.figures(run) if run else []
    rows = [
        {
            "measure": one.name,
            "first_stage": one.first_stage.mean,
            "ranker": one.ranker.mean,
            "ceiling": one.ceiling,
            "ranker_left": max(one.ceiling - one.ranker.mean, 0.0),
            "labels_left": 1 - max(one.ceiling, one.ranker.mean),
            "n": one.ranker.n,
        }
        for one in found
        if one.ceiling is not None
    ]
    n = f" n = {rows[0]['n']:,} queries." if rows else ""
    return Figure(
        "left",
        "What is left",
        f"Of {called(run) or 'a ranker'}: up to the ceiling a better ranker can go; beyond it only "
        f"better labels lead, from more judgments or judges who agree more.{n}",
        [
            Column("measure", "Measure"),
            Column("ranker", "Ranker", "figure3"),
            Column("first_stage", "First stage", "figure3"),
            Column("ceiling", "Ceiling", "figure3"),
            Column("ranker_left", "Left for the ranker", "figure3"),
            Column("labels_left", "Left for better labels", "figure3"),
            Column("n", "Queries", "whole"),
        ],
        rows,
        NO_RUN if run is None else "No pair has two judgments yet, so there is no ceiling.",
    )


def importance(run: TrainingRun | None) -> Figure:
    """The features the model leans on most."""
    found = rankers.importance(run) if run else []
    return Figure(
        "importance",
        "What the ranker looks at",
        f"The {len(found)} features that {called(run) or 'a ranker'} leans on most, as a share of "
        "the first of them."
        if found
        else "The features that a ranker leans on most.",
        [Column("feature", "Feature"), Column("share", "Importance", "percent")],
        [{"feature": one.name, "share": one.share} for one in found],
        NO_RUN if run is None else "The model uses no feature: every document gets the same score.",
    )


def queries(run: TrainingRun | None) -> Figure:
    """The queries that gained most over the first stage, and those that lost most."""
    moved: list[dict[str, Any]] = run.metrics.get("queries", []) if run else []
    texts = dict(
        Query.objects.filter(pk__in=[row["query"] for row in moved]).values_list("pk", "text")
    )
    rows = [
        {
            "query": texts[row["query"]],
            "query_id": row["query"],
            "first_stage": row["first_stage"],
            "ranker": row["ranker"],
            "gain": row["ranker"] - row["first_stage"],
        }
        for row in moved
        if row["query"] in texts
    ]
    up = sum(row["gain"] > 0 for row in rows)
    return Figure(
        "queries",
        "Queries that gained and lost most",
        f"NDCG@3 of {called(run) or 'a ranker'} against the first stage: the {up} that gained most "
        f"and the {len(rows) - up} that lost most, of n = {run.test_queries if run else 0:,} "
        "queries it had not seen.",
        [
            Column("query", "Query", "query"),
            Column("first_stage", "First stage", "figure3"),
            Column("ranker", "Ranker", "figure3"),
            Column("gain", "Change", "signed"),
        ],
        rows,
        NO_RUN if run is None else "No query of this run moved.",
    )
