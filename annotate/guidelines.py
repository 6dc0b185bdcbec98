"""What judges are asked to do: the current version of a campaign, or the text we start with."""

from functools import cache
from pathlib import Path

from annotate.models import Campaign, Guideline, Judgment, User

DEFAULT = Path(__file__).parent / "defaults" / "guidelines.md"


@cache
def default_text() -> str:
    """Guidance for web relevance on five grades, fit for most searches."""
    return DEFAULT.read_text(encoding="utf-8")


def current(campaign: Campaign) -> Guideline:
    """The latest version; a campaign that wrote none has the default as version 0."""
    latest = campaign.guidelines.order_by("-version").first()
    return latest or Guideline(campaign=campaign, version=0, text=default_text())


def changed_for(judge: User, campaign: Campaign) -> bool:
    """Whether there is a newer version than the one she judged by last."""
    if not campaign.guideline_version:
        return False
    hers = Judgment.objects.filter(judge=judge, pair__campaign=campaign)
    last = hers.order_by("-pk").values_list("guideline_version", flat=True).first()
    return last is not None and last < campaign.guideline_version
