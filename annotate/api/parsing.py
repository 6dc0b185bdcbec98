"""What may come in at all: small, flat JSON in UTF-8, whatever else the sender claims."""

import json
from collections.abc import Iterable, Sequence
from typing import IO, Any, NoReturn

from rest_framework.exceptions import APIException, ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

MOST_BYTES = 64 * 1024
MOST_DEPTH = 8


class TooLargeError(APIException):
    status_code = 413
    default_code = "too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"A body must have at most {most} bytes. This one has more.")


class JsonParser(BaseParser):
    """Unlike the framework's own it reads no more than it may and trusts no declared charset."""

    media_type = "application/json"
    most_bytes = MOST_BYTES

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        raw = stream.read(self.most_bytes + 1)
        if len(raw) > self.most_bytes:
            raise TooLargeError(self.most_bytes)
        try:
            data = json.loads(raw.decode(), parse_constant=_refuse)
        except RecursionError:
            raise ParseError("The body must be flat JSON. It is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body must be JSON in UTF-8. {error}.") from None
        if not _is_flat(data, MOST_DEPTH):
            raise ParseError("The body must be flat JSON. It is nested too deeply.")
        return data


class LongParser(JsonParser):
    """Guidelines, or a thousand feature vectors, are longer than a judgment."""

    most_bytes = 4 * 1024 * 1024


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _is_flat(data: Any, depth: int) -> bool:
    """Level by level: data that is nested too deeply must not be walked by recursion."""
    level = [data]
    for _ in range(depth):
        level = [inner for outer in level for inner in _inside(outer)]
    return not level


def _inside(data: Any) -> Sequence[Any]:
    if isinstance(data, dict):
        return list(data.values())
    return data if isinstance(data, list) else ()


class JsonOnly(DefaultContentNegotiation):
    """JSON is what there is, so JSON is what comes, also for whoever asks for HTML."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type or ""
