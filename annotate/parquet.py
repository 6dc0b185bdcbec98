"""Parquet by pyarrow, which not every installation has."""

from importlib import import_module
from typing import Any


class NoParquetError(Exception):
    """pyarrow is not installed."""


def pyarrow(part: str) -> Any:
    """A part of pyarrow, or a sentence on how to get it."""
    try:
        return import_module(part)
    except ImportError:
        raise NoParquetError(
            "Parquet needs pyarrow. Install it: pip install 'second-opinion[parquet]'."
        ) from None
