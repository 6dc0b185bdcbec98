"""How good a ranker is on queries it has not seen, against everything it can be held against."""

from collections.abc import Callable
from typing import Any

import numpy as np

from annotate.training.errors import TrainingError
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.limits import query_limits
from ranking.limits.selective import judge_confusion
from ranking.metrics import average_precision, compare, err, ndcg, summary
from ranking.schemes import Paying, Scheme

CUTOFFS = (1, 2, 3, 5, 10)
NORMAL_95 = 1.96
#: Queries that gained and lost most are told at this depth, so many of each.
MAIN_CUTOFF = 3
MOST_QUERIES = 10

Figures = dict[str, Any]
Measure = Callable[[FloatArray], FloatArray]


def evaluate(grades: IntArray, scores: FloatArray, first_stage: IntArray, qid: IntArray) -> Figures:
    """NDCG, MAP and ERR of the ranker and of the first-stage order, and where they differ most."""
    against = {"first_stage": first_stage.astype(np.float64)}
    figures = {
        "ndcg": {str(k): _compared(_ndcg_at(grades, qid, k), scores, against) for k in CUTOFFS},
        "map": _compared(lambda s: average_precision(grades, s, qid), scores, against),
        "err": _compared(lambda s: err(grades, s, qid), scores, against),
        "left_out": summary(ndcg(grades, scores, qid)).left_out,
        "queries": _moved(_ndcg_at(grades, qid, MAIN_CUTOFF), scores, against["first_stage"], qid),
    }
    if figures["left_out"] == len(np.unique(qid)):
        raise TrainingError("No held-out query has a relevant document yet, so NDCG is undefined.")
    return figures


def head_to_head(
    grades: IntArray, scores: FloatArray, champion: FloatArray, qid: IntArray
) -> Figures:
    """NDCG of the ranker and of the champion, on the same queries and labels."""
    against = {"champion": champion}
    return {str(k): _compared(_ndcg_at(grades, qid, k), scores, against) for k in CUTOFFS}


def ceiling(
    grades: IntArray, qid: IntArray, judged: tuple[IntArray, IntArray, IntArray], scheme: Scheme
) -> Figures:
    """The best NDCG that judges who agree as these do allow; nothing where none overlap."""
    if not len(judged[0]):
        return {}
    # If-it-pays may ask again whatever the first judgment was.
    any_first = isinstance(scheme, Paying)
    asked = [any_first or scheme.wants_more([grade]) for grade in range(LEVELS)]
    matrix = judge_confusion(*judged, asked)
    if matrix is None:
        return {}
    limits = {str(k): _mean(query_limits(grades, qid, matrix, k)) for k in CUTOFFS}
    return {
        k: {"value": limit["mean"], "low": limit["low"], "high": limit["high"], "n": limit["n"]}
        for k, limit in limits.items()
        if limit["n"]
    }


def _moved(
    measure: Measure, ours: FloatArray, theirs: FloatArray, qid: IntArray
) -> list[dict[str, Any]]:
    """The queries that gained most over the first stage and those that lost most, best first."""
    now, before = measure(ours), measure(theirs)
    gain = now - before
    order = np.argsort(-gain, kind="stable")[: np.sum(~np.isnan(gain))]
    up, down = order[gain[order] > 0][:MOST_QUERIES], order[gain[order] < 0][-MOST_QUERIES:]
    names = np.unique(qid)
    return [
        {"query": int(names[at]), "ranker": float(now[at]), "first_stage": float(before[at])}
        for at in (*up, *down)
    ]


def _ndcg_at(grades: IntArray, qid: IntArray, k: int) -> Measure:
    return lambda scores: ndcg(grades, scores, qid, k=k)


def _compared(measure: Measure, ours: FloatArray, other: dict[str, FloatArray]) -> Figures:
    ((name, theirs),) = other.items()
    a, b = measure(ours), measure(theirs)
    return {"ranker": _mean(a), name: _mean(b), "p": _number(compare(a, b).t_test_p)}


def _mean(values: FloatArray) -> dict[str, float | int | None]:
    """The mean with its 95 % interval; an interval of one query does not exist."""
    mean = summary(values)
    half = NORMAL_95 * mean.standard_error
    return {
        "mean": _number(mean.mean),
        "low": _number(max(mean.mean - half, 0.0)),
        "high": _number(min(mean.mean + half, 1.0)),
        "n": mean.n,
    }


def _number(value: float) -> float | None:
    """JSON knows no nan."""
    return None if np.isnan(value) else float(value)
