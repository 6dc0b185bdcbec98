"""Coefficients over all judges of all pairs: Krippendorff, Fleiss, Gwet and plain agreement."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ranking.agreement.result import Agreement, Rng, bootstrap, check_interval, limits
from ranking.agreement.tally import Tally, tally
from ranking.grades import LEVELS
from ranking.judgments import FloatArray

_GRADES = np.arange(LEVELS, dtype=np.float64)
_CONSTANT = "All grades are equal, so chance alone would agree as well."


def krippendorff_alpha(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    level: str = "ordinal",
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """Krippendorff's alpha, ``1 - D_o / D_e``: 1 is perfect agreement, 0 is chance.

    The coincidence of grades ``c`` and ``k`` is ``o_ck = Σ_pairs (ordered pairs of different judges
    who said c and k) / (m - 1)`` with ``m`` judges of the pair; ``n_c = Σ_k o_ck``, ``n = Σ n_c``;
    ``D_o = Σ o_ck δ²_ck / n`` and ``D_e = Σ n_c n_k δ²_ck / (n (n - 1))``. By ``level``, ``δ²`` is

    - ``"nominal"``: 1 for different grades;
    - ``"ordinal"``: ``Σ_{g=c..k} n_g - (n_c + n_k) / 2``, squared;
    - ``"interval"``: ``(c - k)²``;
    - ``"ratio"``: ``((c - k) / (c + k))²``.

    Pairs with one judgment do not count. ``nan`` with one judge only, when no pair has two judges,
    and when all grades are equal. ``interval`` asks for a bootstrap interval over pairs.

    Reference: K. Krippendorff, *Content Analysis*, 4th ed. 2018, chapter 12.
    """
    if level not in _LEVELS:
        raise ValueError(f"level must be one of {', '.join(_LEVELS)}. Got {level!r} instead.")
    kinds = tally(pair, judge, grade)
    distance = _LEVELS[level]

    def alpha(total: FloatArray) -> FloatArray:
        together = total.reshape(-1, LEVELS, LEVELS)
        seen = together.sum(axis=2)
        n = seen.sum(axis=1)
        squares = distance(seen)
        observed = (together * squares).sum(axis=(1, 2)) * (n - 1.0)
        expected = np.einsum("bc,bk,bck->b", seen, seen, squares)
        return 1.0 - _ratio(observed, expected)

    return _agreement(kinds, coincidences(kinds), alpha, (interval, rng, resamples))


def fleiss_kappa(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    weights: str | None = None,
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """Fleiss' kappa, ``(P_a - P_e) / (1 - P_e)``, for any number of judges per pair.

    ``P_a`` is the mean over pairs with ``m ≥ 2`` judges of ``Σ_kl w_kl r_k (r_l - [k = l]) /
    (m (m - 1))``, ``r_k`` of them having said ``k``; ``P_e = Σ_kl w_kl π_k π_l`` with ``π_k`` the
    mean over all pairs of ``r_k / m``. With ``m`` the same for every pair and no weights this is
    Fleiss' own formula. ``weights``: None, ``"linear"``, ``"quadratic"`` or ``"ordinal"``, see
    :func:`agreement_weights`. Pairs with one judgment count in ``π`` alone.

    ``nan`` with one judge only, when no pair has two judges, and when all grades are equal.

    References: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971); for unequal ``m`` and weights K. L. Gwet, *Handbook of Inter-Rater
    Reliability*, 4th ed. 2014, chapter 2.
    """
    w = agreement_weights(weights)

    def kappa(total: FloatArray) -> FloatArray:
        agreed, share = _parts(total)
        chance = np.einsum("bk,kl,bl->b", share, w, share)
        return 1.0 - _ratio(1.0 - agreed, 1.0 - chance)

    kinds = tally(pair, judge, grade)
    return _agreement(kinds, _features(kinds, w), kappa, (interval, rng, resamples))


def pooled_kappa(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    weights: str | None = None,
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """Cohen's kappa of all couples of judges taken together.

    ``κ = 1 - Σ d_ij O_ij / Σ d_ij E_ij``, ``O`` the shares of grades ``i`` and ``j`` among all
    couples of judges of a pair, each in both orders, ``E`` the product of its margins and ``d = 1
    - w`` with the weights of :func:`fleiss_kappa`. Unlike there a pair with ``m`` judges counts ``m
    (m - 1)`` times, as it would in the mean over couples of judges. With two judges who judged
    every pair it is Scott's pi.

    ``nan`` with one judge only, when no pair has two judges, and when all grades are equal.

    References: J. Cohen, Psychological Bulletin 70 (1968); W. A. Scott, Public Opinion Quarterly 19
    (1955).
    """
    distance = 1.0 - agreement_weights(weights)

    def kappa(total: FloatArray) -> FloatArray:
        together = total.reshape(-1, LEVELS, LEVELS)
        seen = together.sum(axis=2)
        observed = (together * distance).sum(axis=(1, 2)) * seen.sum(axis=1)
        return 1.0 - _ratio(observed, np.einsum("bi,ij,bj->b", seen, distance, seen))

    kinds = tally(pair, judge, grade)
    return _agreement(kinds, couples(kinds.counts), kappa, (interval, rng, resamples))


def gwet_ac2(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    weights: str | None = "quadratic",
    *,
    levels: int = LEVELS,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """Gwet's AC2, ``(P_a - P_e) / (1 - P_e)``; AC1 with ``weights=None``.

    ``P_a`` and ``π`` are those of :func:`fleiss_kappa`; ``P_e = Σ_kl w_kl / (q (q - 1)) · Σ_k π_k
    (1 - π_k)`` with ``q = levels`` grades on the scale, whether or not all were used. Unlike kappa
    it stays high when nearly all documents have the same grade, and it is 1, not ``nan``, when
    all have.

    ``nan`` with one judge only and when no pair has two judges.

    Reference: K. L. Gwet, *Handbook of Inter-Rater Reliability*, 4th ed. 2014, chapters 2 and 3.
    """
    if not 2 <= levels <= LEVELS:
        raise ValueError(f"levels must be between 2 and {LEVELS}. Got {levels} instead.")
    kinds = tally(pair, judge, grade)
    highest = int(np.flatnonzero(kinds.counts.any(axis=0))[-1])
    if highest >= levels:
        raise ValueError(f"Grades must be below levels, {levels}. Got {highest} instead.")
    w = agreement_weights(weights, levels)
    scale = w.sum() / (levels * (levels - 1))
    padded = np.zeros((LEVELS, LEVELS))
    padded[:levels, :levels] = w

    def ac2(total: FloatArray) -> FloatArray:
        agreed, share = _parts(total)
        chance = scale * (share * (1.0 - share)).sum(axis=1)
        return 1.0 - _ratio(1.0 - agreed, 1.0 - chance)

    return _agreement(kinds, _features(kinds, padded), ac2, (interval, rng, resamples))


def percent_agreement(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    within: int = 0,
    *,
    interval: float | None = None,
    rng: Rng = None,
    resamples: int = 1000,
) -> Agreement:
    """The chance that two judges of a pair agree: a share from 0 to 1, no correction for luck.

    The mean over pairs with at least two judges of the share of that pair's couples of judges whose
    grades differ by at most ``within``.

    ``nan`` with one judge only and when no pair has two judges.
    """
    if within < 0:
        raise ValueError(f"within must be at least 0. Got {within} instead.")
    near = (np.abs(_GRADES[:, None] - _GRADES) <= within).astype(np.float64)
    kinds = tally(pair, judge, grade)
    features = _features(kinds, near)
    return _agreement(kinds, features, lambda total: _parts(total)[0], (interval, rng, resamples))


def agreement_weights(weights: str | None, levels: int = LEVELS) -> FloatArray:
    """How much two grades agree, 1 on the diagonal.

    None: 0 off the diagonal. ``"linear"``: ``1 - |i-j| / (q-1)``. ``"quadratic"``: ``1 - (i-j)² /
    (q-1)²``. ``"ordinal"``: ``1 - C(|i-j|+1, 2) / C(q, 2)``, Gwet's weights for ranks.
    """
    apart = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))).astype(np.float64)
    if weights is None:
        return np.eye(levels)
    if weights == "linear":
        return 1.0 - apart / (levels - 1)
    if weights == "quadratic":
        return 1.0 - apart**2 / (levels - 1) ** 2
    if weights == "ordinal":
        return 1.0 - apart * (apart + 1.0) / (levels * (levels - 1))
    raise ValueError(
        f"weights must be None, 'linear', 'quadratic' or 'ordinal'. Got {weights!r} instead."
    )


def couples(counts: FloatArray) -> FloatArray:
    """Ordered couples of different judges of a pair by their two grades, one row of 25 per kind."""
    both = counts[:, :, None] * counts[:, None, :]
    both[:, np.arange(LEVELS), np.arange(LEVELS)] -= counts
    return both.reshape(len(counts), LEVELS * LEVELS)


def coincidences(kinds: Tally) -> FloatArray:
    """What one pair of each kind adds to the coincidence matrix; nothing with one judge."""
    others = np.maximum(kinds.counts.sum(axis=1) - 1.0, 1.0)
    return np.asarray(couples(kinds.counts) / others[:, None])


def _features(kinds: Tally, weights: FloatArray) -> FloatArray:
    """Per kind: agreement of its couples, whether it has couples, share of each grade, and 1."""
    m = kinds.counts.sum(axis=1)
    possible = np.maximum(m * (m - 1.0), 1.0)
    agreed = couples(kinds.counts) @ weights.ravel() / possible
    return np.column_stack([agreed, m >= 2, kinds.counts / m[:, None], np.ones(len(m))])


def _parts(total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``P_a`` and ``π`` from summed features."""
    return _ratio(total[:, 0], total[:, 1]), total[:, 2 : 2 + LEVELS] / total[:, -1:]


