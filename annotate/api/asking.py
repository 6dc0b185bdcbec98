"""What may stand behind the question mark of an address: every filter by its name, and no other.

A filter knows how the schema describes it and how it is read, so that the two cannot differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

LARGEST_ID = 2**63 - 1
LONGEST_TEXT = 200


def refuse(name: str, sentence: str) -> ValidationError:
    return ValidationError({name: [sentence]})


@dataclass(frozen=True)
class Number:
    """The number of a row, or a small whole number."""

    name: str
    what: str
    low: int = 1
    high: int = LARGEST_ID

    @property
    def parameter(self) -> OpenApiParameter:
        kind = {"type": "integer", "format": "int64", "minimum": self.low, "maximum": self.high}
        return OpenApiParameter(self.name, kind, description=self.what)

    def of(self, request: Request) -> int | None:
        asked = request.query_params.get(self.name)
        if asked is None:
            return None
        sound = asked.isascii() and asked.isdigit() and len(asked) <= len(str(LARGEST_ID))
        if not sound or not self.low <= int(asked) <= self.high:
            limits = f"{self.low} to {self.high}" if self.high < LARGEST_ID else "from 1 on"
            raise refuse(self.name, f"This must be a whole number, {limits}. Got {asked[:50]}.")
        return int(asked)


@dataclass(frozen=True)
class Word:
    """One of a few words."""

    name: str
    what: str
    words: tuple[str, ...]

    @property
    def parameter(self) -> OpenApiParameter:
        return OpenApiParameter(self.name, str, enum=self.words, description=self.what)

    def of(self, request: Request) -> str | None:
        asked = request.query_params.get(self.name)
        if asked is None or asked in self.words:
            return asked
        known = ", ".join(self.words)
        raise refuse(self.name, f"This must be one of {known}. Got {asked[:50]} instead.")


@dataclass(frozen=True)
class Flag:
    """``true`` or ``false``."""

    name: str
    what: str

    @property
    def parameter(self) -> OpenApiParameter:
        return OpenApiParameter(self.name, bool, description=self.what)

    def of(self, request: Request) -> bool | None:
        asked = request.query_params.get(self.name)
        if asked is not None and asked not in ("true", "false"):
            raise refuse(self.name, f"This must be true or false. Got {asked[:50]} instead.")
        return None if asked is None else asked == "true"


@dataclass(frozen=True)
class Text:
    """Words to look for."""

    name: str
    what: str

    @property
    def parameter(self) -> OpenApiParameter:
        kind = {"type": "string", "maxLength": LONGEST_TEXT, "pattern": r"^[^\u0000]*$"}
        return OpenApiParameter(self.name, kind, description=self.what)

    def of(self, request: Request) -> str:
        asked = request.query_params.get(self.name, "")
        if len(asked) > LONGEST_TEXT or "\0" in asked:
            raise refuse(self.name, f"This must be text of at most {LONGEST_TEXT} characters.")
        return asked.strip()


Filter = Number | Word | Flag | Text


def parameters(filters: Iterable[Filter]) -> list[OpenApiParameter]:
    return [one.parameter for one in filters]


def chosen(request: Request, filters: Iterable[tuple[Filter, str]]) -> dict[str, Any]:
    """What to filter rows by: the column of each filter that was asked for."""
    asked = {column: one.of(request) for one, column in filters}
    return {column: value for column, value in asked.items() if value is not None}
