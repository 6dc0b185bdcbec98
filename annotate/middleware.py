"""What goes for every request: headers, the language, how much may come at most."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import translation

from annotate.policy import POLICY

#: Pages for managers and programs have one language; half a translation is worse than none.
ENGLISH = ("/admin/", "/api/", "/campaigns/", "/tokens/")

#: What a form has besides its file.
FORM_BYTES = 1024 * 1024


def security_headers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """A strict policy: no inline script or style, nothing from elsewhere, no framing."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware


def nothing_too_large(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """What is said to be larger than any file may be is refused before a byte of it is read.

    Nobody reads more than was announced, so this is the limit for all that comes. Later would be
    too late: whoever looks at a form has the whole of it written to the disk first.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length) > settings.UPLOAD_MAX_BYTES + FORM_BYTES:
            return _too_large(request)
        return get_response(request)

    return middleware


def _too_large(request: HttpRequest) -> HttpResponse:
    most = f"{settings.UPLOAD_MAX_BYTES / 2**20:.0f} MB"
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if not request.path.startswith("/api/"):
        return render(request, "413.html", {"most": most}, status=status)
    detail = f"A file must have at most {most}. What was announced is more."
    problem = {"type": "about:blank", "title": status.phrase, "status": status, "detail": detail}
    return JsonResponse(problem, status=status, content_type="application/problem+json")


def english_where_not_translated(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """After the language was chosen: judges' pages keep it, the others are English throughout."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith(ENGLISH):
            translation.activate("en")
        return get_response(request)

    return middleware
