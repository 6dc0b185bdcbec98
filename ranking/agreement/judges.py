"""Judge against judge: Cohen's kappa, the table of all couples, and the confusion matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from ranking.agreement.coefficients import agreement_weights, couples
from ranking.agreement.result import Agreement, Rng, bootstrap, check_interval, generator, limits
from ranking.agreement.tally import codes, latest, tally
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_judgments

_CELLS = LEVELS * LEVELS
_BLOCK = 4_000_000


@dataclass(frozen=True)
class PairwiseKappa:
    """Cohen's kappa of every two judges.

    ``kappa``, ``low`` and ``high`` are judges × judges, symmetric, in the order of ``judges``;
    ``nan`` on the diagonal, where two judges share no pair, and where both gave one and the same
    grade only.
    ``pairs`` counts the pairs both judged, on the diagonal those the judge judged.
    """

    judges: IntArray
    kappa: FloatArray
    low: FloatArray
    high: FloatArray
    pairs: IntArray


@dataclass(frozen=True)
class Confusion:
    """P(another judge says j | one judge says i), rows ``i`` and columns ``j`` from Bad to Perfect.

    ``counts`` are the couples of judgments seen, before smoothing; ``pairs`` and ``judgments`` are
    what they come from. ``np.asarray(confusion)`` is ``matrix``. ``reason`` says why rows are
    ``nan`` and is empty when none is.
    """

    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    counts: FloatArray
    pairs: int
    judgments: int
    smoothing: float
    reason: str = ""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.matrix, dtype=dtype)


def cohen_kappa(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    weights: str | None = None,
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """Cohen's kappa of two judges who graded the same pairs: ``a[i]`` and ``b[i]`` are of one pair.

    ``κ = 1 - Σ d_ij O_ij / Σ d_ij E_ij`` with ``O`` the shares of the 5 × 5 table, ``E`` the
    product of its margins and ``d = 1 - w``; ``weights`` None, ``"linear"`` or ``"quadratic"``, see
    :func:`agreement_weights <ranking.agreement.coefficients.agreement_weights>`. ``nan`` when both
    gave one and the same grade only.

    References: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960); weighted: Psychological Bulletin 70 (1968).
    """
    check_interval(interval, resamples)
    distance = _distance(weights)
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        raise ValueError(
            f"a and b must have the same length. Got {first.size} and {second.size} instead."
        )
    rows = np.arange(first.size)
    _, _, one = check_judgments(rows, rows, first)
    _, _, two = check_judgments(rows, rows, second)
    table = np.bincount(one * LEVELS + two, minlength=_CELLS)
    value = float(_kappa(table[None, :].astype(np.float64), distance)[0])
    low = high = float("nan")
    reason = "Both judges gave one and the same grade only." if np.isnan(value) else ""
    if interval is not None and not reason and len(one) > 1:
        seen = np.flatnonzero(table)
        values = bootstrap(
            table[seen],
            np.eye(_CELLS)[seen],
            lambda total: _kappa(total, distance),
            rng=rng,
            resamples=resamples,
        )
        low, high = (float(limit) for limit in limits(values, interval))
    return Agreement(value, low, high, len(one), 2 * len(one), reason)


def pairwise_kappa(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    weights: str | None = None,
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> PairwiseKappa:
    """:func:`cohen_kappa` of every two judges over the pairs both judged.

    The tables of all couples of judges come from one sparse product, so the cost grows with the
    couples of judgments there are and not with the square of the judges. With ``interval`` each
    couple's shared pairs are resampled.
    """
    check_interval(interval, resamples)
    distance = _distance(weights)
    said, names = _who_said_what(pair, judge, grade)
    together = coo_array(said.T @ said)
    left, right = together.row // LEVELS, together.col // LEVELS
    size = len(names)
    pairs = np.zeros((size, size), dtype=np.int64)
    np.add.at(pairs, (left, right), together.data)
    upper = left < right
    couple, index = np.unique(left[upper] * size + right[upper], return_inverse=True)
    cell = together.row[upper] % LEVELS * LEVELS + together.col[upper] % LEVELS
    seen = together.data[upper].astype(np.float64)
    tables: FloatArray = np.zeros((len(couple), _CELLS))
    tables[index, cell] = seen
    low = high = np.full(len(couple), np.nan)
    if interval is not None:
        low, high = _couple_limits(tables, distance, interval, (rng, resamples))
    place = np.divmod(couple, size)
    spread = [_symmetric(size, place, v) for v in (_kappa(tables, distance), low, high)]
    return PairwiseKappa(names, spread[0], spread[1], spread[2], pairs)


def confusion(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    between: tuple[int, int] | None = None,
    *,
    smoothing: float = 0.5,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Confusion:
    """P(another judge says j | one judge says i), from pairs that more than one judge judged.

    ``C_ij = (N_ij + s) / Σ_l (N_il + s)``. ``N_ij`` counts the couples of judges of a pair who said
    ``i`` and ``j``, every couple in both orders, so ``N`` is symmetric before its rows are
    normalised. ``between=(a, b)`` counts only the pairs that judge ``a`` (rows) and judge ``b``
    (columns) both judged, in that one order. ``s = smoothing`` is added to every cell: 0.5 is
    Jeffreys' prior, 0 gives plain shares and a ``nan`` row for a grade nobody shared. A row without
    any couple is uniform when ``s`` is positive.

    A pair with ``m`` judges gives ``m (m - 1)`` couples, so pairs with many judges weigh more.
    ``interval`` resamples pairs; ``low`` and ``high`` are limits of each cell.
    """
    check_interval(interval, resamples)
    if not smoothing >= 0 or np.isinf(smoothing):
        raise ValueError(f"smoothing must be a number of at least 0. Got {smoothing} instead.")
    if between is None:
        kinds = tally(pair, judge, grade)
        two = kinds.overlapping
        freq, features = kinds.freq[two], couples(kinds.counts[two])
        pairs, judgments = kinds.pairs, kinds.judgments
    else:
        freq = _between(_who_said_what(pair, judge, grade), between)
        features = np.eye(_CELLS)[freq > 0]
        freq = freq[freq > 0]
        pairs, judgments = int(freq.sum()), 2 * int(freq.sum())
    counts = (freq @ features).reshape(LEVELS, LEVELS)
    matrix = _normalised(counts[None], smoothing)[0]
    low = high = np.full((LEVELS, LEVELS), np.nan)
    if interval is not None and pairs > 1:
        values = bootstrap(
            freq,
            features,
            lambda total: _normalised(total.reshape(-1, LEVELS, LEVELS), smoothing),
            rng=rng,
            resamples=resamples,
        )
        low, high = limits(values, interval)
    reason = "Two judges never shared some grade." if np.isnan(matrix).any() else ""
    return Confusion(matrix, low, high, counts, pairs, judgments, smoothing, reason)


def _distance(weights: str | None) -> FloatArray:
    return (1.0 - agreement_weights(weights)).ravel()


def _kappa(tables: FloatArray, distance: FloatArray) -> FloatArray:
    """Cohen's kappa of tables with 25 cells each."""
    square = tables.reshape(-1, LEVELS, LEVELS)
    rows, columns = square.sum(axis=2), square.sum(axis=1)
    chance = np.einsum("bi,bj,ij->b", rows, columns, distance.reshape(LEVELS, LEVELS))
    observed = (tables @ distance) * rows.sum(axis=1)
    disagreed = np.divide(observed, chance, out=np.full_like(chance, np.nan), where=chance > 0)
    return np.asarray(1.0 - disagreed)


