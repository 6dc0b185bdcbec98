"""What every ranker promises, whichever method it uses."""

import hashlib
import io
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ranking.rankers import RANKERS, Ranker, load_ranker, normalise_per_query

#: Settings that learn a small toy problem in a moment.
QUICK: dict[str, dict[str, Any]] = {
    "lambdamart": {"n_estimators": 40, "min_child_samples": 5, "num_leaves": 7},
}
EVERY = pytest.mark.parametrize("name", list(RANKERS))


def make(name: str, **parameters: Any) -> Ranker:
    return RANKERS[name](**{**QUICK.get(name, {}), **parameters})


def toy(seed: int = 0, queries: int = 30, docs: int = 12) -> tuple[Any, Any, Any]:
    """Grades that follow 2·x0 + x1, beside a feature of pure noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(queries * docs, 3))
    y = np.digitize(2 * X[:, 0] + X[:, 1], [1.2, 1.8, 2.2, 2.6])
    return X, y, np.repeat(np.arange(queries), docs)


def agreement(y: Any, scores: Any, qid: Any) -> float:
    """The share of preference pairs that the scores put in the right order."""
    better = (y[:, None] > y[None, :]) & (qid[:, None] == qid[None, :])
    return float((scores[:, None] > scores[None, :])[better].mean())


def scrambled(qid: Any, seed: int = 1) -> Any:
    """An order that interleaves the queries and keeps the order within each."""
    shuffled = np.random.default_rng(seed).permutation(qid)
    mixed = np.empty(len(qid), dtype=int)
    mixed[np.argsort(shuffled, kind="stable")] = np.argsort(qid, kind="stable")
    return mixed


@EVERY
def test_learns_a_separable_order_on_queries_it_has_not_seen(name: str) -> None:
    X, y, qid = toy(seed=0, queries=60)
    X_new, y_new, qid_new = toy(seed=1)
    ranker = make(name).fit(X, y, qid)
    assert agreement(y_new, ranker.predict(X_new), qid_new) > 0.9


@EVERY
def test_fit_returns_the_ranker_and_leaves_its_parameters_alone(name: str) -> None:
    ranker = make(name, seed=7)
    before = ranker.get_params()
    assert ranker.fit(*toy()) is ranker
    assert ranker.get_params() == before
    assert clone(ranker).get_params() == before


@EVERY
def test_fit_does_not_change_what_it_is_given(name: str) -> None:
    X, y, qid = toy()
    kept = X.copy(), y.copy(), qid.copy()
    make(name).fit(X, y, qid, eval_set=(X, y, qid)).predict(X)
    for given_array, copy in zip((X, y, qid), kept, strict=True):
        np.testing.assert_array_equal(given_array, copy)


@EVERY
def test_same_data_and_seed_give_the_same_bytes(name: str) -> None:
    X, y, qid = toy()
    first, second = (make(name, seed=3).fit(X, y, qid, eval_set=toy(5)) for _ in range(2))
    assert first.to_bytes() == second.to_bytes()


@EVERY
def test_interleaved_queries_give_the_model_of_contiguous_ones(name: str) -> None:
    X, y, qid = toy()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    order = scrambled(qid)
    assert np.any(np.diff(qid[order]) < 0)
    contiguous = make(name).fit(X, y, qid, weight)
    interleaved = make(name).fit(X[order], y[order], qid[order], weight[order])
    assert contiguous.to_bytes() == interleaved.to_bytes()


@EVERY
def test_queries_may_be_named_by_text(name: str) -> None:
    X, y, qid = toy()
    names = np.array([f"query {q:03d}" for q in qid])
    assert make(name).fit(X, y, names).to_bytes() == make(name).fit(X, y, qid).to_bytes()


@EVERY
def test_weights_decide_between_queries_that_contradict_each_other(name: str) -> None:
    X, y, qid = toy(queries=40)
    y = np.where(qid % 2 == 0, y, 4 - y)
    for heavy in (0, 1):
        weight = np.where(qid % 2 == heavy, 10.0, 0.1)
        scores = make(name).fit(X, y, qid, weight).predict(X)
        trusted, other = qid % 2 == heavy, qid % 2 != heavy
        assert agreement(y[trusted], scores[trusted], qid[trusted]) > 0.7
        assert agreement(y[other], scores[other], qid[other]) < 0.3


@EVERY
def test_a_row_of_weight_0_is_as_if_it_were_not_there(name: str) -> None:
    X, y, qid = toy()
    weight = np.ones(len(y))
    weight[::5] = 0
    there = weight > 0
    with_zeros = make(name).fit(X, y, qid, weight)
    without = make(name).fit(X[there], y[there], qid[there], weight[there])
    assert with_zeros.to_bytes() == without.to_bytes()


@EVERY
def test_grades_may_be_yes_and_no(name: str) -> None:
    X, y, qid = toy()
    binary = make(name).fit(X, y >= 2, qid)
    assert binary.to_bytes() == make(name).fit(X, (y >= 2).astype(float), qid).to_bytes()


@EVERY
def test_repeated_rows_with_different_grades_are_learnt_from(name: str) -> None:
    X, y, qid = toy(queries=40)
    noise = np.random.default_rng(2).integers(-1, 2, (3, len(y)))
    judged = np.clip(y + noise, 0, 4).ravel()
    ranker = make(name).fit(np.tile(X, (3, 1)), judged, np.tile(qid, 3))
    assert agreement(y, ranker.predict(X), qid) > 0.85


@EVERY
def test_eval_set_keeps_the_best_round(name: str) -> None:
    X, y, qid = toy()
    ranker = make(name).fit(X, y, qid, eval_set=toy(1))
    assert 1 <= ranker.best_iteration_ <= len(ranker.history_)
    assert ranker.history_[ranker.best_iteration_ - 1] == max(ranker.history_)
    assert 0 < max(ranker.history_) <= 1


@EVERY
def test_early_stopping_ends_training_on_a_useless_eval_set(name: str) -> None:
    X, y, qid = toy()
    contrary = (X, 4 - y, qid)
    ranker = make(name, early_stopping_rounds=3).fit(X, y, qid, eval_set=contrary)
    whole = make(name).fit(X, y, qid)
    assert len(ranker.history_) <= ranker.best_iteration_ + 3
    assert ranker.best_iteration_ <= whole.best_iteration_


@EVERY
def test_progress_rises_to_one(name: str) -> None:
    seen: list[float] = []
    make(name).fit(*toy(), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] == 1


@EVERY
def test_feature_importance_finds_the_features_that_decide(name: str) -> None:
    importance = make(name).fit(*toy(queries=60)).feature_importance()
    assert importance.shape == (3,)
    assert (importance >= 0).all()
    assert importance.argmax() == 0
    assert importance.argmin() == 2


@EVERY
def test_a_saved_ranker_predicts_as_before(name: str, tmp_path: Any) -> None:
    X, y, qid = toy()
    ranker = make(name, seed=5).fit(X, y, qid, eval_set=toy(1), feature_names=["a", "b", "ç"])
    path = tmp_path / f"model{ranker.suffix}"
    ranker.save(path)
    loaded = load_ranker(path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert type(loaded) is RANKERS[name]
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(loaded.feature_importance(), ranker.feature_importance())
    assert loaded.get_params() == ranker.get_params()
    assert loaded.feature_names_in_ == ["a", "b", "ç"]
    assert loaded.history_ == ranker.history_
    assert loaded.to_bytes() == ranker.to_bytes()


@EVERY
def test_a_changed_byte_is_refused(name: str, tmp_path: Any) -> None:
    ranker = make(name).fit(*toy())
    content = ranker.to_bytes()
    path = tmp_path / f"model{ranker.suffix}"
    for place in np.linspace(0, len(content) - 1, 20, dtype=int):
        changed = bytearray(content)
        changed[place] ^= 0x01
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="must"):
            load_ranker(path)


@EVERY
def test_a_file_with_another_digest_is_refused(name: str, tmp_path: Any) -> None:
    path = tmp_path / "model"
    make(name).fit(*toy()).save(path)
    with pytest.raises(ValueError, match="SHA-256 abc"):
        load_ranker(path, sha256="abc")


@EVERY
def test_predict_and_save_need_fit(name: str, tmp_path: Any) -> None:
    with pytest.raises(NotFittedError):
        make(name).predict(np.ones((1, 3)))
    with pytest.raises(NotFittedError):
        make(name).save(tmp_path / "model")


@EVERY
def test_predict_wants_the_features_of_the_training_data(name: str) -> None:
    ranker = make(name).fit(*toy())
    with pytest.raises(ValueError, match=r"the 3 features of the training data\. Got 2"):
        ranker.predict(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"must be finite\. Got inf in row 1, feature 0"):
        ranker.predict(np.array([[1, 1, 1], [np.inf, 1, 1]]))
    assert ranker.predict(np.empty((0, 3))).shape == (0,)
    assert ranker.predict(np.ones((1, 3))).shape == (1,)


def change(**changes: Any) -> dict[str, Any]:
    X, y, qid = toy(queries=2, docs=4)
    return {"X": X, "y": y, "qid": qid, **changes}


BAD_INPUT = {
    "lengths of y": (change(y=[1, 0]), r"y must have one value for each of the 8 rows of X"),
    "lengths of qid": (change(qid=[1]), r"qid must have one value .* Got shape \(1,\) instead"),
    "lengths of weight": (change(sample_weight=[1]), r"sample_weight must have one value"),
    "one dimension": (change(X=np.ones(8)), r"X must have two dimensions\. Got 1 instead"),
    "no features": (change(X=np.ones((8, 0))), r"at least 1 feature\. Got 0"),
    "infinite": (change(X=np.full((8, 3), np.inf)), r"X must be finite\. Got inf in row 0"),
    "no rows": (change(X=np.ones((0, 3)), y=[], qid=[]), r"at least 1 row .* Got 0"),
    "one document": (change(X=np.ones((1, 3)), y=[2], qid=[0]), r"different grades\. Got 1 rows"),
    "equal grades": (change(y=[2] * 4 + [1] * 4), r"different grades\. Got 8 rows"),
    "high grade": (change(y=[5] + [0] * 7), r"whole grades from 0 to 4\. Got 5 instead"),
    "negative grade": (change(y=[-1] + [0] * 7), r"Got -1 instead"),
    "half a grade": (change(y=[0.5] + [0] * 7), r"Got 0\.5 instead"),
    "unknown grade": (change(y=[np.nan] + [0] * 7), r"Got nan instead"),
    "words for grades": (change(y=["Good"] * 8), r"y must hold grades"),
    "unknown query": (change(qid=[np.nan] * 8), r"qid must name a query"),
    "negative weight": (change(sample_weight=[-1] * 8), r"at least 0\. Got -1\.0 instead"),
    "no weight at all": (change(sample_weight=[0] * 8), r"positive somewhere"),
    "weight on one grade only": (
        change(y=[2, 0] * 4, sample_weight=[1, 0] * 4),
        r"different grades\. Got 4 rows",
    ),
    "names": (change(feature_names=["a"]), r"each of the 3 features\. Got 1 instead"),
    "empty eval_set": (
        change(eval_set=(np.ones((2, 3)), [1, 1], [0, 0])),
        r"eval_set must have a query with documents of different grades",
    ),
    "eval_set of other features": (
        change(eval_set=(np.ones((2, 2)), [1, 0], [0, 0])),
        r"the 3 features of the training data\. Got 2",
    ),
}


@EVERY
@pytest.mark.parametrize("case", list(BAD_INPUT))
def test_bad_input_is_refused_with_the_requirement_and_what_came(name: str, case: str) -> None:
    arguments, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        make(name).fit(**arguments)


@EVERY
def test_bad_parameters_are_refused_when_fitting(name: str) -> None:
    for parameter in ("k", "seed", "early_stopping_rounds"):
        for value in (-1, 1.5, "many", True, None):
            with pytest.raises(ValueError, match=rf"{parameter} must be .* Got {value}"):
                make(name, **{parameter: value}).fit(*toy())


@EVERY
def test_unknown_features_are_learnt_from_or_refused(name: str) -> None:
    X, y, qid = toy(queries=60)
    X[::7, 2] = np.nan
    if RANKERS[name].missing_ok:
        assert agreement(y, make(name).fit(X, y, qid).predict(X), qid) > 0.9
    else:
        with pytest.raises(ValueError, match=r"X must be finite\. Got nan in row 0, feature 2"):
            make(name).fit(X, y, qid)


@EVERY
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.floats(0.1, 100), shift=st.floats(-10, 10))
def test_scale_and_shift_of_the_features_do_not_matter(
    name: str, seed: int, scale: float, shift: float
) -> None:
    X, y, qid = toy(seed=seed)
    scores = make(name).fit(X * scale + shift, y, qid).predict(X * scale + shift)
    assert agreement(y, scores, qid) > 0.9


def test_a_pickle_in_a_model_file_is_never_opened(tmp_path: Any) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (tmp_path / "exploded").touch, ()

    (tmp_path / "model.txt").write_bytes(pickle.dumps(Bomb()))
    inner = io.BytesIO()
    np.save(inner, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
        archive.writestr("header.npy", inner.getvalue())
    for path in ("model.txt", "model.npz"):
        with pytest.raises(ValueError, match="must be a saved ranker"):
            load_ranker(tmp_path / path)
    assert not (tmp_path / "exploded").exists()


def test_normalise_per_query_puts_every_feature_between_0_and_1() -> None:
    X = [[1, 5, 7], [10, 0, 0], [3, 5, 8], [30, 0, 1], [2, 5, 9]]
    qid = [1, 2, 1, 2, 1]
    wanted = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0.5], [1, 0, 1], [0.5, 0, 1]])
    np.testing.assert_array_equal(normalise_per_query(X, qid), wanted)
    assert normalise_per_query(np.empty((0, 2)), []).shape == (0, 2)
