"""From a budget to the price of a judgment."""

import numpy as np
import numpy.typing as npt

from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.limits.checks import check_confusion, check_prior
from ranking.paying.worth import FLOOR, require_whole, value
from ranking.simulation import draw


def price_for(
    budget: float,
    prior: npt.ArrayLike,
    confusion: npt.ArrayLike,
    documents: int = 20,
    *,
    cap: int = 11,
    k: int = 3,
    queries: int = 60,
    rng: np.random.Generator | int = 0,
) -> float:
    """The price at which :class:`IfItPays` takes ``budget`` judgments per pair, by simulation.

    ``queries`` lists of ``documents`` are drawn from ``prior`` and judged by ``confusion``. As one
    document of a query is asked about at a time, the highest value first, a price only says where
    that sequence stops: one run without a price holds the cost of every price. The sequence of a
    query goes on while the lowest of its values so far is above the price.
    """
    require_whole("documents", documents)
    require_whole("queries", queries)
    if not 1 < budget <= cap:
        raise ValueError(f"budget must lie above 1 and up to the cap {cap}. Got {budget} instead.")
    world = _World(prior, confusion, (queries, documents, cap), np.random.default_rng(rng))
    wanted = round((budget - 1) * queries * documents)
    lowest = np.full(queries, np.inf)
    paid = np.empty(0)
    while len(paid) <= wanted or paid[wanted] < lowest.max():
        worth = np.where(world.made < cap, value(world.posterior(), world.confusion, k), 0.0)
        lowest = np.minimum(lowest, worth.max(axis=1))
        if not lowest.any():
            break
        paid = -np.sort(-np.concatenate([paid, lowest]))
        world.ask(worth.argmax(axis=1))
    # Where judgments are worth nothing before the budget is spent, any price above 0 will do.
    return float(max(paid[wanted] if len(paid) > wanted else 0.0, FLOOR))


class _World:
    """Drawn documents and the judgments they will get: made[query, document] of them so far."""

    def __init__(
        self,
        prior: npt.ArrayLike,
        confusion: npt.ArrayLike,
        shape: tuple[int, int, int],
        rng: np.random.Generator,
    ) -> None:
        self.prior = check_prior(prior, LEVELS)
        self.confusion = check_confusion(confusion, LEVELS)
        truth = rng.choice(LEVELS, shape[:2], p=self.prior)
        self.answers = draw(np.repeat(truth[..., None], shape[2], axis=2), self.confusion, rng)
        self.counts: FloatArray = np.eye(LEVELS)[self.answers[..., 0]]
        self.made = np.ones(shape[:2], dtype=np.int64)

    def posterior(self) -> FloatArray:
        """By Bayes' rule, prior and judges being known."""
        fit = self.counts @ np.log(np.maximum(self.confusion, FLOOR)).T
        fit += np.log(np.maximum(self.prior, FLOOR))
        chance = np.exp(fit - fit.max(axis=2, keepdims=True))
        result: FloatArray = chance / chance.sum(axis=2, keepdims=True)
        return result

    def ask(self, document: IntArray) -> None:
        """One more judgment of one document of every query that has one left."""
        query = np.arange(len(self.made))
        left = self.made[query, document] < self.answers.shape[2]
        query, document = query[left], document[left]
        answer = self.answers[query, document, self.made[query, document]]
        self.counts[query, document, answer] += 1
        self.made[query, document] += 1


def price_left(values: npt.ArrayLike, judgments: int) -> float:
    """The lowest price at which the pairs of ``values`` ask for no more than ``judgments`` now.

    For steering a running campaign: what is left of its budget buys the most valuable judgments.
    """
    if judgments < 0:
        raise ValueError(f"judgments must be at least 0. Got {judgments} instead.")
    worth = -np.sort(-np.asarray(values, dtype=np.float64).ravel())
    return float(max(worth[judgments] if judgments < len(worth) else 0.0, FLOOR))
