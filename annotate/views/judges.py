"""How each judge judges, one judge in detail, and what a manager does about it."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from annotate import crowd, notes, routing
from annotate.access import SignedInRequest, managed_campaign
from annotate.forms.notes import NoteForm
from annotate.models import Campaign, User
from annotate.views.reports import page

PER_PAGE = 25


@require_safe
def judge_figures(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """All judges, and who stands out."""
    campaign = managed_campaign(request.user, slug)
    waiting = [one for one in crowd.judges(campaign) if not one.judgments and one.takes_part]
    return page(request, campaign, "judges", {"waiting": waiting})


@require_safe
def judge_page(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """One judge: her figures, her disagreements, and what can be done."""
    campaign = managed_campaign(request.user, slug)
    one = crowd.judge(campaign, number)
    if one is None:
        raise Http404("There is no such judge.")
    paginator = Paginator(crowd.disagreements(campaign, number), PER_PAGE)
    shown = paginator.get_page(request.GET.get("page"))
    seats = list(shown.object_list)
    said = crowd.others_said(seats)
    more = {
        "judge": one,
        "page": shown,
        "disagreements": [(seat, said[seat.pair_id]) for seat in seats],
        "notes": notes.sent(campaign, get_object_or_404(User, pk=number)),
        "form": NoteForm(),
    }
    return page(request, campaign, f"judge-{number}", more)


@require_POST
def judge_action(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Tell her something, pause her, let her judge again, or ask others instead of her."""
    campaign = managed_campaign(request.user, slug)
    if crowd.judge(campaign, number) is None:
        raise Http404("There is no such judge.")
    judge = get_object_or_404(User, pk=number)
    said = _do(request, campaign, judge, request.POST.get("action", ""))
    (messages.success if said else messages.error)(request, said or "This cannot be done here.")
    return redirect("judge_page", slug, number)


def _do(request: SignedInRequest, campaign: Campaign, judge: User, action: str) -> str:
    """Do it, and say what was done; nothing is said where nothing was."""
    name = judge.first_name or judge.username
    if action == "note":
        form = NoteForm(request.POST)
        if not form.is_valid():
            return ""
        notes.write(campaign, judge, request.user, form.cleaned_data["text"])
        return f"{name} sees it when she next judges."
    if action == "pause":
        routing.exclude(campaign, judge, request.user)
        return f"{name} gets no more pairs. Her judgments stay."
    if action == "readmit":
        routing.readmit(campaign, judge, request.user)
        return f"{name} gets pairs again."
    if action == "exclude":
        routing.exclude(campaign, judge, request.user)
        moved = routing.put_back(campaign, judge, request.user)
        return f"{name} gets no more pairs, and others are asked instead of {moved} judgments."
    return ""


@require_POST
def note_read(request: SignedInRequest, number: int) -> HttpResponseBase:
    """A judge has read what she was told."""
    notes.read(request.user, number)
    return redirect("judge_home")
