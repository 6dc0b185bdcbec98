"""The figures of the dashboard for programs: what every chart draws."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import reporting, tokens
from annotate.access import managed_campaign
from annotate.api import described
from annotate.api.authentication import needs, person
from annotate.figures import Figure


class FigureOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField(help_text="What it is, with its n.")
    columns = serializers.ListField(
        child=serializers.CharField(), help_text="The keys of the rows, as in the CSV."
    )
    rows = serializers.ListField(
        child=serializers.DictField(child=serializers.JSONField()),
        help_text="Numbers as they are; what does not exist is null.",
    )


class ReportOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    made_at = serializers.DateTimeField(
        allow_null=True, help_text="When they were reckoned; null before the first time."
    )
    figures = FigureOut(many=True)


KIND = OpenApiParameter(
    "kind",
    {"type": "string", "pattern": "^[-a-z0-9]+$"},
    OpenApiParameter.PATH,
    description=f"One of {', '.join(reporting.FIGURES)}; or `judge-17` for one judge.",
)


@extend_schema(
    operation_id="report",
    summary="Read the figures of a page",
    description="What every chart of one page of the dashboard draws. Scope: manage.",
    tags=["Campaigns"],
    parameters=[described.SLUG, KIND],
    responses={
        200: described.answer(ReportOut, "The figures."),
        **described.problems(401, 403, 404),
    },
    examples=[
        described.example(
            {
                "kind": "overview",
                "made_at": "2031-05-06T10:15:00Z",
                "figures": [
                    {
                        "name": "grades",
                        "title": "Grades",
                        "about": "All judgments that count now, n = 145.",
                        "columns": ["name", "count", "share"],
                        "rows": [{"grade": 4, "name": "Perfect", "count": 12, "share": 0.083}],
                    }
                ],
            }
        )
    ],
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def report(request: Request, slug: str, kind: str) -> Response:
    campaign = managed_campaign(person(request), slug)
    found = reporting.figures(campaign, kind)
    if found is None:
        raise Http404("There is no such report.")
    said = {
        "kind": kind,
        "made_at": reporting.made_at(campaign, kind),
        "figures": [_figure(figure) for figure in found],
    }
    return Response(ReportOut(said).data)


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "about": figure.about,
        "columns": [key for column in figure.columns for key in column.keys],
        "rows": figure.rows,
    }
