"""The judges of a campaign: how they stand, who is new, and what a manager decides about them."""

from collections.abc import Callable
from http import HTTPStatus

from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import campaigns, notes, people, routing, standings, tokens
from annotate.api import pages
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG
from annotate.api.errors import ConflictError
from annotate.api.judge_shapes import (
    JUDGE,
    NOTE,
    JudgeIn,
    JudgeOut,
    LinkOut,
    NoteIn,
    NoteOut,
    PutBackOut,
    StandingIn,
    said_judge,
    said_note,
    said_one,
)
from annotate.api.once import once
from annotate.api.operations import BY_NUMBER, number, reads, writes
from annotate.api.shapes import (
    ALICE,
    TIME,
    NothingIn,
    PersonOut,
    checked,
    form_errors,
    managed,
    said_person,
)
from annotate.forms.campaigns import JudgeForm
from annotate.models import Campaign, Membership, User

TAG = "Judges"
PLACE = (SLUG, number("judge_id", "The judge."))

ACTIONS: dict[str, Callable[[Campaign, User, User], None]] = {
    "exclude": routing.exclude,
    "readmit": routing.readmit,
    "qualify": lambda campaign, judge, by: routing.set_qualified(campaign, judge, by, True),
    "retry": lambda campaign, judge, by: routing.set_qualified(campaign, judge, by, None),
}


def _judge(campaign: Campaign, judge_id: int) -> User:
    here = campaign.memberships.filter(role=Membership.Role.JUDGE).select_related("user")
    return get_object_or_404(here, user=judge_id).user


# -- All ------------------------------------------------------------------------------------------


@reads(
    "judges",
    "List the judges",
    "Who judges in the campaign and how each stands, by name.",
    tag=TAG,
    gives=pages.counted(JudgeOut, "Judge"),
    answer={"count": 1, "next": None, "previous": None, "results": [JUDGE]},
    pages=BY_NUMBER,
)
@writes(
    "judge_add",
    "Add a judge",
    "By the `id` of one of your people, by the address of somebody known, or somebody new by name "
    "or address. A new person signs in by a link: ask for it with `link`.",
    tag=TAG,
    takes=JudgeIn,
    sent={"name": "Alice", "email": "alice@example.org"},
    gives=JudgeOut,
    answer=JUDGE,
    status=201,
)
@api_view(["GET", "POST"])
@permission_classes(needs(tokens.MANAGE))
def judge_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    if request.method == "POST":
        return _add(request, campaign)
    return pages.numbered(request, standings.of_campaign(campaign), JudgeOut, said_judge)


@once
def _add(request: Request, campaign: Campaign) -> Response:
    said = checked(JudgeIn, request)
    if "id" in said:
        known = campaigns.known_people(person(request), campaign)
        judge = known.filter(pk=said["id"]).first() or _judge(campaign, said["id"])
    else:
        form = JudgeForm(said)
        if not form.is_valid():
            raise form_errors(form)
        judge, _ = people.find_or_create(form.cleaned_data["name"], form.cleaned_data["email"])
    campaigns.add_judge(campaign, judge)
    return Response(said_one(campaign, judge), status=HTTPStatus.CREATED)


