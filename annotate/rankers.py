"""Training runs as the page of the ranker shows them. Reads only."""

from dataclasses import dataclass
from typing import Any

from annotate import training
from annotate.models import Campaign, TrainingRun
from annotate.quality import Mean

RECENT = 50
MOST_FEATURES = 15
State = TrainingRun.State

#: The rankers in words, the default first.
WORDS = {
    "lambdamart": "LambdaMART: boosted trees. Recommended.",
    "lambdarank": "LambdaRank: a small net",
    "ranksvm": "RankSVM: a weighted sum of features",
    "listnet": "ListNet: a weighted sum of features",
    "adarank": "AdaRank: a weighted sum of few features",
    "rankboost": "RankBoost: many small steps",
}


@dataclass(frozen=True)
class Figure:
    """One measure of a run against everything it is held against."""

    name: str
    ranker: Mean
    first_stage: Mean
    p: float | None
    ceiling: float | None

    @property
    def gain(self) -> float:
        return self.ranker.mean - self.first_stage.mean


@dataclass(frozen=True)
class Duel:
    """A run against the champion of its time, on the same held-out queries."""

    name: str
    ranker: float
    champion: float
    p: float | None
    n: int


@dataclass(frozen=True)
class Feature:
    """How much a feature matters, as a share of the one that matters most."""

    name: str
    share: float


@dataclass(frozen=True)
class Line:
    """A run in the list of runs, with its main figure."""

    run: TrainingRun
    main: Figure | None
    under_way: bool
    progress: float


def lines(campaign: Campaign) -> list[Line]:
    """The latest runs, newest first."""
    return [_line(run) for run in campaign.runs.all()[:RECENT]]


def _line(run: TrainingRun) -> Line:
    under_way = run.state in (State.WAITING, State.RUNNING)
    main = next((one for one in figures(run) if one.name == "NDCG@3"), None)
    return Line(run, main, under_way, training.progress(run) if under_way else 1.0)


def chosen(campaign: Campaign, number: str) -> TrainingRun | None:
    """The run asked for, else the champion, else the latest that is done."""
    done = campaign.runs.filter(state=State.DONE)
    if number.isdecimal() and len(number) < 10:
        return done.filter(number=int(number)).first()
    return training.current(campaign) or done.first()


def figures(run: TrainingRun) -> list[Figure]:
    """Every measure of a run that is done."""
    found: dict[str, Any] = {
        f"NDCG@{depth}": value for depth, value in run.metrics.get("ndcg", {}).items()
    }
    found |= {name.upper(): run.metrics.get(name) for name in ("map", "err")}
    return [
        Figure(
            name=name,
            ranker=Mean(**value["ranker"]),
            first_stage=Mean(**value["first_stage"]),
            p=value["p"],
            ceiling=_ceiling(run, name),
        )
        for name, value in found.items()
        if value and value["ranker"]["mean"] is not None
    ]


def _ceiling(run: TrainingRun, name: str) -> float | None:
    limit = run.metrics.get("ceiling", {}).get(name.removeprefix("NDCG@"))
    return limit["value"] if limit else None


def duels(run: TrainingRun) -> list[Duel]:
    """NDCG against the champion of its time at every depth; nothing for the first."""
    compared = run.metrics.get("champion", {}).get("ndcg", {})
    return [
        Duel(
            name=f"NDCG@{depth}",
            ranker=value["ranker"]["mean"],
            champion=value["champion"]["mean"],
            p=value["p"],
            n=value["ranker"]["n"],
        )
        for depth, value in compared.items()
        if value["ranker"]["mean"] is not None
    ]


def importance(run: TrainingRun) -> list[Feature]:
    """The features the model leans on most."""
    pairs = run.metrics.get("importance", [])[:MOST_FEATURES]
    most = max((value for _, value in pairs), default=0.0)
    return [Feature(name, value / most) for name, value in pairs if most and value > 0]
