"""How good a ranker can look when judges disagree: the tables of the limit study.

``python -m ranking.experiments.limit --data FOLDER --draws 100`` prints the ceiling of three LETOR
collections under three confusion matrices by all three methods, beside what a ranker reaches, and
what the ceiling predicts against what happens when one real judge's order is held against another
judge's grades.

Reference: the study of assessor disagreement and limiting nDCG, SIGIR 2012: table 1, figure 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ranking.agreement.judges import confusion
from ranking.data import rotation
from ranking.experiments.command import Options, parser, save, show
from ranking.experiments.dealing import deal
from ranking.experiments.judged import Judged, nyt, web_search
from ranking.experiments.letor import Letor, read_collection
from ranking.judgments import FloatArray
from ranking.limits import dataset_limit, query_limits
from ranking.metrics import ndcg, summary
from ranking.rankers import LambdaMART
from ranking.simulation import SKILLS

COLLECTIONS = ("mslr", "mq2008", "ohsumed")
#: The grades of ours that a grade of a three-grade scale stands for.
THREE = ((0, 1), (2,), (3, 4))
DEPTHS = (None, 10)


def matrices(folder: Path) -> dict[str, FloatArray]:
    """Three models of disagreement: two kinds of judges against the truth, and web judges against
    each other."""
    found = {name: SKILLS[name] / SKILLS[name].sum(axis=1, keepdims=True) for name in SKILLS}
    web = web_search(folder)
    found["judge against judge"] = np.asarray(confusion(web.pair, web.judge, web.grade))
    return found


def three_grades(matrix: FloatArray) -> FloatArray:
    """A five-grade confusion for three grades: Bad or Fair, Good, Excellent or Perfect.

    Rows of grades that become one count alike.
    """
    rows = np.stack([matrix[list(group)].mean(axis=0) for group in THREE])
    return np.stack([rows[:, list(group)].sum(axis=1) for group in THREE], axis=1)


def best_ranker(data: Letor) -> FloatArray:
    """NDCG of every query (depth × query) by LambdaMART on the true grades, five folds."""
    scores = np.empty(len(data.y))
    for fold in rotation(data.part):
        train, watch, test = (data.take(rows) for rows in (fold.train, fold.validate, fold.test))
        ranker = LambdaMART(
            n_estimators=300, learning_rate=0.05, num_leaves=8, subsample=0.7, colsample=0.5
        )
        ranker.fit(train.X, train.y, train.qid, eval_set=(watch.X, watch.y, watch.qid))
        scores[fold.test] = ranker.predict(test.X)
    return np.stack([ndcg(data.y, scores, data.qid, k) for k in DEPTHS])


def table(folder: Path, runs: int) -> tuple[list[str], list[list[object]]]:
    """Every collection × confusion × depth: simulated, gaussian, exact, and the ranker."""
    head = ["collection", "confusion", "NDCG@", "simulated", "± error", "gaussian", "exact"]
    head += ["ranker", "± error", "queries", "left out"]
    rows: list[list[object]] = []
    for name in COLLECTIONS:
        data = read_collection(folder, name)
        reached = best_ranker(data)
        for model, matrix in matrices(folder).items():
            fitting = matrix if data.y.max() > 2 else three_grades(matrix)
            for depth, k in enumerate(DEPTHS):
                drawn = dataset_limit(
                    data.y, data.qid, fitting, k, method="simulate", runs=max(2, runs)
                )
                near = dataset_limit(data.y, data.qid, fitting, k, method="gaussian").value
                exact = dataset_limit(data.y, data.qid, fitting, k)
                mine = summary(reached[depth])
                ceilings = [drawn.value, drawn.standard_error, near, exact.value]
                tail = [mine.mean, mine.standard_error, mine.n, mine.left_out]
                rows.append([name, model, k or "all", *ceilings, *tail])
    return head, rows


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted and actual nDCG, one of each per query: means over draws."""

    predicted: FloatArray
    actual: FloatArray

    @property
    def correlation(self) -> float:
        """Pearson's, over queries."""
        return float(np.corrcoef(self.predicted, self.actual)[0, 1])


def predict(judged: Judged, draws: int, k: int | None = None, seed: int = 0) -> Prediction:
    """One judge's order by another judge's grades, and what the pooled confusion says of it.

    In each draw two judges of every pair are drawn, one to train and one to test. Pseudo-queries
    are the same in all draws, so that each has a mean.
    """
    matrix = np.asarray(confusion(judged.pair, judged.judge, judged.grade))
    query = judged.queries(np.random.default_rng(seed))
    kept = query >= 0
    sums: list[npt.NDArray[np.float64]] = []
    for draw in range(draws):
        dealt = deal(judged, np.random.default_rng([seed, draw]))
        both = kept & (dealt.number > 1)
        tested, trained = dealt.grade[both, 0], dealt.grade[both, 1]
        actual = ndcg(tested, trained.astype(np.float64), query[both], k, ties="expected")
        sums.append(np.stack([query_limits(tested, query[both], matrix, k), actual]))
    predicted, actual = np.nanmean(sums, axis=0)
    return Prediction(predicted, actual)


def predictions(folder: Path, draws: int) -> tuple[list[str], list[list[object]]]:
    """Figure 1 as a table, for every collection of overlapping judgments."""
    head = ["judgments", "queries", "predicted", "actual", "difference", "± error", "correlation"]
    sources = {"web": web_search(folder)}
    sources |= {f"nyt-{name.lower()}": nyt(folder, name) for name in ("High", "NoHigh")}
    rows: list[list[object]] = []
    for name, judged in sources.items():
        found = predict(judged, draws)
        apart = summary(found.predicted - found.actual)
        means = [float(found.predicted.mean()), float(found.actual.mean()), apart.mean]
        rows.append([name, len(found.actual), *means, apart.standard_error, found.correlation])
    return head, rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    command = parser("limit", __doc__)
    command.add_argument("--part", action="append", choices=["table", "predict"])
    options = command.parse_args(arguments, Options())
    wanted = options.part or ["table", "predict"]
    if "predict" in wanted:
        show(options, "Predicted against actual", *predictions(options.data, options.draws or 100))
    if "table" in wanted:
        head, rows = table(options.data, 10 * (options.draws or 100))
        show(options, "Ceilings beside a ranker", head, rows)
        save(options, head, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
