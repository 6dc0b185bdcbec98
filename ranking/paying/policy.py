"""Who is asked again: the rule of if-it-pays, and the judge it reckons with."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.aggregation.labels import Labels
from ranking.judgments import FloatArray
from ranking.paying.worth import require_whole, value


def next_judge(labels: Labels, judge: npt.ArrayLike) -> FloatArray:
    """P(the next judge, whoever it is, says j | truth i): all judges' matrices by their work.

    ``judge`` is the judge of every judgment that ``labels`` were made from.
    """
    if labels.confusion is None or labels.judge is None:
        raise ValueError("labels must come with confusion matrices, as those of ordinal do.")
    place = np.searchsorted(labels.judge, np.asarray(judge))
    work = np.bincount(place, minlength=len(labels.judge)).astype(np.float64)
    pooled = np.tensordot(work, labels.confusion, axes=1)
    result: FloatArray = pooled / pooled.sum(axis=1, keepdims=True)
    return result


@dataclass(frozen=True)
class IfItPays:
    """Ask while a judgment is worth more than its price and the pair has fewer than ``cap``.

    ``price`` is what one judgment may cost in NDCG@``k`` of its query. Every pair gets one judgment
    first. Then at most ``at_once`` documents of a query are asked about at the same time, those of
    the highest value, and the next are chosen when the answers are in: what one answer says of its
    document changes what the others are worth.
    """

    price: float = 0.002
    cap: int = 11
    k: int = 3
    at_once: int = 1
    name: ClassVar[str] = "if-it-pays"

    def __post_init__(self) -> None:
        if not self.price > 0:
            raise ValueError(f"price must be positive. Got {self.price} instead.")
        for setting in ("cap", "k", "at_once"):
            require_whole(setting, getattr(self, setting))

    @property
    def label(self) -> str:
        return f"{self.name}-{self.price:g}"

    def asks(
        self, posterior: npt.ArrayLike, confusion: npt.ArrayLike, made: npt.ArrayLike
    ) -> npt.NDArray[np.bool_]:
        """Which documents of a query (or queries × documents) should go to another judge now.

        ``made`` counts the judgments of each document, with those that somebody is about to give.
        """
        return self.choose(value(posterior, confusion, self.k), made)

    def choose(self, values: npt.ArrayLike, made: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """:meth:`asks` of values that are known already."""
        worth, number = np.asarray(values, dtype=np.float64), np.asarray(made)
        if worth.shape != number.shape:
            raise ValueError(
                "values and made must have one number for each of the same documents. "
                f"Got shapes {worth.shape} and {number.shape} instead."
            )
        open_now = (worth > self.price) & (number < self.cap) & (number > 0)
        able = np.where(open_now, worth, -np.inf)
        order = np.argsort(-able, axis=-1, kind="stable")[..., : self.at_once]
        first = np.zeros(worth.shape, dtype=np.bool_)
        np.put_along_axis(first, order, True, axis=-1)
        return np.asarray((first & open_now) | (number == 0))

    def because(self, worth: float, made: int) -> str:
        """Why a pair is or is not worth another judgment, in a sentence."""
        if made == 0:
            return "Every pair gets one judgment first."
        if made >= self.cap:
            return f"{self.name} asks at most {self.cap} judges, and {made} have judged."
        share = f"{100 * worth:.2g} % of the best NDCG@{self.k}"
        if worth > self.price:
            return f"Another judgment is worth {share}, more than its price of {self.price:.2%}."
        return f"Another judgment is worth {share}, not more than its price of {self.price:.2%}."
