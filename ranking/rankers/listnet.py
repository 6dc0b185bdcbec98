"""ListNet: a linear ranker that matches the chance of every document to come first."""

from typing import ClassVar

import numpy as np

from ranking.rankers.linear import LinearRanker, Loss
from ranking.rankers.lists import Floats, Lists


class ListNet(LinearRanker):
    """Minimises the cross entropy of two top-one probabilities of every query.

    ``½‖w‖² − C Σ_q v_q Σ_j P_y(j) ln P_s(j)`` with ``P_y(j) ∝ w_j exp(y_j)`` by grades and
    ``P_s(j) ∝ w_j exp(s_j)`` by scores. Within its query a sample weight counts as that many
    copies of the row; ``v_q``, the mean weight of the query's rows, is what the query counts.

    Reference: Cao, Qin, Liu, Tsai, Li, "Learning to rank: from pairwise approach to listwise
    approach", ICML 2007.
    """

    name: ClassVar[str] = "listnet"

    def _loss(self, lists: Lists) -> Loss:
        first, segment, weight = lists.start[:-1], lists.segment, lists.weight
        wanted = _chances(lists.y.astype(np.float64), lists)[0]
        importance = np.add.reduceat(weight, first) / lists.sizes

        def loss(scores: Floats) -> tuple[float, Floats]:
            chances, log_sum = _chances(scores, lists)
            entropy = np.add.reduceat(wanted * (log_sum[segment] - scores), first)
            return float(importance @ entropy), importance[segment] * (chances - wanted)

        return loss


def _chances(scores: Floats, lists: Lists) -> tuple[Floats, Floats]:
    """``w exp(s)`` over its sum by query, for every row; and the logarithm of each sum."""
    first, segment = lists.start[:-1], lists.segment
    highest = np.maximum.reduceat(scores, first)
    shares = lists.weight * np.exp(scores - highest[segment])
    # A query whose weights are all 0 has no chances to match; it must not divide by 0 either.
    sums = np.maximum(np.add.reduceat(shares, first), np.finfo(float).tiny)
    return shares / sums[segment], np.log(sums) + highest
