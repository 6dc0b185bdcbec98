"""What an agreement function answers, and the bootstrap behind its interval."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.judgments import FloatArray, IntArray

#: A generator, a seed, or None for the seed 0: the same data always give the same interval.
Rng = np.random.Generator | int | None

#: Numbers a block of resamples may hold at once, so that memory does not grow with the data.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its bootstrap interval and what it rests on.

    ``low`` and ``high`` are ``nan`` when no interval was asked for or fewer than two pairs carry
    the value. ``pairs`` counts the pairs with at least two judges, ``judgments`` the judgments of
    those pairs. ``reason`` says why ``value`` is ``nan`` and is empty when it is not.
    """

    value: float
    low: float
    high: float
    pairs: int
    judgments: int
    reason: str = ""

    def __float__(self) -> float:
        return self.value


def check_interval(interval: float | None, resamples: int) -> None:
    """Raise unless the interval, if asked for, is a share and there are resamples to take it of."""
    if interval is not None and not 0 < interval < 1:
        raise ValueError(f"interval must lie between 0 and 1. Got {interval} instead.")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1. Got {resamples} instead.")


def generator(rng: Rng) -> np.random.Generator:
    """The generator that draws the resamples."""
    return np.random.default_rng(0 if rng is None else rng)


def bootstrap(
    freq: IntArray,
    features: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    rng: Rng,
    resamples: int,
) -> FloatArray:
    """``statistic`` of the summed features of resampled pairs, one row per resample.

    ``features`` has one row per *kind* of pair and ``freq`` says how many pairs are of that kind.
    Pairs of one kind add the same to every sum, so drawing pairs with replacement is drawing the
    number of each kind from a multinomial: exact, and its cost does not grow with the pairs.
    """
    draw = generator(rng)
    total = int(freq.sum())
    block = max(1, _BLOCK // max(1, len(freq)))
    parts = []
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        weight = draw.multinomial(total, freq / total, size=size).astype(np.float64)
        parts.append(statistic(weight @ features))
    return np.concatenate(parts)


def limits(values: FloatArray, interval: float) -> tuple[FloatArray, FloatArray]:
    """The percentile interval over the first axis; undefined resamples are left out.

    ``nan`` where no resample is defined.
    """
    outside = (1.0 - interval) / 2.0
    undefined = np.isnan(values).all(axis=0)
    filled = np.where(undefined, 0.0, values)
    low, high = np.nanquantile(filled, [outside, 1.0 - outside], axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
