"""Simulated judges: draw a judgment from the true grade by a confusion matrix.

``confusion[i, j]`` = P(judge says j | truth is i), rows Bad … Perfect.
"""

import numpy as np

from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray, check_grades

#: What kinds of judges there are. *crowd* was measured on 9,328 judgments of web pages by 177 paid
#: judges; *expert* is assumed.
SKILLS: dict[str, FloatArray] = {
    "crowd": np.array(
        [
            [0.558, 0.150, 0.079, 0.080, 0.133],
            [0.141, 0.439, 0.162, 0.110, 0.148],
            [0.060, 0.122, 0.411, 0.202, 0.205],
            [0.023, 0.050, 0.139, 0.516, 0.272],
            [0.024, 0.022, 0.033, 0.100, 0.821],
        ]
    ),
    "expert": np.array(
        [
            [0.800, 0.140, 0.050, 0.008, 0.002],
            [0.350, 0.450, 0.170, 0.025, 0.005],
            [0.120, 0.280, 0.450, 0.130, 0.020],
            [0.050, 0.100, 0.270, 0.450, 0.130],
            [0.030, 0.050, 0.120, 0.250, 0.550],
        ]
    ),
}


def draw(truth: IntArray, confusion: FloatArray, rng: np.random.Generator) -> IntArray:
    """One judgment for every true grade, same shape."""
    matrix = np.asarray(confusion, dtype=np.float64)
    if matrix.shape != (LEVELS, LEVELS):
        raise ValueError(f"confusion must be {LEVELS} by {LEVELS}. Got {matrix.shape} instead.")
    if np.any(matrix < 0) or not np.allclose(matrix.sum(axis=1), 1, atol=5e-3):
        raise ValueError(f"Rows of confusion must sum to 1. Got {matrix.sum(axis=1)} instead.")
    truth = np.asarray(truth, dtype=np.int64)
    if truth.size:
        check_grades(truth)
    steps = np.cumsum(matrix, axis=1)
    steps /= steps[:, -1:]  # printed figures are rounded: a row may end at 1.001
    passed = rng.random(truth.shape)[..., None] >= steps[truth][..., :-1]
    return np.asarray(passed.sum(axis=-1), dtype=np.int64)
