"""What every ranker shares: the scikit-learn contract, checks, and files without pickle."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ranking.rankers.lists import Floats, Lists, as_features, check_names

#: ``(X, y, qid)`` of the queries that early stopping watches.
EvalSet: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
#: Called with the share of the work that is done, from 0 to 1.
Progress: TypeAlias = Callable[[float], None]


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A function from feature vectors to scores; within a query, higher scores come first.

    Parameters are stored untouched by ``__init__``; what is learnt ends in ``_``. All randomness
    comes from the parameter ``seed``: the same data, parameters and seed give the same model.
    """

    #: The key in ``RANKERS``, and what the model file says.
    name: ClassVar[str]
    #: How the name of a model file ends.
    suffix: ClassVar[str] = ".npz"
    #: Whether a feature may be nan, "unknown".
    missing_ok: ClassVar[bool] = False

    seed: int

    n_features_in_: int
    feature_names_in_: list[str] | None
    #: Mean NDCG@k of ``eval_set`` after every round; empty without one.
    history_: list[float]
    #: How many rounds the model kept, at most the parameter that sets them.
    best_iteration_: int

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        qid: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        eval_set: EvalSet | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from graded documents.

        ``X`` is rows × features, ``y`` the grades 0…4 and ``qid`` the query of each row, in any
        order. With ``eval_set = (X, y, qid)`` training stops when NDCG@k of those queries has
        not risen for ``early_stopping_rounds`` rounds, and the best round is kept. At least one
        query must have documents of different grades; queries that have not teach nothing.
        """
        self._check_parameters()
        train = Lists.build(X, y, qid, sample_weight=sample_weight, missing_ok=self.missing_ok)
        _require_preferences("y", train)
        valid = None
        if eval_set is not None:
            valid = Lists.build(*eval_set, missing_ok=self.missing_ok).with_preferences()
            # Ties keep input order. Were that order the one of the grades, a model that cannot
            # tell documents apart would look perfect and stop the training.
            valid = valid.shuffled(np.random.default_rng(self.seed))
            as_features(valid.X, missing_ok=True, columns=train.X.shape[1])
            _require_preferences("eval_set", valid)
        self.n_features_in_ = train.X.shape[1]
        self.feature_names_in_ = check_names(feature_names, self.n_features_in_)
        self.history_ = []
        self._fit(train, valid, progress or _ignore)
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """One score per row of ``X``; only the order within a query has a meaning."""
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(f"{type(self).__name__} must be fitted before it can predict.")
        features = as_features(X, missing_ok=self.missing_ok, columns=self.n_features_in_)
        if len(features) == 0:
            return np.empty(0)
        return np.asarray(self._score(features), dtype=np.float64)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""

    @abstractmethod
    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        """Learn from checked lists; ``valid`` has only queries with preferences."""

    @abstractmethod
    def _score(self, X: Floats) -> Floats:
        """Scores of checked features."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The model file; the same bytes for the same data, parameters and seed."""

    def save(self, path: str | Path) -> None:
        """Write the model to one file that :func:`ranking.rankers.load_ranker` reads."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; anything else is a ValueError."""

    @abstractmethod
    def feature_importance(self) -> npt.NDArray[np.float64]:
        """How much each feature matters to the model, at least 0, in units of the method."""

    def _header(self) -> dict[str, Any]:
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(f"{type(self).__name__} must be fitted before it can be saved.")
        return {
            "format": 1,
            "ranker": self.name,
            "parameters": self.get_params(),
            "features": self.n_features_in_,
            "feature_names": self.feature_names_in_,
            "best_iteration": self.best_iteration_,
            "history": self.history_,
        }

    @classmethod
    def _from_header(cls, header: dict[str, Any], path: str | Path) -> Self:
        """An unfitted ranker with the parameters and the facts of a file's header."""
        if header.get("format") != 1 or header.get("ranker") != cls.name:
            raise ValueError(
                f"{path} must hold a {cls.name} model of format 1. Got "
                f"{header.get('ranker')!r} of format {header.get('format')!r} instead."
            )
        try:
            ranker = cls(**header["parameters"])
            ranker._check_parameters()
            ranker.n_features_in_ = int(header["features"])
            ranker.feature_names_in_ = check_names(header["feature_names"], ranker.n_features_in_)
            ranker.best_iteration_ = int(header["best_iteration"])
            ranker.history_ = [float(value) for value in header["history"]]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} must have a whole header. Got {error!r} instead.") from error
        return ranker


def require_whole(
    name: str, value: object, *, least: int = 1, most: int = np.iinfo(np.int32).max
) -> None:
    """A parameter that must be an integer from ``least`` to ``most``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(
            f"{name} must be a whole number from {least} to {most}. Got {value} instead."
        )


def require_number(
    name: str, value: object, *, above: float | None = None, most: float = np.inf
) -> None:
    """A parameter that must be finite, more than ``above`` (or at least 0), at most ``most``."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    floor = "at least 0" if above is None else f"above {above:g}"
    ceiling = "" if most == np.inf else f" and at most {most:g}"
    fits = (
        number
        and np.isfinite(value)  # type: ignore[call-overload]
        and (value >= 0 if above is None else value > above)  # type: ignore[operator]
        and value <= most  # type: ignore[operator]
    )
    if not fits:
        raise ValueError(f"{name} must be a number {floor}{ceiling}. Got {value} instead.")


def _require_preferences(name: str, lists: Lists) -> None:
    if len(lists.start) < 2 or not lists.mixed().any():
        raise ValueError(
            f"{name} must have a query with documents of different grades. "
            f"Got {len(lists.y)} rows without one instead."
        )


def _ignore(_: float) -> None:
    """Nobody asked for progress."""
