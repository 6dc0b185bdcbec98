"""The schema, and the same as a page to read. Both are made here, from nothing but our code."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

Schema = dict[str, Any]
METHODS = ["get", "post", "put", "patch", "delete"]


@cache
def document() -> Schema:
    """OpenAPI 3. It depends on the code alone, so it is made once."""
    made: Schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return made


@extend_schema(exclude=True)
@api_view(["GET"])
def schema(request: Request) -> Response:
    return Response(document())


@extend_schema(exclude=True)
@api_view(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def nothing(request: Request) -> Response:
    """Programs get JSON for a wrong address too, and a POST is never redirected."""
    raise NotFound("There is no such address. Addresses end in a slash.")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    groups: dict[str, list[Operation]] = {}
    for operation in operations(document()):
        groups.setdefault(operation.tag, []).append(operation)
    context = {"info": document()["info"], "groups": groups}
    return render(request, "api/docs.html", context)


# -- The schema in rows ---------------------------------------------------------------------------


def pieces(text: str) -> list[tuple[str, bool]]:
    """A text cut at its code quotes: each piece, and whether it is code."""
    return [(piece, number % 2 == 1) for number, piece in enumerate(text.split("`"))]


class Field(NamedTuple):
    """A parameter or a field of a body."""

    name: str
    place: str
    kind: str
    required: bool
    text: str

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        return pieces(self.text)


class Operation(NamedTuple):
    """One operation as the page shows it."""

    id: str
    tag: str
    method: str
    path: str
    summary: str
    text: str
    fields: list[Field]
    request: str
    answer: str
    statuses: list[tuple[int, str]]

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        return pieces(self.text)

    @property
    def stated(self) -> list[tuple[int, list[tuple[str, bool]]]]:
        return [(status, pieces(text)) for status, text in self.statuses]


def operations(made: Schema) -> Iterator[Operation]:
    for path, methods in made["paths"].items():
        for method, found in sorted(methods.items(), key=lambda one: METHODS.index(one[0])):
            yield Operation(
                id=found["operationId"],
                tag=found["tags"][0],
                method=method.upper(),
                path=path,
                summary=found["summary"],
                text=found["description"],
                fields=[*_parameters(made, found), *_body(made, found)],
                request=_example(found.get("requestBody", {})),
                answer=_answer(found),
                statuses=[
                    (int(s), one["description"]) for s, one in sorted(found["responses"].items())
                ],
            )


def _parameters(made: Schema, operation: Schema) -> Iterator[Field]:
    for found in operation.get("parameters", []):
        required, text = found.get("required", False), found.get("description", "")
        yield Field(found["name"], found["in"], _kind(made, found["schema"]), required, text)


def _body(made: Schema, operation: Schema) -> Iterator[Field]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        shape = _shape(made, content["schema"])
        for name, about in shape.get("properties", {}).items():
            required = name in shape.get("required", [])
            yield Field(name, "body", _kind(made, about), required, about.get("description", ""))


def _shape(made: Schema, about: Schema) -> Schema:
    """What is meant, where it is only named."""
    named = about.get("allOf") or about.get("oneOf") or [about]
    named = next((one for one in named if "$ref" in one), None)
    if named is None:
        return about
    shape: Schema = made["components"]["schemas"][named["$ref"].rpartition("/")[2]]
    return shape


def _kind(made: Schema, about: Schema) -> str:
    """``integer, 0 to 4``."""
    shape = _shape(made, about)
    if "enum" in shape:
        return f"one of {', '.join(str(word) for word in shape['enum'])}"
    if shape.get("type") == "array":
        return f"list of {_kind(made, shape['items'])}"
    kind = FORMATS.get(shape.get("format", ""), str(shape.get("type", "anything")))
    if "maximum" in shape and shape["maximum"] < 2**53:
        return f"{kind}, {shape['minimum']} to {shape['maximum']}"
    return f"{kind}, at most {shape['maxLength']} characters" if "maxLength" in shape else kind


#: Kinds of text that have a name of their own.
FORMATS = {"uuid": "UUID", "binary": "file", "date-time": "time", "decimal": "decimal"}


def _example(body: Schema) -> str:
    for content in body.get("content", {}).values():
        for example in content.get("examples", {}).values():
            value = example["value"]
            if isinstance(value, str):
                return value
            return json.dumps(value, indent=2, ensure_ascii=False)
    return ""


def _answer(operation: Schema) -> str:
    good = (_example(body) for status, body in operation["responses"].items() if status < "300")
    return next(filter(None, good), "")
