"""The value of judgments in many queries at once."""

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import FloatArray
from ranking.paying.worth import value

#: So many queries of about the same length are laid side by side.
_QUERIES = 1024


def list_values(
    query: npt.ArrayLike, posterior: npt.ArrayLike, confusion: npt.ArrayLike, k: int = 3
) -> FloatArray:
    """:func:`~ranking.paying.worth.value` of every document, whatever queries they are of.

    ``query``: the query of each document, any integer ids in any order; ``posterior``: documents ×
    5. Queries of like length are reckoned together, so that hardly any place is left empty.
    """
    of, rows = np.asarray(query), np.asarray(posterior, dtype=np.float64)
    if rows.shape != (len(of), LEVELS):
        raise ValueError(
            f"posterior must have {LEVELS} columns and a row for each of {len(of)} documents. "
            f"Got shape {rows.shape} instead."
        )
    found = np.zeros(len(of))
    _, place, size = np.unique(of, return_inverse=True, return_counts=True)
    by_query = np.argsort(place, kind="stable")
    start = np.cumsum(size) - size
    by_size = np.argsort(size, kind="stable")
    for first in range(0, len(size), _QUERIES):
        some = by_size[first : first + _QUERIES]
        line, column = np.nonzero(np.arange(size[some].max()) < size[some][:, None])
        document = by_query[start[some][line] + column]
        lists = np.zeros((len(some), int(size[some].max()), LEVELS))
        lists[line, column] = rows[document]
        found[document] = value(lists, confusion, k)[line, column]
    return found
