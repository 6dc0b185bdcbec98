"""What is wrong with a judge's figures, as codes with the numbers behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr
from scipy.stats import norm

#: With fewer of what a warning rests on there is none.
FEWEST = 20
FEWEST_GOLD = 5
FEWEST_PREFERENCES = 50
#: Under a scheme that asks twice about good pairs only, nobody's kappa is high: a judge is held
#: against the judge in the middle.
LOW_KAPPA = 0.4
HALF = 0.5
CHANCE = 0.05
GOLD_CHANCE = 0.05
HIGH_PNOISE = 0.4
LEAN = 0.5
DRIFT = 0.3
DRIFT_Z = 3.0
FAST = 3.0


@dataclass(frozen=True)
class Usual:
    """What the judges of a campaign show, to hold each of them against."""

    seconds: float | None
    kappa: float | None
    gold: float | None
    #: How many have a kappa: so many chances to look bad by luck.
    judges: int = 1

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> "Usual":
        seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
        known = [row["kappa"] for row in rows if row["kappa"]]
        kappas = [
            kappa["value"]
            for kappa in known
            if kappa["value"] is not None and kappa["pairs"] >= FEWEST
        ]
        made = sum(row["gold_made"] for row in rows)
        return cls(
            float(np.median(seconds)) if seconds else None,
            float(np.median(kappas)) if kappas else None,
            sum(row["gold_right"] for row in rows) / made if made else None,
            max(len(kappas), 1),
        )


def warnings(
    row: dict[str, Any], suspect: dict[str, Any] | None, usual: Usual
) -> list[dict[str, Any]]:
    """The worst first. A spammer's other warnings say nothing new and are left out."""
    if suspect is not None:
        numbers = ("value", "expected", "n", "p", "grade", "other")
        return [{"code": suspect["kind"], **{name: suspect[name] for name in numbers}}]
    found = (_gold(row, usual), _kappa(row, usual), _noise(row), _lean(row), _drift(row))
    return [warning for warning in (*found, _fast(row, usual.seconds)) if warning]


def _gold(row: dict[str, Any], usual: Usual) -> dict[str, Any] | None:
    """Fewer gold pairs right than luck would leave to a judge as good as the others."""
    made, right = row["gold_made"], row["gold_right"]
    if made < FEWEST_GOLD or usual.gold is None or right >= usual.gold * made:
        return None
    if bdtr(right, made, usual.gold) >= GOLD_CHANCE:
        return None
    return {"code": "gold", "value": right, "expected": usual.gold, "n": made}


def _kappa(row: dict[str, Any], usual: Usual) -> dict[str, Any] | None:
    kappa = row["kappa"]
    if kappa is None or kappa["value"] is None or kappa["pairs"] < FEWEST or usual.kappa is None:
        return None
    if kappa["value"] >= min(LOW_KAPPA, HALF * usual.kappa) or kappa["high"] is None:
        return None
    # Her interval is as wide as one of 95 %; over all judges together luck gets 5 %.
    error = (kappa["high"] - kappa["value"]) / norm.isf(0.025)
    if kappa["value"] + norm.isf(CHANCE / usual.judges) * error >= usual.kappa:
        return None
    return {
        "code": "kappa",
        "value": kappa["value"],
        "expected": usual.kappa,
        "n": kappa["pairs"],
    }


def _noise(row: dict[str, Any]) -> dict[str, Any] | None:
    noise, n = row["pnoise"], row["preferences"]
    if noise is not None and n >= FEWEST_PREFERENCES and noise > HIGH_PNOISE:
        return {"code": "pnoise", "value": noise, "n": n}
    return None


def _lean(row: dict[str, Any]) -> dict[str, Any] | None:
    bias = row["bias"]
    if bias is None or bias["n"] < FEWEST or abs(bias["value"]) < LEAN:
        return None
    if bias["low"] <= 0 <= bias["high"]:
        return None
    return {"code": "lean", "value": bias["value"], "n": bias["n"]}


def _drift(row: dict[str, Any]) -> dict[str, Any] | None:
    """She leans another way than before, or strays further; coming nearer is no warning."""
    drift = row["drift"]
    if drift is None:
        return None
    lean, stray = drift["lean"], drift["stray"]
    for code, change, size in (
        ("drift", lean, abs(lean["value"])),
        ("stray", stray, stray["value"]),
    ):
        if size >= DRIFT and abs(change["z"] or 0) >= DRIFT_Z:
            return {"code": code, "value": change["value"], "n": drift["late"]}
    return None


def _fast(row: dict[str, Any], usual: float | None) -> dict[str, Any] | None:
    seconds = row["seconds"]
    if seconds is not None and usual and row["judgments"] >= FEWEST and seconds * FAST < usual:
        return {"code": "fast", "value": seconds, "expected": usual, "n": row["judgments"]}
    return None
