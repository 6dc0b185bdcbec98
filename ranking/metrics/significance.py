"""What may be said of a mean over queries, and of the difference between two."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ranking.metrics.lists import Floats

#: How many numbers a resampling step may hold at once (16 MB of floats).
_CELLS = 2_000_000


@dataclass(frozen=True)
class Summary:
    """A mean over queries: ``left_out`` of them were ``nan`` and are not among the ``n``."""

    mean: float
    n: int
    standard_error: float
    left_out: int


@dataclass(frozen=True)
class Comparison:
    """Two measurements of the same queries; ``difference`` is the mean of a − b."""

    mean_a: float
    mean_b: float
    difference: float
    t_test_p: float
    randomisation_p: float
    low: float
    high: float
    n: int
    left_out: int


def summary(values: ArrayLike) -> Summary:
    """Mean, number and standard error (s/√n) of one value per query, ``nan`` left out.

    The mean of nothing and the standard error of one value are ``nan``.
    """
    flat = _flat("values", values)
    kept = flat[~np.isnan(flat)]
    mean = float(kept.mean()) if kept.size else np.nan
    error = float(kept.std(ddof=1) / np.sqrt(kept.size)) if kept.size > 1 else np.nan
    return Summary(mean, kept.size, error, flat.size - kept.size)


def compare(
    a: ArrayLike,
    b: ArrayLike,
    *,
    interval: float = 0.95,
    draws: int = 10_000,
    rng: np.random.Generator | int | None = 0,
) -> Comparison:
    """Whether ``a`` is better than ``b``, query by query, by three independent ways.

    Queries that are ``nan`` in either are left out and counted. Both p are two-sided:

    - paired t-test;
    - randomisation test: how often the mean difference is at least as far from 0 when each
      query's sign is thrown at random, all 2^n ways if they are no more than ``draws``, else
      (1 + hits) / (1 + draws);
    - percentile bootstrap interval of the mean difference over queries.

    Two equal measurements have p = 1. With fewer than two queries left, p and interval are
    ``nan``. ``rng`` is a seed or a generator; the same seed gives the same answer.

    Reference: Smucker, Allan, Carterette, CIKM 2007.
    """
    flat_a, flat_b = _flat("a", a), _flat("b", b)
    if flat_a.size != flat_b.size:
        raise ValueError(
            "a and b must have one value for each of the same queries. "
            f"Got {flat_a.size} and {flat_b.size} instead."
        )
    if not 0 < interval < 1:
        raise ValueError(f"interval must lie between 0 and 1. Got {interval} instead.")
    if draws < 1:
        raise ValueError(f"draws must be at least 1. Got {draws} instead.")
    kept = ~(np.isnan(flat_a) | np.isnan(flat_b))
    x, y = flat_a[kept], flat_b[kept]
    n, left_out = x.size, int(flat_a.size - x.size)
    if n == 0:
        nan = float("nan")
        return Comparison(nan, nan, nan, nan, nan, nan, nan, 0, left_out)
    d = x - y
    generator = np.random.default_rng(rng)
    p = _randomisation_p(d, draws, generator) if n > 1 else np.nan
    low, high = _bootstrap(d, interval, draws, generator) if n > 1 else (np.nan, np.nan)
    means = float(x.mean()), float(y.mean()), float(d.mean())
    return Comparison(*means, _t_test_p(d), p, low, high, n, left_out)


def _t_test_p(d: Floats) -> float:
    if d.size < 2:
        return np.nan
    spread = d.std(ddof=1)
    if spread == 0:
        return 1.0 if d[0] == 0 else 0.0
    t = abs(d.mean()) / (spread / np.sqrt(d.size))
    return float(2 * stats.t.sf(t, d.size - 1))


def _randomisation_p(d: Floats, draws: int, rng: np.random.Generator) -> float:
    # A sum that only rounding tells from the one observed is as far away as it.
    seen = abs(d.sum()) * (1 - 1e-12) - 1e-12 * np.abs(d).max()
    if d.size < 31 and 2**d.size <= draws:
        ways = np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1
        return float(np.mean(np.abs((2.0 * ways - 1) @ d) >= seen))
    hits = 0
    for size in _chunks(draws, d.size):
        packed = rng.integers(0, 256, (size, -(-d.size // 8)), dtype=np.uint8)
        heads = np.unpackbits(packed, axis=1, count=d.size).astype(np.float64)
        hits += int(np.count_nonzero(np.abs(2 * (heads @ d) - d.sum()) >= seen))
    return (1 + hits) / (1 + draws)


def _bootstrap(
    d: Floats, interval: float, draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    means = [
        d[rng.integers(0, d.size, (size, d.size))].mean(axis=1) for size in _chunks(draws, d.size)
    ]
    tail = (1 - interval) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return float(low), float(high)


def _chunks(draws: int, width: int) -> list[int]:
    step = max(1, _CELLS // width)
    return [min(step, draws - start) for start in range(0, draws, step)]


def _flat(name: str, values: ArrayLike) -> Floats:
    flat = np.asarray(values, dtype=np.float64)
    if flat.ndim != 1:
        raise ValueError(f"{name} must be a flat array. Got shape {flat.shape} instead.")
    return flat
