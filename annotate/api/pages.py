"""Long lists come in pages: short ones by number, those without end by where the last one ended."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotate.api.asking import Number

Row = TypeVar("Row", bound=Model)
Shape = type[serializers.Serializer[Any]]


PAGE = Number("page", "From 1.")


class Pages(PageNumberPagination):
    """``?page=2&page_size=100``."""

    page_size = 50
    max_page_size = 500
    page_size_query_param = "page_size"

    def get_page_size(self, request: Request) -> int:
        """A size that cannot be had is an error: a shorter page would look like the last one."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if asked.isascii() and asked.isdigit() and len(asked) < 6:
            size = int(asked)
            if 1 <= size <= self.max_page_size:
                return size
        text = f"A page must have 1 to {self.max_page_size} rows. Got {asked[:50]} instead."
        raise ValidationError({self.page_size_query_param: [text]})

    def get_page_number(self, request: Request, paginator: Any) -> int:
        return PAGE.of(request) or 1


class CountedOut(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True)


def counted(shape: Shape, name: str) -> Shape:
    """The shape of a page of a short list."""
    return cast(Shape, type(f"{name}PageOut", (CountedOut,), {"results": shape(many=True)}))


def numbered(
    request: Request, rows: "QuerySet[Any] | list[Any]", shape: Shape, say: Callable[[Any], Any]
) -> Response:
    """One page of a short list; ``say`` makes what the shape describes of a row."""
    pages = Pages()
    page = pages.paginate_queryset(cast("QuerySet[Any]", rows), request) or []
    return pages.get_paginated_response(shape([say(row) for row in page], many=True).data)


# -- Without end ----------------------------------------------------------------------------------

AFTER = Number("after", "Only what follows this one in the list: `id` of the last row you have.")


class OngoingOut(serializers.Serializer[Any]):
    next = serializers.CharField(
        allow_null=True, help_text="Address of what follows; null at the end."
    )


def ongoing(shape: Shape, name: str) -> Shape:
    """The shape of a page of a list without end."""
    return cast(Shape, type(f"{name}PageOut", (OngoingOut,), {"results": shape(many=True)}))


def following(
    request: Request, rows: "QuerySet[Row]", newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """The rows after the one that is named, and the address of the page after them.

    A walk along the primary key: the last page costs what the first one does, and what is added
    meanwhile moves nothing.
    """
    size, after = Pages().get_page_size(request), AFTER.of(request)
    if after is not None:
        rows = rows.filter(pk__lt=after) if newest_first else rows.filter(pk__gt=after)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: size + 1])
    more = len(found) > size
    found = found[:size]
    here = request.build_absolute_uri()
    return found, replace_query_param(here, AFTER.name, found[-1].pk) if more else None


def walked(shape: Shape, rows: Iterable[Any], following: str | None) -> Response:
    return Response({"next": following, "results": shape(list(rows), many=True).data})
