"""Background work of a campaign, and the history of all that was decided."""

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import jobs, tokens
from annotate.api import asking, pages
from annotate.api.authentication import needs
from annotate.api.described import SLUG
from annotate.api.errors import ConflictError
from annotate.api.once import once
from annotate.api.operations import BY_ROW, Described, number, reads, writes
from annotate.api.serializers import Fields
from annotate.api.shapes import DANA, TIME, NothingIn, PersonOut, checked, managed, said_person
from annotate.models import Campaign, Event, Job

TAG = "Work"
PLACE = (SLUG, number("job_id", "The job."))
STATE = asking.Word("state", "Only in this state.", tuple(Job.State.values))
PAIR = asking.Number("pair", "Only about this pair, by its `id`.")


class JobOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.CharField()
    state = serializers.ChoiceField(choices=Job.State.choices)
    progress = serializers.FloatField(help_text="0 to 1.")
    message = serializers.CharField()
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class EventOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    by = PersonOut(allow_null=True, help_text="Null where it happened by itself.")
    pair = serializers.IntegerField(allow_null=True)
    sentence = serializers.CharField()


JOB: Fields = {
    "id": 12,
    "kind": "aggregate",
    "state": "done",
    "progress": 1.0,
    "message": "120 labels.",
    "attempts": 1,
    "created_at": TIME,
    "due_at": TIME,
    "started_at": TIME,
    "finished_at": TIME,
}
EVENT: Fields = {
    "id": 31,
    "at": TIME,
    "by": DANA,
    "pair": None,
    "sentence": "The campaign is open now.",
}


@reads(
    "jobs",
    "List the jobs",
    "Background work, the newest first: what runs, what waits, what failed.",
    tag=TAG,
    gives=pages.ongoing(JobOut, "Job"),
    answer={"next": None, "results": [JOB]},
    filters=[STATE],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def job_list(request: Request, slug: str) -> Response:
    found = managed(request, slug).jobs.filter(**asking.chosen(request, [(STATE, "state")]))
    rows, following = pages.following(request, found, newest_first=True)
    return pages.walked(JobOut, rows, following)


def _change(name: str, summary: str, text: str) -> Described:
    return writes(
        name,
        summary,
        text,
        tag=TAG,
        place=PLACE,
        takes=NothingIn,
        sent={},
        gives=JobOut,
        answer=JOB,
    )


@_change("job_retry", "Try a failed job again", "It is due at once.")
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def retry(request: Request, slug: str, job_id: int) -> Response:
    words = "Only a failed job is tried again, and not while the same work is due."
    return _changed(request, managed(request, slug), job_id, (jobs.retry, words))


@_change("job_cancel", "Stop a job", "A worker that runs it notices in a moment.")
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def cancel(request: Request, slug: str, job_id: int) -> Response:
    words = "The job had ended."
    return _changed(request, managed(request, slug), job_id, (jobs.cancel, words))


@once
def _changed(
    request: Request, campaign: Campaign, job_id: int, step: tuple[Callable[[Job], bool], str]
) -> Response:
    job = get_object_or_404(campaign.jobs, pk=job_id)
    checked(NothingIn, request)
    do, otherwise = step
    if not do(job):
        raise ConflictError(otherwise)
    job.refresh_from_db()
    return Response(JobOut(job).data)


@reads(
    "events",
    "Read the history",
    "Who decided what and when, the latest first.",
    tag=TAG,
    gives=pages.ongoing(EventOut, "Event"),
    answer={"next": None, "results": [EVENT]},
    filters=[PAIR],
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def event_list(request: Request, slug: str) -> Response:
    found = managed(request, slug).events.filter(**asking.chosen(request, [(PAIR, "pair")]))
    rows, following = pages.following(request, found.select_related("actor"), newest_first=True)
    return pages.walked(EventOut, map(_event, rows), following)


def _event(event: Event) -> Fields:
    return {
        "id": event.pk,
        "at": event.created_at,
        "by": said_person(event.actor),
        "pair": event.pair_id,
        "sentence": event.sentence,
    }
