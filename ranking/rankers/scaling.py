"""Features brought to one scale, for the rankers that add them up."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.rankers.lists import Floats

#: ``standard``: (x − mean) / deviation. ``log``: the same of sign(x)·ln(1 + |x|), for counts
#: with long tails. ``none``: as they are.
SCALES = ("standard", "log", "none")


def require_scale(value: object) -> None:
    """The parameter ``scale`` must be one of ``SCALES``."""
    if value not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}. Got {value} instead.")


def learn_scale(X: Floats, scale: str) -> tuple[Floats, Floats]:
    """The centre and the spread of every feature; a constant feature has spread 1."""
    if scale == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    values = _bend(X, scale)
    centre = values.mean(axis=0, dtype=np.float64)
    spread = values.std(axis=0, dtype=np.float64)
    return centre, np.where(spread > 1e-12 * (1 + np.abs(centre)), spread, 1.0)


def apply_scale(
    X: Floats, scale: str, centre: Floats, spread: Floats, *, dtype: Any = np.float64
) -> npt.NDArray[Any]:
    """``X`` on the scale that was learnt."""
    if scale == "none":
        return X.astype(dtype, copy=False)
    scaled = _bend(X, scale) - centre
    scaled /= spread
    return scaled.astype(dtype, copy=False)


def _bend(X: Floats, scale: str) -> Floats:
    return np.copysign(np.log1p(np.abs(X)), X) if scale == "log" else X
