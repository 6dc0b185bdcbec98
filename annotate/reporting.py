"""Which pages have figures: one list for the pages, the files and the API. Reads only."""

from collections.abc import Callable
from datetime import datetime

from annotate import agreement, costs, crowd, overview
from annotate.figures import Figure, stored
from annotate.models import Campaign

FIGURES: dict[str, Callable[[Campaign], list[Figure]]] = {
    "overview": overview.figures,
    "agreement": agreement.figures,
    "judges": crowd.figures,
    "cost": costs.figures,
}


def figures(campaign: Campaign, kind: str) -> list[Figure] | None:
    """The figures of one page, or None where there is no such page.

    ``judge-17`` are those of one judge.
    """
    name, _, number = kind.partition("-")
    if name == "judge" and number.isdecimal():
        one = crowd.judge(campaign, int(number))
        return crowd.judge_figures(one) if one else None
    return FIGURES[kind](campaign) if kind in FIGURES else None


def made_at(campaign: Campaign, kind: str) -> datetime | None:
    """When they were reckoned."""
    name = kind.partition("-")[0]
    return stored(campaign, {"judge": "judges", "overview": "agreement"}.get(name, name))[1]
