"""Campaigns, who takes part in them and what they are told. The only writer of all three."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from annotate import access, guidelines, history, jobs, routing
from annotate.models import Campaign, Guideline, Membership, User

SLUG_TRIES = 100

#: What decides which judgments are wanted, and how labels are made of them: a change of either
#: goes over all pairs.
ROUTING = ("scheme_name", "k", "cap", "theta", "per_pair", "least_value")
LABELLING = ("aggregator", "gold_in_labels")
RULES = ROUTING + LABELLING

State = Campaign.State

#: From where each step may be taken, and where it leads.
STEPS: dict[str, tuple[frozenset[str], str]] = {
    "open": (frozenset({State.DRAFT, State.PAUSED, State.CLOSED}), State.OPEN),
    "pause": (frozenset({State.OPEN}), State.PAUSED),
    "close": (frozenset({State.OPEN, State.PAUSED}), State.CLOSED),
}


class CampaignError(Exception):
    """What the manager is told when a step cannot be taken."""


def create(manager: User, fields: Mapping[str, Any]) -> Campaign:
    """A draft, managed by whoever made it. Its guidelines are the default until changed."""
    with transaction.atomic():
        campaign = _create_with_free_slug(manager, fields)
        Membership.objects.create(campaign=campaign, user=manager, role=Membership.Role.MANAGER)
    return campaign


def _create_with_free_slug(manager: User, fields: Mapping[str, Any]) -> Campaign:
    stem = slugify(str(fields["name"]))[:50].strip("-") or "campaign"
    if stem == "new":  # the address of the page that makes campaigns
        stem = "campaign-new"
    for number in range(1, SLUG_TRIES):
        slug = stem if number == 1 else f"{stem}-{number}"
        if Campaign.objects.filter(slug=slug).exists():
            continue
        try:
            with transaction.atomic():
                return Campaign.objects.create(created_by=manager, slug=slug, **fields)
        except IntegrityError:
            continue  # somebody took the same name just now
    raise CampaignError(f"There are already {SLUG_TRIES} campaigns of this name. Choose another.")


def update(campaign: Campaign, fields: Mapping[str, Any], manager: User | None = None) -> None:
    """Change settings. New rules hold for every pair; nothing that was judged is thrown away."""
    with transaction.atomic():
        before = Campaign.objects.select_for_update().get(pk=campaign.pk)
        Campaign.objects.filter(pk=campaign.pk).update(**fields)
        campaign.refresh_from_db()
        _follow(before, campaign, manager)


def _follow(before: Campaign, campaign: Campaign, manager: User | None) -> None:
    """What a change of rules leads to. A draft has no past but the judgments of its files."""
    changed = {name for name in RULES if getattr(before, name) != getattr(campaign, name)}
    if before.state != State.DRAFT:
        _tell(before, campaign, manager, changed)
    elif not campaign.seats.exists():
        return
    budgeted = before.budget is None and campaign.budget is not None
    if budgeted:
        routing.recount(campaign)
    if budgeted or changed & set(ROUTING):
        # With a first budget too: judgments that were under way just now are counted then.
        jobs.enqueue("reroute", campaign)
    if changed & set(LABELLING):
        jobs.enqueue("relabel", campaign)


def _tell(before: Campaign, campaign: Campaign, manager: User | None, changed: set[str]) -> None:
    if changed:
        old, new = _rules(before), _rules(campaign)
        history.record(campaign, manager, f"The rules were changed from {old} to {new}.")
    if before.budget != campaign.budget:
        old, new = _budget(before), _budget(campaign)
        history.record(campaign, manager, f"The budget was changed from {old} to {new}.")


def _budget(campaign: Campaign) -> str:
    return "none" if campaign.budget is None else f"{campaign.budget:,} judgments"


def _rules(campaign: Campaign) -> str:
    return f"{campaign.scheme_label} with {campaign.aggregator} labels"


def name_features(campaign: Campaign, count: int) -> None:
    """The features of a campaign are fixed by the first file that brings any."""
    names = [f"feature_{number}" for number in range(1, count + 1)]
    Campaign.objects.filter(pk=campaign.pk, feature_names=[]).update(feature_names=names)
    campaign.refresh_from_db(fields=["feature_names"])


# -- States ---------------------------------------------------------------------------------------


def change_state(campaign: Campaign, step: str, manager: User | None = None) -> None:
    """Open, pause or close. Of two people who click at once, one does it."""
    if step not in STEPS:
        raise CampaignError(f"A step must be open, pause or close. Got {step!r} instead.")
    sources, target = STEPS[step]
    if step == "open":
        _require_ready(campaign)
    with transaction.atomic():
        changed = Campaign.objects.filter(pk=campaign.pk, state__in=sources).update(state=target)
        campaign.refresh_from_db()
        if changed:
            history.record(campaign, manager, f"The campaign is {campaign.state} now.")
    if not changed and campaign.state != target:
        raise CampaignError(f"A campaign that is {campaign.state} cannot be told to {step}.")
    if changed and step == "open":
        routing.open_seats(campaign)


def steps_from(campaign: Campaign) -> list[str]:
    """The steps a manager can take now."""
    return [step for step, (sources, _) in STEPS.items() if campaign.state in sources]


def _require_ready(campaign: Campaign) -> None:
    if not campaign.pairs.exists():
        raise CampaignError("Load data first: there is nothing to judge yet.")
    if not judges(campaign):
        raise CampaignError("Add a judge first: there is nobody to judge yet.")


# -- People ---------------------------------------------------------------------------------------


def judges(campaign: Campaign) -> int:
    """How many judges take part."""
    return campaign.memberships.filter(role=Membership.Role.JUDGE).count()


def judges_needed(campaign: Campaign) -> int:
    """How many different judges a pair can need under the scheme."""
    return campaign.scheme.most


def add_judge(campaign: Campaign, user: User) -> bool:
    """Let this person judge. Returns whether she is new to the campaign."""
    _, created = Membership.objects.get_or_create(
        campaign=campaign, user=user, role=Membership.Role.JUDGE
    )
    return created


def remove_judge(campaign: Campaign, user: User) -> None:
    """She gets no more pairs. What she judged stays, what she holds runs out."""
    campaign.memberships.filter(user=user, role=Membership.Role.JUDGE).delete()


def may_invite(manager: User, user: User) -> bool:
    """Whether this manager may give this person a link that signs her in."""
    return user.pk in invitable(manager, [user])


def invitable(manager: User, users: Collection[User]) -> set[int]:
    """Those of these people whom this manager may give a link that signs them in.

    Whoever has the link is that person, so only judges who belong to nobody else.
    """
    found = {user.pk for user in users if not user.manages}
    if not manager.is_administrator:
        mine = access.managed_campaigns(manager)
        elsewhere = Membership.objects.filter(user__in=found).exclude(campaign__in=mine)
        found -= set(elsewhere.values_list("user_id", flat=True))
    return found


def known_people(manager: User, campaign: Campaign) -> QuerySet[User]:
    """Judges of the manager's other campaigns who do not judge in this one yet."""
    judge = Membership.Role.JUDGE
    hers = Membership.objects.filter(campaign__in=access.managed_campaigns(manager), role=judge)
    here = campaign.memberships.filter(role=judge)
    return (
        User.objects.filter(is_active=True, pk__in=hers.values("user"))
        .exclude(pk__in=here.values("user"))
        .order_by("username")
    )


# -- Guidelines -----------------------------------------------------------------------------------


def save_guidelines(campaign: Campaign, text: str) -> Guideline:
    """A changed text is a new version; the same text is the version it already is."""
    text = text.replace("\r\n", "\n").strip() + "\n"
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        current = guidelines.current(campaign)
        if current.text.strip() == text.strip():
            return current
        version = current.version + 1
        new = Guideline.objects.create(campaign=campaign, version=version, text=text)
        Campaign.objects.filter(pk=campaign.pk).update(guideline_version=version)
    campaign.guideline_version = version
    return new
