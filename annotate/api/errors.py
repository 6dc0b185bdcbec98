"""Every error as problem details (RFC 9457), so that programs read one shape only."""

import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.db import OperationalError
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotate.adjudication import AdjudicationError
from annotate.campaigns import CampaignError
from annotate.exports import ExportRefusedError
from annotate.gold_files import GoldRefusedError
from annotate.imports import BusyError
from annotate.keys import KeysError
from annotate.people import PeopleError
from annotate.replies import KeyUsedError
from annotate.routing import RoutingError
from annotate.training import ModelError, TrainingError

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
LONGEST_ECHO = 200
BUSY = "The database does not answer now. Nothing was saved; send the same again in a moment."


#: What the modules say when a step cannot be taken, in sentences for whoever wanted it.
REFUSALS = (
    *(AdjudicationError, BusyError, CampaignError, ExportRefusedError, KeysError, ModelError),
    *(PeopleError, RoutingError, TrainingError),
)
MOST_LINES = 50


class ConflictError(APIException):
    """What is asked does not fit what is there."""

    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """The framework's exception handler. None lets a defect through to the server's log."""
    if isinstance(error, REFUSALS):
        error = ConflictError(str(error))
    if isinstance(error, KeyUsedError):
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    if isinstance(error, GoldRefusedError):
        return _lines(error)
    if isinstance(error, OperationalError):
        log.error("The database did not answer.", exc_info=error)
        answer = problem(HTTPStatus.SERVICE_UNAVAILABLE, BUSY)
        answer["Retry-After"] = "1"
        return answer
    known = exception_handler(error, context)
    if known is None:
        return None
    answer = _of(error, known)
    for name in ("WWW-Authenticate", "Allow", "Retry-After"):
        if name in known.headers:
            answer[name] = known.headers[name]
    return answer


def _of(error: Exception, known: Response) -> Response:
    status = HTTPStatus(known.status_code)
    if isinstance(error, ValidationError):
        found = [
            {"field": _clean(name), "detail": _clean(text)} for name, text in _flat(error.detail)
        ]
        detail = " ".join(f"{one['field']}: {one['detail']}" for one in found)
        return problem(status, detail, errors=found)
    if status == HTTPStatus.NOT_FOUND and not isinstance(error, APIException):
        return problem(status, "There is nothing here for you.")
    return problem(status, _clean(str(known.data.get("detail", status.description))))


def _lines(error: GoldRefusedError) -> Response:
    """A file that cannot be taken: its bad lines, or the first of very many."""
    found = [
        {"field": f"line {bad.line}", "detail": _clean(bad.reason)}
        for bad in error.problems[:MOST_LINES]
    ]
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), errors=found)


def problem(status: HTTPStatus, detail: str, **more: Any) -> Response:
    """An answer that says what is wrong."""
    body = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail}
    return Response(body | more, status=status, content_type=MEDIA_TYPE)


def _flat(detail: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Each message with the field it is about: ``besides.0`` is the first of ``besides``."""
    if isinstance(detail, dict):
        for key, inner in detail.items():
            inside = "" if key == "non_field_errors" else str(key)
            yield from _flat(inner, ".".join(filter(None, (name, inside))))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _flat(inner, name)
    else:
        yield name or "body", str(detail)


def _clean(text: str) -> str:
    """Messages may quote what came: half a character cannot be sent back, nor all of a novel."""
    text = text.encode(errors="replace").decode()
    return text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}… and so on."
