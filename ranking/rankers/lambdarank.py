"""LambdaRank: a net with one hidden layer that follows the lambda gradients of NDCG."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranking.rankers.arrays import ArrayRanker
from ranking.rankers.base import Progress, require_number, require_whole
from ranking.rankers.lists import Floats, Ints, Lists
from ranking.rankers.scaling import apply_scale, learn_scale, require_scale
from ranking.rankers.stopping import Watch

Single: TypeAlias = npt.NDArray[np.float32]


class LambdaRank(ArrayRanker):
    """Scores ``v · tanh(W x + b)``, trained by gradients that are defined without a loss.

    For a pair with ``i`` above ``j`` in grade, ``λ_ij = |ΔNDCG_ij| / (1 + exp(s_i − s_j))``
    pulls ``i`` up and ``j`` down; ``ΔNDCG_ij`` is what NDCG@``truncation`` changes by when the
    two swap places. It is 0 where both are below ``truncation``, so only pairs with a document
    among the first ``truncation`` are computed: nothing is left out. ``sample_weight``
    multiplies the lambdas of its row. Steps are Adam's, on batches of ``batch_queries`` queries
    of like length.

    References: Burges, Ragno, Le, "Learning to rank with nonsmooth cost functions", NIPS 2006;
    Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """

    name: ClassVar[str] = "lambdarank"
    arrays: ClassVar[dict[str, int]] = {
        "hidden_weights_": 2,
        "hidden_bias_": 1,
        "output_weights_": 1,
        "centre_": 1,
        "spread_": 1,
    }

    hidden_weights_: Single
    hidden_bias_: Single
    output_weights_: Single
    centre_: Floats
    spread_: Floats

    def __init__(
        self,
        *,
        hidden: int = 16,
        epochs: int = 60,
        learning_rate: float = 0.003,
        weight_decay: float = 0.01,
        batch_queries: int = 16,
        truncation: int = 10,
        scale: str = "standard",
        k: int = 10,
        early_stopping_rounds: int = 15,
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_queries = batch_queries
        self.truncation = truncation
        self.scale = scale
        self.k = k
        self.early_stopping_rounds = early_stopping_rounds
        self.seed = seed

    def _check_parameters(self) -> None:
        for name in ("hidden", "epochs", "batch_queries", "truncation", "k"):
            require_whole(name, getattr(self, name))
        require_whole("early_stopping_rounds", self.early_stopping_rounds)
        require_whole("seed", self.seed, least=0)
        require_number("learning_rate", self.learning_rate, above=0)
        require_number("weight_decay", self.weight_decay)
        require_scale(self.scale)

    def _check_arrays(self, path: str | Path) -> None:
        self._require_shape(path, "hidden_weights_", self.hidden, self.n_features_in_)
        for name in ("hidden_bias_", "output_weights_"):
            self._require_shape(path, name, self.hidden)
        for name in ("centre_", "spread_"):
            self._require_shape(path, name, self.n_features_in_)

    def _fit(self, train: Lists, valid: Lists | None, progress: Progress) -> None:
        lists = train.with_preferences()
        rng = np.random.default_rng(self.seed)
        self.centre_, self.spread_ = learn_scale(lists.X, self.scale)
        batches = list(_batches(self._scaled(lists.X), lists, self, rng))
        X_valid = None if valid is None else self._scaled(valid.X)
        net = _Net.random(self.n_features_in_, self.hidden, rng)
        steps = _Adam(net.values, self.learning_rate, self.weight_decay)
        watch = Watch(valid, self.k, self.early_stopping_rounds)
        for done in range(1, self.epochs + 1):
            for number in rng.permutation(len(batches)):
                batch = batches[number]
                hidden = net.activate(batch.X)
                pull = batch.lambdas(net.output @ hidden)
                steps.follow(net.gradients(batch.X, hidden, -pull))
            if watch.improved(None if X_valid is None else net.scores(X_valid)):
                kept = net.copy()
            progress(done / self.epochs)
            if watch.over:
                break
        if not all(np.isfinite(value).all() for value in kept.values):
            raise ValueError(
                f"learning_rate must be small enough to learn. Got {self.learning_rate}, and "
                "weights without bounds, instead."
            )
        self.hidden_weights_, self.hidden_bias_, self.output_weights_ = kept.values
        self.best_iteration_, self.history_ = watch.best, watch.history
        progress(1.0)

    def _scaled(self, X: Floats) -> Single:
        return apply_scale(X, self.scale, self.centre_, self.spread_, dtype=np.float32)

    def _score(self, X: Floats) -> Single:
        net = _Net(self.hidden_weights_, self.hidden_bias_, self.output_weights_)
        return net.scores(self._scaled(X))

    def feature_importance(self) -> npt.NDArray[np.float64]:
        """``Σ_h |v_h W_hf|``: how far a feature can move the score, on the common scale."""
        reach = np.abs(self.output_weights_) @ np.abs(self.hidden_weights_)
        return reach.astype(np.float64)


@dataclass
class _Net:
    """The weights, and how scores and gradients come from them.

    Hidden units are rows and documents columns: BLAS multiplies that way round a third faster.
    """

    weights: Single
    bias: Single
    output: Single

    @classmethod
    def random(cls, features: int, hidden: int, rng: np.random.Generator) -> "_Net":
        weights = rng.normal(0, features**-0.5, (hidden, features))
        output = rng.normal(0, hidden**-0.5, hidden)
        bias = np.zeros(hidden, dtype=np.float32)
        return cls(weights.astype(np.float32), bias, output.astype(np.float32))

    @property
    def values(self) -> list[Single]:
        return [self.weights, self.bias, self.output]

    def copy(self) -> "_Net":
        return _Net(*(value.copy() for value in self.values))

    def activate(self, X: Single) -> Single:
        hidden: Single = self.weights @ X.T
        hidden += self.bias[:, None]
        return np.tanh(hidden, out=hidden)

    def scores(self, X: Single) -> Single:
        scores: Single = self.output @ self.activate(X)
        return scores

    def gradients(self, X: Single, hidden: Single, by_score: Single) -> list[Single]:
        """The gradient of every weight, from the gradient of every score."""
        by_output = hidden @ by_score
        inner = 1 - hidden * hidden
        inner *= by_score
        inner *= self.output[:, None]
        return [inner @ X, inner.sum(axis=1), by_output]


class _Adam:
    """Adam with decoupled weight decay, changing the weights in place."""

    def __init__(self, values: list[Single], rate: float, decay: float) -> None:
        self._values, self._rate, self._decay = values, rate, decay
        self._mean = [np.zeros_like(value) for value in values]
        self._square = [np.zeros_like(value) for value in values]
        self._steps = 0

    def follow(self, gradients: list[Single]) -> None:
        self._steps += 1
        rate = self._rate * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        moments = zip(self._values, self._mean, self._square, gradients, strict=True)
        for value, mean, square, gradient in moments:
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            value *= 1 - self._rate * self._decay
            value -= np.float32(rate) * mean / (np.sqrt(square) + 1e-8)


@dataclass(frozen=True)
class _Batch:
    """Queries of like length as the rows of a matrix, shorter ones padded at the end."""

    X: Single
    gains: Single  # queries × documents, over the ideal DCG and the number of queries
    cells: Ints | None  # where in that matrix each row of X is; None if nothing is padded
    swap: Single  # what the discount changes by: (queries or 1) × truncation × documents
    weight: Single | None

    def lambdas(self, scores: Single) -> Single:
        """The pull on every row of ``X``: up if positive."""
        table: Single
        if self.cells is None:
            table = scores.reshape(self.gains.shape)
        else:
            table = np.full(self.gains.shape, -1e30, dtype=np.float32)
            table.ravel()[self.cells] = scores
        order = np.argsort(-table, axis=1, kind="stable")
        order += np.arange(0, table.size, self.gains.shape[1])[:, None]
        pull = np.empty(table.size, dtype=np.float32)
        pull[order] = _pairs(table.ravel()[order], self.gains.ravel()[order], self.swap)
        flat = pull if self.cells is None else pull[self.cells]
        return flat if self.weight is None else flat * self.weight


def _pairs(scores: Single, gains: Single, swap: Single) -> Single:
    """Lambdas of lists in order of score, from all pairs of a top document and a later one.

    With ``e = exp(s_q − s_p) ≤ 1`` for ``p`` before ``q``, the chance that the pair is in the
    wrong order is ``e / (1 + e)`` if ``p`` has the higher gain and ``1 / (1 + e)`` if ``q`` has.
    """
    top = swap.shape[1]
    wrong = scores[:, None, :] - scores[:, :top, None]
    # Among the top themselves half of the pairs are the wrong way round; ``swap`` is 0 there.
    np.minimum(wrong[:, :, :top], 0, out=wrong[:, :, :top])
    np.exp(wrong, out=wrong)
    gap = gains[:, :top, None] - gains[:, None, :]
    share = np.where(gap > 0, wrong, np.float32(1))
    wrong += 1
    share /= wrong
    gap *= share
    gap *= swap
    pull: Single = -gap.sum(axis=1)
    pull[:, :top] += gap.sum(axis=2)
    return pull


def _swaps(documents: int, truncation: int) -> Single:
    """``|discount(p) − discount(q)|`` for places p < q, p within the truncation, else 0."""
    places = np.arange(documents)
    discount = np.where(places < truncation, 1 / np.log2(places + 2.0), 0)
    top = min(truncation, documents)
    change = np.abs(discount[:top, None] - discount[None, :])
    return np.where(places[:top, None] < places[None, :], change, 0).astype(np.float32)


def _batches(
    X: Single, lists: Lists, ranker: LambdaRank, rng: np.random.Generator
) -> Iterator[_Batch]:
    """Queries of like length side by side, at random among those of the same length."""
    sizes = lists.sizes
    queries = np.lexsort((rng.random(len(sizes)), sizes))
    for first in range(0, len(queries), ranker.batch_queries):
        chosen = queries[first : first + ranker.batch_queries]
        rows = np.concatenate([np.arange(lists.start[q], lists.start[q + 1]) for q in chosen])
        yield _batch(X[rows], lists, (chosen, rows), ranker.truncation)


def _batch(X: Single, lists: Lists, where: tuple[Ints, Ints], truncation: int) -> _Batch:
    queries, rows = where
    sizes = lists.sizes[queries]
    longest = int(sizes[-1])
    place = np.arange(longest)
    real = place < sizes[:, None]
    cells = np.flatnonzero(real)
    grades = np.zeros(real.shape, dtype=np.int64)
    grades.ravel()[cells] = lists.y[rows]
    gains = 2.0**grades - 1
    top = min(truncation, longest)
    ideal = -np.sort(-gains, axis=1)[:, :top] @ (1 / np.log2(place[:top] + 2.0))
    swap = np.expand_dims(_swaps(longest, truncation), 0)
    if not real.all():
        swap = np.where(real[:, :top, None] & real[:, None, :], swap, np.float32(0))
    return _Batch(
        X=X,
        gains=(gains / ideal[:, None] / len(queries)).astype(np.float32),
        cells=None if real.all() else cells,
        swap=swap,
        weight=lists.weight[rows].astype(np.float32) if lists.weighted else None,
    )
