"""What only the manager can decide, and what goes wrong without her. Reads only."""

from dataclasses import dataclass

from annotate import agreement, campaigns, costs, crowd, jobs, quality
from annotate.figures import counted
from annotate.models import Campaign, Job, Snapshot, TrainingRun

#: Of many judges with the same trouble so many are named.
MOST_JUDGES = 5


@dataclass(frozen=True)
class Need:
    """Something only the manager can decide. ``level`` is bad, warn or info."""

    level: str
    text: str
    action: str = ""
    page: str = ""
    step: str = ""
    number: int | None = None


@dataclass(frozen=True)
class Facts:
    """What is known of a campaign when its needs are looked for."""

    snapshot: Snapshot | None
    progress: costs.Progress
    runs: list[quality.Run]
    judges: list[crowd.Judge]


def needs(campaign: Campaign, facts: Facts) -> list[Need]:
    """What needs the manager, the worst first."""
    found = [
        *_work_needs(campaign),
        *_judge_needs(facts.judges),
        *_people_needs(campaign, facts.snapshot),
        *_progress_needs(campaign, facts.progress),
        *_ranker_needs(campaign, facts.snapshot, facts.runs),
    ]
    order = ("bad", "warn", "info")
    return sorted(found, key=lambda need: order.index(need.level))


def _judge_needs(judges: list[crowd.Judge]) -> list[Need]:
    """Judges whose figures look wrong, unless something was done about them already."""
    found = [
        Need(
            "bad" if judge.is_suspected else "warn",
            f"{judge.name}: {judge.warnings[0]}",
            "Review",
            "judge_page",
            number=judge.pk,
        )
        for judge in judges
        if judge.warnings and judge.takes_part and judge.excluded_at is None
    ]
    found.sort(key=lambda need: need.level)
    rest = len(found) - MOST_JUDGES
    if rest > 0:
        text = f"{counted(rest, 'more judge')} should be looked at."
        return [*found[:MOST_JUDGES], Need("warn", text, "See judges", "judge_figures")]
    return found


def _work_needs(campaign: Campaign) -> list[Need]:
    found = []
    due = campaign.jobs.filter(state__in=[Job.State.DUE, Job.State.RUNNING]).count()
    if due and not jobs.worker_alive():
        waiting = f"{counted(due, 'job')} {'waits' if due == 1 else 'wait'}"
        text = f"No background worker is running, and {waiting} for one."
        found.append(Need("bad", text, "See jobs", "campaign_jobs"))
    failed = campaign.jobs.filter(state=Job.State.FAILED).exclude(message="Cancelled.").count()
    if failed:
        text = f"{counted(failed, 'background job')} failed."
        found.append(Need("bad", text, "See why", "campaign_jobs"))
    return found


def _people_needs(campaign: Campaign, snapshot: Snapshot | None) -> list[Need]:
    found = []
    have, need = campaigns.judges(campaign), campaigns.judges_needed(campaign)
    if campaign.state == Campaign.State.OPEN and have < need:
        text = (
            f"{campaign.scheme_label} asks up to {need} different people per pair, "
            f"but there {'is' if have == 1 else 'are'} {counted(have, 'judge')}."
        )
        found.append(Need("warn", text, "Add judges", "campaign_judges"))
    if snapshot is not None and agreement.is_low(snapshot):
        text = f"Judges hardly agree (α {snapshot.alpha:.2f}). Clearer guidelines may help."
        found.append(Need("warn", text, "Edit guidelines", "campaign_guidelines"))
    elif fallen := agreement.fall(campaign):
        now, before, pairs = fallen
        text = f"Agreement falls: α {now:.2f} over the latest {pairs:,} pairs, {before:.2f} before."
        found.append(Need("warn", text, "See agreement", "campaign_agreement"))
    return found


def _progress_needs(campaign: Campaign, progress: costs.Progress) -> list[Need]:
    found = []
    if progress.referred:
        text = f"{counted(progress.referred, 'pair')} could not be judged by several people."
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
