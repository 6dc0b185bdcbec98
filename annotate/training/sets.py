"""Training sets by the scheme's semantics: what is trained on, frozen so that it can be repeated.

A set is frozen as ids and grades, which every machine reads from the database; its features are
read again from the pairs. The digest is over the exact arrays, so a set that came out different is
noticed.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import F

from annotate import datasets
from annotate.datasets import BoolArray, Pool
from annotate.models import Adjudication, Campaign, Label, Pair, Seat
from annotate.training.errors import TrainingError
from ranking.aggregation import training_rows
from ranking.grades import GOOD
from ranking.judgments import FloatArray, IntArray
from ranking.noise import judge_pnoise
from ranking.rankers import RANKERS

LABELS = "labels"
#: Fewer held-out queries with a relevant document than this are cross-validated instead.
FEW_QUERIES = 20
FOLDS = 5
#: Where the library's own parameters are not the best for the size of a campaign.
PARAMETERS: dict[str, dict[str, Any]] = {
    "lambdamart": {
        "n_estimators": 150,
        "learning_rate": 0.05,
        "num_leaves": 15,
        "min_child_samples": 5,
    }
}

Recipe = dict[str, Any]


def recipe(campaign: Campaign, ranker: str) -> Recipe:
    """Everything besides the judgments that decides which model comes out."""
    if ranker not in RANKERS:
        raise TrainingError(f"A ranker must be one of {', '.join(RANKERS)}. Got {ranker} instead.")
    parameters = RANKERS[ranker](**PARAMETERS.get(ranker, {})).get_params()
    parameters.pop("seed")
    return {
        "ranker": ranker,
        "parameters": parameters,
        "seed": campaign.seed,
        "rows": campaign.training_rows,
        "aggregator": campaign.aggregator,
        "theta": campaign.theta if campaign.scheme_name == "if-good-x" else 1.0,
        "max_pnoise": campaign.max_pnoise,
        "min_gold_percent": campaign.min_gold_percent,
        "min_documents": campaign.min_documents,
    }


@dataclass(frozen=True, eq=False)
class Frozen:
    """The labels to evaluate on, by pair, and the rows to train on, by place among the pairs."""

    pair: IntArray
    label: IntArray
    row: IntArray
    grade: IntArray
    weight: FloatArray

    def to_bytes(self) -> bytes:
        file = io.BytesIO()
        np.savez_compressed(file, **vars(self))
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Frozen":
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return cls(**{name: stored[name] for name in stored.files})


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Pairs with features, their labels, and the rows to train on."""

    recipe: Recipe
    pool: Pool
    frozen: Frozen
    #: Judges whose judgments were left out by the limits of the recipe.
    judges_left_out: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 over the exact arrays, the names of the features and the recipe."""
        pool, frozen = self.pool, self.frozen
        digest = hashlib.sha256()
        facts = {"recipe": self.recipe, "feature_names": pool.feature_names}
        digest.update(json.dumps(facts, sort_keys=True).encode())
        arrays = (pool.pair, pool.qid, pool.rank, pool.X, pool.held_out)
        for array in (*arrays, frozen.label, frozen.row, frozen.grade, frozen.weight):
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def training(self, among: BoolArray) -> dict[str, Any]:
        """The rows to train on of some of the pairs, as ``ranking.fit`` takes them."""
        inside = among[self.frozen.row]
        row = self.frozen.row[inside]
        arrays = {
            "X": self.pool.X[row],
            "y": self.frozen.grade[inside],
            "qid": self.pool.qid[row],
            "feature_names": np.array(self.pool.feature_names),
        }
        weight = self.frozen.weight[inside]
        return arrays if (weight == 1).all() else arrays | {"weight": weight}

    def fold(self, number: int, folds: int) -> BoolArray:
        """The pairs of the queries that are tested in a fold."""
        mask: BoolArray = self.pool.order % folds == number
        return mask


def build(campaign: Campaign, made_by: Recipe) -> TrainingSet:
    """The set as the judgments are now."""
    labels = dict(
        Label.objects.filter(pair__campaign=campaign).values_list("pair_id", "grade").iterator()
    )
    pool = datasets.pool(campaign, labels, made_by["seed"])
    label = np.array([labels[int(pair)] for pair in pool.pair], dtype=np.int64)
    left_out = 0
    if made_by["rows"] == LABELS and not _filters(made_by):
        row, grade, weight = np.arange(len(label)), label, _weights(label, made_by)
    else:
        row, grade, weight, left_out = _from_judgments(campaign, made_by, pool)
    keep = _long_enough(pool, row, made_by["min_documents"])[row]
    frozen = Frozen(pool.pair, label, row[keep], grade[keep], weight[keep])
    return TrainingSet(made_by, pool, frozen, left_out)


def thaw(campaign: Campaign, made_by: Recipe, frozen: Frozen, digest: str) -> TrainingSet:
    """The same set again, perhaps on another machine."""
    pool = datasets.pool(campaign, frozen.pair.tolist(), made_by["seed"])
    data = TrainingSet(made_by, pool, frozen)
    if len(pool.pair) != len(frozen.pair) or data.digest != digest:
        raise TrainingError(
            "The documents of the campaign changed while the ranker was trained. Train again."
        )
    return data


def require_enough(data: TrainingSet) -> None:
    """Raise with the reason if nothing can be learnt yet."""
    qid, grade = data.pool.qid[data.frozen.row], data.frozen.grade
    mine = ~data.pool.held_out[data.frozen.row]
    queries = len(np.unique(qid[mine]))
    if queries < 2:
        held_out = len(np.unique(data.pool.qid[data.pool.held_out]))
        raise TrainingError(
            "Training needs labels for at least 2 queries that are not held out. "
            f"There are {queries} so far, and {held_out} held out."
        )
    if len(np.unique(grade[mine])) < 2:
        raise TrainingError("Training needs labels of at least two different grades.")


def folds(data: TrainingSet) -> int:
    """How many folds the evaluation needs; 0 where the held-out queries are enough."""
    relevant = data.frozen.label > 0
    if len(np.unique(data.pool.qid[data.pool.held_out & relevant])) >= FEW_QUERIES:
        return 0
    return min(FOLDS, len(np.unique(data.pool.qid)))


def _weights(grade: IntArray, made_by: Recipe) -> FloatArray:
    """By the scheme's semantics: θ for Good and better, 1 for the rest."""
    return np.where(grade >= GOOD, float(made_by["theta"]), 1.0)


