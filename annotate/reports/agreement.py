"""Do the judges agree: over all, over time, by query, by couple of judges, by grade."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.reports.numbers import HOW, agreement, number
from annotate.reports.reading import Made
from annotate.reports.selection import against, asked_after
from ranking.agreement import (
    Agreement,
    confusion,
    fleiss_kappa,
    gwet_ac2,
    krippendorff_alpha,
    pairwise_kappa,
    percent_agreement,
    pooled_kappa,
)
from ranking.disputes import Disputes, disputes, worst_groups
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.limits.selective import selective_confusion
from ranking.schemes import Scheme

#: What is reckoned, in the order it is shown.
COEFFICIENTS: dict[str, Callable[..., Agreement]] = {
    "alpha": krippendorff_alpha,
    "ac2": gwet_ac2,
    "weighted_kappa": partial(pooled_kappa, weights="quadratic"),
    "kappa": pooled_kappa,
    "fleiss": fleiss_kappa,
    "percent": percent_agreement,
    "near": partial(percent_agreement, within=1),
}
OVER_TIME = ("alpha", "ac2", "weighted_kappa", "percent")

#: A stretch of time holds as many overlapping pairs, and there are at most so many stretches.
FEWEST_PAIRS = 30
MOST_WINDOWS = 24
#: The last part that is held against all before it, to tell whether agreement falls.
RECENT = 0.2

MOST_JUDGES = 40
MOST_QUERIES = 100
MOST_PAIRS = 100


def make(made: Made, scheme: Scheme) -> dict[str, Any]:
    """Every figure of the page *Agreement*."""
    if not len(made):
        return {"judgments": 0, "pairs": 0, "overlapping": 0}
    found = disputes(*made.rows)
    asked = asked_after(made, scheme)
    return {
        "judgments": len(made),
        "pairs": len(np.unique(made.pair)),
        "overlapping": len(found.pair),
        "coefficients": _coefficients(made, tuple(COEFFICIENTS)),
        "windows": _windows(made, found),
        "recent": _recent(made, found),
        "queries": _queries(made, found),
        "queries_with_overlap": len(np.unique(_query_of(made, found.pair))),
        "couples": _couples(made),
        "consensus": _consensus(made, asked),
        "pooled": _pooled(made, asked),
        "disputed": _disputed(found),
    }


def _coefficients(made: Made, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: agreement(COEFFICIENTS[name](*made.rows, **HOW)) for name in names}


# -- Over time ------------------------------------------------------------------------------------


def _by_time(made: Made, found: Disputes) -> IntArray:
    """The overlapping pairs in the order they got their last judgment."""
    place = np.searchsorted(found.pair, made.pair)
    place[place == len(found.pair)] = 0
    shared = found.pair[place] == made.pair if len(found.pair) else np.zeros(len(made), bool)
    last = np.zeros(len(found.pair))
    np.maximum.at(last, place[shared], made.at[shared])
    return np.asarray(found.pair[np.argsort(last, kind="stable")])


def _windows(made: Made, found: Disputes) -> list[dict[str, Any]]:
    """Stretches with equally many overlapping pairs, each measured by itself."""
    ordered = _by_time(made, found)
    number_of = min(len(ordered) // FEWEST_PAIRS, MOST_WINDOWS)
    rows = []
    for pairs in np.array_split(ordered, number_of) if number_of else []:
        part = made.only(np.isin(made.pair, pairs))
        span = {"from": float(part.at.min()), "to": float(part.at.max()), "pairs": len(pairs)}
        rows.append(span | _coefficients(part, OVER_TIME))
    return rows


def _recent(made: Made, found: Disputes) -> dict[str, Any] | None:
    """The latest fifth of the overlapping pairs against those before."""
    ordered = _by_time(made, found)
    size = round(RECENT * len(ordered))
    if size < FEWEST_PAIRS:
        return None
    late = np.isin(made.pair, ordered[-size:])
    early = np.isin(made.pair, ordered[:-size])
    now, before = (_coefficients(made.only(part), ("alpha",))["alpha"] for part in (late, early))
    known = now["high"] is not None and before["low"] is not None
    return {"now": now, "before": before, "falls": known and now["high"] < before["low"]}


# -- By query and pair ----------------------------------------------------------------------------


def _query_of(made: Made, pairs: IntArray) -> IntArray:
    names, first = np.unique(made.pair, return_index=True)
    return np.asarray(made.query[first[np.searchsorted(names, pairs)]])


def _queries(made: Made, found: Disputes) -> list[dict[str, Any]]:
    names, apart, pairs = worst_groups(_query_of(made, found.pair), found.apart)
    rows = []
    for query, mean, n in zip(names[:MOST_QUERIES], apart, pairs, strict=False):
        part = made.only(made.query == query)
        about = {"query": int(query), "apart": float(mean), "pairs": int(n)}
        rows.append(about | _coefficients(part, ("alpha", "percent")))
    return rows


def _disputed(found: Disputes) -> list[dict[str, Any]]:
    order = np.lexsort((found.pair, -found.judgments, found.low - found.high, -found.apart))
    return [
        {
            "pair": int(found.pair[index]),
            "apart": float(found.apart[index]),
            "judgments": int(found.judgments[index]),
            "low": int(found.low[index]),
            "high": int(found.high[index]),
        }
        for index in order[:MOST_PAIRS]
        if found.apart[index] > 0
    ]


# -- By judge and grade ---------------------------------------------------------------------------


def _couples(made: Made) -> dict[str, Any]:
    """Weighted kappa of every two of the busiest judges, over the pairs both judged."""
    names, n = np.unique(made.judge, return_counts=True)
    busiest = np.sort(names[np.argsort(-n, kind="stable")][:MOST_JUDGES])
    part = made.only(np.isin(made.judge, busiest))
    found = pairwise_kappa(*part.rows, "quadratic", **HOW)
    rows = [
        {
            "one": int(found.judges[one]),
            "other": int(found.judges[other]),
            "kappa": number(found.kappa[one, other]),
            "low": number(found.low[one, other]),
            "high": number(found.high[one, other]),
            "pairs": int(found.pairs[one, other]),
        }
        for one, other in zip(*np.triu_indices(len(found.judges), 1), strict=True)
        if found.pairs[one, other]
    ]
    return {"judges": found.judges.tolist(), "of": len(names), "rows": rows}


def _consensus(made: Made, asked: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """How often a judge says j where the majority of the others says i."""
    rest = against(made, asked)
    cell = rest.majority[rest.compared] * LEVELS + made.grade[rest.compared]
    counts = np.bincount(cell, minlength=LEVELS * LEVELS).reshape(LEVELS, LEVELS)
    return {"counts": counts.tolist(), "judgments": int(counts.sum())}


def _pooled(made: Made, asked: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """When one judge says i, how often does another of the same pair say j?"""
    if asked.all():
        found = confusion(*made.rows, **HOW)
        return _cells(found.matrix, found.low, found.high) | {
            "couples": found.counts.tolist(),
            "inferred": [],
        }
    chosen = selective_confusion(*made.rows, asked, **HOW)
    if chosen is None:
        return {"matrix": [], "couples": [], "inferred": []}
    return _cells(chosen.matrix, chosen.low, chosen.high) | {
        "couples": chosen.couples.tolist(),
        "inferred": np.flatnonzero(~asked).tolist(),
    }


def _cells(matrix: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, Any]:
    return {
        name: [[number(value) for value in row] for row in table]
        for name, table in (("matrix", matrix), ("low", low), ("high", high))
    }
