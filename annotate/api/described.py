"""What the schema says of each operation: a sentence, its errors, an example."""

from typing import Any

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
)
from rest_framework.serializers import Serializer

from annotate.api import serializers
from annotate.api.errors import MEDIA_TYPE
from annotate.api.pages import PAGE as PAGE_NUMBER
from annotate.api.pages import Pages

TOKEN = "0b9a4d9e-5a3b-4b0c-9d1e-2f3a4b5c6d7e"  # noqa: S105  # an example
OFFER: dict[str, Any] = {
    "seat": {"id": 17, "token": TOKEN, "leased_until": "2031-05-06T10:15:00Z"},
    "pair": {
        "query": "read a csv file",
        "intent": "",
        "locale": "en",
        "title": "csv — CSV file reading and writing",
        "url": "https://docs.python.org/3/library/csv.html",
        "snippet": "Read and write tabular data in CSV format.",
        "text": "",
        "words": 0,
        "cut": False,
        "before": None,
    },
    "reason": None,
}
SAVED = {"id": 42, "grade": 3, "word": "Excellent"}

PROBLEMS = {
    400: "Something that was sent is wrong; `errors` names the fields.",
    401: "No token, or one that is wrong, expired or revoked.",
    403: "The token lacks the scope.",
    404: "There is no such thing, or it is not yours.",
    409: "It cannot be done as things are now; `detail` says why.",
    413: "The body is too large.",
    415: "The body is not of the type that is wanted.",
    422: "The key came before with another body, or a file cannot be taken.",
    503: "The database does not answer; nothing was saved, send the same again.",
}


def problems(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    return {
        (status, MEDIA_TYPE): OpenApiResponse(serializers.ProblemOut, PROBLEMS[status])
        for status in statuses
    }


def answer(shape: type[Serializer[Any]], text: str) -> OpenApiResponse:
    return OpenApiResponse(shape, text)


def closed_shapes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: what comes in has no field but those named, and no NUL in text."""
    for name, shape in result["components"]["schemas"].items():
        if name.endswith("In"):
            shape["additionalProperties"] = False
            for field in shape.get("properties", {}).values():
                if "maxLength" in field:
                    field.setdefault("pattern", r"^[^\u0000]*$")
    return result


def example(value: Any, *, request: bool = False) -> OpenApiExample:
    name = "Request" if request else "Answer"
    statuses = None if request else ["200", "201", "202"]
    return OpenApiExample(
        name, value=value, request_only=request, response_only=not request, status_codes=statuses
    )


POSITIVE = {"type": "integer", "format": "int64", "minimum": 1}


def _number(name: str, what: str) -> OpenApiParameter:
    return OpenApiParameter(name, POSITIVE, OpenApiParameter.PATH, description=what)


SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    OpenApiParameter.PATH,
    description="The campaign, as in its address.",
)
SEAT = _number("seat_id", "The seat, from a claim.")
JUDGMENT_ID = _number("judgment_id", "The judgment, from `saved`.")
PAGE = [
    PAGE_NUMBER.parameter,
    OpenApiParameter(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": Pages.max_page_size},
        description=f"{Pages.page_size} if not said.",
    ),
]
BODY_ERRORS = problems(400, 401, 403, 404, 409, 413, 415)

CAMPAIGNS = extend_schema(
    methods=["GET"],
    operation_id="campaigns",
    summary="List your campaigns",
    description="Those you judge in or manage, the newest first. Scope: judge or manage.",
    tags=["Campaigns"],
    parameters=PAGE,
    responses={
        200: answer(serializers.CampaignPageOut, "A page of them."),
        **problems(400, 401, 403, 404),
    },
    examples=[
        example(
            {
                "count": 1,
                "next": None,
                "previous": None,
                "results": [
                    {"slug": "library", "name": "Library", "state": "open", "roles": ["judge"]}
                ],
            }
        )
    ],
)
CLAIM = extend_schema(
    operation_id="claim",
    summary="Get a pair to judge",
    description="Leases a seat to you and shows its pair. A seat you hold already comes first, so "
    "asking twice gives the same one. Without a pair, `reason` says why. Scope: judge.",
    tags=["Judging"],
    parameters=[SLUG],
    request=serializers.ClaimIn,
    responses={200: answer(serializers.OfferOut, "A pair, or why there is none."), **BODY_ERRORS},
    examples=[example({}, request=True), example(OFFER)],
)
JUDGMENT = extend_schema(
    operation_id="judge",
    summary="Grade the pair",
    description="Saves one judgment and answers with the next pair. The same key any number of "
    "times is one judgment: 201 the first time, 200 after that. Scope: judge.",
    tags=["Judging"],
    parameters=[SEAT],
    request=serializers.JudgmentIn,
    responses={
        201: answer(serializers.JudgedOut, "Saved."),
        200: answer(serializers.JudgedOut, "Saved before, by the same key."),
        **BODY_ERRORS,
    },
    examples=[
        example({"token": TOKEN, "grade": 3, "active_seconds": 6.5}, request=True),
        example({"saved": SAVED, "next": OFFER}),
    ],
)
REFUSE = extend_schema(
    operation_id="refuse",
    summary="Say that you cannot judge the pair",
    description="Somebody else is asked; you are not asked about this pair again. Scope: judge.",
    tags=["Judging"],
    parameters=[SEAT],
    request=serializers.RefusalIn,
    responses={200: answer(serializers.RefusedOut, "Refused."), **BODY_ERRORS},
    examples=[
        example({"token": TOKEN, "reason": "not-loaded"}, request=True),
        example({"next": OFFER}),
    ],
)
RELEASE = extend_schema(
    operation_id="release",
    summary="Give the seat back",
    description="It is free for others at once. A seat that is no longer yours stays as it is. "
    "Scope: judge.",
    tags=["Judging"],
    parameters=[SEAT],
    request=serializers.SeatTokenIn,
    responses={204: OpenApiResponse(None, "Given back."), **problems(400, 401, 403, 404, 413, 415)},
    examples=[example({"token": TOKEN}, request=True)],
)
EXTEND = extend_schema(
    operation_id="extend",
    summary="Keep the seat for longer",
    description="The lease begins anew. Scope: judge.",
    tags=["Judging"],
    parameters=[SEAT],
    request=serializers.SeatTokenIn,
    responses={200: answer(serializers.LeaseOut, "Extended."), **BODY_ERRORS},
    examples=[
        example({"token": TOKEN}, request=True),
        example({"leased_until": "2031-05-06T10:30:00Z"}),
    ],
)
UNDO = extend_schema(
    operation_id="undo",
    summary="Take a judgment back",
    description="One of your latest twenty. You get its pair to judge again. Scope: judge.",
    tags=["Judging"],
    parameters=[JUDGMENT_ID],
    request=None,
    responses={
        200: answer(serializers.OfferOut, "Taken back; the pair is yours."),
        **problems(401, 403, 404, 409),
    },
    examples=[example(OFFER | {"pair": OFFER["pair"] | {"before": 3}})],
)
CORRECT = extend_schema(
    operation_id="correct",
    summary="Change the grade of a judgment",
    description="One of your latest twenty. The new judgment has an id of its own. Scope: judge.",
    tags=["Judging"],
    parameters=[JUDGMENT_ID],
    request=serializers.AnswerIn,
    responses={200: answer(serializers.CorrectedOut, "Saved."), **BODY_ERRORS},
    examples=[example({"grade": 3}, request=True), example({"saved": SAVED})],
)
