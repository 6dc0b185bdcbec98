"""If-it-pays: what is believed of a campaign's judges, as it was last estimated."""

import uuid
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from annotate.models import Campaign, Estimate
from annotate.prepared import Prepared
from ranking.grades import LEVELS
from ranking.judgments import FloatArray
from ranking.paying import Belief, at_first

#: How many digits of a probability are kept.
DIGITS = 6

#: So many versions are kept as arrays: a process rarely serves more campaigns at a time.
VERSIONS = 32


@dataclass(frozen=True, eq=False)
class Believed:
    """The judges, what a judgment must be worth, and how many may still be asked for."""

    belief: Belief
    price: float
    left: int | None


def believed(campaign: Campaign) -> Believed:
    """As last estimated. Before that, judges are what judges usually are; and where the price is
    steered to a number of judgments, none is asked for before the first price is known."""
    while (row := _LATEST.first(campaign.pk)) is not None:
        token, price, left = row
        try:
            belief = _belief(token)
        except Estimate.DoesNotExist:
            continue  # a new version came between the two readings
        if campaign.per_pair is None:
            return Believed(belief, campaign.least_value, None)
        return Believed(belief, price, left or 0)
    left = None if campaign.per_pair is None else 0
    return Believed(at_first(), campaign.least_value, left)


_LATEST = Prepared(
    lambda campaign: Estimate.objects.filter(campaign=campaign).values_list(
        "token", "price", "left"
    ),
    int,
)


@lru_cache(maxsize=VERSIONS)
def _belief(token: uuid.UUID) -> Belief:
    return from_json(Estimate.objects.get(token=token).belief)


def as_json(belief: Belief) -> dict[str, Any]:
    """Numbers that a row can hold."""
    return {
        "prior": _rounded(belief.prior),
        "anyone": _rounded(belief.anyone),
        "judges": belief.judge.tolist(),
        "confusion": _rounded(belief.confusion),
    }


def from_json(data: dict[str, Any]) -> Belief:
    return Belief(
        _chances(data["prior"], (LEVELS,)),
        _chances(data["anyone"], (LEVELS, LEVELS)),
        np.array(data["judges"], dtype=np.int64),
        _chances(data["confusion"], (-1, LEVELS, LEVELS)),
    )


def _rounded(numbers: FloatArray) -> Any:
    return np.round(numbers, DIGITS).tolist()


def _chances(numbers: Any, shape: tuple[int, ...]) -> FloatArray:
    """Rows that sum to 1 again, for they were rounded."""
    rows = np.array(numbers, dtype=np.float64).reshape(shape)
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