def _who_said_what(
    pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike
) -> tuple["csr_array[np.float64]", IntArray]:
    """Pairs × (judge, grade), 1 where the judge's latest grade of the pair is that; the judges."""
    pairs, judges, grades = check_judgments(pair, judge, grade)
    row, _ = codes(pairs)
    names, column = np.unique(judges, return_inverse=True)
    kept = latest(row, column)
    if kept is not None:
        row, column, grades = row[kept], column[kept], grades[kept]
    shape = (int(row.max()) + 1, len(names) * LEVELS)
    ones = np.ones(len(row))
    return csr_array((ones, (row, column * LEVELS + grades)), shape=shape), names


def _between(said: tuple["csr_array[np.float64]", IntArray], between: tuple[int, int]) -> IntArray:
    """The 25 cells of one judge (rows) against another (columns)."""
    table, names = said
    sides = []
    for who in between:
        place = int(np.searchsorted(names, who))
        if place == len(names) or names[place] != who:
            raise ValueError(f"between must name judges who judged something. Got {who} instead.")
        sides.append(table[:, [place * LEVELS + g for g in range(LEVELS)]])
    if between[0] == between[1]:
        raise ValueError(f"between must name two different judges. Got {between[0]} twice instead.")
    return np.asarray((sides[0].T @ sides[1]).toarray(), dtype=np.int64).ravel()


def _couple_limits(
    tables: FloatArray, distance: FloatArray, interval: float, how: tuple[Rng, int]
) -> tuple[FloatArray, FloatArray]:
    """The interval of every couple of judges, a block of couples at a time."""
    draw, resamples = generator(how[0]), how[1]
    low, high = np.full(len(tables), np.nan), np.full(len(tables), np.nan)
    n = tables.sum(axis=1).astype(np.int64)
    defined = np.flatnonzero((n > 1) & ~np.isnan(_kappa(tables, distance)))
    step = max(1, _BLOCK // (_CELLS * resamples))
    for start in range(0, len(defined), step):
        rows = defined[start : start + step]
        share = tables[rows] / n[rows, None]
        drawn = draw.multinomial(n[rows], share, size=(resamples, len(rows))).astype(np.float64)
        values = _kappa(drawn.reshape(-1, _CELLS), distance).reshape(resamples, len(rows))
        low[rows], high[rows] = limits(values, interval)
    return low, high


def _symmetric(size: int, place: tuple[IntArray, IntArray], values: FloatArray) -> FloatArray:
    square = np.full((size, size), np.nan)
    square[place] = values
    square[place[::-1]] = values
    return square


def _normalised(counts: FloatArray, smoothing: float) -> FloatArray:
    smooth = counts + smoothing
    total = smooth.sum(axis=2, keepdims=True)
    shares = np.full_like(smooth, np.nan)
    np.divide(smooth, total, out=shares, where=total > 0)
    return shares
