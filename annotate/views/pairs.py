"""Pairs: lists of them, one with everything said about it, and what a manager decides."""

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate import adjudication, explain, pairs, routing
from annotate.access import SignedInRequest, managed_campaign
from annotate.forms.pairs import GradeForm
from annotate.models import Campaign, Pair

PER_PAGE = 50


# -- The list -------------------------------------------------------------------------------------


@require_safe
def campaign_pairs(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """One choice of pairs, page by page."""
    campaign = managed_campaign(request.user, slug)
    show = request.GET.get("show", pairs.ALL)
    show = show if show in pairs.SHOWS else pairs.ALL
    text = request.GET.get("query", "").strip()
    numbers = pairs.counts(campaign)
    # Only the numbers of the pairs are paged: deep pages stay a walk along an index.
    found = pairs.shown(campaign, show, text).values_list("pk", flat=True)
    page = _page(request, found, None if text else numbers[show])
    context = {
        "campaign": campaign,
        "show": show,
        "choices": [(name, words, numbers[name]) for name, words in pairs.SHOWS.items()],
        "query": text,
        "page": page,
        "pairs": pairs.with_grades(list(page.object_list)),
        "tab": "pairs",
    }
    return render(request, "campaigns/pairs.html", context)


def _page(request: SignedInRequest, rows: QuerySet[Pair, int], count: int | None) -> Page[int]:
    """The page asked for, or the nearest there is. A known count is not counted again."""
    paginator = Paginator(rows, PER_PAGE)
    if count is not None:
        paginator.count = count
    return paginator.get_page(request.GET.get("page"))


# -- One pair -------------------------------------------------------------------------------------


@require_safe
def pair_page(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """All judgments side by side, why there are so many, and what can be decided."""
    campaign, pair = _pair(request, slug, number)
    return _shown(request, campaign, pair)


def _pair(request: SignedInRequest, slug: str, number: int) -> tuple[Campaign, Pair]:
    campaign = managed_campaign(request.user, slug)
    rows = pairs.loaded(campaign).select_related("query", "document", "label", "adjudication__by")
    pair = get_object_or_404(rows, pk=number)
    pair.campaign = campaign
    return campaign, pair


def _shown(
    request: SignedInRequest, campaign: Campaign, pair: Pair, **forms: GradeForm
) -> HttpResponse:
    """The page of a pair; a form that could not be taken is shown again with its errors."""
    final, label = getattr(pair, "adjudication", None), getattr(pair, "label", None)
    known = {"grade": pair.gold, "note": pair.gold_note}
    decided = {"grade": final.grade, "note": final.note} if final else None
    context = {
        "campaign": campaign,
        "pair": pair,
        "judgments": pairs.judgments(pair),
        "steps": explain.steps(pair),
        "label": label,
        "final": final,
        "place": pairs.place(pair) if _in_queue(request) else None,
        "final_form": forms.get("adjudicate") or GradeForm(initial=decided, auto_id="final_%s"),
        "gold_form": forms.get("gold") or GradeForm(initial=known, auto_id="gold_%s"),
        "may_drop": pair.state in (Pair.State.OPEN, Pair.State.CLOSED, Pair.State.REFERRED),
        "may_resume": pair.state in (Pair.State.REFERRED, Pair.State.DROPPED),
        "tab": "pairs",
    }
    return render(request, "campaigns/pair.html", context, status=422 if forms else 200)


def _in_queue(request: SignedInRequest) -> bool:
    return request.GET.get("queue") == pairs.DISPUTES


# -- Decisions ------------------------------------------------------------------------------------


@require_POST
def pair_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Void a judgment, drop a pair or ask again, know its grade or decide it."""
    campaign, pair = _pair(request, slug, number)
    action = request.POST.get("action", "")
    if action in GRADED:
        form = GradeForm(request.POST, auto_id=f"{GRADED[action]}_%s")
        if not form.is_valid():
            return _shown(request, campaign, pair, **{action: form})
    else:
        form = None
    try:
        done = _do(request, pair, action, form)
    except (routing.RoutingError, adjudication.AdjudicationError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
        if action == "adjudicate" and _in_queue(request):
            return _next_dispute(slug, pair)
    queue = f"?queue={pairs.DISPUTES}" if _in_queue(request) else ""
    return redirect(reverse("pair", args=[slug, number]) + queue)


#: The actions that take a grade, and how their fields are called on the page.
GRADED = {"adjudicate": "final", "gold": "gold"}


def _do(request: SignedInRequest, pair: Pair, action: str, form: GradeForm | None) -> str:
    """Take the step and say so in a sentence."""
    manager = request.user
    answer = form.cleaned_data if form else {}
    match action:
        case "adjudicate":
            adjudication.decide(manager, pair.pk, answer["grade"], answer["note"])
            return "This is the final grade. The label follows in a moment."
        case "withdraw":
            adjudication.withdraw(manager, pair.pk)
            return "The label is again what the judgments add up to."
        case "gold":
            routing.give_gold(manager, pair.pk, answer["grade"], answer["note"])
            return "This is a gold pair now. It tests judges."
        case "ungold":
            routing.take_gold(manager, pair.pk)
            return "This is an ordinary pair again."
        case "drop":
            routing.drop(manager, pair.pk)
            return "The pair is dropped. What was judged stays."
        case "resume":
            routing.resume(manager, pair.pk)
            return "Judges are asked again."
        case "void":
            routing.void(manager, _judgment(request, pair))
            return "The judgment counts no more. It stays on record."
    raise routing.RoutingError(f"There is no such action. Got {action!r}.")


def _judgment(request: SignedInRequest, pair: Pair) -> int:
    """The judgment that is meant, if it is one of this pair."""
    number = request.POST.get("judgment", "")
    found = pair.judgments.filter(pk=int(number)).first() if number.isdecimal() else None
    if found is None:
        raise routing.RoutingError("There is no such judgment of this pair.")
    return found.pk


def _next_dispute(slug: str, pair: Pair) -> HttpResponseBase:
    """Straight to the next one; from the last one back to the list."""
    place = pairs.place(pair)
    following = place.after or place.before
    if following is None:
        return redirect(f"{reverse('campaign_pairs', args=[slug])}?show={pairs.DISPUTES}")
    return redirect(f"{reverse('pair', args=[slug, following])}?queue={pairs.DISPUTES}")
