"""How fast the rankers learn, beside PyTorch and LightGBM on one thread.

PyTorch is not a dependency. Where it cannot be imported the line says that the peer was not
measured; ``pip install torch`` in an environment of its own, with this project, measures it.
"""

from importlib.util import find_spec
from time import perf_counter
from typing import Any

import lightgbm as lgb
import numpy as np
from threadpoolctl import threadpool_limits

from bench import Result
from ranking.metrics import ndcg
from ranking.rankers import LambdaMART, LambdaRank
from ranking.rankers.lambdarank import _batches, _Net
from ranking.rankers.lists import Lists

QUERIES, DOCUMENTS, FEATURES = 2_000, 120, 136
EPOCHS, ROUNDS = 5, 3


def run() -> list[Result]:
    """All lines of the table."""
    with threadpool_limits(limits=1):
        return [lambdarank(), lambdamart()]


def make_data(seed: int, queries: int) -> tuple[Any, Any, Any]:
    """Grades 0–4 with the shares of a web collection, from a bent function of a few features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(queries * DOCUMENTS, FEATURES)).astype(np.float32)
    truth = X[:, :8].sum(axis=1) + 2 * np.tanh(X[:, 8] * X[:, 9]) + rng.normal(0, 3, len(X))
    y = np.searchsorted(np.quantile(truth, [0.52, 0.84, 0.97, 0.99]), truth)
    return X, y, np.repeat(np.arange(queries), DOCUMENTS)


def lambdarank() -> Result:
    """One epoch, and where the same epochs lead."""
    train, test = make_data(0, QUERIES), make_data(1, 500)
    ranker = LambdaRank(epochs=EPOCHS)
    ticks: list[float] = []
    ranker.fit(*train, progress=lambda _: ticks.append(perf_counter()))
    ours = min(np.diff(ticks[:EPOCHS]))
    reached = [f"{_quality(test, ranker.predict(test[0])):.4f}"]
    peers: dict[str, float] = {}
    for by_hand in (False, True) if find_spec("torch") else ():
        name = "PyTorch, all pairs, " + ("lambdas by hand" if by_hand else "autograd")
        peers[name], scores = torch_lambdarank(ranker, train, test[0], by_hand)
        reached.append(f"{name} {_quality(test, scores):.4f}")
    note = f"NDCG@10 after {EPOCHS} epochs: {', '.join(reached)}"
    return Result(
        f"lambdarank, an epoch over {QUERIES:,} × {DOCUMENTS} × {FEATURES}, one thread",
        ours,
        peers,
        "≥ 5× autograd",
        note if peers else f"{note}; PyTorch is not installed here and was not measured",
    )


def _quality(test: Any, scores: Any) -> float:
    return float(np.nanmean(ndcg(test[1], scores, test[2], 10)))


def torch_lambdarank(
    ranker: LambdaRank, train: Any, X_new: Any, by_hand: bool
) -> tuple[float, Any]:
    """The same net, start, batches and steps in PyTorch; best epoch, and scores of new rows."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(ranker.seed)
    lists = Lists.build(*train)
    batches = [
        (torch.from_numpy(batch.X), torch.from_numpy(batch.gains))
        for batch in _batches(ranker._scaled(lists.X), lists, ranker, rng)
    ]
    start = _Net.random(FEATURES, ranker.hidden, rng)
    weights, bias, output = (torch.tensor(v, requires_grad=True) for v in start.values)
    steps = torch.optim.AdamW(
        [weights, bias, output], lr=ranker.learning_rate, weight_decay=ranker.weight_decay
    )
    places = torch.arange(DOCUMENTS)
    discount = torch.where(places < ranker.truncation, 1 / torch.log2(places + 2.0), 0.0)

    def score(X: Any) -> Any:
        return torch.tanh(X @ weights.T + bias) @ output

    best = float("inf")
    for _ in range(EPOCHS):
        begun = perf_counter()
        for number in rng.permutation(len(batches)):
            X, gains = batches[number]
            scores = score(X).reshape(gains.shape)
            steps.zero_grad()
            if by_hand:
                scores.backward(-_torch_lambdas(scores.detach(), gains, discount))
            else:
                _torch_loss(scores, gains, discount).backward()
            steps.step()
        best = min(best, perf_counter() - begun)
    with torch.no_grad():
        return best, score(torch.from_numpy(ranker._scaled(X_new))).numpy()


def _torch_swaps(scores: Any, gains: Any, discount: Any) -> tuple[Any, Any]:
    """The difference in gain of every pair, and what NDCG changes by if it swaps."""
    places = scores.detach().argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    d = discount[places]
    gap = gains[:, :, None] - gains[:, None, :]
    return gap, gap.abs() * (d[:, :, None] - d[:, None, :]).abs()


def _torch_loss(scores: Any, gains: Any, discount: Any) -> Any:
    """The loss whose gradient the lambdas are, as it is usually written: one entry per pair."""
    import torch

    gap, delta = _torch_swaps(scores, gains, discount)
    preferred = gap > 0
    ahead = scores[:, :, None] - scores[:, None, :]
    return (torch.nn.functional.softplus(-ahead[preferred]) * delta[preferred]).sum()


def _torch_lambdas(scores: Any, gains: Any, discount: Any) -> Any:
    """The lambdas themselves, so that nothing has to be differentiated through the pairs."""
    import torch

    gap, delta = _torch_swaps(scores, gains, discount)
    direction = gap.sign()
    wrong = torch.sigmoid((scores[:, None, :] - scores[:, :, None]) * direction)
    return (direction * delta * wrong).sum(dim=2)


def lambdamart() -> Result:
    """Our estimator against LightGBM called directly with the same parameters."""
    X, y, qid = make_data(2, 500)
    sizes = np.full(500, DOCUMENTS)
    ranker = LambdaMART(n_estimators=50)
    ours, raw = float("inf"), float("inf")
    # In turns, so that whatever else the machine does slows both down.
    for _ in range(ROUNDS):
        start = perf_counter()
        ranker.fit(X, y, qid)
        middle = perf_counter()
        parameters = ranker.lightgbm_parameters()
        lgb.train(parameters, lgb.Dataset(X, label=y, group=sizes, params=parameters), 50)
        ours, raw = min(ours, middle - start), min(raw, perf_counter() - middle)
    return Result(
        f"lambdamart, 50 trees on 500 × {DOCUMENTS} × {FEATURES}, one thread",
        ours,
        {"LightGBM called directly": raw},
        "≤ 1.1× its time (a ratio of at least 0.91×)",
    )
