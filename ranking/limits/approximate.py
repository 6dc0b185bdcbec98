"""The study's closed form and the simulation, each for one list."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ranking.metrics.lists import Floats

#: How many standard deviations of the normal distribution are summed.
_REACH = 8.0


def gaussian_dcg(
    counts: NDArray[np.intp], confusion: Floats, gains: Floats, reach: Floats
) -> float:
    """E[DCG] with (h + s, s) taken as bivariate normal; h are graded higher, s the same.

    The mass of every cell (t, s) is that of the unit square round it, by t and then by s given t;
    mass outside 0 ≤ s ≤ t ≤ n − 1 goes to the nearest cell inside. ``reach`` is the sum of the
    discounts of the first 0, 1, … n places.
    """
    value = 0.0
    for i in np.flatnonzero(counts * gains):
        others = counts - (np.arange(counts.size) == i)
        for j in np.flatnonzero(confusion[i]):
            discount = _mean_discount(others, confusion, int(j), reach)
            value += float(counts[i] * gains[i] * confusion[i, j] * discount)
    return value


def _mean_discount(others: NDArray[np.intp], confusion: Floats, j: int, reach: Floats) -> float:
    p, rest = confusion[:, j], confusion[:, :j].sum(axis=1)
    n = int(others.sum())
    mean_t, var_t = others @ (1 - rest), others @ (rest * (1 - rest))
    mean_s, var_s, cov = others @ p, others @ (p * (1 - p)), others @ (p * rest)
    slope = cov / var_t if var_t > 0 else 0.0
    # A spread of nothing is a point: the least one that still divides stands for it.
    sd_t = max(np.sqrt(max(var_t, 0.0)), 1e-9)
    sd_s = max(np.sqrt(max(var_s - slope * cov, 0.0)), 1e-9)
    t = _cells(mean_t, sd_t, n)
    mass_t = _mass(t, mean_t, sd_t, n)
    around = np.arange(-int(_REACH * sd_s) - 1, int(_REACH * sd_s) + 2)
    middle = mean_s + slope * (t - mean_t)
    s = np.rint(middle).astype(np.intp)[:, None] + around
    mass_s = ndtr((s + 0.5 - middle[:, None]) / sd_s) - ndtr((s - 0.5 - middle[:, None]) / sd_s)
    s = np.clip(s, 0, t[:, None])
    mean = (reach[t + 1][:, None] - reach[t[:, None] - s]) / (s + 1)
    return float(mass_t @ (mass_s * mean).sum(axis=1))


def _cells(mean: float, sd: float, n: int) -> NDArray[np.intp]:
    low, high = np.rint([mean - _REACH * sd, mean + _REACH * sd]).astype(np.intp)
    return np.arange(max(low - 1, 0), min(high + 1, n) + 1)


def _mass(t: NDArray[np.intp], mean: float, sd: float, n: int) -> Floats:
    upper, lower = ndtr((t + 0.5 - mean) / sd), ndtr((t - 0.5 - mean) / sd)
    upper[t == n], lower[t == 0] = 1.0, 0.0
    return np.asarray(upper - lower, dtype=np.float64)


def simulated_dcg(
    counts: NDArray[np.intp],
    confusion: Floats,
    gains: Floats,
    reach: Floats,
    *,
    runs: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Mean and standard error of the DCG over ``runs`` draws of the alternative grades.

    How many documents of truth i become grade j is all that counts: documents of the same
    alternative grade share their places, so that ties need no draw of their own.
    """
    drawn = rng.multinomial(counts, confusion, size=(runs, counts.size))
    groups = drawn.sum(axis=1)[:, ::-1]
    last = np.cumsum(groups, axis=1)
    gained = (gains @ drawn)[:, ::-1]
    share = (reach[last] - reach[last - groups]) / np.maximum(groups, 1)
    values = (gained * share).sum(axis=1)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(runs))
