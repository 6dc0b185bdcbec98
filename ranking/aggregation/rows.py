"""From judgments to the rows a ranker is trained on."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.aggregation.counting import relabel
from ranking.aggregation.registry import AGGREGATORS
from ranking.grades import GOOD
from ranking.judgments import FloatArray, IntArray, check_judgments

#: The name of training on every judgment instead of on labels.
USE_ALL = "use-all"


class TrainingRows(NamedTuple):
    """One entry per training row: ``X[row]`` repeats the feature vectors where it must.

    ``row`` indexes the pairs in the order of their sorted ids, ``np.unique(pair)``.
    """

    row: IntArray
    grade: IntArray
    weight: FloatArray


def training_rows(
    pair: npt.ArrayLike,
    judge: npt.ArrayLike,
    grade: npt.ArrayLike,
    *,
    how: str = USE_ALL,
    theta: float = 1.0,
) -> TrainingRows:
    """The rows to train on.

    ``how``: ``"use-all"`` for one row per judgment, in the order given, or the name of an
    aggregator for one row per pair. ``theta``: the weight of a Good+ row, where a Fair- row
    weighs 1 (if-good-x uses 3). The training overhead is ``weight.sum()`` / pairs.

    Reference: Yang, Mityagin, Svore, Markov, SIGIR 2010, section 4.
    """
    if not 0 < theta < np.inf:
        raise ValueError(f"theta must be positive and finite. Got {theta} instead.")
    if how == USE_ALL:
        pairs, _, grades = check_judgments(pair, judge, grade)
        _, row = relabel(pairs)
        grades = grades.copy()
    elif how in AGGREGATORS:
        labels = AGGREGATORS[how].aggregate(pair, judge, grade)
        row, grades = np.arange(len(labels)), labels.grade
    else:
        known = ", ".join([USE_ALL, *AGGREGATORS])
        raise ValueError(f"how must be one of {known}. Got {how} instead.")
    return TrainingRows(row, grades, np.where(grades >= GOOD, theta, 1.0))
