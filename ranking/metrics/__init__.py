"""Measures of a ranked list, one value per query, and what may be said of their means.

Every measure takes ``grades, scores, qid``: three arrays of equal length, one row per document,
rows of a query side by side or not. It gives one float per query in the order of
``np.unique(qid)`` and never changes its inputs. ``docs/metrics.md`` has every formula, convention
and reference in one place.
"""

from ranking.metrics.measures import average_precision, dcg, err, mrr, ndcg, precision
from ranking.metrics.significance import Comparison, Summary, compare, summary

__all__ = [
    "Comparison",
    "Summary",
    "average_precision",
    "compare",
    "dcg",
    "err",
    "mrr",
    "ndcg",
    "precision",
    "summary",
]
