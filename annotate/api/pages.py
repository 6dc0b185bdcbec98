"""Long lists come in pages."""

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request


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
        text = f"A page must have 1 to {self.max_page_size} rows. Got {asked} instead."
        raise ValidationError({self.page_size_query_param: [text]})
