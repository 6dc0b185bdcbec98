"""RankSVM: a linear ranker that puts a margin between documents of different grades."""

from typing import ClassVar

import numpy as np

from ranking.grades import LEVELS
from ranking.rankers.linear import LinearRanker, Loss
from ranking.rankers.lists import Floats, Ints, Lists


class RankSVM(LinearRanker):
    """Minimises ``½‖w‖² + C Σ_q 1/|P_q| Σ_{(i,j)∈P_q} w_i w_j max(0, 1 − (s_i − s_j))²``.

    ``P_q`` are the pairs of a query with ``i`` above ``j`` in grade, so every query counts the
    same; ``w`` are the sample weights. The pairs are never listed: rows sorted by score and
    running sums give loss and gradient in O(n log n).

    References: Herbrich, Graepel, Obermayer, "Large margin rank boundaries for ordinal
    regression", 2000; Joachims, KDD 2002; the squared loss and fitting in the primal are of
    Chapelle, Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 2010.
    """

    name: ClassVar[str] = "ranksvm"

    def _loss(self, lists: Lists) -> Loss:
        segment, share = lists.segment, _pair_share(lists)
        levels = [
            (np.flatnonzero(lists.y == grade), np.flatnonzero(lists.y < grade))
            for grade in range(1, LEVELS)
        ]

        def loss(scores: Floats) -> tuple[float, Floats]:
            total, gradient = 0.0, np.zeros(len(scores))
            for upper, lower in levels:
                if len(upper) and len(lower):
                    total += _squared_hinge(
                        (scores, segment, lists.weight, share), upper, lower, gradient
                    )
            return total, gradient

        return loss


def _pair_share(lists: Lists) -> Floats:
    """1 / (preference pairs of its query), for every row."""
    first = lists.start[:-1]
    counts = np.stack(
        [np.add.reduceat((lists.y == grade).astype(float), first) for grade in range(LEVELS)]
    )
    pairs = (counts[1:] * np.cumsum(counts, axis=0)[:-1]).sum(axis=0)
    shares: Floats = np.repeat(1 / np.maximum(pairs, 1), lists.sizes)
    return shares


def _squared_hinge(
    rows: tuple[Floats, Ints, Floats, Floats], upper: Ints, lower: Ints, gradient: Floats
) -> float:
    """The loss of all pairs of an upper and a lower row of one query; adds to ``gradient``.

    An upper row ``i`` is short of its margin to the lower rows with ``s_j > s_i − 1``. In a
    sort of the lower rows by (query, score) they are one interval that ends with the query, so
    running sums of 1, s and s² over it give row ``i``'s share of the loss.
    """
    scores, segment, weight, share = rows
    low = scores.min()
    span = scores.max() - low + 2
    key = (scores - low) + segment * span
    order = lower[np.argsort(key[lower], kind="stable")]
    begin = np.searchsorted(key[order], key[upper] - 1, side="right")
    end = np.searchsorted(segment[order], segment[upper], side="right")
    moments = np.zeros((3, len(order) + 1))
    powers = weight[order] * scores[order] ** np.arange(3)[:, None]
    np.cumsum(powers, axis=1, out=moments[:, 1:])
    count, first, second = moments[:, end] - moments[:, begin]
    room, factor = 1 - scores[upper], weight[upper] * share[upper]
    gradient[upper] -= 2 * factor * (count * room + first)
    bins = len(order) + 1
    opened = [
        np.bincount(begin, part, bins) - np.bincount(end, part, bins)
        for part in (factor, factor * room)
    ]
    above, above_room = np.cumsum(opened, axis=1)[:, :-1]
    gradient[order] += 2 * weight[order] * (above_room + scores[order] * above)
    return float(factor @ (count * room**2 + 2 * room * first + second))
