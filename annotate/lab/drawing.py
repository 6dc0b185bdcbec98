"""One draw of a replay: everything that is compared on one order of the judgments."""

from collections.abc import Callable

import numpy as np

from annotate import datasets
from annotate.datasets import Pool
from annotate.lab.errors import LabError
from annotate.lab.sets import Frozen
from annotate.models import Campaign, LabRun
from annotate.training import fitting
from annotate.training.sets import recipe
from ranking.aggregation import AGGREGATORS
from ranking.experiments.cells import Arrays
from ranking.experiments.dealing import Deal, deal, short, used
from ranking.experiments.replay import DEPTHS, Setting, measured, parse_router
from ranking.judgments import FloatArray, IntArray
from ranking.metrics import ndcg

FOLDS = 5
#: Called with the share that is done; raises if the work is no longer wanted.
Keep = Callable[[float], None]


def drawn(run: LabRun, frozen: Frozen, number: int, keep: Keep) -> Arrays:
    """Cost, ratio and shortage of every router; NDCG router × aggregator × depth × query.

    With a ranker ``ranked`` is the NDCG of rankers trained on those labels, in the same shape.
    """
    made_by, judged = run.recipe, frozen.judged()
    dealt = deal(
        judged, np.random.default_rng([made_by["seed"], number]), shuffle=made_by["shuffle"]
    )
    setting = tuple(made_by["aggregators"])
    rankers = Rankers(run.campaign, frozen, made_by["ranker"]) if made_by["ranker"] else None
    found: list[Arrays] = []
    routers = made_by["routers"]
    for place, label in enumerate(routers):
        keep(place / len(routers))
        router = parse_router(label)
        taken = used(dealt, router)
        arrays = measured(dealt, taken, Setting(router, setting))
        arrays["short"] = np.array(short(dealt, router, taken))
        if rankers is not None:
            arrays["ranked"] = rankers.ndcg(
                dealt, taken, setting, _within(keep, place, len(routers))
            )
        found.append(arrays)
    return {name: np.stack([arrays[name] for arrays in found]) for name in found[0]}


def _within(keep: Keep, place: int, of: int) -> Keep:
    """The share of one part of the work as a share of all its parts."""
    return lambda share: keep((place + share) / of)


class Rankers:
    """A ranker trained on the labels of four folds and tested on the truth of the fifth."""

    def __init__(self, campaign: Campaign, frozen: Frozen, ranker: str) -> None:
        self.recipe = recipe(campaign, ranker)
        self.frozen = frozen
        self.pool: Pool = datasets.pool(campaign, frozen.ids.tolist(), campaign.seed)
        if len(self.pool.pair) != len(frozen.ids):
            raise LabError("Pairs were removed since the replay began. Start another.")
        rising = np.argsort(self.pool.pair)
        self.place: IntArray = rising[np.searchsorted(self.pool.pair, frozen.ids, sorter=rising)]
        self.fold: IntArray = (self.pool.order % min(FOLDS, self.pool.order.max() + 1))[self.place]
        if self.fold.max() < 1:
            raise LabError("A ranker needs at least 2 queries with judgments.")

    def ndcg(
        self, dealt: Deal, taken: IntArray, aggregators: tuple[str, ...], keep: Keep
    ) -> FloatArray:
        """aggregator × depth × query."""
        values = []
        for number, name in enumerate(aggregators):
            label = AGGREGATORS[name].aggregate(*dealt.taken(taken)).grade
            scores = self._crossed(label, _within(keep, number, len(aggregators)))
            truth, query = self.frozen.truth, self.frozen.query
            values.append([ndcg(truth, scores, query, k) for k in DEPTHS])
        return np.array(values)

    def _crossed(self, label: IntArray, keep: Keep) -> FloatArray:
        X, qid = self.pool.X[self.place], self.frozen.query
        names = np.array(self.pool.feature_names)
        scores = np.zeros(len(label))
        folds = int(self.fold.max()) + 1
        for number in range(folds):
            tested = self.fold == number
            rows = np.flatnonzero(~tested)
            rows = rows[np.argsort(qid[rows], kind="stable")]
            train = {"X": X[rows], "y": label[rows], "qid": qid[rows], "feature_names": names}
            fitted = fitting.fit(self.recipe, train, X[tested], _within(keep, number, folds))
            scores[tested] = fitted.scores
        return scores