@reads(
    "people",
    "List the people you may add",
    "Judges of your other campaigns who do not judge in this one.",
    tag=TAG,
    gives=pages.counted(PersonOut, "Person"),
    answer={"count": 1, "next": None, "previous": None, "results": [ALICE]},
    pages=BY_NUMBER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def people_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    known = campaigns.known_people(person(request), campaign)
    return pages.numbered(request, known, PersonOut, said_person)


# -- One ------------------------------------------------------------------------------------------


@reads(
    "judge_detail",
    "Read a judge",
    "How she stands. Her figures are the report `judge-17`.",
    tag=TAG,
    place=PLACE,
    gives=JudgeOut,
    answer=JUDGE,
)
@writes(
    "judge_remove",
    "Remove a judge",
    "She gets no more pairs. What she judged stays, what she holds runs out.",
    tag=TAG,
    method="DELETE",
    place=PLACE,
    gives=None,
    status=204,
    keyed=False,
)
@api_view(["GET", "DELETE"])
@permission_classes(needs(tokens.MANAGE))
def judge(request: Request, slug: str, judge_id: int) -> Response:
    campaign = managed(request, slug)
    found = _judge(campaign, judge_id)
    if request.method == "DELETE":
        campaigns.remove_judge(campaign, found)
        return Response(status=HTTPStatus.NO_CONTENT)
    return Response(said_one(campaign, found))


@writes(
    "judge_standing",
    "Exclude a judge, take her back, or qualify her",
    "From now on; nothing that was judged is changed.",
    tag=TAG,
    place=PLACE,
    takes=StandingIn,
    sent={"action": "exclude"},
    gives=JudgeOut,
    answer=JUDGE | {"excluded_at": TIME},
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def standing(request: Request, slug: str, judge_id: int) -> Response:
    campaign = managed(request, slug)
    return _stand(request, campaign, _judge(campaign, judge_id))


@once
def _stand(request: Request, campaign: Campaign, judge: User) -> Response:
    action = checked(StandingIn, request)["action"]
    ACTIONS[action](campaign, judge, person(request))
    return Response(said_one(campaign, judge))


@writes(
    "judge_put_back",
    "Put the judgments of a judge back",
    "They count no more and stay on record; others are asked instead.",
    tag=TAG,
    place=PLACE,
    takes=NothingIn,
    sent={},
    gives=PutBackOut,
    answer={"judgments": 120},
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def put_back(request: Request, slug: str, judge_id: int) -> Response:
    campaign = managed(request, slug)
    return _put_back(request, campaign, _judge(campaign, judge_id))


@once
def _put_back(request: Request, campaign: Campaign, judge: User) -> Response:
    checked(NothingIn, request)
    moved = routing.put_back(campaign, judge, person(request))
    return Response(PutBackOut({"judgments": moved}).data)


@writes(
    "judge_link",
    "Make a sign-in link for a judge",
    "Whoever has it is that person, once. Only for judges who belong to nobody else. Every call "
    "makes another one, and none is kept.",
    tag=TAG,
    place=PLACE,
    takes=NothingIn,
    sent={},
    gives=LinkOut,
    answer={"address": "https://labels.example.org/link/Xb2k…/"},
    status=201,
    keyed=False,
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def link(request: Request, slug: str, judge_id: int) -> Response:
    campaign = managed(request, slug)
    found = _judge(campaign, judge_id)
    checked(NothingIn, request)
    if not campaigns.may_invite(person(request), found):
        raise ConflictError("She belongs to others too: only they may let her in.")
    path = reverse("sign_in_link", args=[people.sign_in_link(found)])
    said = {"address": request.build_absolute_uri(path)}
    return Response(LinkOut(said).data, status=HTTPStatus.CREATED)


# -- Notes ----------------------------------------------------------------------------------------


@reads(
    "judge_notes",
    "List what a judge was told",
    "The latest first, and whether she has read it.",
    tag=TAG,
    place=PLACE,
    gives=pages.counted(NoteOut, "Note"),
    answer={"count": 1, "next": None, "previous": None, "results": [NOTE]},
    pages=BY_NUMBER,
)
@writes(
    "judge_note",
    "Tell a judge something",
    "She sees it where she judges, until she says that she has read it.",
    tag=TAG,
    place=PLACE,
    takes=NoteIn,
    sent={"text": "Please look at the date of the page."},
    gives=NoteOut,
    answer=NOTE,
    status=201,
)
@api_view(["GET", "POST"])
@permission_classes(needs(tokens.MANAGE))
def note_list(request: Request, slug: str, judge_id: int) -> Response:
    campaign = managed(request, slug)
    found = _judge(campaign, judge_id)
    if request.method == "POST":
        return _tell(request, campaign, found)
    return pages.numbered(request, notes.sent(campaign, found), NoteOut, said_note)


@once
def _tell(request: Request, campaign: Campaign, judge: User) -> Response:
    text = checked(NoteIn, request)["text"]
    note = notes.write(campaign, judge, person(request), text)
    note.refresh_from_db()
    return Response(NoteOut(said_note(note)).data, status=HTTPStatus.CREATED)
