"""LambdaMART: gradient-boosted trees on the lambda gradients of NDCG, by LightGBM."""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any, ClassVar, Self

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.rankers.base import Progress, Ranker, require_number, require_whole
from ranking.rankers.lists import Floats, Lists

_END = "\nend of parameters\n"
_MARK = "second_opinion:"


class LambdaMART(Ranker):
    """Boosted regression trees that follow the lambda gradients of NDCG.

    For documents ``i`` above ``j`` in grade, ``λ_ij = −|ΔNDCG_ij| / (1 + exp(s_i − s_j))``; each
    tree fits the sum of a document's lambdas. Gains are ``2^g − 1``. Only pairs with a document
    among the first ``truncation`` of the current order count. ``sample_weight`` multiplies the
    lambdas of its row. A feature may be nan: LightGBM then learns where the unknown ones go.

    The model is LightGBM's own text, which LightGBM elsewhere can read as it is; with one line
    after it that holds the parameters. With ``num_threads`` fixed (1 by default) the same data,
    parameters and seed give the same bytes.

    Reference: Burges, "From RankNet to LambdaRank to LambdaMART: an overview", MSR-TR-2010-82.
    """

    name: ClassVar[str] = "lambdamart"
    suffix: ClassVar[str] = ".txt"
    missing_ok: ClassVar[bool] = True

    booster_: lgb.Booster

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        subsample: float = 1.0,
        colsample: float = 1.0,
        max_bin: int = 255,
        truncation: int = 30,
        k: int = 10,
        early_stopping_rounds: int = 50,
        num_threads: int = 1,
        seed: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample = colsample
        self.max_bin = max_bin
        self.truncation = truncation
        self.k = k
        self.early_stopping_rounds = early_stopping_rounds
        self.num_threads = num_threads
        self.seed = seed

    def _check_parameters(self) -> None:
        for name in ("n_estimators", "min_child_samples", "truncation", "k"):
            require_whole(name, getattr(self, name))
        for name in ("early_stopping_rounds", "num_threads"):
            require_whole(name, getattr(self, name))
        require_whole("num_leaves", self.num_leaves, least=2)
        require_whole("max_bin", self.max_bin, least=2)
        require_whole("seed", self.seed, least=0)
        require_number("learning_rate", self.learning_rate, above=0)
        require_number("reg_lambda", self.reg_lambda)
        require_number("subsample", self.subsample, above=0, most=1)
        require_number("colsample", self.colsample, above=0, most=1)

    def lightgbm_parameters(self) -> dict[str, Any]:
        """What LightGBM is told; for the benchmark and for who wants to train without us."""
        return {
            "objective": "lambdarank",
            "metric": "ndcg",
            "eval_at": [self.k],
            "label_gain": [2**grade - 1 for grade in range(LEVELS)],
            "lambdarank_truncation_level": self.truncation,
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "lambda_l2": self.reg_lambda,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "feature_fraction": self.colsample,
            "max_bin": self.max_bin,
            "num_threads": self.num_threads,
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }

    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        parameters = self.lightgbm_parameters()
        data = _dataset(train, parameters)
        watched: dict[str, dict[str, list[float]]] = {}
        callbacks = [_reporter(progress)]
        if valid is not None:
            callbacks.append(lgb.early_stopping(self.early_stopping_rounds, verbose=False))
            callbacks.append(lgb.record_evaluation(watched))
        self.booster_ = lgb.train(
            parameters,
            data,
            num_boost_round=self.n_estimators,
            valid_sets=None if valid is None else [_dataset(valid, parameters, data)],
            valid_names=None if valid is None else ["valid"],
            callbacks=callbacks,
        )
        self.best_iteration_ = self.booster_.best_iteration or self.booster_.current_iteration()
        self.history_ = watched.get("valid", {}).get(f"ndcg@{self.k}", [])
        if not self.feature_importance().any():
            warnings.warn(
                f"No split was found in {len(train.y)} rows with min_child_samples "
                f"{self.min_child_samples}: every document gets the same score.",
                stacklevel=3,
            )

    def _score(self, X: Floats) -> Floats:
        return np.asarray(
            self.booster_.predict(
                X, num_iteration=self.best_iteration_, num_threads=self.num_threads
            )
        )

    def feature_importance(self) -> npt.NDArray[np.float64]:
        """The total gain of each feature's splits."""
        gain = self.booster_.feature_importance("gain", iteration=self.best_iteration_)
        return np.asarray(gain, dtype=np.float64)

    def to_bytes(self) -> bytes:
        """LightGBM's text model with our line after its parameters."""
        header = json.dumps(self._header(), sort_keys=True)
        text: str = self.booster_.model_to_string(num_iteration=self.best_iteration_)
        own = f"{_MARK}{_digest(text, header)} {header}\n"
        return text.replace(_END, _END + own, 1).encode()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; a changed byte is refused before LightGBM sees it."""
        header, text = _read(path)
        ranker = cls._from_header(header, path)
        try:
            ranker.booster_ = lgb.Booster(model_str=text)
        except lgb.basic.LightGBMError as error:
            raise ValueError(f"{path} must hold a LightGBM model. Got: {error}.") from error
        if ranker.booster_.num_feature() != ranker.n_features_in_:
            raise ValueError(f"{path} must have {ranker.n_features_in_} features. Got others.")
        return ranker


def read_header(path: str | Path) -> dict[str, Any]:
    """What our line of a LightGBM file says."""
    return _read(path)[0]


def _read(path: str | Path) -> tuple[dict[str, Any], str]:
    """The header and LightGBM's own text of a model file."""
    try:
        content = Path(path).read_bytes().decode("utf-8")
    except ValueError as error:
        raise ValueError(f"{path} must be a saved ranker. Got: {error}.") from error
    before, mark, rest = content.partition(f"{_END}{_MARK}")
    line, _, after = rest.partition("\n")
    digest, _, header = line.partition(" ")
    text = f"{before}{_END}{after}"
    if not mark or digest != _digest(text, header):
        raise ValueError(f"{path} must be a saved ranker, unchanged. Got something else instead.")
    return json.loads(header), text


def _digest(text: str, header: str) -> str:
    return hashlib.sha256(f"{header}\n{text}".encode()).hexdigest()


def _dataset(
    lists: Lists, parameters: dict[str, Any], reference: lgb.Dataset | None = None
) -> lgb.Dataset:
    return lgb.Dataset(
        lists.X,
        label=lists.y,
        weight=lists.weight if lists.weighted else None,
        group=lists.sizes,
        reference=reference,
        params=parameters,
    )


def _reporter(progress: Progress) -> Any:
    def report(env: lgb.callback.CallbackEnv) -> None:
        progress((env.iteration + 1) / env.end_iteration)

    return report
