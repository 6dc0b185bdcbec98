"""How good a ranker can look at most, when judges disagree.

``docs/limits.md`` has the formulas, the conventions and what was measured.
"""

from ranking.limits.ceiling import Limit, dataset_limit, limiting_ndcg, query_limits
from ranking.limits.schemes import scheme_confusion, scheme_cost

__all__ = [
    "Limit",
    "dataset_limit",
    "limiting_ndcg",
    "query_limits",
    "scheme_confusion",
    "scheme_cost",
]
