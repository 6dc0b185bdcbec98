"""Files that come in: by a form as browsers send them, within limits, with one shape of error."""

from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import DataAndFiles, MultiPartParser
from rest_framework.request import Request

from annotate.api.parsing import MOST_BYTES, TooLargeError


class FileParser(MultiPartParser):
    """What is declared too large is not read at all; the rest goes to the disk as it comes."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> "DataAndFiles[Any, Any]":
        most = settings.UPLOAD_MAX_BYTES + MOST_BYTES
        if int((parser_context or {})["request"].META.get("CONTENT_LENGTH") or 0) > most:
            raise TooLargeError(most)
        try:
            return super().parse(stream, media_type, parser_context)
        except RequestDataTooBig:
            raise TooLargeError(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) from None
        except SuspiciousOperation as error:
            raise ParseError(f"The form cannot be read. {error}") from None


def require_known(request: Request, *names: str) -> None:
    """A misspelt field is an error: it must not be ignored in silence."""
    sent = {*request.data, *request.FILES}
    text = f"There is no such field. There are: {', '.join(names)}."
    if unknown := sorted(str(name) for name in sent - set(names)):
        raise ValidationError({name: [text] for name in unknown})
