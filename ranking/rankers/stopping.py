"""Early stopping: which round was best for the queries that are watched."""

import numpy as np

from ranking.metrics import ndcg
from ranking.rankers.lists import Floats, Lists


class Watch:
    """Follows NDCG@k of the watched queries and says when it has stopped rising.

    Without queries to watch, every round counts as the best so far and none is the last.
    """

    def __init__(self, valid: Lists | None, k: int, patience: int) -> None:
        self.valid = valid
        self.history: list[float] = []
        self.best = 0
        self._rounds = 0
        self._k = k
        self._patience = patience

    def improved(self, scores: Floats | None) -> bool:
        """Note the scores of a round; whether no round before was as good."""
        self._rounds += 1
        if self.valid is None or scores is None:
            self.best = self._rounds
            return True
        value = float(np.mean(ndcg(self.valid.y, scores, self.valid.segment, self._k)))
        self.history.append(value)
        if len(self.history) == 1 or value > self.history[self.best - 1]:
            self.best = self._rounds
        return self.best == self._rounds

    @property
    def over(self) -> bool:
        """Whether the best round is so long ago that training may end."""
        return self._rounds - self.best >= self._patience
