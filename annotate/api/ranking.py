"""What a program can do with rankers: have one trained, and rank with the champion."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import scoring, tokens, training
from annotate.access import managed_campaign
from annotate.api import described
from annotate.api.authentication import needs, person
from annotate.api.errors import ConflictError
from annotate.api.fields import NumberField, TextField, WordsField
from annotate.api.once import KEY, once
from annotate.api.parsing import LongParser
from annotate.api.serializers import Incoming
from annotate.models import Campaign, TrainingRun
from annotate.scoring import Candidate
from ranking.rankers import RANKERS
from ranking.text import TextDocument

MOST_CANDIDATES = 1000
MOST_FEATURES = 5000
LONGEST_TEXT = 100_000


# -- Shapes ---------------------------------------------------------------------------------------


def _text(longest: int = LONGEST_TEXT) -> TextField:
    return TextField(default="", allow_blank=True, max_length=longest, trim_whitespace=False)


class CandidateIn(Incoming):
    id = WordsField(max_length=2048, trim_whitespace=False, help_text="What you call the document.")
    features = serializers.ListField(
        child=NumberField(),
        default=list,
        max_length=MOST_FEATURES,
        help_text="In the order of the champion's features.",
    )
    url = _text(2048)
    title = _text(1000)
    snippet = _text()
    text = _text()
    rank = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Its place in the first stage, 1 is first.",
    )


class RankIn(Incoming):
    query = TextField(max_length=2000, allow_blank=True)
    candidates = serializers.ListField(child=CandidateIn(), max_length=MOST_CANDIDATES)


class RankedOut(serializers.Serializer[Any]):
    place = serializers.IntegerField(help_text="1 is best.")
    id = serializers.CharField()
    score = serializers.FloatField(help_text="Only the order within a query has a meaning.")


class RankOut(serializers.Serializer[Any]):
    run = serializers.IntegerField(help_text="The champion's number.")
    ranker = serializers.CharField()
    ranked = RankedOut(many=True)


class TrainIn(Incoming):
    ranker = serializers.ChoiceField(
        choices=sorted(RANKERS), default="", help_text="Instead of the campaign's own."
    )


class RunOut(serializers.Serializer[Any]):
    run = serializers.IntegerField(help_text="Its number.")
    state = serializers.CharField()
    ranker = serializers.CharField()


# -- Views ----------------------------------------------------------------------------------------


@extend_schema(
    operation_id="rank",
    summary="Rank the candidates of a query",
    description="Scores feature vectors, or texts where the champion was trained on texts, and "
    "answers with the best first. Equal scores stay in the order sent. Scope: manage.",
    tags=["Rankers"],
    parameters=[described.SLUG],
    request=RankIn,
    responses={200: described.answer(RankOut, "The order."), **described.BODY_ERRORS},
    examples=[
        described.example(
            {
                "query": "read a csv file",
                "candidates": [
                    {"id": "a", "title": "json — JSON encoder and decoder"},
                    {"id": "b", "title": "csv — CSV file reading and writing"},
                ],
            },
            request=True,
        ),
        described.example(
            {
                "run": 3,
                "ranker": "lambdamart",
                "ranked": [
                    {"place": 1, "id": "b", "score": 1.7},
                    {"place": 2, "id": "a", "score": -0.4},
                ],
            }
        ),
    ],
)
@api_view(["POST"])
@parser_classes([LongParser])
@permission_classes(needs(tokens.MANAGE))
def rank(request: Request, slug: str) -> Response:
    campaign = managed_campaign(person(request), slug)
    asked = RankIn(data=request.data)
    asked.is_valid(raise_exception=True)
    candidates = [_candidate(one) for one in asked.validated_data["candidates"]]
    try:
        run, ranked = scoring.rank(campaign, asked.validated_data["query"], candidates)
    except scoring.ScoringError as error:
        raise ConflictError(str(error)) from None
    rows = [{"place": one.place, "id": one.name, "score": one.score} for one in ranked]
    said = {"run": run.number, "ranker": run.ranker, "ranked": rows}
    return Response(RankOut(said).data)


def _candidate(fields: dict[str, Any]) -> Candidate:
    texts = (fields[name] for name in ("url", "title", "snippet", "text"))
    return Candidate(fields["id"], fields["features"], TextDocument(*texts), fields["rank"])


@extend_schema(
    operation_id="train",
    summary="Have a ranker trained",
    description="Asks for a training run on the labels there are now. Scope: manage.",
    tags=["Rankers"],
    parameters=[described.SLUG, KEY],
    request=TrainIn,
    responses={
        202: described.answer(RunOut, "On its way."),
        **described.BODY_ERRORS,
        **described.problems(422),
    },
    examples=[
        described.example({"ranker": "lambdamart"}, request=True),
        described.example({"run": 4, "state": "waiting", "ranker": "lambdamart"}),
    ],
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def train(request: Request, slug: str) -> Response:
    return _train(request, managed_campaign(person(request), slug))


@once
def _train(request: Request, campaign: Campaign) -> Response:
    asked = TrainIn(data=request.data)
    asked.is_valid(raise_exception=True)
    run = training.request(campaign, asked.validated_data["ranker"])
    return Response(_said(run), status=HTTPStatus.ACCEPTED)


def _said(run: TrainingRun) -> dict[str, Any]:
    said: dict[str, Any] = dict(
        RunOut({"run": run.number, "state": run.state, "ranker": run.ranker}).data
    )
    return said
