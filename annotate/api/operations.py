"""How an operation is described: what it reads or writes, its errors, its examples.

``reads`` and ``writes`` fill in what is the same for all, so that none forgets it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from annotate import tokens
from annotate.api.asking import Filter, parameters
from annotate.api.described import PAGE, POSITIVE, SLUG, example, problems
from annotate.api.once import KEY
from annotate.api.pages import AFTER, Shape

F = TypeVar("F", bound=Callable[..., Any])


class Described(Protocol):
    """A decorator that leaves the view's type as it is."""

    def __call__(self, view: F, /) -> F: ...


READ_ERRORS = (401, 403, 404)
WRITE_ERRORS = (400, 401, 403, 404, 409, 413, 415)

#: The parameters of a page: by number, or by the last row.
BY_NUMBER = PAGE
BY_ROW = [AFTER.parameter, PAGE[1]]


def number(name: str, what: str) -> OpenApiParameter:
    """The number of a thing, as a part of the address."""
    return OpenApiParameter(name, POSITIVE, OpenApiParameter.PATH, description=what)


def reads(
    name: str,
    summary: str,
    text: str,
    *,
    tag: str,
    gives: Shape,
    answer: Any,
    scope: str = tokens.MANAGE,
    place: Sequence[OpenApiParameter] = (SLUG,),
    filters: Sequence[Filter] = (),
    pages: Sequence[OpenApiParameter] = (),
) -> Described:
    """A GET. ``place`` are the parts of its address."""
    behind = [*parameters(filters), *pages]
    made: Described = extend_schema(
        methods=["GET"],
        operation_id=name,
        summary=summary,
        description=_with_scope(text, scope),
        tags=[tag],
        parameters=[*place, *behind],
        responses={
            200: OpenApiResponse(gives, "As asked for."),
            **problems(*READ_ERRORS, *([400] if behind else [])),
        },
        examples=[example(answer)],
    )
    return made


def writes(
    name: str,
    summary: str,
    text: str,
    *,
    tag: str,
    gives: Shape | None,
    answer: Any = None,
    takes: Any = None,
    sent: Any = None,
    method: str = "POST",
    status: int = 200,
    scope: str = tokens.MANAGE,
    place: Sequence[OpenApiParameter] = (SLUG,),
    keyed: bool = True,
) -> Described:
    """Everything else. ``keyed`` where it is done once by an idempotency key."""
    examples: list[OpenApiExample] = []
    if sent is not None:
        examples.append(example(sent, request=True))
    if gives is not None:
        examples.append(example(answer))
    made: Described = extend_schema(
        methods=[method],
        operation_id=name,
        summary=summary,
        description=_with_scope(text, scope),
        tags=[tag],
        parameters=[*place, *([KEY] if keyed else [])],
        request=takes,
        responses={
            status: OpenApiResponse(gives, "Done."),
            **problems(*WRITE_ERRORS, *([422] if keyed else [])),
        },
        examples=examples,
    )
    return made


def _with_scope(text: str, scope: str) -> str:
    return f"{text} Scope: {scope}."
