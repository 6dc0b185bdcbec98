"""Routing schemes: which pairs get another judge.

A scheme is a pure function of the grades a pair has been given so far, in the order they were
given. The live router, the simulation and the replay all use these same objects. One of them,
if-it-pays, looks at all documents of a query: the grades of one pair tell its bounds only.

References: Yang, Mityagin, Svore, Markov, "Collecting high quality overlapping labels at low
cost", SIGIR 2010, sections 3 and 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ranking.grades import GOOD, Grade


class Scheme(Protocol):
    """What every scheme can tell."""

    name: ClassVar[str]

    @property
    def label(self) -> str:
        """How people write the scheme: ``if-good-3``, ``3-overlap``."""

    def wanted(self, grades: Sequence[int]) -> int:
        """How many judgments the pair should have in all, as far as ``grades`` can tell.

        Never less than ``len(grades)``: what was collected stays. The difference is how many
        judges may be asked at the same time.
        """

    def wants_more(self, grades: Sequence[int]) -> bool:
        """Whether the pair should go to another judge after ``grades``."""

    @property
    def most(self) -> int:
        """The most judgments that a pair can get."""

    def because(self, grades: Sequence[int]) -> str:
        """Why the pair is or is not asked about after ``grades``, in a sentence."""

    def expected_cost(self, r: float) -> float:
        """Judgments per pair when first judgments are Good+ : Fair- = ``r``."""


class _Rule:
    """The two answers every scheme derives from :meth:`wanted`, so that they cannot disagree."""

    def wanted(self, grades: Sequence[int]) -> int:
        return max(self._target(grades), len(grades))

    def wants_more(self, grades: Sequence[int]) -> bool:
        return self._target(grades) > len(grades)

    def _target(self, grades: Sequence[int]) -> int:
        raise TypeError(f"{type(self).__name__} must say how many judgments it wants.")


@dataclass(frozen=True)
class Single(_Rule):
    """One judgment per pair."""

    name: ClassVar[str] = "single"

    @property
    def label(self) -> str:
        return self.name

    def _target(self, grades: Sequence[int]) -> int:
        return 1

    @property
    def most(self) -> int:
        return 1

    def because(self, grades: Sequence[int]) -> str:
        return _asks(self.label, 1, grades)

    def expected_cost(self, r: float) -> float:
        """Always 1."""
        _require_ratio(r)
        return 1.0


@dataclass(frozen=True)
class KOverlap(_Rule):
    """``k`` judgments for every pair."""

    k: int = 3
    name: ClassVar[str] = "k-overlap"

    def __post_init__(self) -> None:
        _require_at_least_one("k", self.k)

    @property
    def label(self) -> str:
        return f"{self.k}-overlap"

    def _target(self, grades: Sequence[int]) -> int:
        return self.k

    @property
    def most(self) -> int:
        return self.k

    def because(self, grades: Sequence[int]) -> str:
        return _asks(self.label, self.k, grades)

    def expected_cost(self, r: float) -> float:
        """Always ``k``."""
        _require_ratio(r)
        return float(self.k)


@dataclass(frozen=True)
class IfGood(_Rule):
    """``k`` judgments if the first is Good+, otherwise that one.

    if-good-3: ``(E, G, F)``, ``(B)``, ``(G, G, P)`` are complete.
    """

    k: int = 3
    name: ClassVar[str] = "if-good-k"

    def __post_init__(self) -> None:
        _require_at_least_one("k", self.k)

    @property
    def label(self) -> str:
        return f"if-good-{self.k}"

    def _target(self, grades: Sequence[int]) -> int:
        return self.k if grades and grades[0] >= GOOD else 1

    @property
    def most(self) -> int:
        return self.k

    def because(self, grades: Sequence[int]) -> str:
        if not grades:
            return f"{self.label} begins with one judge."
        first = f"The first judgment was {Grade(grades[0]).word}"
        if grades[0] < GOOD or self.k == 1:
            return f"{first}, and {self.label} asks no more."
        asks = "then asks" if len(grades) < self.k else "asked"
        return f"{first}, and {self.label} {asks} {self.k} judges in all."

    def expected_cost(self, r: float) -> float:
        """``1/(r+1) + k·r/(r+1)``."""
        _require_ratio(r)
        return (1.0 + self.k * r) / (1.0 + r)


@dataclass(frozen=True)
class GoodTillBad(_Rule):
    """Ask on while every judgment so far is Good+; stop at the first Fair- or at ``cap``.

    good-till-bad with cap 11: ``(E, G, F)``, ``(B)``, ``(G, G, P, E, G, B)`` are complete.
    """

    cap: int = 11
    name: ClassVar[str] = "good-till-bad"

    def __post_init__(self) -> None:
        _require_at_least_one("cap", self.cap)

    @property
    def label(self) -> str:
        return f"good-till-bad-{self.cap}"

    def _target(self, grades: Sequence[int]) -> int:
        return min(len(grades) + 1, self.cap) if all(g >= GOOD for g in grades) else 1

    @property
    def most(self) -> int:
        return self.cap

    def because(self, grades: Sequence[int]) -> str:
        if not grades:
            return f"{self.label} begins with one judge."
        low = next((grade for grade in grades if grade < GOOD), None)
        if low is not None:
            return f"A judgment was {Grade(low).word}, and {self.label} stops there."
        if len(grades) >= self.cap:
            return f"{self.label} asks at most {_judges(self.cap)}."
        return f"Nobody has said less than Good, and {self.label} asks on."

    def expected_cost(self, r: float) -> float:
        """The upper bound the study gives: the cost of if-good-k with ``k = cap``."""
        return IfGood(self.cap).expected_cost(r)


@dataclass(frozen=True)
class IfGoodWeighted(_Rule):
    """One judgment per pair; Good+ training rows weigh ``theta`` instead of being asked again."""

    theta: float = 3.0
    name: ClassVar[str] = "if-good-x"

    def __post_init__(self) -> None:
        if not self.theta > 0:
            raise ValueError(f"theta must be positive. Got {self.theta} instead.")

    @property
    def label(self) -> str:
        return f"if-good-x{self.theta:g}"

    def _target(self, grades: Sequence[int]) -> int:
        return 1

    @property
    def most(self) -> int:
        return 1

    def because(self, grades: Sequence[int]) -> str:
        return _asks(self.label, 1, grades)

    def expected_cost(self, r: float) -> float:
        """Always 1: the weight costs training rows, not judgments."""
        _require_ratio(r)
        return 1.0


@dataclass(frozen=True)
class Paying(_Rule):
    """One judgment for every pair, then more while one is worth its price to the ranking.

    What a judgment is worth depends on all documents of its query (:mod:`ranking.paying`). As far
    as the grades of a pair can tell, it wants one; who looks at the query decides on each further
    one, up to ``cap``. With ``per_pair`` the price is steered to that many judgments per pair on
    average; without, it is ``price``, the rise of the query's NDCG@``k`` below which no further
    judgment is asked.
    """

    per_pair: float | None = 1.4
    price: float = 0.002
    cap: int = 11
    k: int = 3
    name: ClassVar[str] = "if-it-pays"

    def __post_init__(self) -> None:
        _require_at_least_one("cap", self.cap)
        _require_at_least_one("k", self.k)
        if self.per_pair is not None and not self.per_pair >= 1:
            raise ValueError(f"per_pair must be at least 1. Got {self.per_pair} instead.")
        if not self.price > 0:
            raise ValueError(f"price must be positive. Got {self.price} instead.")

    @property
    def label(self) -> str:
        if self.per_pair is None:
            return f"{self.name}-{self.price:g}"
        return f"{self.name} to {self.per_pair:g}"

    def _target(self, grades: Sequence[int]) -> int:
        return 1

    @property
    def most(self) -> int:
        return self.cap

    def because(self, grades: Sequence[int]) -> str:
        if not grades:
            return f"{self.label} begins with one judge."
        if len(grades) >= self.cap:
            return f"{self.label} asks at most {_judges(self.cap)}."
        return f"{self.label} asks on where that may change the first {self.k} of the query."

    def expected_cost(self, r: float) -> float:
        """``per_pair``, which it is steered to; 1, a lower bound, where a price is set instead."""
        _require_ratio(r)
        return 1.0 if self.per_pair is None else min(self.per_pair, float(self.cap))


def formula(scheme: Scheme, r: float | None) -> float | None:
    """What a scheme is expected to cost; None where r is not known, or where only a price is set,
    and what it buys is not known before."""
    if r is None or (isinstance(scheme, Paying) and scheme.per_pair is None):
        return None
    return scheme.expected_cost(r)


def _asks(label: str, wanted: int, grades: Sequence[int]) -> str:
    """The reason of a scheme that wants the same number whatever people say."""
    made = {0: "nobody has", 1: "one has"}.get(len(grades), f"{len(grades)} have")
    return f"{label} asks {_judges(wanted)}, and {made} judged."


def _judges(number: int) -> str:
    return "one judge" if number == 1 else f"{number} judges"


def _require_at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1. Got {value} instead.")


def _require_ratio(r: float) -> None:
    if not r >= 0:
        raise ValueError(f"r must be a ratio of at least 0. Got {r} instead.")


#: Every scheme by the name that campaigns, commands and files use for it.
SCHEMES: dict[str, Callable[..., Scheme]] = {
    cls.name: cls for cls in (Single, KOverlap, IfGood, GoodTillBad, IfGoodWeighted, Paying)
}