def _agreement(
    kinds: Tally,
    features: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    how: tuple[float | None, Rng, int],
) -> Agreement:
    """The statistic of all pairs, with its interval if one was asked for."""
    interval, rng, resamples = how
    check_interval(interval, resamples)
    low = high = value = float("nan")
    reason = kinds.reason
    if not reason:
        value = float(statistic((kinds.freq @ features)[None, :])[0])
        reason = _CONSTANT if np.isnan(value) else ""
    if interval is not None and not reason and kinds.pairs > 1:
        values = bootstrap(kinds.freq, features, statistic, rng=rng, resamples=resamples)
        low, high = (float(limit) for limit in limits(values, interval))
    return Agreement(value, low, high, kinds.pairs, kinds.judgments, reason)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """``above / below``, ``nan`` where ``below`` is 0 but for rounding."""
    defined = below > 1e-12
    return np.divide(above, below, out=np.full_like(below, np.nan), where=defined)


def _constant(squares: FloatArray) -> Callable[[FloatArray], FloatArray]:
    return lambda seen: squares[None, :, :]


def _ordinal(seen: FloatArray) -> FloatArray:
    """Squared differences of mid-ranks: ``Σ_{g=c..k} n_g - (n_c + n_k) / 2`` is one."""
    middle = seen.cumsum(axis=1) - seen / 2.0
    return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)


_APART = np.subtract.outer(_GRADES, _GRADES)
_SUM = np.maximum(np.add.outer(_GRADES, _GRADES), 1.0)
_LEVELS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "nominal": _constant((_APART != 0).astype(np.float64)),
    "ordinal": _ordinal,
    "interval": _constant(_APART**2),
    "ratio": _constant((_APART / _SUM) ** 2),
}
