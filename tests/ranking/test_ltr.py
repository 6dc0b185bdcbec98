"""Models as the plugin of Elasticsearch reads them: evaluated here as it does, in its precision."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.ltr import LINEAR, TREES, ltr_definition, ltr_model, next_above
from ranking.rankers import RANKERS, LambdaMART, ListNet, Ranker

NAMES = ["bm25_title", "bm25_text", "age", "links"]


def fitted(name: str, *, missing: bool = False, **parameters: Any) -> Ranker:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4)).astype(np.float32).astype(np.float64)
    X[:, 3] = rng.integers(0, 4, 600)
    y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 3] + rng.normal(0, 0.5, 600)), 0, 4).astype(int)
    if missing:
        X[rng.random(600) < 0.3, 0] = np.nan
    return RANKERS[name](**parameters).fit(X, y, np.arange(600) // 20, feature_names=NAMES)


def plugin_score(node: dict[str, Any], row: dict[str, np.float32]) -> np.float32:
    """The plugin's own walk through a tree."""
    while "leaf" not in node:
        yes, no = node["children"]
        assert (node["yes"], node["no"]) == (yes["nodeid"], no["nodeid"])
        value = row[node["split"]]
        if np.isnan(value):
            node = yes if node["missing"] == node["yes"] else no
        else:
            node = yes if value < np.float32(node["split_condition"]) else no
    return np.float32(node["leaf"])


def plugin_scores(trees: list[dict[str, Any]], X: np.ndarray) -> np.ndarray:
    rows = [dict(zip(NAMES, row.astype(np.float32), strict=True)) for row in X]
    return np.array([sum(float(plugin_score(tree, row)) for tree in trees) for row in rows])


def rows_to_score(ranker: Ranker, *, missing: bool) -> np.ndarray:
    """Random rows, rows exactly on every threshold, and their neighbours in single precision."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    X[:, 3] = rng.integers(-1, 5, 400)
    _, trees = ltr_definition(ranker)
    cuts = np.array(sorted(set(_cuts(trees))), dtype=np.float32)
    for number, cut in enumerate(cuts[:200]):
        X[number] = [cut, np.nextafter(cut, np.float32(-np.inf)), cut, cut]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X.astype(np.float64)


def _cuts(nodes: list[dict[str, Any]]) -> list[float]:
    found = []
    for node in nodes:
        if "children" in node:
            found += [node["split_condition"], *_cuts(node["children"])]
    return found


@pytest.mark.parametrize("trained_with_missing", [False, True])
@pytest.mark.parametrize("scored_with_missing", [False, True])
def test_trees_score_in_the_plugin_as_they_do_here(
    trained_with_missing: bool, scored_with_missing: bool
) -> None:
    ranker = fitted("lambdamart", missing=trained_with_missing, n_estimators=30)
    kind, trees = ltr_definition(ranker)
    assert kind == TREES
    assert len(trees) == 30
    X = rows_to_score(ranker, missing=scored_with_missing)
    np.testing.assert_allclose(plugin_scores(trees, X), ranker.predict(X), atol=1e-5)


def test_steps_score_in_the_plugin_as_they_do_here() -> None:
    ranker = fitted("rankboost", n_estimators=40)
    kind, trees = ltr_definition(ranker)
    assert kind == TREES
    X = rows_to_score(ranker, missing=False)
    np.testing.assert_allclose(plugin_scores(trees, X), ranker.predict(X), atol=1e-5)


@pytest.mark.parametrize("name", ["ranksvm", "listnet", "adarank"])
def test_weights_order_documents_in_the_plugin_as_they_do_here(name: str) -> None:
    ranker = fitted(name)
    kind, weights = ltr_definition(ranker)
    assert (kind, list(weights)) == (LINEAR, NAMES)
    X = np.random.default_rng(5).normal(size=(300, 4))
    theirs = X @ np.array(list(weights.values()))
    ours = ranker.predict(X)
    np.testing.assert_allclose(theirs - theirs.mean(), ours - ours.mean(), atol=1e-9)


def test_the_body_is_what_the_plugin_takes() -> None:
    body = ltr_model(fitted("ranksvm"), "mine")
    assert (body["model"]["name"], body["model"]["model"]["type"]) == ("mine", LINEAR)
    assert set(json.loads(body["model"]["model"]["definition"])) == set(NAMES)


def test_unnamed_features_are_numbered_from_one() -> None:
    X, qid = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    ranker = ListNet().fit(X, (X[:, 0] > 0).astype(int), qid)
    assert list(ltr_definition(ranker)[1]) == ["feature_1", "feature_2"]


def test_a_model_of_one_leaf_is_one_leaf() -> None:
    X, qid = np.zeros((40, 4)), np.repeat([0, 1], 20)
    with pytest.warns(UserWarning, match="No split was found"):
        ranker = LambdaMART(n_estimators=2).fit(X, np.arange(40) % 2, qid, feature_names=NAMES)
    assert all(set(tree) == {"nodeid", "leaf"} for tree in ltr_definition(ranker)[1])


@pytest.mark.parametrize(
    ("name", "parameters"), [("lambdarank", {}), ("ranksvm", {"scale": "log"})]
)
def test_what_the_plugin_has_no_form_for_is_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"takes trees and weighted sums .* Got {name} with"):
        ltr_definition(fitted(name, **parameters))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32, allow_nan=False))
def test_no_single_precision_value_changes_sides(threshold: float, value: float) -> None:
    largest = float(np.finfo(np.float32).max)
    if value < largest:
        assert (value <= threshold) == (value < next_above(threshold))
