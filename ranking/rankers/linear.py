"""Linear rankers with a smooth convex loss, fitted by L-BFGS."""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult, minimize

from ranking.rankers.arrays import ArrayRanker
from ranking.rankers.base import Progress, require_number, require_whole
from ranking.rankers.lists import Floats, Lists
from ranking.rankers.scaling import apply_scale, learn_scale, require_scale
from ranking.rankers.stopping import Watch

#: From the scores of all rows to the loss and its gradient by score.
Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]


class LinearRanker(ArrayRanker):
    """Scores ``w·x``; minimises ``½‖w‖² + C · loss(Xw)``, one L-BFGS iteration a round."""

    arrays: ClassVar[dict[str, int]] = {"coef_": 1, "centre_": 1, "spread_": 1}

    coef_: Floats
    centre_: Floats
    spread_: Floats

    def __init__(
        self,
        *,
        C: float = 1.0,
        max_iter: int = 200,
        scale: str = "standard",
        k: int = 10,
        early_stopping_rounds: int = 20,
        seed: int = 0,
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.scale = scale
        self.k = k
        self.early_stopping_rounds = early_stopping_rounds
        self.seed = seed

    def _check_parameters(self) -> None:
        for name in ("max_iter", "k", "early_stopping_rounds"):
            require_whole(name, getattr(self, name))
        require_whole("seed", self.seed, least=0)
        require_number("C", self.C, above=0)
        require_scale(self.scale)

    def _check_arrays(self, path: str | Path) -> None:
        for name in self.arrays:
            self._require_shape(path, name, self.n_features_in_)

    @abstractmethod
    def _loss(self, lists: Lists) -> Loss:
        """The loss of the method on these lists."""

    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        lists = train.with_preferences()
        self.centre_, self.spread_ = learn_scale(lists.X, self.scale)
        X, loss = self._scaled(lists.X), self._loss(lists)
        watch = Watch(valid, self.k, self.early_stopping_rounds)
        X_valid = None if valid is None else self._scaled(valid.X)
        self.coef_ = np.zeros(X.shape[1])

        def objective(w: Floats) -> tuple[float, Floats]:
            value, by_score = loss(X @ w)
            return 0.5 * float(w @ w) + self.C * value, w + self.C * (by_score @ X)

        def after(intermediate_result: OptimizeResult) -> None:
            w = np.array(intermediate_result.x)
            if watch.improved(None if X_valid is None else X_valid @ w):
                self.coef_ = w
            progress(min(len(watch.history) or watch.best, self.max_iter) / self.max_iter)
            if watch.over:
                raise StopIteration

        minimize(
            objective,
            self.coef_,
            jac=True,
            method="L-BFGS-B",
            callback=after,
            options={"maxiter": self.max_iter, "ftol": 1e-10, "gtol": 1e-7},
        )
        self.best_iteration_, self.history_ = max(watch.best, 1), watch.history
        progress(1.0)

    def _scaled(self, X: Floats) -> Floats:
        return apply_scale(X, self.scale, self.centre_, self.spread_)

    def _score(self, X: Floats) -> Floats:
        scores: Floats = self._scaled(X) @ self.coef_
        return scores

    def feature_importance(self) -> npt.NDArray[np.float64]:
        """The size of each feature's weight, on the common scale."""
        return np.abs(self.coef_)
