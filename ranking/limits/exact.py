"""The exact expected DCG of lists that are sorted by another judge's grades.

Ties are broken by a uniform u. Given its own u, a document of truth i and alternative grade j
stands below each of the m_k = n_k − [k = i] others of truth k with chance a_k = q_k + p_k·u,
independently, where p_k = C[k][j] and q_k = Σ_{l>j} C[k][l]. The number r of documents above it
has the generating function E[z^r] = Π_k (1 − a_k + a_k·z)^{m_k}.

If the discount is a sum of exponentials, d(r) = Σ_m c_m·z_m^r for r = 0 … n − 1, then its
expectation is the same sum of these products: no distribution has to be written out, and lists of
every length share the same few points z_m. The integral over u is by Gauss and Legendre, with as
many nodes as its error bound asks for. Both errors are below 1e-13.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.metrics.lists import Floats
from ranking.metrics.measures import discounts

Points = NDArray[np.float64] | NDArray[np.complex128]
_TOLERANCE = 1e-14
#: How many products a step may hold at once: small enough to stay in the cache.
_CELLS = 200_000
_COLUMNS, _ROWS = 512, 64


def expected_dcg(
    counts: NDArray[np.intp], confusion: Floats, gains: Floats, k: int | None
) -> Floats:
    """E[DCG@k] of every row of ``counts``, unnormalised."""
    sizes = counts.sum(axis=1)
    values = np.zeros(sizes.size)
    # Lists of similar length share their points; a long list would only slow the short ones.
    size_class = np.frexp(sizes - 0.5)[1]
    for wanted in np.unique(size_class):
        rows = np.flatnonzero(size_class == wanted)
        n = int(sizes[rows].max())
        points, weights = series(n, n if k is None else min(k, n))
        values[rows] = _expected(counts[rows], confusion, gains, points, weights)
    return values


def _expected(
    counts: NDArray[np.intp], confusion: Floats, gains: Floats, points: Points, weights: Points
) -> Floats:
    values = np.zeros(counts.shape[0])
    numbers = counts.astype(np.float64)
    total = _total_real if points.dtype.kind == "f" else _total_complex
    for j in range(confusion.shape[0]):
        same, higher = confusion[:, j], confusion[:, j + 1 :].sum(axis=1)
        if not same.any():
            continue
        u, du = _unit_nodes(_nodes_needed(numbers, same))
        chance = higher[:, None] + same[:, None] * u
        base: NDArray[Any] = 1.0 - chance[:, :, None] * (1.0 - points)
        # The document itself is not among the others: one factor of its own truth less.
        share = same[:, None, None] * (du[:, None] * weights) / base
        logs, shares = (table.reshape(same.size, -1) for table in (np.log(base), share))
        values += total(counts, logs, numbers * gains, shares)
    return values


def _total_real(counts: NDArray[np.intp], logs: Floats, gained: Floats, shares: Floats) -> Floats:
    """Σ_r Π_k base_k(r)^{n_k} · Σ_i gained_i · share_i(r) for every list."""
    values = np.empty(counts.shape[0])
    step = max(1, _CELLS // logs.shape[1])
    for start in range(0, counts.shape[0], step):
        part = slice(start, start + step)
        product = np.exp(counts[part].astype(np.float64) @ logs)
        values[part] = np.einsum("qr,qr->q", product, gained[part] @ shares)
    return values


def _total_complex(
    counts: NDArray[np.intp], logs: NDArray[Any], gained: Floats, shares: NDArray[Any]
) -> Floats:
    """The same where exp is dear: powers are taken once for each different count."""
    values = np.zeros(counts.shape[0])
    different = [np.unique(column, return_inverse=True) for column in counts.T]
    for left in range(0, logs.shape[1], _COLUMNS):
        columns = slice(left, left + _COLUMNS)
        powers = [
            np.exp(n[:, None] * log[columns]) for (n, _), log in zip(different, logs, strict=True)
        ]
        for start in range(0, counts.shape[0], _ROWS):
            part = slice(start, start + _ROWS)
            product = gained[part] @ shares[:, columns]
            for (_, which), power in zip(different, powers, strict=True):
                product *= power[which[part]]
            values[part] += product.sum(axis=1).real
    return values


@lru_cache(maxsize=256)
def series(n: int, k: int) -> tuple[Points, Points]:
    """Points z and weights c with Σ c·z^r = [r < k] / log2(2 + r) for r = 0 … n − 1.

    For complex points the real part is meant. The whole list (k = n) has a smooth discount, the
    transform of a positive measure, and some 25 real points do. A cut at k needs points on a
    circle: those of a discrete Fourier transform, on a radius so small that what lies beyond T
    places fades instead of folding back.
    """
    found = _decaying(n) if k == n else None
    points, weights = _circle(n, k) if found is None else found
    for array in (points, weights):
        array.flags.writeable = False
    return points, weights


def _decaying(n: int) -> tuple[Floats, Floats] | None:
    """Least squares on real exponentials, more of them until the largest residual is nothing."""
    places, wanted = np.arange(n)[:, None], discounts(n)
    for size in range(8, 64, 4):
        points = np.append(np.exp(-np.geomspace(1.0 / n, 6.0, size)), 1.0)
        powers = points**places
        weights: Floats = np.linalg.lstsq(powers, wanted, rcond=1e-15)[0].astype(np.float64)
        if np.abs(powers @ weights - wanted).max() < 10 * _TOLERANCE:
            return points, weights
    return None


def _circle(n: int, k: int) -> tuple[Points, Points]:
    # Dividing by radius^r for r < k may cost three digits; k = 1 divides by nothing.
    radius = 1e-3 ** (1 / (k - 1)) if k > 1 else 1e-8
    size = int(np.ceil(np.log(_TOLERANCE) / np.log(radius)))
    if size >= n:
        radius, size = 1.0, n
    half = -(-size // 2)
    # Half steps leave out the real axis, where a factor of the product could vanish, and only
    # one of each pair of conjugate points is needed.
    turn = np.exp(1j * np.pi * (np.arange(half) + 0.5) / half)
    places = np.arange(k)
    weights = (discounts(k) * radius**-places) @ turn.conj() ** places[:, None] / half
    return radius * turn, weights


def _unit_nodes(size: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return (nodes + 1) / 2, weights / 2


def _nodes_needed(counts: Floats, same: Floats) -> int:
    """How many nodes integrate over u to within the tolerance, for every list.

    On the ellipse with foci 0 and 1 and axis e^x the integrand is at most
    M = Π_k (1 + p_k·(cosh x − 1))^{n_k}, and N nodes err by at most
    64/15 · M · e^{−2Nx} / (1 − e^{−2x}). Half of n nodes are exact in any case.
    """
    x = np.geomspace(0.02, 5.0, 60)
    log_most = counts @ np.log1p(same[:, None] * (np.cosh(x) - 1))
    log_rest = np.log(64 / 15 / _TOLERANCE) - np.log(-np.expm1(-2 * x))
    needed = ((log_most + log_rest) / (2 * x)).min(axis=1).max()
    return int(np.ceil(min(needed, counts.sum(axis=1).max() / 2)))
