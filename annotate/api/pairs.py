"""Queries and pairs: lists of them, one pair with all that was said, and what a manager decides."""

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import adjudication, explain, pairs, routing, tokens
from annotate.api import asking, pages
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG
from annotate.api.once import once
from annotate.api.operations import BY_NUMBER, BY_ROW, Described, number, reads, writes
from annotate.api.pair_shapes import (
    DETAIL,
    PAIR,
    REFERRAL,
    PairDetailOut,
    PairRowOut,
    QueryOut,
    ReferralOut,
    said_pair,
    said_pair_in_detail,
    said_referral,
)
from annotate.api.serializers import Fields
from annotate.api.shapes import GradedIn, NothingIn, checked, managed
from annotate.models import Campaign, Pair, User

TAG = "Pairs"
PLACE = (SLUG, number("pair_id", "The pair."))

SHOW = asking.Word("show", "Only such pairs.", tuple(pairs.SHOWS))
TEXT = asking.Text("text", "Only where the query holds each of these words.")
QUERY = asking.Number("query", "Only of this query, by its `id`.")


# -- Lists ----------------------------------------------------------------------------------------


@reads(
    "queries",
    "List the queries",
    "What was searched for.",
    tag=TAG,
    gives=pages.ongoing(QueryOut, "Query"),
    answer={"next": None, "results": [PAIR["query"]]},
    filters=[TEXT],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def query_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    found = pairs.queries(campaign, TEXT.of(request))
    rows, following = pages.following(request, found)
    return pages.walked(QueryOut, rows, following)


@reads(
    "pairs",
    "List the pairs",
    "Each with its grades and its label, in the order they were loaded.",
    tag=TAG,
    gives=pages.ongoing(PairRowOut, "Pair"),
    answer={"next": None, "results": [PAIR]},
    filters=[SHOW, QUERY, TEXT],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def pair_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    found = pairs.shown(campaign, SHOW.of(request) or pairs.ALL, TEXT.of(request))
    if query := QUERY.of(request):
        found = found.filter(query=query)
    rows, following = pages.following(request, found.only("pk", "campaign"))
    whole = pairs.with_grades([row.pk for row in rows])
    return pages.walked(PairRowOut, map(said_pair, whole), following)


@reads(
    "disputes",
    "List the disputed pairs",
    "The queue of adjudication: grades that lie far apart, the furthest first, and nobody has "
    "decided. Decide with the final grade of the pair.",
    tag=TAG,
    gives=pages.counted(PairRowOut, "Dispute"),
    answer={"count": 1, "next": None, "previous": None, "results": [PAIR]},
    pages=BY_NUMBER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def dispute_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    by_number = pages.Pages()
    numbers = pairs.disputed(campaign).values_list("pk", flat=True)
    page = by_number.paginate_queryset(numbers, request) or []
    rows = [said_pair(pair) for pair in pairs.with_grades(list(page))]
    return by_number.get_paginated_response(PairRowOut(rows, many=True).data)


@reads(
    "referrals",
    "List the pairs that could not be judged",
    "Several judges refused each, with their reasons. Ask others with `resume`, or drop the pair.",
    tag=TAG,
    gives=pages.counted(ReferralOut, "Referral"),
    answer={"count": 1, "next": None, "previous": None, "results": [REFERRAL]},
    pages=BY_NUMBER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def referral_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    return pages.numbered(request, pairs.referred(campaign), ReferralOut, said_referral)


# -- One pair -------------------------------------------------------------------------------------


@reads(
    "pair",
    "Read a pair",
    "All that was said about it, why there are so many judgments, and what comes next.",
    tag=TAG,
    place=PLACE,
    gives=PairDetailOut,
    answer=DETAIL,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def pair(request: Request, slug: str, pair_id: int) -> Response:
    campaign = managed(request, slug)
    return Response(_detail(campaign, pair_id))


def _detail(campaign: Campaign, pair_id: int) -> Fields:
    found = _pair(campaign, pair_id)
    said = said_pair_in_detail(found, pairs.judgments(found), explain.steps(found))
    return dict(PairDetailOut(said).data)


def _pair(campaign: Campaign, pair_id: int) -> Pair:
    rows = pairs.loaded(campaign).select_related("query", "document", "label", "adjudication__by")
    found: Pair = get_object_or_404(rows, pk=pair_id)
    found.campaign = campaign
    return found


# -- Decisions ------------------------------------------------------------------------------------


Do = Callable[[User, int], Any]


@once
def _stepped(request: Request, campaign: Campaign, pair_id: int, do: Do) -> Response:
    checked(NothingIn, request)
    do(person(request), _pair(campaign, pair_id).pk)
    return Response(_detail(campaign, pair_id))


def _decision(name: str, summary: str, text: str) -> Described:
    return writes(
        name,
        summary,
        text,
        tag=TAG,
        place=PLACE,
        takes=NothingIn,
        sent={},
        gives=PairDetailOut,
        answer=DETAIL,
    )


@_decision(
    "pair_drop",
    "Drop a pair",
    "Nobody is asked about it any more. What was judged stays.",
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def drop(request: Request, slug: str, pair_id: int) -> Response:
    return _stepped(request, managed(request, slug), pair_id, routing.drop)


@_decision(
    "pair_resume",
    "Ask about a pair again",
    "One that was dropped, or that judges could not judge.",
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def resume(request: Request, slug: str, pair_id: int) -> Response:
    return _stepped(request, managed(request, slug), pair_id, routing.resume)


# -- Known and final grades: sent again they are the same ----------------------------------------


def _graded(name: str, summary: str, text: str) -> Described:
    return writes(
        name,
        summary,
        text,
        tag=TAG,
        method="PUT",
        place=PLACE,
        takes=GradedIn,
        sent={"grade": 3, "note": "The official page."},
        gives=PairDetailOut,
        answer=DETAIL,
        keyed=False,
    )


def _taken(name: str, summary: str, text: str) -> Described:
    return writes(
        name,
        summary,
        text,
        tag=TAG,
        method="DELETE",
        place=PLACE,
        gives=PairDetailOut,
        answer=DETAIL | {"final": None},
        keyed=False,
    )


@_graded(
    "pair_gold",
    "Make a pair gold",
    "Its grade is known, and it is shown to test judges. The note is shown in training only.",
)
@_taken("pair_ungold", "Make a gold pair ordinary", "The scheme has its say again.")
@api_view(["PUT", "DELETE"])
@permission_classes(needs(tokens.MANAGE))
def gold(request: Request, slug: str, pair_id: int) -> Response:
    campaign = managed(request, slug)
    found = _pair(campaign, pair_id)
    if request.method == "PUT":
        said = checked(GradedIn, request)
        routing.give_gold(person(request), pair_id, said["grade"], said["note"])
    elif found.state == Pair.State.GOLD:
        routing.take_gold(person(request), pair_id)
    return Response(_detail(campaign, pair_id))


@_graded(
    "pair_final",
    "Decide a pair",
    "The final grade, above whatever the judgments add up to. The label follows in a moment.",
)
@_taken(
    "pair_undecide",
    "Withdraw a final grade",
    "The label is again what the judgments add up to.",
)
@api_view(["PUT", "DELETE"])
@permission_classes(needs(tokens.MANAGE))
def final(request: Request, slug: str, pair_id: int) -> Response:
    campaign = managed(request, slug)
    _pair(campaign, pair_id)
    if request.method == "PUT":
        said = checked(GradedIn, request)
        adjudication.decide(person(request), pair_id, said["grade"], said["note"])
    else:
        adjudication.withdraw(person(request), pair_id)
    return Response(_detail(campaign, pair_id))
