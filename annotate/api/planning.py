"""What a program can ask the planner: the same as a manager on its page."""

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import planner, planner_figures, tokens
from annotate.access import managed_campaign
from annotate.api import described
from annotate.api.authentication import needs, person
from annotate.api.fields import NumberField, TextField
from annotate.api.serializers import Incoming
from annotate.models import User
from annotate.planner import Ask, Grades, Judges, PlanError

LEVELS = 5


class PlanIn(Incoming):
    budget = serializers.IntegerField(
        min_value=1, max_value=planner.MOST_JUDGMENTS, help_text="In judgments."
    )
    queries = serializers.IntegerField(min_value=1, max_value=planner.MOST_QUERIES)
    documents = serializers.IntegerField(
        min_value=1, max_value=planner.MOST_DOCUMENTS, help_text="Found for each query."
    )
    price = NumberField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=100_000,
        help_text="Of a judgment; without it the answer has no money.",
    )
    grades = serializers.ChoiceField(choices=sorted(planner.GRADES), default="web")
    shares = serializers.ListField(
        child=NumberField(min_value=0, max_value=1e9),
        default=list,
        max_length=LEVELS,
        help_text="Of the grades, Bad to Perfect, instead of `grades`.",
    )
    judges = serializers.ChoiceField(choices=sorted(planner.JUDGES), default="crowd")
    campaign = TextField(
        default="",
        allow_blank=True,
        max_length=60,
        help_text="One you manage: grades and judges as measured in it.",
    )
    k = serializers.IntegerField(
        default=3, min_value=1, max_value=10, help_text="Where NDCG is measured."
    )
    halving = NumberField(
        default=0.02,
        min_value=0,
        max_value=0.5,
        help_text="The NDCG that half of the queries is taken to cost.",
    )
    shallowing = NumberField(
        default=0.01,
        min_value=0,
        max_value=0.5,
        help_text="The NDCG that half of the documents is taken to cost.",
    )


class PlanOptionOut(serializers.Serializer[Any]):
    scheme = serializers.CharField()
    queries = serializers.IntegerField()
    depth = serializers.IntegerField(help_text="Documents judged of each query.")
    judgments = serializers.IntegerField(help_text="Expected.")
    low = serializers.IntegerField(help_text="Of the 95 % interval.")
    high = serializers.IntegerField()
    money = serializers.FloatField(allow_null=True)
    per_pair = serializers.FloatField()
    ceiling = serializers.FloatField(help_text="The best NDCG a ranker can be seen to reach.")
    worth = serializers.FloatField(help_text="The ceiling less what is dropped.")
    gain = serializers.FloatField(
        allow_null=True, help_text="Of the ceiling per 1,000 judgments beyond the first of a pair."
    )


class PlanRecommendedOut(PlanOptionOut):
    pairs = serializers.IntegerField()


class PlanStepOut(PlanOptionOut):
    budget = serializers.IntegerField()


class PlanGradesOut(serializers.Serializer[Any]):
    words = serializers.CharField()
    shares = serializers.ListField(child=serializers.FloatField())


class PlanJudgesOut(serializers.Serializer[Any]):
    words = serializers.CharField()
    confusion = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Row by row: how a judge grades what is truly Bad … Perfect.",
    )


class PlanOut(serializers.Serializer[Any]):
    recommended = PlanRecommendedOut()
    alternatives = PlanOptionOut(many=True)
    frontier = PlanStepOut(many=True)
    grades = PlanGradesOut()
    judges = PlanJudgesOut()


_OPTION = {
    "scheme": "if-good-3",
    "queries": 200,
    "depth": 8,
    "judgments": 2925,
    "low": 2858,
    "high": 2991,
    "money": None,
    "per_pair": 1.828,
    "ceiling": 0.72,
    "worth": 0.69,
    "gain": 0.12,
}


@extend_schema(
    operation_id="plan",
    summary="Plan a budget",
    description="How many queries to judge, how deep and by which scheme, with what it costs and "
    "what it leaves to gain; the best first. Scope: manage.",
    tags=["Campaigns"],
    request=PlanIn,
    responses={200: described.answer(PlanOut, "The plan."), **described.BODY_ERRORS},
    examples=[
        described.example({"budget": 3000, "queries": 200, "documents": 50}, request=True),
        described.example(
            {
                "recommended": _OPTION | {"pairs": 1600},
                "alternatives": [_OPTION],
                "frontier": [_OPTION | {"budget": 3000}],
                "grades": {"words": "Web search", "shares": [0.54, 0.3, 0.13, 0.02, 0.01]},
                "judges": {"words": "Crowd", "confusion": [[1, 0, 0, 0, 0]]},
            }
        ),
    ],
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def plan(request: Request) -> Response:
    shape = PlanIn(data=request.data)
    shape.is_valid(raise_exception=True)
    try:
        made = planner.work_out(_ask(shape.validated_data, person(request)))
    except PlanError as error:
        raise serializers.ValidationError(str(error)) from None
    return Response(PlanOut(planner_figures.as_json(made)).data)


def _ask(sent: dict[str, Any], user: User) -> Ask:
    grades, judges = _known(sent, user)
    return Ask(
        budget=sent["budget"],
        queries=sent["queries"],
        documents=sent["documents"],
        grades=planner.own_grades(sent["shares"]) if sent["shares"] else grades,
        judges=judges,
        k=sent["k"],
        halving=sent["halving"],
        shallowing=sent["shallowing"],
        price=None if sent["price"] is None else Decimal(str(sent["price"])),
    )


def _known(sent: dict[str, Any], user: User) -> tuple[Grades, Judges]:
    if sent["campaign"]:
        return planner.pilot(managed_campaign(user, sent["campaign"]))
    return planner.grades(sent["grades"]), planner.judges(sent["judges"])
