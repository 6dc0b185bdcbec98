"""Scales of grades: how the numbers of a file become our grades, Bad (0) to Perfect (4)."""

import re
from dataclasses import dataclass

from ranking.grades import LEVELS, Grade

_SCALE = re.compile(r"(-?\d{1,3})(\.0)?-(\d{1,3})(\.0)?")
#: What people are offered, the usual ones first.
USUAL = ("0-4", "1-5", "0-3", "1-4", "0-2", "0-1", "1-3", "0-5", "1-10", "0-10", "0-100", "-2-4")
FRACTIONS = ("0.0-1.0", "0.0-4.0", "1.0-5.0", "0.0-3.0", "0.0-10.0", "0.0-100.0")


@dataclass(frozen=True)
class Scale:
    """From ``low``, the worst, to ``high``, the best. Steps between are spread evenly.

    What lies below 0 on a scale that begins there, as spam does in TREC's, counts as 0. Fractions
    go to the nearest grade, where the scale has them at all.
    """

    low: int
    high: int
    fractions: bool = False

    def grade(self, value: float) -> int | None:
        """Our grade for a value of this scale; None where it is no such value."""
        if not self.low <= value <= self.high or (value != int(value) and not self.fractions):
            return None
        low = max(self.low, 0)
        share = (max(value, low) - low) / (self.high - low)
        return int(share * (LEVELS - 1) + 0.5)

    def words(self) -> str:
        """What its numbers come to, for people."""
        if self.fractions or self.high - self.low > 10:
            return f"{self.low} is Bad, {self.high} is Perfect, between them evenly"
        values = range(self.low, self.high + 1)
        return ", ".join(f"{value} {Grade(self.grade(value) or 0).word}" for value in values)

    def __str__(self) -> str:
        point = ".0" if self.fractions else ""
        return f"{self.low}{point}-{self.high}{point}"


OURS = Scale(0, LEVELS - 1)


def parse(text: str) -> Scale:
    """``0-4``, ``1-5``, ``-2-4``; ``0.0-1.0`` where there are fractions. ValueError otherwise."""
    found = _SCALE.fullmatch(text.strip().replace("–", "-"))
    if found is None or int(found[3]) <= max(int(found[1]), 0):
        raise ValueError(f"A scale must be written as 0-4, 1-5 or 0.0-1.0. Got {text[:40]!r}.")
    return Scale(int(found[1]), int(found[3]), bool(found[2] or found[4]))


def holding(low: float, high: float, fractions: bool) -> list[Scale]:
    """The scales that values from ``low`` to ``high`` may stand on, the usual ones first."""
    found = [parse(text) for text in (FRACTIONS if fractions else USUAL)]
    return [scale for scale in found if scale.low <= low and high <= scale.high]
