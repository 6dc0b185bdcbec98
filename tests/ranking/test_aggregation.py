"""Counting aggregators, what all aggregators promise, and training rows."""

from collections import Counter
from math import ceil

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.aggregation import AGGREGATORS, Labels, training_rows
from ranking.grades import Grade
from ranking.judgments import check_judgments

P, E, G, F, B = Grade.PERFECT, Grade.EXCELLENT, Grade.GOOD, Grade.FAIR, Grade.BAD
NAMES = ["first", "highest", "majority", "mean", "median", "dawid-skene", "one-coin", "ordinal"]
MODELS = ["dawid-skene", "one-coin", "ordinal"]
Ints = npt.NDArray[np.int64]


def one_pair(name: str, grades: list[Grade]) -> Labels:
    return AGGREGATORS[name].aggregate([7] * len(grades), range(len(grades)), grades)


@st.composite
def judgments(draw: st.DrawFn) -> tuple[Ints, Ints, Ints]:
    """Any judgments, with ids both dense and far apart, negative ones too."""
    rows = draw(st.integers(1, 40))
    ids = st.one_of(st.integers(-3, 6), st.sampled_from([-(10**15), 10**6, 10**17]))
    column = lambda values: np.array(draw(st.lists(values, min_size=rows, max_size=rows)))  # noqa: E731
    return column(ids), column(ids), column(st.integers(0, 4))


def test_registry_holds_every_aggregator_by_its_name() -> None:
    assert list(AGGREGATORS) == NAMES
    assert all(aggregator.name == name for name, aggregator in AGGREGATORS.items())


@pytest.mark.parametrize(
    ("grades", "label"),
    [
        ([G, G, F, F, B], G),
        ([P, E, G], E),
        ([P, E, G, F], E),
        ([P, B], P),
        ([F, P, P, F, B], P),
        ([P, E, G, F, B], G),
        ([B], B),
        ([P, B, B], B),
    ],
)
def test_majority_breaks_ties_as_published(grades: list[Grade], label: Grade) -> None:
    assert one_pair("majority", grades).grade[0] == label
    assert one_pair("majority", grades[::-1]).grade[0] == label


@pytest.mark.parametrize(
    ("name", "grades", "grade", "score"),
    [
        ("first", [F, P, P], 1, 1.0),
        ("highest", [F, E, B], 3, 3.0),
        ("mean", [G, F], 2, 1.5),
        ("mean", [G, F, F], 1, 4 / 3),
        ("mean", [B, F], 1, 0.5),
        ("mean", [P, E], 4, 3.5),
        ("median", [P, B], 0, 0.0),
        ("median", [P, E, B], 3, 3.0),
        ("median", [P, E, F, B], 1, 1.0),
    ],
)
def test_counting_aggregators_by_hand(
    name: str, grades: list[Grade], grade: int, score: float
) -> None:
    labels = one_pair(name, grades)
    assert labels.grade.tolist() == [grade]
    assert labels.score.tolist() == [pytest.approx(score)]
    assert labels.posterior is None
    assert labels.confusion is None


