"""One page for a manager: what is missing, what needs her, and the figures. Reads only."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils import timezone

from annotate import agreement, campaigns, costs, crowd, guidelines, quality, ranker_figures
from annotate.figures import Column, Figure, counted, stored
from annotate.models import Campaign, Snapshot, Upload
from annotate.needs import Facts, Need, needs
from ranking.grades import Grade

#: So many of the busiest judges stand on the overview; the others have a page.
JUDGES = 8
#: So many of them are held against each other there.
COUPLED = 12


@dataclass(frozen=True)
class Step:
    """One thing to do before a campaign can open."""

    title: str
    text: str
    done: bool
    page: str
    action: str


@dataclass(frozen=True)
class Overview:
    """What the dashboard shows of one campaign at one moment."""

    progress: costs.Progress
    snapshot: Snapshot | None
    cost: costs.Cost | None
    spent: int | None
    time_left: timedelta | None
    runs: list[quality.Run]
    run: quality.Run | None
    history: list[Snapshot]
    judges: list[crowd.Judge]
    needs: list[Need]

    @property
    def time_left_in_words(self) -> str:
        return in_words(self.time_left) if self.time_left else ""

    @property
    def finish(self) -> datetime | None:
        """When it is done, if people go on as they did."""
        return timezone.now() + self.time_left if self.time_left else None

    @property
    def busiest(self) -> list[crowd.Judge]:
        return self.judges[:JUDGES]


def overview(campaign: Campaign) -> Overview:
    """Everything the dashboard shows, read from rows that others have written."""
    snapshot = agreement.latest(campaign)
    progress = costs.progress(campaign)
    runs = quality.runs(campaign)
    judges = crowd.judges(campaign)
    return Overview(
        progress=progress,
        snapshot=snapshot,
        cost=costs.cost(campaign, snapshot, progress),
        spent=costs.spent(campaign),
        time_left=costs.time_left(campaign, snapshot, progress),
        runs=runs,
        run=quality.champion(campaign, runs),
        history=agreement.history(campaign),
        judges=judges,
        needs=needs(campaign, Facts(snapshot, progress, runs, judges)),
    )


# -- Before it opens ------------------------------------------------------------------------------


def checklist(campaign: Campaign) -> list[Step]:
    """What a draft still needs, in the order to do it."""
    return [_data_step(campaign), _judges_step(campaign), _guidelines_step(campaign)]


def _data_step(campaign: Campaign) -> Step:
    progress = costs.progress(campaign)
    if progress.pairs:
        text = f"{progress.pairs:,} pairs of {progress.queries:,} queries are loaded."
        return Step("Data", text, True, "campaign_data", "Add more")
    waiting = campaign.uploads.filter(state=Upload.State.CHECKED).first()
    if waiting is not None:
        text = f"{waiting.name} is checked but not loaded yet."
        return Step("Data", text, False, "campaign_data", "Load it")
    if campaign.uploads.filter(state=Upload.State.LOADING).exists():
        return Step("Data", "A file is being loaded.", False, "campaign_data", "See")
    text = "Upload a file with the queries and the documents to judge."
    return Step("Data", text, False, "campaign_data", "Upload a file")


def _judges_step(campaign: Campaign) -> Step:
    have, need = campaigns.judges(campaign), campaigns.judges_needed(campaign)
    if not have:
        text = f"Add the people who will judge. {campaign.scheme_label} asks up to {need} per pair."
        return Step("Judges", text, False, "campaign_judges", "Add judges")
    if have < need:
        text = (
            f"{counted(have, 'judge')} so far. {campaign.scheme_label} asks up to {need} different "
            "people per pair, so some pairs will wait for more."
        )
        return Step("Judges", text, True, "campaign_judges", "Add more")
    return Step("Judges", f"{counted(have, 'judge')}.", True, "campaign_judges", "Change")


def _guidelines_step(campaign: Campaign) -> Step:
    version = guidelines.current(campaign).version
    if version == 0:
        text = "The default text is in place. Keep it, or say what matters in your search."
    else:
        text = f"Version {version} is in place."
    return Step("Guidelines", text, True, "campaign_guidelines", "Read or edit")


def can_open(steps: list[Step]) -> bool:
    """Whether nothing is missing."""
    return all(step.done for step in steps)


# -- Figures --------------------------------------------------------------------------------------


def figures(campaign: Campaign, view: Overview | None = None) -> list[Figure]:
    """Every figure of the page, in its order."""
    view = view or overview(campaign)
    data, _ = stored(campaign, agreement.KIND)
    return [ranker(view, campaign), agreement.couples(data, COUPLED), grades(view), history(view)]


def ranker(view: Overview, campaign: Campaign) -> Figure:
    empty = f"No ranker is trained yet. One is trained {_schedule(campaign)}."
    found = ranker_figures.by_run("ranker", view.runs, quality.MAIN_DEPTH, empty)
    return replace(found, title="Ranker against first stage and ceiling")


def _schedule(campaign: Campaign) -> str:
    found = []
    if campaign.retrain_hours:
        found.append(f"every {campaign.retrain_hours} h")
    if campaign.retrain_judgments:
        found.append(f"after {campaign.retrain_judgments:,} new judgments")
    return " or ".join(found) or "only when you say so"


def grades(view: Overview) -> Figure:
    """Figure 3: all judgments by grade."""
    shot = view.snapshot
    rows = [
        {
            "grade": int(grade),
            "name": grade.word,
            "count": shot.histogram[grade],
            "share": shot.histogram[grade] / shot.judgments,
        }
        for grade in sorted(Grade, reverse=True)
        if shot and shot.judgments
    ]
    total = shot.judgments if shot else 0
    return Figure(
        "grades",
        "Grades",
        f"All judgments that count now, n = {total:,}.",
        [
            Column("name", "Grade", "grade"),
            Column("count", "Judgments", "whole"),
            Column("share", "Share", "percent"),
        ],
        rows,
        "No judgment yet. Send judges their sign-in links.",
    )


def history(view: Overview) -> Figure:
    rows = [
        {
            "at": shot.created_at.isoformat(),
            "judgments": shot.judgments,
            "alpha": shot.alpha,
            "low": shot.alpha_low,
            "high": shot.alpha_high,
            "overlapping": shot.overlapping,
        }
        for shot in view.history
        if shot.alpha is not None
    ]
    return Figure(
        "agreement",
        "Agreement as judgments came in",
        "Krippendorff’s α (ordinal) of all judgments so far with its 95 % interval. 1 is full "
        "agreement, 0 is chance.",
        [
            Column("at", "When", "when"),
            Column("judgments", "Judgments", "whole"),
            Column("alpha", "α", "figure3"),
            Column("low:high", "95 % interval", "interval"),
            Column("overlapping", "Pairs with overlap", "whole"),
        ],
        rows,
        agreement.NO_OVERLAP,
    )


def in_words(duration: timedelta) -> str:
    """Roughly how long: ``about 40 min``, ``about 2 h``, ``about 3 days``."""
    minutes = duration.total_seconds() / 60
    if minutes < 90:
        return f"about {max(round(minutes), 1)} min"
    if minutes < 48 * 60:
        return f"about {round(minutes / 60)} h"
    return f"about {round(minutes / 60 / 24)} days"
