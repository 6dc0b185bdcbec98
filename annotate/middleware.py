"""Headers that every answer carries, and the language it is in."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation

from annotate.policy import POLICY

#: Pages for managers and programs have one language; half a translation is worse than none.
ENGLISH = ("/admin/", "/api/", "/campaigns/", "/tokens/")


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


def english_where_not_translated(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """After the language was chosen: judges' pages keep it, the others are English throughout."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith(ENGLISH):
            translation.activate("en")
        return get_response(request)

    return middleware
