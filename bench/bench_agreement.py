"""Agreement of a million judgments, and reading ranking data, beside other libraries."""

import tempfile
from pathlib import Path

import krippendorff
import numpy as np
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import interval_distance
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import cohen_kappa_score

from bench import Result, best_of
from ranking.agreement import cohen_kappa, krippendorff_alpha
from ranking.data import read_letor, write_letor
from ranking.noise import inject, pnoise

PAIRS, OVERLAP, JUDGES, LEVELS = 200_000, 5, 120, 5


def judgments() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A million judgments in random order: five of 120 judges for each pair."""
    rng = np.random.default_rng(0)
    pair = np.repeat(np.arange(PAIRS), OVERLAP)
    first = np.repeat(rng.integers(0, JUDGES, PAIRS), OVERLAP)
    step = np.repeat(rng.integers(1, JUDGES // OVERLAP, PAIRS), OVERLAP)
    judge = (first + step * np.tile(np.arange(OVERLAP), PAIRS)) % JUDGES
    grade = np.clip(rng.integers(0, LEVELS, PAIRS)[pair] + rng.integers(-1, 2, len(pair)), 0, 4)
    order = rng.permutation(len(pair))
    return pair[order], judge[order], grade[order]


def run() -> list[Result]:
    """Alpha with and without an interval, Cohen's kappa, LETOR files, preference noise."""
    rows = judgments()
    return [_alpha(*rows), _interval(*rows), _kappa(), _letor(), _noise()]


def _alpha(pair: np.ndarray, judge: np.ndarray, grade: np.ndarray) -> Result:
    counts = np.bincount(pair * LEVELS + grade, minlength=PAIRS * LEVELS).reshape(PAIRS, LEVELS)
    matrix = np.full((JUDGES, PAIRS), np.nan)
    matrix[judge, pair] = grade
    rows = list(zip(judge.tolist(), pair.tolist(), grade.tolist(), strict=True))
    domain = np.arange(float(LEVELS))

    def ready_counts() -> float:
        return float(krippendorff.alpha(value_counts=counts, value_domain=domain, **ordinal))

    def whole_matrix() -> float:
        return float(krippendorff.alpha(reliability_data=matrix, value_domain=domain, **ordinal))

    ordinal = {"level_of_measurement": "ordinal"}
    ours = krippendorff_alpha(pair, judge, grade).value
    if not np.allclose([ready_counts(), whole_matrix()], ours, atol=1e-9):
        raise SystemExit("The peers do not agree with us.")
    return Result(
        work="Krippendorff's alpha, ordinal, 1M judgments (200k pairs × 5 of 120 judges)",
        seconds=best_of(lambda: krippendorff_alpha(pair, judge, grade), 15),
        peers={
            "krippendorff (ready counts)": best_of(ready_counts, 7),
            "krippendorff (matrix)": best_of(whole_matrix, 5),
            "nltk (interval)": best_of(
                lambda: AnnotationTask(rows, distance=interval_distance).alpha(), 1
            ),
        },
        target="faster than each, ≥ 20× the matrix",
        note="Ours starts from unsorted rows and drops repeats; nltk has no ordinal distance.",
    )


def _interval(pair: np.ndarray, judge: np.ndarray, grade: np.ndarray) -> Result:
    return Result(
        work="the same with a bootstrap interval of 1,000 resamples of the pairs",
        seconds=best_of(lambda: krippendorff_alpha(pair, judge, grade, interval=0.95), 7),
        note="Exact multinomial over kinds of pairs; none of these peers offers one.",
    )


def _kappa() -> Result:
    rng = np.random.default_rng(1)
    a = rng.integers(0, LEVELS, 1_000_000)
    b = np.where(rng.random(len(a)) < 0.6, a, rng.integers(0, LEVELS, len(a)))
    return Result(
        work="Cohen's kappa, quadratic, 1M pairs",
        seconds=best_of(lambda: cohen_kappa(a, b, "quadratic"), 9),
        peers={"scikit-learn": best_of(lambda: cohen_kappa_score(a, b, weights="quadratic"), 3)},
    )


def _letor() -> Result:
    rng = np.random.default_rng(2)
    X = np.round(rng.random((15_000, 136)) * rng.integers(0, 2, (15_000, 136)), 6)
    y, qid = rng.integers(0, 5, 15_000), np.repeat(np.arange(150), 100)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"
        write_letor(path, X, y, qid)
        return Result(
            work="read a LETOR file of 2M values",
            seconds=best_of(lambda: read_letor(path), 5),
            peers={
                "scikit-learn (compiled)": best_of(
                    lambda: load_svmlight_file(str(path), query_id=True)[0].toarray(), 5
                )
            },
            note="Every line checked; named queries and comments kept.",
        )


def _noise() -> Result:
    rng = np.random.default_rng(3)
    true, qid = rng.integers(0, LEVELS, 1_000_000), np.repeat(np.arange(10_000), 100)
    noisy = inject(true, 0.2, rng)
    loop = np.split(np.arange(len(true)), np.arange(100, len(true), 100))

    def all_couples() -> float:
        wrong, stated = 0.0, 0
        for rows in loop:
            above = noisy[rows][:, None] > noisy[rows]
            t = true[rows]
            wrong += (above & (t[:, None] < t)).sum() + 0.5 * (above & (t[:, None] == t)).sum()
            stated += above.sum()
        return wrong / stated

    if abs(all_couples() - pnoise(true, noisy, qid)) > 1e-12:
        raise SystemExit("The two ways to count preferences do not agree.")
    return Result(
        work="pNoise, 10k queries × 100 documents",
        seconds=best_of(lambda: pnoise(true, noisy, qid), 7),
        peers={"numpy, all couples of a query at once": best_of(all_couples, 2)},
    )
