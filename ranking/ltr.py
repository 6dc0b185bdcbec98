"""Rankers in the formats of the learning-to-rank plugin of Elasticsearch and OpenSearch.

The plugin reads trees as ``model/xgboost+json`` and weights as ``model/linear``. It computes in
single precision and goes left where ``x < split_condition``; LightGBM goes left where
``x <= threshold``. So every threshold becomes the next single-precision number above it: no value
that the plugin can hold changes sides. Feature names are those of the model; the feature set in
the plugin must have the same.

Reference: the plugin's documentation, "Uploading a trained model".
"""

import json
from typing import Any

import numpy as np

from ranking.rankers import LambdaMART, RankBoost, Ranker
from ranking.rankers.adarank import AdaRank
from ranking.rankers.linear import LinearRanker

TREES = "model/xgboost+json"
LINEAR = "model/linear"

_LARGEST = float(np.finfo(np.float32).max)

Node = dict[str, Any]


def ltr_model(ranker: Ranker, name: str) -> dict[str, Any]:
    """The body that the plugin takes at ``_ltr/_featureset/{set}/_createmodel``.

    Raises ValueError for a ranker that the plugin has no form for: a net, or weights of
    logarithms.
    """
    kind, definition = ltr_definition(ranker)
    model = {"type": kind, "definition": json.dumps(definition, allow_nan=False)}
    return {"model": {"name": name, "model": model}}


def ltr_definition(ranker: Ranker) -> tuple[str, Any]:
    """The type of the model and its definition as JSON data."""
    names = ranker.feature_names_in_ or [
        f"feature_{number}" for number in range(1, ranker.n_features_in_ + 1)
    ]
    if isinstance(ranker, LambdaMART):
        return TREES, _boosted(ranker, names)
    if isinstance(ranker, RankBoost):
        return TREES, _stumps(ranker, names)
    if isinstance(ranker, LinearRanker | AdaRank) and ranker.scale != "log":
        # The centre adds the same to every document, which changes no order.
        weights = ranker.coef_ / ranker.spread_
        return LINEAR, dict(zip(names, weights.tolist(), strict=True))
    raise ValueError(
        "The plugin takes trees and weighted sums of features only. "
        f"Got {ranker.name} with {ranker.get_params()} instead."
    )


def _boosted(ranker: LambdaMART, names: list[str]) -> list[Node]:
    dumped = ranker.booster_.dump_model(num_iteration=ranker.best_iteration_)
    return [_tree(tree["tree_structure"], names) for tree in dumped["tree_info"]]


def _tree(structure: Node, names: list[str]) -> Node:
    """One tree of LightGBM, its nodes numbered from 0 in the order they are met."""
    count = iter(range(1 << 31))

    def build(node: Node, depth: int) -> Node:
        number = next(count)
        if "split_feature" not in node:
            return {"nodeid": number, "leaf": float(node["leaf_value"])}
        yes, no = build(node["left_child"], depth + 1), build(node["right_child"], depth + 1)
        threshold = float(node["threshold"])
        return {
            "nodeid": number,
            "depth": depth,
            "split": names[node["split_feature"]],
            "split_condition": next_above(threshold),
            "yes": yes["nodeid"],
            "no": no["nodeid"],
            "missing": (yes if _missing_left(node, threshold) else no)["nodeid"],
            "children": [yes, no],
        }

    return build(structure, 0)


def _missing_left(node: Node, threshold: float) -> bool:
    """Where an unknown value goes: as learnt, or as 0 where training knew every value."""
    if node["decision_type"] != "<=" or node["missing_type"] not in ("None", "NaN"):
        raise ValueError(
            "A split must be <= a number, and 0 no unknown value. "
            f"Got {node['decision_type']} with {node['missing_type']} instead."
        )
    return bool(node["default_left"]) if node["missing_type"] == "NaN" else threshold >= 0


def _stumps(ranker: RankBoost, names: list[str]) -> list[Node]:
    steps = zip(ranker.feature_, ranker.threshold_, ranker.alpha_, strict=True)
    return [
        {
            "nodeid": 0,
            "depth": 0,
            "split": names[feature],
            "split_condition": next_above(float(threshold)),
            "yes": 1,
            "no": 2,
            "missing": 1 if threshold >= 0 else 2,
            "children": [{"nodeid": 1, "leaf": 0.0}, {"nodeid": 2, "leaf": float(alpha)}],
        }
        for feature, threshold, alpha in steps
    ]


def next_above(threshold: float) -> float:
    """The smallest single-precision number above ``threshold``, the largest one at most."""
    if threshold >= _LARGEST:
        return _LARGEST
    nearest = np.float32(max(threshold, -_LARGEST))
    if float(nearest) <= threshold:
        nearest = np.nextafter(nearest, np.float32(np.inf))
    return min(float(nearest), _LARGEST)
