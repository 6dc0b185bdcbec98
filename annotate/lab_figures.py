"""Replays as the page of the Lab shows them. Reads only."""

from dataclasses import dataclass
from typing import Any

from annotate import lab
from annotate.figures import Column, Figure
from annotate.models import Campaign, LabRun

RECENT = 20
State = LabRun.State


@dataclass(frozen=True)
class Line:
    """A replay in the list of replays."""

    run: LabRun
    under_way: bool
    can_go_on: bool
    progress: float
    done: int


def lines(campaign: Campaign) -> list[Line]:
    """The latest replays, newest first."""
    runs = campaign.lab_runs.defer("frozen", "result")[:RECENT]
    return [_line(run) for run in runs]


def _line(run: LabRun) -> Line:
    under_way = run.state in (State.WAITING, State.RUNNING)
    stopped = run.state in (State.CANCELLED, State.FAILED)
    done = run.cells.count() if under_way or stopped else run.recipe["draws"]
    progress = lab.progress(run) if under_way else done / run.recipe["draws"]
    return Line(run, under_way, stopped, progress, done)


def chosen(campaign: Campaign, number: str) -> LabRun | None:
    """The replay asked for, else the latest that is done."""
    done = campaign.lab_runs.filter(state=State.DONE).defer("frozen")
    if number.isdecimal() and len(number) < 10:
        return done.filter(number=int(number)).first()
    return done.first()


def figures(run: LabRun) -> list[Figure]:
    """What the labels are worth, and where rankers were trained, what those reach."""
    found = [_figure(run, "replay", "Cost and quality of labels", "rows")]
    if "ranked" in run.result:
        found.append(_figure(run, "replay_ranked", "Rankers trained on them", "ranked"))
    return found


def _figure(run: LabRun, name: str, title: str, key: str) -> Figure:
    made = run.result.get(key, [])
    rows = [_row(run, row, made[0]) for row in made]
    what = (
        "NDCG of the order that the labels put documents in"
        if key == "rows"
        else f"NDCG of {run.recipe['ranker']} trained on the labels of four folds, on the fifth"
    )
    n = rows[0]["n"] if rows else 0
    return Figure(
        name,
        title,
        f"{what}, measured by {run.truth}; n = {n:,} queries, means over "
        f"{run.recipe['draws']} draws. The tests are paired t-tests at NDCG@3 against "
        f"{run.result.get('baseline', '')}: * is better, ** better than every other row. Bars in "
        "the chart are the 95 % interval of the difference to it.",
        [
            Column("name", "Scheme and labels", "scheme"),
            Column("cost", "Per pair", "figure"),
            Column("short_share", "Pairs short", "percent"),
            Column("ndcg_3", "NDCG@3", "figure3"),
            Column("stars", "", "stars"),
            Column("standard_error", "Std. error", "figure3"),
            Column("difference", "Difference", "signed3"),
            Column("low:high", "95 % interval", "interval3"),
            Column("p", "p", "p"),
            Column("ndcg_1", "@1", "figure3"),
            Column("ndcg_5", "@5", "figure3"),
            Column("ndcg_10", "@10", "figure3"),
            Column("ratio", "Fair- : Good+", "figure"),
        ],
        rows,
        "Nothing was compared.",
    )


def _row(run: LabRun, row: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """With what the chart draws: the interval of the difference, where the baseline stands.

    The baseline is not held against itself. ``short_share`` are the pairs that ran out.
    """
    short = (row["short"] or 0.0) / run.pairs if run.pairs else 0.0
    more: dict[str, Any] = {"from": None, "to": None, "short_share": round(short, 6)}
    if row["name"] == base["name"]:
        return row | more | {"difference": None, "low": None, "high": None, "p": None}
    if row["low"] is not None and base["mean"] is not None:
        more |= {"from": base["mean"] + row["low"], "to": base["mean"] + row["high"]}
    return row | more
