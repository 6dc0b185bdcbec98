"""Numbers of the library as JSON: what does not exist is null."""

import math
from typing import Any

from ranking.agreement import Agreement

#: How intervals are reckoned everywhere: 95 %, the same draws every time. As in a snapshot.
HOW: dict[str, Any] = {"interval": 0.95, "rng": 0, "resamples": 200}


def number(value: float) -> float | None:
    """JSON knows no nan and no infinity."""
    return float(value) if math.isfinite(value) else None


def agreement(found: Agreement) -> dict[str, Any]:
    """A coefficient with its interval and what it rests on."""
    return {
        "value": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "pairs": found.pairs,
        "judgments": found.judgments,
        "reason": found.reason,
    }
