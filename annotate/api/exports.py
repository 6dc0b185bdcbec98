"""Files out: every export by the name of its file, row by row as the database hands them out."""

from typing import Any

from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import exports, tokens
from annotate.api import asking
from annotate.api.authentication import needs
from annotate.api.described import SLUG, problems
from annotate.api.operations import reads
from annotate.api.shapes import managed

TAG = "Files"
JUDGES = asking.Word("judges", "Names, or pseudonyms of this campaign.", ("names", "pseudonyms"))
LABELS = asking.Word(
    "labels", "For training files, another way from judgments to labels.", exports.LABELS
)
NAME = OpenApiParameter(
    "name", str, OpenApiParameter.PATH, enum=list(exports.EXPORTS), description="Of the file."
)


class ExportOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    words = serializers.CharField(help_text="What it holds.")
    content_type = serializers.CharField()


@reads(
    "exports",
    "List the files that can be taken out",
    "Each with what it holds.",
    tag=TAG,
    gives=ExportOut(many=True),  # type: ignore[arg-type]
    answer={"name": "qrels.txt", "words": "Labels for trec_eval.", "content_type": "text/plain"},
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def export_list(request: Request, slug: str) -> Response:
    managed(request, slug)
    rows = [
        {"name": name, "words": one.words, "content_type": one.content_type}
        for name, one in exports.EXPORTS.items()
    ]
    return Response(ExportOut(rows, many=True).data)


def _types() -> dict[tuple[int, str], OpenApiResponse]:
    """Every kind of file that comes."""
    found = {one.content_type.partition(";")[0] for one in exports.EXPORTS.values()}
    return {
        (200, kind): OpenApiResponse(
            OpenApiTypes.ANY if kind == "application/json" else OpenApiTypes.BINARY, "The file."
        )
        for kind in sorted(found)
    }


@extend_schema(
    operation_id="export",
    summary="Take a file out",
    description="Streamed, however long it is. Scope: manage.",
    tags=[TAG],
    parameters=[SLUG, NAME, *asking.parameters([JUDGES, LABELS])],
    responses={**_types(), **problems(400, 401, 403, 404, 409)},
    examples=[
        OpenApiExample(
            "Answer",
            value="q5 0 csv 3\nq5 0 json 0\n",
            media_type="text/plain",
            response_only=True,
            status_codes=["200"],
        )
    ],
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def export(request: Request, slug: str, name: str) -> HttpResponseBase:
    campaign = managed(request, slug)
    if name not in exports.EXPORTS:
        raise Http404
    pseudonyms = JUDGES.of(request) == "pseudonyms"
    options = exports.Options(pseudonyms=pseudonyms, labels=LABELS.of(request) or "")
    return StreamingHttpResponse(
        exports.stream(name, campaign, options),
        content_type=exports.EXPORTS[name].content_type,
        headers={"Content-Disposition": f'attachment; filename="{campaign.slug}-{name}"'},
    )
