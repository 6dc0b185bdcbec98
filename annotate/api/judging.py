"""What a judge can do: claim, judge, refuse, release, extend, undo, correct."""

import uuid
from http import HTTPStatus
from typing import Any, TypeVar

from django.http import Http404
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import handles, routing, tokens
from annotate.access import judged_campaign, judged_campaigns
from annotate.api import described, offers, serializers
from annotate.api.authentication import needs, person
from annotate.api.errors import ConflictError
from annotate.forms.judging import LARGEST_ID
from annotate.models import Campaign, Judgment, Refusal, Seat
from ranking.grades import Grade

In = TypeVar("In", bound=serializers.Incoming)

#: One judgment is corrected once, so its id is key enough for whoever sends none.
CORRECTION = uuid.UUID("6f0d6f6e-6a0c-4a53-9a0e-3b0b1c6f5d11")

KEY_USED = "This idempotency key was used for another answer. Every answer must have its own."
STALE = "This pair is no longer yours: it went to somebody else meanwhile."


@described.CLAIM
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def claim(request: Request, slug: str) -> Response:
    judge = person(request)
    campaign = judged_campaign(judge, slug)
    if campaign.state == Campaign.State.CLOSED:
        raise ConflictError(routing.why_none(campaign, judge))
    asked = _checked(serializers.ClaimIn, request)
    besides = [handles.seat_id(number) for number in asked.validated_data["besides"]]
    seat = routing.claim(campaign, judge, besides)
    found = offers.offer(seat) if seat else offers.none(routing.why_none(campaign, judge))
    return Response(serializers.OfferOut(found).data)


# -- Seats ----------------------------------------------------------------------------------------


@described.JUDGMENT
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def judgment(request: Request, seat_id: int) -> Response:
    judge, seat = person(request), _seat(request, seat_id)
    asked = _checked(serializers.JudgmentIn, request)
    token = asked.validated_data["token"]
    answer = _answer(asked, default_key=token)
    again = Judgment.objects.filter(judge=judge, key=answer.key).exists()
    saved = routing.submit(judge, seat.pk, token, answer)
    if saved.seat_id != seat.pk or saved.grade != answer.grade or (again and _held(seat, token)):
        raise ConflictError(KEY_USED)
    said = {"saved": _said(saved), "next": offers.following(seat.campaign, judge)}
    status = HTTPStatus.OK if again else HTTPStatus.CREATED
    return Response(serializers.JudgedOut(said).data, status=status)


@described.REFUSE
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def refuse(request: Request, seat_id: int) -> Response:
    judge, seat = person(request), _seat(request, seat_id)
    asked = _checked(serializers.RefusalIn, request).validated_data
    reason = Refusal.Reason(asked["reason"])
    try:
        routing.refuse(judge, seat.pk, asked["token"], reason, asked["text"])
    except routing.StaleSeatError:
        # The same refusal sent again finds the pair refused already.
        if not Refusal.objects.filter(pair=seat.pair_id, judge=judge).exists():
            raise
    said = {"next": offers.following(seat.campaign, judge)}
    return Response(serializers.RefusedOut(said).data)


@described.RELEASE
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def release(request: Request, seat_id: int) -> Response:
    seat = _seat(request, seat_id)
    asked = _checked(serializers.SeatTokenIn, request).validated_data
    routing.release(person(request), seat.pk, asked["token"])
    return Response(status=HTTPStatus.NO_CONTENT)


@described.EXTEND
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def extend(request: Request, seat_id: int) -> Response:
    seat = _seat(request, seat_id)
    asked = _checked(serializers.SeatTokenIn, request).validated_data
    if not routing.extend(person(request), seat.pk, asked["token"]):
        raise ConflictError(STALE)
    said = {"leased_until": offers.leased_until(seat.pk)}
    return Response(serializers.LeaseOut(said).data)


# -- Judgments ------------------------------------------------------------------------------------


@described.UNDO
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def undo(request: Request, judgment_id: int) -> Response:
    judge, old = person(request), _judgment(request, judgment_id)
    seat = _taken_back(old) or routing.take_back(judge, old.pk)
    return Response(serializers.OfferOut(offers.offer(seat)).data)


@described.CORRECT
@api_view(["POST"])
@permission_classes(needs(tokens.JUDGE))
def correct(request: Request, judgment_id: int) -> Response:
    judge, old = person(request), _judgment(request, judgment_id)
    asked = _checked(serializers.AnswerIn, request)
    answer = _answer(asked, default_key=uuid.uuid5(CORRECTION, str(old.pk)))
    saved = routing.correct(judge, old.pk, answer)
    if saved.supersedes_id != old.pk or saved.grade != answer.grade:
        raise ConflictError(KEY_USED)
    return Response(serializers.CorrectedOut({"saved": _said(saved)}).data)


# -- What they share ------------------------------------------------------------------------------


def _checked(kind: type[In], request: Request) -> In:
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    return asked


def _seat(request: Request, seat_id: int) -> Seat:
    """A seat of a campaign she judges. Whether it is still hers is the router's to say."""
    mine = Seat.objects.filter(campaign__in=judged_campaigns(person(request)))
    seat = mine.select_related("campaign").filter(pk=handles.seat_id(seat_id)).first()
    if seat is None:
        raise Http404
    return seat


def _judgment(request: Request, judgment_id: int) -> Judgment:
    """A judgment of her own, in a campaign she still judges."""
    judge = person(request)
    mine = judge.judgments.filter(pair__campaign__in=judged_campaigns(judge), grade__isnull=False)
    found = judgment_id <= LARGEST_ID and mine.filter(pk=judgment_id).first()
    if not found:
        raise Http404
    return found


def _answer(asked: serializers.AnswerIn, default_key: uuid.UUID) -> routing.Answer:
    said = asked.validated_data
    key = said.get("idempotency_key") or default_key
    return routing.Answer(said["grade"], key, said["comment"], asked.active_ms)


def _held(seat: Seat, token: uuid.UUID) -> bool:
    """Still open after an answer: what came was the key of a judgment that was taken back."""
    return Seat.objects.filter(pk=seat.pk, token=token, state=Seat.State.OPEN).exists()


def _taken_back(old: Judgment) -> Seat | None:
    """The seat she got back when this judgment was undone before: the undo was sent again."""
    undone = Judgment.objects.filter(supersedes=old, grade__isnull=True, made_by__isnull=True)
    held = Seat.objects.filter(pk=old.seat_id, judge=old.judge_id, state=Seat.State.OPEN)
    found = held.filter(judgments__in=undone, token__isnull=False)
    return found.select_related("pair__query", "pair__document").first()


def _said(saved: Judgment) -> dict[str, Any]:
    grade = Grade(saved.grade or 0)
    return {"id": saved.pk, "grade": grade, "word": grade.word}