def slow_label(name: str, grades: list[int]) -> int:
    """Each rule again, one pair at a time, in plain Python."""
    if name == "majority":
        counts = Counter(grades)
        tied = sorted((g for g in counts if counts[g] == max(counts.values())), reverse=True)
        return tied[ceil(len(tied) / 2) - 1]
    rules = {
        "first": lambda: grades[0],
        "highest": lambda: max(grades),
        "median": lambda: sorted(grades)[(len(grades) - 1) // 2],
        "mean": lambda: int(sum(grades) / len(grades) + 0.5),
    }
    return rules[name]()


@given(data=judgments())
def test_counting_aggregators_agree_with_plain_python(data: tuple[Ints, Ints, Ints]) -> None:
    pair, _, grade = data
    for name in ("first", "highest", "majority", "mean", "median"):
        labels = AGGREGATORS[name].aggregate(*data)
        slow = {p: slow_label(name, grade[pair == p].tolist()) for p in set(pair.tolist())}
        assert dict(zip(labels.pair.tolist(), labels.grade.tolist(), strict=True)) == slow


@given(data=judgments())
@settings(deadline=None)
def test_labels_have_the_promised_shapes_and_bounds(data: tuple[Ints, Ints, Ints]) -> None:
    kept = [column.copy() for column in data]
    for name in NAMES:
        labels = AGGREGATORS[name].aggregate(*data)
        assert np.array_equal(labels.pair, np.unique(data[0]))
        assert labels.grade.dtype == np.int64
        assert labels.score.dtype == np.float64
        assert len(labels) == len(labels.grade) == len(labels.score)
        assert labels.grade.min() >= 0
        assert labels.grade.max() <= 4
        assert labels.score.min() >= 0
        assert labels.score.max() <= 4
        assert (labels.posterior is not None) == (labels.confusion is not None) == (name in MODELS)
        if labels.posterior is not None and labels.confusion is not None:
            assert np.array_equal(labels.judge, np.unique(data[1]))
            assert labels.confusion.shape == (len(np.unique(data[1])), 5, 5)
            np.testing.assert_allclose(labels.confusion.sum(axis=2), 1, atol=1e-9)
            assert labels.posterior.shape == (len(labels), 5)
            np.testing.assert_allclose(labels.posterior.sum(axis=1), 1, atol=1e-9)
            assert np.array_equal(labels.posterior.argmax(axis=1), labels.grade)
    assert all(np.array_equal(old, new) for old, new in zip(kept, data, strict=True))


@given(data=judgments(), seed=st.integers(0, 99))
@settings(deadline=None)
def test_ids_are_only_names(data: tuple[Ints, Ints, Ints], seed: int) -> None:
    """Renaming pairs and judges renames the labels and changes nothing else."""
    pair, judge, grade = data
    rng = np.random.default_rng(seed)
    unique, index = np.unique(pair, return_inverse=True)
    renamed = rng.permutation(10 * len(unique))[: len(unique)]
    for aggregator in AGGREGATORS.values():
        old = aggregator.aggregate(pair, judge, grade)
        new = aggregator.aggregate(renamed[index], -3 * judge, grade)
        order = np.searchsorted(new.pair, renamed)
        np.testing.assert_allclose(new.score[order], old.score, atol=1e-6)


@given(data=judgments(), seed=st.integers(0, 99))
@settings(deadline=None)
def test_only_first_looks_at_the_order_of_time(data: tuple[Ints, Ints, Ints], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(data[0]))
    for name in set(NAMES) - {"first"}:
        old = AGGREGATORS[name].aggregate(*data)
        new = AGGREGATORS[name].aggregate(*(column[order] for column in data))
        np.testing.assert_allclose(new.score, old.score, atol=1e-6)


@given(truth=st.lists(st.integers(0, 4), min_size=1, max_size=12), judges=st.integers(1, 5))
@settings(deadline=None)
def test_unanimous_judges_are_believed(truth: list[int], judges: int) -> None:
    pair = np.repeat(np.arange(len(truth)), judges)
    judge = np.tile(np.arange(judges), len(truth))
    for name in NAMES:
        labels = AGGREGATORS[name].aggregate(pair, judge, np.array(truth)[pair])
        assert labels.grade.tolist() == truth, name


@given(data=judgments())
@settings(deadline=None)
def test_a_pair_with_one_judgment_keeps_it(data: tuple[Ints, Ints, Ints]) -> None:
    pair, _, grade = data
    unique, first, number = np.unique(pair, return_index=True, return_counts=True)
    for aggregator in AGGREGATORS.values():
        labels = aggregator.aggregate(*data)
        assert np.array_equal(labels.pair, unique)
        assert np.array_equal(labels.grade[number == 1], grade[first][number == 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("pair", "judge", "grade", "message"),
    [
        ([1, 2], [1], [0, 0], r"must have the same length\. Got 2, 1 and 2 instead\."),
        ([1], [1], [5], r"Grades must be between 0 and 4\. Got 5 instead\."),
        ([1, 1], [1, 2], [4, -1], r"Grades must be between 0 and 4\. Got -1 instead\."),
        ([], [], [], r"There must be at least one judgment\. Got 0 instead\."),
        ([1.5], [1], [0], r"pair must hold integers\. Got float64 instead\."),
        ([1], ["bob"], [0], r"judge must hold integers\. Got <U3 instead\."),
        ([[1]], [1], [0], r"pair must have one dimension\. Got 2 instead\."),
        (np.array([2**64 - 1], dtype=np.uint64), [1], [0], r"pair must fit in 64 signed bits\."),
    ],
)
def test_bad_judgments_are_refused(
    name: str, pair: npt.ArrayLike, judge: npt.ArrayLike, grade: npt.ArrayLike, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        AGGREGATORS[name].aggregate(pair, judge, grade)


def test_no_judgments_are_allowed_where_the_caller_says_so() -> None:
    assert [len(column) for column in check_judgments([], [], [], allow_empty=True)] == [0, 0, 0]


def test_use_all_gives_one_row_per_judgment_in_order() -> None:
    rows = training_rows([30, 10, 30], [1, 1, 2], [P, F, G])
    assert rows.row.tolist() == [1, 0, 1]
    assert rows.grade.tolist() == [4, 1, 2]
    assert rows.weight.tolist() == [1, 1, 1]


def test_label_training_gives_one_row_per_pair() -> None:
    row, grade, weight = training_rows([30, 10, 30], [1, 1, 2], [P, F, G], how="highest")
    assert row.tolist() == [0, 1]
    assert grade.tolist() == [1, 4]
    assert weight.tolist() == [1, 1]


def test_weighted_training_weighs_good_and_better_rows_by_theta() -> None:
    rows = training_rows([1, 2, 3], [1, 1, 1], [G, F, P], theta=3)
    assert rows.weight.tolist() == [3, 1, 3]
    assert training_rows([1, 1], [1, 2], [G, B], how="mean", theta=3).weight.tolist() == [1]


@given(data=judgments(), theta=st.floats(0.1, 10))
@settings(deadline=None)
def test_training_rows_take_labels_from_the_aggregator(
    data: tuple[Ints, Ints, Ints], theta: float
) -> None:
    for name, aggregator in AGGREGATORS.items():
        rows = training_rows(*data, how=name, theta=theta)
        assert np.array_equal(rows.grade, aggregator.aggregate(*data).grade)
        assert np.array_equal(rows.weight, np.where(rows.grade >= 2, theta, 1.0))


def test_training_rows_refuse_unknown_ways_and_weights() -> None:
    with pytest.raises(ValueError, match=r"how must be one of use-all, first, .*Got best instead"):
        training_rows([1], [1], [1], how="best")
    with pytest.raises(ValueError, match=r"theta must be positive and finite\. Got 0 instead\."):
        training_rows([1], [1], [1], theta=0)


def test_training_rows_do_not_share_memory_with_the_judgments() -> None:
    grade = np.array([1, 2])
    training_rows([1, 2], [1, 1], grade).grade[:] = 0
    assert grade.tolist() == [1, 2]
