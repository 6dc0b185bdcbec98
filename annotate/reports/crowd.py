"""The aggregate of several judges against the best of them, where gold tells the truth."""

from typing import Any

from annotate.reports.numbers import number
from annotate.reports.reading import Gold
from ranking.wisdom import crowd_curve


def make(gold: Gold) -> dict[str, Any]:
    """Figure 1: agreement with gold of the majority of n judges, n = 1, 2, …"""
    found = crowd_curve(gold.pair, gold.judge, gold.grade, gold.truth)
    columns = (found.judges, found.accuracy, found.low, found.high, found.pairs)
    return {
        "judgments": len(gold.pair),
        "curve": [
            {
                "judges": int(judges),
                "accuracy": float(accuracy),
                "low": number(low),
                "high": number(high),
                "pairs": int(pairs),
            }
            for judges, accuracy, low, high, pairs in zip(*columns, strict=True)
        ],
        "best": found.best,
        "best_accuracy": number(found.best_accuracy),
        "best_pairs": found.best_pairs,
    }
