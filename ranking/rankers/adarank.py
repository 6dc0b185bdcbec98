"""AdaRank: single features added up, each chosen for the queries that are still ranked badly."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.metrics import ndcg
from ranking.rankers.arrays import ArrayRanker
from ranking.rankers.base import Progress, require_whole
from ranking.rankers.lists import Floats, Lists
from ranking.rankers.scaling import apply_scale, learn_scale, require_scale
from ranking.rankers.stopping import Watch


class AdaRank(ArrayRanker):
    """Scores ``Σ_t α_t h_t(x)``, every ``h_t`` one feature on the common scale, or its negative.

    Each round takes the ``h`` with the best ``Σ_q P(q) E(q, h)``, ``E`` being NDCG@k of the query
    sorted by ``h`` alone; ``α = ½ ln(Σ P (1 + E) / Σ P (1 − E))``; then ``P(q) ∝ v_q
    exp(−E(q, Σ α h))``. ``v_q`` is the mean sample weight of the query's rows. A feature whose
    addition does not raise the training NDCG rests until another has raised it: plain AdaRank
    would take the same one for ever.

    Reference: Xu, Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007.
    """

    name: ClassVar[str] = "adarank"
    arrays: ClassVar[dict[str, int]] = {"coef_": 1, "centre_": 1, "spread_": 1}

    coef_: Floats
    centre_: Floats
    spread_: Floats

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        scale: str = "standard",
        k: int = 10,
        early_stopping_rounds: int = 50,
        seed: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.scale = scale
        self.k = k
        self.early_stopping_rounds = early_stopping_rounds
        self.seed = seed

    def _check_parameters(self) -> None:
        for name in ("n_estimators", "k", "early_stopping_rounds"):
            require_whole(name, getattr(self, name))
        require_whole("seed", self.seed, least=0)
        require_scale(self.scale)

    def _check_arrays(self, path: str | Path) -> None:
        for name in self.arrays:
            self._require_shape(path, name, self.n_features_in_)

    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        lists = train.with_preferences()
        self.centre_, self.spread_ = learn_scale(lists.X, self.scale)
        X = apply_scale(lists.X, self.scale, self.centre_, self.spread_)
        X_valid = None if valid is None else self._scaled(valid.X)
        segment, features = lists.segment, X.shape[1]
        importance = np.add.reduceat(lists.weight, lists.start[:-1]) / lists.sizes
        alone = _alone(X, lists, self.k)
        watch = Watch(valid, self.k, self.early_stopping_rounds)
        coef, resting = np.zeros(features), np.zeros(2 * features, dtype=bool)
        reached, chances = 0.0, importance / importance.sum()
        self.coef_ = coef
        for done in range(1, self.n_estimators + 1):
            best = int(np.argmax(np.where(resting, -1.0, chances @ alone)))
            sign = 1.0 if best < features else -1.0
            worth = float(np.clip(chances @ alone[:, best], 0.0, 1 - 1e-9))
            coef = coef.copy()
            coef[best % features] += sign * np.arctanh(worth)
            quality = ndcg(lists.y, X @ coef, segment, self.k)
            rose = importance @ quality > reached + 1e-9
            resting = np.zeros_like(resting) if rose else resting
            resting[best] = not rose
            reached = max(reached, float(importance @ quality))
            chances = importance * np.exp(-quality)
            chances /= chances.sum()
            if watch.improved(None if X_valid is None else X_valid @ coef):
                self.coef_ = coef
            progress(done / self.n_estimators)
            if watch.over or resting.all():
                break
        self.best_iteration_, self.history_ = watch.best, watch.history
        progress(1.0)

    def _scaled(self, X: Floats) -> Floats:
        return apply_scale(X, self.scale, self.centre_, self.spread_)

    def _score(self, X: Floats) -> Floats:
        scores: Floats = self._scaled(X) @ self.coef_
        return scores

    def feature_importance(self) -> npt.NDArray[np.float64]:
        """The size of each feature's weight, on the common scale."""
        return np.abs(self.coef_)


def _alone(X: Floats, lists: Lists, k: int) -> Floats:
    """NDCG@k of every query sorted by one feature, upwards and downwards: queries × 2 features."""
    segment = lists.segment
    columns = [
        ndcg(lists.y, sign * column, segment, k, ties="expected")
        for sign in (1, -1)
        for column in X.T
    ]
    return np.stack(columns, axis=1)
