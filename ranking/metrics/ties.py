"""Expected values over random order among documents of equal score.

Reference: McSherry, Najork, "Computing information retrieval performance measures efficiently in
the presence of tied scores", ECIR 2008. The measures with a stopping reader are ours: the chance
to pass the first i of a tied run is the mean product over all its subsets of size i.
"""

import numpy as np
from numpy.typing import NDArray

from ranking.metrics.lists import Floats, Lists, by_score


def linear(part: Lists, k: int | None, gains: Floats, weights: Floats) -> Floats:
    """E[Σ_{i≤k} gain(i) · weight(i)]: every place of a tied run has the run's mean gain."""
    grades, starts = by_score(part)
    sizes = np.diff(starts, append=grades.size)
    mean = np.add.reduceat(gains[grades].ravel(), starts) / sizes
    spread = np.repeat(mean, sizes).reshape(grades.shape)
    value: Floats = spread[:, :k] @ weights[:k]
    return value


def precisions(part: Lists, k: int | None, relevant: int) -> Floats:
    """E[Σ_{i≤k} [relevant(i)] · precision@i], the numerator of average precision.

    At offset o (from 0) of a run of m documents, r of them relevant, that starts after b relevant
    ones: (r/m) · (b + 1 + o · (r − 1)/(m − 1)) / place.
    """
    grades, starts = by_score(part)
    sizes = np.diff(starts, append=grades.size)
    hits = (grades >= relevant).astype(np.float64)
    r = np.add.reduceat(hits.ravel(), starts)
    before = (np.cumsum(hits, axis=1) - hits).ravel()[starts]
    slope = (r - 1) / np.maximum(sizes - 1, 1)
    offset = np.arange(grades.size) - np.repeat(starts, sizes)
    rank = np.repeat(before + 1, sizes) + offset * np.repeat(slope, sizes)
    chance = np.repeat(r / sizes, sizes)
    value = (chance * rank).reshape(grades.shape) / np.arange(1, grades.shape[1] + 1)
    return np.asarray(value[:, :k].sum(axis=1), dtype=np.float64)


def survival(part: Lists, k: int | None, stops: Floats) -> Floats:
    """The chance that the reader is still there after each of the first ``k`` places."""
    grades, starts = by_score(part)
    sizes = np.diff(starts, append=grades.size)
    passing = 1.0 - stops[grades]
    alive: Floats = np.cumprod(passing, axis=1, dtype=np.float64)
    length = grades.shape[1]
    depth = length if k is None else min(k, length)
    for low, high in _size_classes(sizes, starts % length < depth):
        runs = np.flatnonzero((sizes > low) & (sizes <= high) & (starts % length < depth))
        _spread(alive, passing, starts[runs], sizes[runs], depth=depth)
    return alive[:, :depth]


def _size_classes(sizes: NDArray[np.intp], seen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Doubling ranges (1, 2], (2, 4], … of the lengths of the tied runs that are seen."""
    longest = int(sizes[seen].max())
    return [(2**c, 2 ** (c + 1)) for c in range(max(longest - 1, 0).bit_length())]


def _spread(
    alive: Floats,
    passing: Floats,
    starts: NDArray[np.intp],
    sizes: NDArray[np.intp],
    *,
    depth: int,
) -> None:
    """Replace ``alive`` inside tied runs, as far as ``depth`` needs, by its mean over their orders.

    With s_i the mean product over the subsets of size i, one more factor x to n of them gives
    s_i ← ((n + 1 − i) · s_i + i · x · s_{i−1}) / (n + 1): a mean of means, so nothing cancels.
    """
    if not starts.size:
        return
    most = int(sizes.max())
    seen = min(most, depth)
    i = np.arange(seen + 1)
    means = np.zeros((starts.size, seen + 1))
    means[:, 0] = 1.0
    flat = passing.ravel()
    for n in range(most):
        inside = sizes > n
        x = flat[starts[inside] + n, None]
        old = means[inside]
        new = np.maximum(n + 1 - i, 0) * old
        new[:, 1:] += i[1:] * x * old[:, :-1]
        new /= n + 1
        means[inside] = new
    column = starts % alive.shape[1]
    entered = np.where(column > 0, alive.ravel()[starts - 1], 1.0)
    offset = np.arange(1, seen + 1)
    within = offset <= sizes[:, None]
    cells = (starts[:, None] + offset - 1)[within]
    alive.ravel()[cells] = (entered[:, None] * means[:, 1:])[within]
