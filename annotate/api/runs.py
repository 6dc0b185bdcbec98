"""Training runs: how each did, which is the champion, and their files."""

from typing import Any

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import model_files, rankers, tokens, training
from annotate.api import pages
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG, problems
from annotate.api.errors import ConflictError
from annotate.api.once import once
from annotate.api.operations import BY_NUMBER, Described, number, reads, writes
from annotate.api.serializers import Fields
from annotate.api.shapes import TIME, NothingIn, checked, managed
from annotate.models import Campaign, TrainingRun
from annotate.quality import Mean

TAG = "Rankers"
UNDER_WAY = (TrainingRun.State.WAITING, TrainingRun.State.RUNNING)
PLACE = (SLUG, number("run", "The number of the run."))
WHAT = OpenApiParameter(
    "what", str, OpenApiParameter.PATH, enum=list(model_files.FILES), description="Which file."
)
KINDS = {"application/octet-stream": OpenApiTypes.BINARY, "application/json": OpenApiTypes.OBJECT}


# -- Shapes ---------------------------------------------------------------------------------------


class MeanOut(serializers.Serializer[Any]):
    mean = serializers.FloatField()
    low = serializers.FloatField(allow_null=True, help_text="Of the 95 per cent interval.")
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Queries.")


class MeasureOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    ranker = MeanOut()
    first_stage = MeanOut()
    gain = serializers.FloatField()
    p = serializers.FloatField(allow_null=True)
    ceiling = serializers.FloatField(allow_null=True, help_text="What these labels allow at most.")


class DuelOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    ranker = serializers.FloatField()
    champion = serializers.FloatField()
    p = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Queries.")


class RunRowOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=TrainingRun.State.choices)
    ranker = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    progress = serializers.FloatField(help_text="0 to 1.")
    judgments = serializers.IntegerField(help_text="Those the labels were made of.")
    is_champion = serializers.BooleanField()
    decision = serializers.CharField(help_text="Why it is or is not the champion; may be empty.")
    message = serializers.CharField()


class RunDetailOut(RunRowOut):
    rows = serializers.IntegerField(help_text="Training rows.")
    train_queries = serializers.IntegerField()
    test_queries = serializers.IntegerField()
    folds = serializers.IntegerField(help_text="0 where held-out queries were enough.")
    model_sha256 = serializers.CharField(help_text="Empty where there is no model.")
    measures = MeasureOut(many=True)
    against_champion = DuelOut(many=True)


RUN: Fields = {
    "number": 4,
    "state": "done",
    "ranker": "lambdamart",
    "created_at": TIME,
    "finished_at": TIME,
    "progress": 1.0,
    "judgments": 512,
    "is_champion": True,
    "decision": "Run 4 is the champion now: it is the first.",
    "message": "",
}
MEAN = {"mean": 0.71, "low": 0.66, "high": 0.75, "n": 60}
RUN_DETAIL: Fields = RUN | {
    "rows": 2400,
    "train_queries": 240,
    "test_queries": 60,
    "folds": 0,
    "model_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "measures": [
        {
            "name": "NDCG@3",
            "ranker": MEAN,
            "first_stage": MEAN | {"mean": 0.62, "low": 0.57, "high": 0.66},
            "gain": 0.09,
            "p": 0.001,
            "ceiling": 0.93,
        }
    ],
    "against_champion": [{"name": "NDCG@3", "ranker": 0.71, "champion": 0.69, "p": 0.04, "n": 60}],
}


def _row(run: TrainingRun) -> Fields:
    names = [name for name in RUN if name != "progress"]
    progress = training.progress(run) if run.state in UNDER_WAY else 1.0
    return {name: getattr(run, name) for name in names} | {"progress": progress}


def _detail(run: TrainingRun) -> Fields:
    names = ("rows", "train_queries", "test_queries", "folds", "model_sha256")
    said = _row(run) | {name: getattr(run, name) for name in names}
    said["measures"] = [_measure(one) for one in rankers.figures(run)]
    said["against_champion"] = [vars(duel) for duel in rankers.duels(run)]
    return dict(RunDetailOut(said).data)


def _measure(one: rankers.Figure) -> Fields:
    return {
        **{name: getattr(one, name) for name in ("name", "gain", "p", "ceiling")},
        "ranker": _mean(one.ranker),
        "first_stage": _mean(one.first_stage),
    }


