"""What a campaign is made of besides its data: judges, guidelines."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import campaigns, guidelines, markdown, people, standings
from annotate.access import SignedInRequest, managed_campaign
from annotate.forms.campaigns import GuidelinesForm, JudgeForm
from annotate.models import Campaign, Membership, User

LINK = "new_sign_in_link"


def bad(form: Any) -> int:
    """The status of a page that shows a form: what cannot be taken is said to be so."""
    return 422 if form.is_bound and form.errors else 200


def wants_json(request: SignedInRequest) -> bool:
    """Whether a page's own script asks for its moving parts."""
    return request.headers.get("Accept") == "application/json"


# -- Judges ---------------------------------------------------------------------------------------


@require_safe
def campaign_judges(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Who judges. A link that was just made is shown this once."""
    campaign = managed_campaign(request.user, slug)
    return _judges_page(request, campaign, JudgeForm())


def _judges_page(request: SignedInRequest, campaign: Campaign, form: JudgeForm) -> HttpResponseBase:
    found = standings.of_campaign(campaign)
    invitable = campaigns.invitable(request.user, [standing.user for standing in found])
    context = {
        "campaign": campaign,
        "form": form,
        "people": [(standing, standing.user.pk in invitable) for standing in found],
        "known": campaigns.known_people(request.user, campaign),
        "needed": campaigns.judges_needed(campaign),
        "link": request.session.pop(LINK, None),
        "tab": "judges",
    }
    return render(request, "campaigns/judges.html", context, status=bad(form))


@require_POST
def judge_add(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Add a person by name and address; a new one gets a link to sign in with."""
    campaign = managed_campaign(request.user, slug)
    form = JudgeForm(request.POST)
    if not form.is_valid():
        return _judges_page(request, campaign, form)
    user, new = people.find_or_create(form.cleaned_data["name"], form.cleaned_data["email"])
    if new:
        _keep_link(request, user)
    _add(request, campaign, user)
    return redirect("campaign_judges", slug)


@require_POST
def judge_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Add a known person, remove a judge, or make a new sign-in link for one."""
    campaign = managed_campaign(request.user, slug)
    action = request.POST.get("action")
    if action == "add":
        known = campaigns.known_people(request.user, campaign)
        _add(request, campaign, get_object_or_404(known, pk=number))
        return redirect("campaign_judges", slug)
    here = campaign.memberships.filter(role=Membership.Role.JUDGE).select_related("user")
    user = get_object_or_404(here, user=number).user
    if action == "remove":
        campaigns.remove_judge(campaign, user)
        messages.success(request, f"{user.username} gets no more pairs. Her judgments stay.")
    elif action == "link" and campaigns.may_invite(request.user, user):
        _keep_link(request, user)
    else:
        messages.error(request, "This cannot be done here.")
    return redirect("campaign_judges", slug)


def _add(request: SignedInRequest, campaign: Campaign, user: User) -> None:
    if campaigns.add_judge(campaign, user):
        messages.success(request, f"{user.username} is a judge of this campaign now.")
    else:
        messages.info(request, f"{user.username} is a judge of this campaign already.")


def _keep_link(request: SignedInRequest, user: User) -> None:
    """Until the next page, which shows it and forgets it."""
    address = request.build_absolute_uri(reverse("sign_in_link", args=[people.sign_in_link(user)]))
    request.session[LINK] = {"name": user.first_name or user.username, "address": address}


# -- Guidelines -----------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_guidelines(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Write what judges are asked to do. Every saved text is a version."""
    campaign = managed_campaign(request.user, slug)
    current = guidelines.current(campaign)
    form = GuidelinesForm(request.POST or None, initial={"text": _start(request, campaign)})
    if request.method == "POST" and form.is_valid() and request.POST.get("action") != "preview":
        saved = campaigns.save_guidelines(campaign, form.cleaned_data["text"])
        if saved.version != current.version:
            messages.success(request, f"Version {saved.version} is what judges read now.")
        return redirect("campaign_guidelines", slug)
    shown = form.cleaned_data.get("text", "") if form.is_bound else form.initial["text"]
    context = {
        "campaign": campaign,
        "form": form,
        "current": current,
        "preview": markdown.render(shown),
        "is_draft": shown.strip() != current.text.strip(),
        "versions": campaign.guidelines.all(),
        "tab": "guidelines",
    }
    return render(request, "campaigns/guidelines.html", context, status=bad(form))


def _start(request: SignedInRequest, campaign: Campaign) -> str:
    """The text the editor opens with: the current one, an older version, or the default."""
    wanted = request.GET.get("version", "")
    if wanted == "0":
        return guidelines.default_text()
    old = campaign.guidelines.filter(version=int(wanted)).first() if wanted.isdecimal() else None
    return (old or guidelines.current(campaign)).text
