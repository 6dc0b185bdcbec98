"""What the judgments cost, and what every other scheme would have made of them."""

from dataclasses import replace
from typing import Any

import numpy as np

from annotate.models import Campaign
from annotate.reports.numbers import number
from annotate.reports.reading import Made
from ranking.grades import GOOD
from ranking.judgments import IntArray
from ranking.replay import Replay, histories_of, replay_histories
from ranking.schemes import (
    GoodTillBad,
    IfGood,
    IfGoodWeighted,
    KOverlap,
    Paying,
    Scheme,
    Single,
    formula,
)

OTHERS: tuple[Scheme, ...] = (
    Single(),
    IfGoodWeighted(3),
    IfGood(2),
    IfGood(3),
    KOverlap(2),
    KOverlap(3),
    GoodTillBad(11),
)


def make(campaign: Campaign, made: Made) -> dict[str, Any]:
    """Every figure of the page *Cost*."""
    if not len(made):
        return {"judgments": 0, "pairs": 0, "schemes": []}
    pairs, first = np.unique(made.pair, return_index=True)
    good = int(np.sum(made.grade[first] >= GOOD))
    r = good / (len(pairs) - good) if good < len(pairs) else None
    relevant = int(np.sum(made.grade >= GOOD))
    timed = made.active[~np.isnan(made.active)]
    own = campaign.scheme
    schemes = [own, *(scheme for scheme in OTHERS if scheme.label != own.label)]
    histories = histories_of(made.pair, made.grade)
    return {
        "judgments": len(made),
        "pairs": len(pairs),
        "first_good": good,
        "r": r,
        "good": relevant,
        "fair": len(made) - relevant,
        "active_seconds": float(timed.sum()),
        "timed": len(timed),
        "schemes": [
            {"own": scheme is own, **_replayed(scheme, r, _cost(scheme, *histories))}
            for scheme in schemes
        ],
    }


def _cost(scheme: Scheme, histories: IntArray, freq: IntArray) -> Replay:
    """If-it-pays cannot be told from the grades of single pairs: it cost what was made under it."""
    if isinstance(scheme, Paying):
        everything = replay_histories(histories, freq, KOverlap(histories.shape[1]))
        return replace(everything, short=0, missing=0)
    return replay_histories(histories, freq, scheme)


def _replayed(scheme: Scheme, r: float | None, found: Any) -> dict[str, Any]:
    return {
        "scheme": scheme.label,
        "judgments": found.judgments,
        "labelling": found.labelling,
        "training": found.training,
        "ratio": number(found.ratio),
        "short": found.short,
        "missing": found.missing,
        "formula": formula(scheme, r),
    }
