"""How each judge judges: against the others, against gold, and over time."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotate.reports.numbers import HOW, agreement, number
from annotate.reports.reading import Gold, Made
from annotate.reports.selection import Mask, against, asked_after, centred, deciding
from annotate.reports.warnings import Usual, warnings
from ranking.agreement import cohen_kappa, distribution_test
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.noise import judge_pnoise
from ranking.others import Others, others
from ranking.schemes import Scheme
from ranking.suspicion import suspects

#: A pause longer than this is not working time.
PAUSE_SECONDS = 300.0
#: Drift: the latest part of her judgments against all before it, where both have so many.
LATEST = 0.25
FEWEST = 20
_Z95 = 1.959963984540054


def make(made: Made, gold: Gold, scheme: Scheme) -> dict[str, Any]:
    """Every figure of the page *Judges*."""
    if not len(made) and not len(gold.pair):
        return {"judgments": 0, "judges": []}
    view = _View.of(made, scheme)
    rows = {
        judge: view.judge(np.flatnonzero(made.judge == judge)) | _gold(gold, judge)
        for judge in np.union1d(made.judge, gold.judge).tolist()
    }
    if len(made):
        noise = judge_pnoise(*made.rows, made.query)
        for judge, value, n in zip(noise.judges, noise.pnoise, noise.preferences, strict=True):
            rows[int(judge)] |= {"pnoise": number(value), "preferences": int(n)}
    held = ~deciding(made, view.asked)
    suspected = {found.judge: asdict(found) for found in suspects(*made.rows, held)}
    usual = Usual.of(list(rows.values()))
    for judge, row in rows.items():
        row["warnings"] = warnings(row, suspected.get(judge), usual)
    ordered = sorted(rows.items(), key=lambda item: (-item[1]["judgments"], item[0]))
    return {
        "judgments": len(made),
        "compared": int(view.rest.compared.sum()),
        "usual_seconds": usual.seconds,
        "judges": [{"judge": judge, **row} for judge, row in ordered],
    }


@dataclass(frozen=True, eq=False)
class _View:
    """Every judgment against the others of its pair."""

    made: Made
    asked: Mask
    rest: Others
    #: How far each lies from all others of its pair; nan where there are none.
    difference: FloatArray

    @classmethod
    def of(cls, made: Made, scheme: Scheme) -> "_View":
        everybody, asked = others(*made.rows), asked_after(made, scheme)
        both = np.flatnonzero(everybody.compared)
        difference = np.full(len(made), np.nan)
        difference[both] = centred(made, made.grade[both] - everybody.mean[both], both, asked)
        return cls(made, asked, against(made, asked), difference)

    def judge(self, mine: IntArray) -> dict[str, Any]:
        """One judge; ``mine`` are the rows of her judgments, in time order."""
        made, held = self.made, mine[self.rest.compared[mine]]
        difference = self.difference[mine]
        difference = difference[~np.isnan(difference)]
        grade, at, active = made.grade[mine], made.at[mine], made.active[mine]
        timed = active[~np.isnan(active)]
        return {
            "judgments": len(mine),
            "histogram": np.bincount(grade, minlength=LEVELS).tolist(),
            "seconds": number(np.median(timed)) if len(timed) else None,
            "active_seconds": float(timed.sum()),
            "per_hour": _per_hour(at),
            "first_at": float(at[0]) if len(at) else None,
            "last_at": float(at[-1]) if len(at) else None,
            "pnoise": None,
            "preferences": 0,
            **_against_others(made.grade[held], self.rest.majority[held]),
            "bias": _mean(difference),
            "drift": _drift(difference),
        }


def _against_others(hers: IntArray, majority: IntArray) -> dict[str, Any]:
    """Her grades beside the majority of the others on the same pairs."""
    if not len(hers):
        return {"kappa": None, "consensus": None, "confusion": None}
    test = distribution_test(hers, majority)
    table = np.bincount(majority * LEVELS + hers, minlength=LEVELS * LEVELS)
    return {
        "kappa": agreement(cohen_kappa(hers, majority, "quadratic", **HOW)),
        "consensus": {
            "hers": test.counts[0].tolist(),
            "others": test.counts[1].tolist(),
            "statistic": number(test.statistic),
            "p": number(test.p),
            "dof": test.dof,
            "effect": number(test.effect),
            "rough": test.smallest_expected < 5,
            "reason": test.reason,
        },
        "confusion": table.reshape(LEVELS, LEVELS).tolist(),
    }


def _per_hour(at: FloatArray) -> float | None:
    """Judgments an hour of work; pauses do not count."""
    steps = np.diff(at)
    steps = steps[steps <= PAUSE_SECONDS]
    worked = float(steps.sum())
    return len(steps) * 3600.0 / worked if worked > 0 else None


def _mean(values: FloatArray) -> dict[str, Any] | None:
    """A mean with its 95 % interval."""
    if not len(values):
        return None
    half = _Z95 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    mean = float(values.mean())
    return {
        "value": mean,
        "low": number(mean - half),
        "high": number(mean + half),
        "n": len(values),
    }


def _drift(differences: FloatArray) -> dict[str, Any] | None:
    """Whether she lately leans another way, or strays further, than before."""
    size = round(LATEST * len(differences))
    if size < FEWEST:
        return None
    late, early = differences[-size:], differences[:-size]
    return {
        "lean": _change(late, early),
        "stray": _change(np.abs(late), np.abs(early)),
        "late": size,
        "early": len(early),
    }


def _change(late: FloatArray, early: FloatArray) -> dict[str, float | None]:
    """The difference of the means, and how many standard errors that is (Welch)."""
    error = np.sqrt(late.var(ddof=1) / len(late) + early.var(ddof=1) / len(early))
    change = float(late.mean() - early.mean())
    return {"value": change, "z": number(change / error) if error > 0 else None}


def _gold(gold: Gold, judge: int) -> dict[str, int]:
    mine = gold.judge == judge
    right = gold.grade[mine] == gold.truth[mine]
    return {"gold_made": int(mine.sum()), "gold_right": int(right.sum())}
