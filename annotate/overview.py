"""One page for a manager: what is missing, what needs her, and the figures. Reads only."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from annotate import agreement, campaigns, costs, guidelines, jobs, quality
from annotate.models import Campaign, Job, Snapshot, TrainingRun, Upload
from ranking.grades import Grade


@dataclass(frozen=True)
class Step:
    """One thing to do before a campaign can open."""

    title: str
    text: str
    done: bool
    page: str
    action: str


@dataclass(frozen=True)
class Need:
    """Something only the manager can decide. ``level`` is bad, warn or info."""

    level: str
    text: str
    action: str = ""
    page: str = ""
    step: str = ""


@dataclass(frozen=True)
class GradeCount:
    """How often a grade was given."""

    grade: Grade
    count: int
    share: float


@dataclass(frozen=True)
class Overview:
    """What the dashboard shows of one campaign at one moment."""

    progress: costs.Progress
    snapshot: Snapshot | None
    cost: costs.Cost | None
    time_left: timedelta | None
    runs: list[quality.Run]
    depths: list[tuple[int, quality.Run]]
    importance: list[tuple[str, float]]
    history: list[Snapshot]
    judges: list[agreement.Judge]
    needs: list[Need]

    @property
    def time_left_in_words(self) -> str:
        return in_words(self.time_left) if self.time_left else ""

    @property
    def run(self) -> quality.Run | None:
        return self.runs[-1] if self.runs else None

    @property
    def grades(self) -> list[GradeCount]:
        """Judgments per grade, Perfect first."""
        if self.snapshot is None or not self.snapshot.judgments:
            return []
        counts, total = self.snapshot.histogram, self.snapshot.judgments
        return [
            GradeCount(grade, counts[grade], counts[grade] / total)
            for grade in sorted(Grade, reverse=True)
        ]


def overview(campaign: Campaign) -> Overview:
    """Everything the dashboard shows, read from rows that others have written."""
    snapshot = agreement.latest(campaign)
    progress = costs.progress(campaign)
    runs = quality.runs(campaign)
    return Overview(
        progress=progress,
        snapshot=snapshot,
        cost=costs.cost(campaign, snapshot, progress),
        time_left=costs.time_left(campaign, snapshot, progress),
        runs=runs,
        depths=quality.depths(campaign),
        importance=quality.importance(campaign),
        history=agreement.history(campaign),
        judges=agreement.judges(campaign),
        needs=[
            *_work_needs(campaign),
            *_people_needs(campaign, snapshot),
            *_progress_needs(campaign, progress),
            *_ranker_needs(campaign, snapshot, runs),
        ],
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
            f"{_count(have, 'judge')} so far. {campaign.scheme_label} asks up to {need} different "
            "people per pair, so some pairs will wait for more."
        )
        return Step("Judges", text, True, "campaign_judges", "Add more")
    return Step("Judges", f"{_count(have, 'judge')}.", True, "campaign_judges", "Change")


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


# -- What needs the manager -----------------------------------------------------------------------


def _work_needs(campaign: Campaign) -> list[Need]:
    found = []
    due = campaign.jobs.filter(state__in=[Job.State.DUE, Job.State.RUNNING]).count()
    if due and not jobs.worker_alive():
        waiting = f"{_count(due, 'job')} {'waits' if due == 1 else 'wait'}"
        text = f"No background worker is running, and {waiting} for one."
        found.append(Need("bad", text, "See jobs", "campaign_jobs"))
    failed = campaign.jobs.filter(state=Job.State.FAILED).exclude(message="Cancelled.").count()
    if failed:
        text = f"{_count(failed, 'background job')} failed."
        found.append(Need("bad", text, "See why", "campaign_jobs"))
    return found


def _people_needs(campaign: Campaign, snapshot: Snapshot | None) -> list[Need]:
    found = []
    have, need = campaigns.judges(campaign), campaigns.judges_needed(campaign)
    if campaign.state == Campaign.State.OPEN and have < need:
        text = (
            f"{campaign.scheme_label} asks up to {need} different people per pair, "
            f"but there {'is' if have == 1 else 'are'} {_count(have, 'judge')}."
        )
        found.append(Need("warn", text, "Add judges", "campaign_judges"))
    if snapshot is not None and agreement.is_low(snapshot):
        text = f"Judges hardly agree (α {snapshot.alpha:.2f}). Clearer guidelines may help."
        found.append(Need("warn", text, "Edit guidelines", "campaign_guidelines"))
    return found


def _progress_needs(campaign: Campaign, progress: costs.Progress) -> list[Need]:
    found = []
    if progress.referred:
        text = f"{_count(progress.referred, 'pair')} could not be judged by several people."
        found.append(Need("warn", text, "Decide", "campaign_referrals"))
    if campaign.state == Campaign.State.PAUSED:
        text = "The campaign is paused: judges get no new pairs."
        found.append(Need("info", text, "Open it again", "campaign_state", step="open"))
    if campaign.state == Campaign.State.OPEN and progress.closed and not progress.open:
        text = "Every pair has the judgments it needs."
        found.append(Need("info", text, "Close the campaign", "campaign_state", step="close"))
    return found


def _ranker_needs(
    campaign: Campaign, snapshot: Snapshot | None, runs: list[quality.Run]
) -> list[Need]:
    last = quality.last_run(campaign)
    if last is None:
        if snapshot is None or not snapshot.judgments:
            return []
        return [Need("info", "No ranker is trained yet.", "Train one now", "campaign_train")]
    if last.state == TrainingRun.State.FAILED:
        text = f"Training run {last.number} failed: {last.message}"
        # Before the first ranker there may simply be too few labels yet.
        return [Need("warn" if runs else "info", text, "Try again", "campaign_train")]
    run = runs[-1] if runs else None
    if run and run.gain > 0 and run.is_significant:
        text = (
            f"The latest ranker beats the first stage by {100 * run.gain:.1f} points of NDCG@3 "
            f"(p = {run.p:.2g}, n = {run.ranker.n})."
        )
        return [Need("info", text)]
    return []


# -- What the charts draw -------------------------------------------------------------------------


def charts(view: Overview) -> dict[str, Any]:
    """The figures behind each chart, the same as in the table under it."""
    return {
        "ranker": [
            {
                "run": run.number,
                "mean": run.ranker.mean,
                "low": run.ranker.low,
                "high": run.ranker.high,
                "first_stage": run.first_stage.mean,
                "n": run.ranker.n,
                "judgments": run.judgments,
            }
            for run in view.runs
        ],
        "grades": [
            {"grade": int(row.grade), "name": row.grade.word, "count": row.count}
            for row in view.grades
        ],
        "agreement": [
            {
                "at": shot.created_at.isoformat(),
                "judgments": shot.judgments,
                "alpha": shot.alpha,
                "low": shot.alpha_low,
                "high": shot.alpha_high,
                "overlapping": shot.overlapping,
            }
            for shot in view.history
        ],
    }


def in_words(duration: timedelta) -> str:
    """Roughly how long: ``about 40 min``, ``about 2 h``, ``about 3 days``."""
    minutes = duration.total_seconds() / 60
    if minutes < 90:
        return f"about {max(round(minutes), 1)} min"
    if minutes < 48 * 60:
        return f"about {round(minutes / 60)} h"
    return f"about {round(minutes / 60 / 24)} days"


def _count(number: int, noun: str) -> str:
    """``1 judge``, ``3 judges``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
