"""Which pages have figures: one list for the pages, the files and the API. Reads only."""

from collections.abc import Callable
from datetime import datetime

from annotate import agreement, costs, crowd, overview, ranker_figures, rankers
from annotate.figures import Figure, stored
from annotate.models import Campaign

FIGURES: dict[str, Callable[[Campaign], list[Figure]]] = {
    "overview": overview.figures,
    "agreement": agreement.figures,
    "judges": crowd.figures,
    "cost": costs.figures,
    "ranker": ranker_figures.figures,
}


def figures(campaign: Campaign, kind: str) -> list[Figure] | None:
    """The figures of one page, or None where there is no such page.

    ``judge-17`` are those of one judge, ``ranker-3`` those of one run.
    """
    name, _, number = kind.partition("-")
    if name == "ranker" and number:
        run = rankers.chosen(campaign, number) if number.isdecimal() else None
        return ranker_figures.figures(campaign, run) if run else None
    if name == "judge" and number.isdecimal():
        one = crowd.judge(campaign, int(number))
        return crowd.judge_figures(one) if one else None
    return FIGURES[kind](campaign) if kind in FIGURES else None


def made_at(campaign: Campaign, kind: str) -> datetime | None:
    """When they were reckoned."""
    name = kind.partition("-")[0]
    if name == "ranker":
        run = rankers.chosen(campaign, kind.partition("-")[2])
        return run.finished_at if run else None
    return stored(campaign, {"judge": "judges", "overview": "agreement"}.get(name, name))[1]
