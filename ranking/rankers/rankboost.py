"""RankBoost: a sum of steps on single features, found by boosting over preference pairs."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.rankers.arrays import ArrayRanker
from ranking.rankers.base import Progress, require_whole
from ranking.rankers.lists import Floats, Ints, Lists
from ranking.rankers.stopping import Watch

#: A step that has every pair in order would get an infinite α; this is the largest it can get.
_PERFECT = 1 - 1e-9
_SETTLED = float(np.arctanh(_PERFECT))


class RankBoost(ArrayRanker):
    """Scores ``Σ_t α_t [x_{f_t} > θ_t]``.

    Each round takes the step with the largest ``|r|``, ``r = Σ_{i≻j} D(i,j) (h(x_i) − h(x_j))``
    over preference pairs, and ``α = ½ ln((1 + r) / (1 − r))``; ``D(i,j) ∝ w_i w_j
    exp(s_j − s_i)``. ``D`` is a product of a part of ``i`` and a part of ``j``, so a round needs
    sums by query and grade only, never the pairs. Thresholds are up to ``max_bin`` quantiles.

    Reference: Freund, Iyer, Schapire, Singer, "An efficient boosting algorithm for combining
    preferences", Journal of Machine Learning Research 4, 2003.
    """

    name: ClassVar[str] = "rankboost"
    arrays: ClassVar[dict[str, int]] = {"feature_": 1, "threshold_": 1, "alpha_": 1}

    feature_: Ints
    threshold_: Floats
    alpha_: Floats

    def __init__(
        self,
        *,
        n_estimators: int = 300,
        max_bin: int = 64,
        k: int = 10,
        early_stopping_rounds: int = 50,
        seed: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_bin = max_bin
        self.k = k
        self.early_stopping_rounds = early_stopping_rounds
        self.seed = seed

    def _check_parameters(self) -> None:
        for name in ("n_estimators", "k", "early_stopping_rounds"):
            require_whole(name, getattr(self, name))
        require_whole("max_bin", self.max_bin, least=2, most=1024)
        require_whole("seed", self.seed, least=0)

    def _check_arrays(self, path: str | Path) -> None:
        for name in self.arrays:
            self._require_shape(path, name, self.best_iteration_)
        known = np.isin(self.feature_, np.arange(self.n_features_in_))
        if self.feature_.dtype.kind != "i" or not known.all():
            raise ValueError(f"{path} must name features of the model. Got others instead.")

    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        lists = train.with_preferences()
        cuts = [_cuts(column, self.max_bin) for column in lists.X.T]
        bins = np.stack(
            [np.searchsorted(cut, column) for cut, column in zip(cuts, lists.X.T, strict=True)]
        ).astype(np.int16)
        watch = Watch(valid, self.k, self.early_stopping_rounds)
        steps: list[tuple[int, float, float]] = []
        scores = np.zeros(len(lists.y))
        watched = None if valid is None else np.zeros(len(valid.y))
        for done in range(1, self.n_estimators + 1):
            step = _best_step(bins, _potential(scores, lists), self.max_bin)
            if step is None:
                break
            f, b, alpha = step
            steps.append((f, float(cuts[f][b]), alpha))
            scores += alpha * (bins[f] > b)
            if valid is not None and watched is not None:
                watched = watched + alpha * (valid.X[:, f] > cuts[f][b])
            watch.improved(watched)
            progress(done / self.n_estimators)
            if watch.over or abs(alpha) >= _SETTLED:
                break
        self._keep(steps[: watch.best], watch)
        progress(1.0)

    def _keep(self, steps: list[tuple[int, float, float]], watch: Watch) -> None:
        features, thresholds, alphas = zip(*steps, strict=True) if steps else ((), (), ())
        self.feature_ = np.array(features, dtype=np.int64)
        self.threshold_ = np.array(thresholds, dtype=np.float64)
        self.alpha_ = np.array(alphas, dtype=np.float64)
        self.best_iteration_, self.history_ = watch.best, watch.history

    def _score(self, X: Floats) -> Floats:
        scores = np.zeros(len(X))
        for f in np.unique(self.feature_):
            mine = np.flatnonzero(self.feature_ == f)
            mine = mine[np.argsort(self.threshold_[mine], kind="stable")]
            height = np.concatenate(([0.0], np.cumsum(self.alpha_[mine])))
            scores += height[np.searchsorted(self.threshold_[mine], X[:, f])]
        return scores

    def feature_importance(self) -> npt.NDArray[np.float64]:
        """The total size of each feature's steps."""
        return np.bincount(
            self.feature_, np.abs(self.alpha_), minlength=self.n_features_in_
        ).astype(np.float64)


def _cuts(column: Floats, bins: int) -> Floats:
    """At most ``bins − 1`` values that split the column into parts of like size."""
    values = np.unique(column)
    if len(values) > bins:
        values = np.unique(np.quantile(column, np.arange(1, bins) / bins, method="lower"))
    # A step above the highest value would split nothing.
    cuts: Floats = values[values < column.max()].astype(np.float64)
    return cuts


def _potential(scores: Floats, lists: Lists) -> Floats:
    """``Σ_j D(i,j) − Σ_j D(j,i)`` for every row ``i``, with ``Σ D = 1``."""
    first, segment = lists.start[:-1], lists.segment
    # Pairs further apart than this are settled; the bound keeps exp and its products finite.
    centred = np.maximum(scores - np.maximum.reduceat(scores, first)[segment], -300)
    worth, debt = lists.weight * np.exp(centred), lists.weight * np.exp(-centred)
    below, above = np.zeros(len(scores)), np.zeros(len(scores))
    for grade in range(LEVELS):
        mine = lists.y == grade
        if mine.any():
            below += np.where(lists.y > grade, np.add.reduceat(worth * mine, first)[segment], 0)
            above += np.where(lists.y < grade, np.add.reduceat(debt * mine, first)[segment], 0)
    won, lost = debt * below, worth * above
    potential: Floats = (won - lost) / max(won.sum(), np.finfo(float).tiny)
    return potential


def _best_step(
    bins: npt.NDArray[np.int16], potential: Floats, max_bin: int
) -> tuple[int, int, float] | None:
    """Feature, bin and α of the step with the largest ``|r|``; None if no step helps."""
    sums = np.stack([np.bincount(row, potential, max_bin) for row in bins])
    # r of "above bin b" is the sum of all bins above b.
    r = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1][:, 1:]
    f, b = np.unravel_index(np.argmax(np.abs(r)), r.shape)
    best = float(np.clip(r[f, b], -_PERFECT, _PERFECT))
    if abs(best) < 1e-12:
        return None
    return int(f), int(b), float(np.arctanh(best))
