"""Idempotency keys: a write that is sent again has one effect and one answer."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import replies
from annotate.api.authentication import person

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST = 255

KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "pattern": f"^[!-~]{{1,{LONGEST}}}$"},
    OpenApiParameter.HEADER,
    description=f"Text of yours. The same again within {replies.KEEP_HOURS} hours is done once.",
)

P = ParamSpec("P")
View = Callable[Concatenate[Request, P], Response]


def once(view: View[P]) -> View[P]:
    """For a view that writes. Without a key it is called as it is."""

    @wraps(view)
    def guarded(request: Request, /, *args: P.args, **kwargs: P.kwargs) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return view(request, *args, **kwargs)
        _require_sound(key)
        asked = replies.Asked(_digest(request.method, request.path, key), _body(request))

        def do() -> tuple[int, str]:
            answer = view(request, *args, **kwargs)
            return answer.status_code, JSONRenderer().render(answer.data).decode()

        given = replies.once(person(request), asked, do)
        said = json.loads(given.answer) if given.answer else None
        answer = Response(said, status=given.status)
        if given.again:
            answer[REPLAYED] = "true"
        return answer

    return guarded


def _require_sound(key: str) -> None:
    if not 1 <= len(key) <= LONGEST or not all("!" <= character <= "~" for character in key):
        text = f"A key must have 1 to {LONGEST} visible ASCII characters."
        raise ValidationError({HEADER: [text]})


def _body(request: Request) -> str:
    """What was sent, whatever the order of its fields."""
    data: Any = request.data
    files = {name: _content(file) for name, file in request.FILES.items()}
    if files:
        data = {name: value for name, value in data.items() if name not in files}
    return _digest(json.dumps([data, files], sort_keys=True))


def _content(file: "UploadedFile[bytes]") -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return f"{file.name} {digest.hexdigest()}"


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