def _mean(mean: Mean) -> Fields:
    return {name: getattr(mean, name) for name in ("mean", "low", "high", "n")}


# -- Views ----------------------------------------------------------------------------------------


@reads(
    "runs",
    "List the training runs",
    "The newest first.",
    tag=TAG,
    gives=pages.counted(RunRowOut, "Run"),
    answer={"count": 1, "next": None, "previous": None, "results": [RUN]},
    pages=BY_NUMBER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def run_list(request: Request, slug: str) -> Response:
    rows = managed(request, slug).runs.defer("metrics", "recipe")
    return pages.numbered(request, rows, RunRowOut, _row)


@reads(
    "run",
    "Read a training run",
    "How it did on queries it had not seen, against the first stage and the champion of its time.",
    tag=TAG,
    place=PLACE,
    gives=RunDetailOut,
    answer=RUN_DETAIL,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def run(request: Request, slug: str, run: int) -> Response:
    return Response(_detail(_run(managed(request, slug), run)))


def _run(campaign: Campaign, run_number: int) -> TrainingRun:
    return get_object_or_404(campaign.runs.select_related("campaign"), number=run_number)


def _step(name: str, summary: str, text: str) -> Described:
    return writes(
        name,
        summary,
        text,
        tag=TAG,
        place=PLACE,
        takes=NothingIn,
        sent={},
        gives=RunDetailOut,
        answer=RUN_DETAIL,
    )


@_step("run_promote", "Make a run the champion", "It ranks from now on.")
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def promote(request: Request, slug: str, run: int) -> Response:
    return _promote(request, managed(request, slug), run)


@once
def _promote(request: Request, campaign: Campaign, run_number: int) -> Response:
    found = _run(campaign, run_number)
    checked(NothingIn, request)
    training.promote(found, person(request))
    return Response(_detail(_run(campaign, run_number)))


@_step(
    "run_roll_back",
    "Go back to the champion before",
    "From this run, which must be the champion; the answer is the one before it.",
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def roll_back(request: Request, slug: str, run: int) -> Response:
    return _roll_back(request, managed(request, slug), run)


@once
def _roll_back(request: Request, campaign: Campaign, run_number: int) -> Response:
    found = _run(campaign, run_number)
    checked(NothingIn, request)
    if not found.is_champion:
        raise ConflictError(f"Run {found.number} is not the champion.")
    before = training.roll_back(campaign, person(request))
    return Response(_detail(_run(campaign, before.number)))


@_step("run_cancel", "Stop a training run", "A worker that trains it notices in a moment.")
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def cancel(request: Request, slug: str, run: int) -> Response:
    return _cancel(request, managed(request, slug), run)


@once
def _cancel(request: Request, campaign: Campaign, run_number: int) -> Response:
    found = _run(campaign, run_number)
    checked(NothingIn, request)
    if found.state not in UNDER_WAY:
        raise ConflictError(f"Run {found.number} has ended: it is {found.state}.")
    training.cancel(found, person(request))
    return Response(_detail(_run(campaign, run_number)))


@extend_schema(
    operation_id="run_file",
    summary="Take a model out",
    description="`model` as it was saved, `sidecar` with what it was made of, or `elasticsearch` "
    "for the plugins of Elasticsearch and OpenSearch. Scope: manage.",
    tags=[TAG],
    parameters=[*PLACE, WHAT],
    responses={
        **{(200, kind): OpenApiResponse(shape, "The file.") for kind, shape in KINDS.items()},
        **problems(401, 403, 404, 409),
    },
    examples=[
        OpenApiExample(
            "Answer",
            value={"format": 1, "campaign": "library", "run": 4, "ranker": "lambdamart"},
            media_type="application/json",
            response_only=True,
            status_codes=["200"],
        )
    ],
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def file(request: Request, slug: str, run: int, what: str) -> HttpResponseBase:
    found = _run(managed(request, slug), run)
    if what not in model_files.FILES or found.state != TrainingRun.State.DONE:
        raise Http404
    made = model_files.FILES[what](found)
    disposition = f'attachment; filename="{made.name}"'
    return HttpResponse(made.content, made.kind, headers={"Content-Disposition": disposition})