# -- Judgments ------------------------------------------------------------------------------------


def _filters(made_by: Recipe) -> bool:
    return made_by["max_pnoise"] is not None or made_by["min_gold_percent"] is not None


def _from_judgments(
    campaign: Campaign, made_by: Recipe, pool: Pool
) -> tuple[IntArray, IntArray, FloatArray, int]:
    """Rows made of the judgments themselves, of those judges who pass the limits."""
    pair, judge, grade = judgments(campaign)
    known = np.isin(pair, pool.pair)
    pair, judge, grade = pair[known], judge[known], grade[known]
    qid = pool.qid[_places(pool, pair)]
    out = _left_out(campaign, made_by, (pair, judge, grade), qid)
    kept = ~np.isin(judge, list(out))
    pair, judge, grade = pair[kept], judge[kept], grade[kept]
    if not len(pair):
        raise TrainingError("No judge passes the limits on noise and gold accuracy.")
    how = made_by["aggregator"] if made_by["rows"] == LABELS else made_by["rows"]
    rows = training_rows(pair, judge, grade, how=how)
    row = _places(pool, np.unique(pair))[rows.row]
    row, grade = _decided(campaign, pool, row, rows.grade)
    # In the order of the pairs; judgments of one pair stay in time order.
    order = np.argsort(row, kind="stable")
    return row[order], grade[order], _weights(grade[order], made_by), len(out)


def _decided(
    campaign: Campaign, pool: Pool, row: IntArray, grade: IntArray
) -> tuple[IntArray, IntArray]:
    """A pair whose grade a manager decided is one row with that grade, whoever judged it."""
    decisions = Adjudication.objects.filter(pair__campaign=campaign)
    rows = decisions.exclude(pair__state=Pair.State.GOLD).values_list("pair_id", "grade")
    final = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
    final = final[np.isin(final[:, 0], pool.pair)]
    judged = ~np.isin(pool.pair[row], final[:, 0])
    return (
        np.concatenate([row[judged], _places(pool, final[:, 0])]),
        np.concatenate([grade[judged], final[:, 1]]),
    )


def judgments(campaign: Campaign) -> tuple[IntArray, IntArray, IntArray]:
    """Pair, judge and grade of every judgment that counts, in time order."""
    seats = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE)
    if not campaign.gold_in_labels:
        seats = seats.exclude(pair__state=Pair.State.GOLD)
    rows = seats.order_by("judged_at", "pk").values_list("pair_id", "judge_id", "judgment__grade")
    table = np.array(list(rows.iterator(chunk_size=10_000)), dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _places(pool: Pool, pair: IntArray) -> IntArray:
    """Where each pair stands in the pool, which has every one of them."""
    rising = np.argsort(pool.pair)
    places: IntArray = rising[np.searchsorted(pool.pair, pair, sorter=rising)]
    return places


def _left_out(
    campaign: Campaign,
    made_by: Recipe,
    judged: tuple[IntArray, IntArray, IntArray],
    qid: IntArray,
) -> set[int]:
    """The judges beyond a limit. Whoever cannot be measured yet stays."""
    out: set[int] = set()
    if made_by["max_pnoise"] is not None and len(qid):
        noise = judge_pnoise(*judged, qid)
        out |= set(noise.judges[noise.pnoise > made_by["max_pnoise"]].tolist())
    if made_by["min_gold_percent"] is not None:
        out |= _bad_at_gold(campaign, made_by["min_gold_percent"])
    return out


def _bad_at_gold(campaign: Campaign, percent: int) -> set[int]:
    gold = Seat.objects.filter(
        campaign=campaign, state=Seat.State.DONE, pair__state=Pair.State.GOLD
    )
    tally: dict[int, list[bool]] = {}
    for judge, grade, known in gold.values_list("judge_id", "judgment__grade", F("pair__gold")):
        tally.setdefault(int(judge or 0), []).append(grade == known)
    return {judge for judge, right in tally.items() if 100 * sum(right) < percent * len(right)}


def _long_enough(pool: Pool, row: IntArray, least: int) -> BoolArray:
    """Whether each pair's query has so many different documents to train on."""
    _, query = np.unique(pool.qid, return_inverse=True)
    documents = np.bincount(query[np.unique(row)], minlength=query.max() + 1 if len(query) else 0)
    enough: BoolArray = documents[query] >= least
    return enough
