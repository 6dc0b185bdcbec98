"""Training sets by the scheme's semantics: rows, weights, judges left out, short queries."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from annotate import routing
from annotate.models import Adjudication, Campaign, Label, Membership, Pair, Seat, User
from annotate.training import evaluation, sets
from annotate.training.errors import TrainingError
from ranking.limits import dataset_limit
from ranking.limits.selective import judge_confusion
from ranking.schemes import SCHEMES
from tests.annotate.rankers import letor
from tests.conftest import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(dana: User) -> Campaign:
    """Six queries; three judges judge every pair: two by the truth, the third the other way."""
    campaign = letor(dana, queries=6)
    Campaign.objects.update(scheme_name="k-overlap", k=3)
    Label.objects.all().delete()
    campaign.refresh_from_db()
    for name in ("ann", "ben", "zoe"):
        judge = person(name)
        Membership.objects.create(campaign=campaign, user=judge, role=Membership.Role.JUDGE)
    routing.open_seats(campaign)
    for name in ("ann", "ben", "zoe"):
        judge = User.objects.get(username=name)
        while seat := routing.claim(campaign, judge):
            truth = seat.pair.truth or 0
            grade = 4 - truth if name == "zoe" else truth
            assert seat.token is not None
            routing.submit(judge, seat.pk, seat.token, routing.Answer(grade=grade, key=seat.token))
    Label.objects.bulk_create(
        Label(pair=pair, grade=pair.truth or 0, score=0, judgments=3, method="majority")
        for pair in Pair.objects.all()
    )
    return campaign


def build(campaign: Campaign, **changes: Any) -> sets.TrainingSet:
    Campaign.objects.filter(pk=campaign.pk).update(**changes)
    campaign.refresh_from_db()
    return sets.build(campaign, sets.recipe(campaign, "ranksvm"))


def grades_of(data: sets.TrainingSet, pair: Pair) -> list[int]:
    mine = data.pool.pair[data.frozen.row] == pair.pk
    return [int(grade) for grade in data.frozen.grade[mine]]


def test_labels_are_one_row_per_pair(judged: Campaign) -> None:
    data = build(judged)
    assert len(data.frozen.row) == len(data.pool.pair) == 48
    assert (data.frozen.grade == data.frozen.label).all()
    assert (data.frozen.weight == 1).all()
    assert "weight" not in data.training(np.ones(48, dtype=bool))


def test_use_all_is_one_row_per_judgment_with_the_features_repeated(judged: Campaign) -> None:
    data = build(judged, training_rows="use-all")
    assert len(data.frozen.row) == 3 * 48
    pair = Pair.objects.filter(truth=4)[0]
    assert sorted(grades_of(data, pair)) == [0, 4, 4]
    trained = data.training(np.ones(48, dtype=bool))
    for row, qid in zip(data.frozen.row, trained["qid"], strict=True):
        assert data.pool.qid[row] == qid
    assert (trained["X"] == data.pool.X[data.frozen.row]).all()


@pytest.mark.parametrize(("how", "expected"), [("highest", 4), ("median", 4), ("first", 4)])
def test_any_aggregated_label_can_be_trained_on(judged: Campaign, how: str, expected: int) -> None:
    data = build(judged, training_rows=how)
    assert len(data.frozen.row) == 48
    assert grades_of(data, Pair.objects.filter(truth=4)[0]) == [expected]
    # What is evaluated on stays the label of the campaign.
    assert (data.frozen.label == build(judged, training_rows="labels").frozen.label).all()


def test_if_good_x_weighs_good_rows_and_no_other_scheme_does(judged: Campaign) -> None:
    assert (build(judged, scheme_name="if-good-k", theta=5).frozen.weight == 1).all()
    data = build(judged, scheme_name="if-good-x", theta=5)
    good = data.frozen.grade >= 2
    assert (data.frozen.weight[good] == 5).all()
    assert (data.frozen.weight[~good] == 1).all()
    assert (data.training(np.ones(48, dtype=bool))["weight"] == data.frozen.weight).all()


def test_a_noisy_judge_is_left_out(judged: Campaign) -> None:
    data = build(judged, training_rows="use-all", max_pnoise=0.5)
    assert data.judges_left_out == 1
    assert grades_of(data, Pair.objects.filter(truth=4)[0]) == [4, 4]
    labels = build(judged, training_rows="labels", aggregator="highest", max_pnoise=0.5)
    assert grades_of(labels, Pair.objects.filter(truth=0)[0]) == [0]


def test_a_judge_who_fails_gold_is_left_out_and_gold_never_trains(judged: Campaign) -> None:
    gold = Pair.objects.filter(truth=4)[0]
    Pair.objects.filter(pk=gold.pk).update(state=Pair.State.GOLD, gold=4)
    data = build(judged, training_rows="use-all", min_gold_percent=60)
    assert data.judges_left_out == 1
    assert grades_of(data, gold) == []
    assert grades_of(data, Pair.objects.filter(truth=4)[1]) == [4, 4]


@pytest.mark.parametrize("how", ["labels", "use-all", "highest"])
def test_a_grade_that_a_manager_decided_is_one_row(judged: Campaign, dana: User, how: str) -> None:
    pair = Pair.objects.filter(truth=4)[0]
    Adjudication.objects.create(pair=pair, grade=1, by=dana)
    data = build(judged, training_rows=how, max_pnoise=0.9)
    assert grades_of(data, pair) == [1]
    assert (np.diff(data.frozen.row) >= 0).all()


def test_limits_that_nobody_passes_are_a_reason(judged: Campaign) -> None:
    with pytest.raises(TrainingError, match="No judge passes the limits"):
        build(judged, max_pnoise=0.0)


def test_whoever_cannot_be_measured_stays(judged: Campaign) -> None:
    data = build(judged, training_rows="use-all", min_gold_percent=100)
    assert data.judges_left_out == 0
    assert len(data.frozen.row) == 3 * 48


def test_queries_with_too_few_documents_do_not_train_but_are_evaluated(judged: Campaign) -> None:
    short = Pair.objects.filter(query__key="q1").order_by("pk")
    Label.objects.filter(pair__in=list(short.values_list("pk", flat=True))[2:]).delete()
    query = short[0].query_id
    data = build(judged, min_documents=3)
    assert query not in data.pool.qid[data.frozen.row]
    assert query in data.pool.qid
    assert query in data.pool.qid[build(judged, min_documents=2).frozen.row]


def test_rows_stand_in_the_order_of_queries_and_first_stage(judged: Campaign) -> None:
    for how in ("labels", "use-all", "mean"):
        row = build(judged, training_rows=how).frozen.row
        assert (np.diff(row) >= 0).all()


def test_frozen_sets_come_back_as_they_were(judged: Campaign) -> None:
    data = build(judged, training_rows="use-all")
    again = sets.thaw(
        judged, data.recipe, sets.Frozen.from_bytes(data.frozen.to_bytes()), data.digest
    )
    assert again.digest == data.digest


# -- The ceiling ----------------------------------------------------------------------------------


def couples(grades: Sequence[tuple[int, int]]) -> tuple[Any, Any, Any]:
    pair = np.repeat(np.arange(len(grades)), 2)
    return pair, np.tile([1, 2], len(grades)), np.array(grades).ravel()


def test_ceiling_is_that_of_the_library_for_the_judges_confusion() -> None:
    judged = couples([(4, 4), (3, 4), (0, 0), (1, 0), (2, 2), (0, 2)])
    label, qid = np.array([4, 2, 0, 0, 1, 3, 0, 0]), np.repeat([1, 2], 4)
    matrix = judge_confusion(*judged, [True] * 5)
    assert matrix is not None
    found = evaluation.ceiling(label, qid, judged, SCHEMES["k-overlap"](k=2))
    assert set(found) == {"1", "2", "3", "5", "10"}
    for k in (1, 3, 10):
        assert found[str(k)]["value"] == pytest.approx(dataset_limit(label, qid, matrix, k).value)
        assert found[str(k)]["n"] == 2
        assert found[str(k)]["low"] <= found[str(k)]["value"] <= found[str(k)]["high"]


def test_without_overlap_there_is_no_ceiling() -> None:
    label, qid, scheme = np.array([4, 0]), np.array([1, 1]), SCHEMES["k-overlap"](k=2)
    one_each = (np.array([1, 2]), np.array([1, 1]), np.array([4, 0]))
    nothing = np.empty(0, dtype=np.int64)
    assert evaluation.ceiling(label, qid, one_each, scheme) == {}
    assert evaluation.ceiling(label, qid, (nothing, nothing, nothing), scheme) == {}


def test_judgments_that_were_taken_back_do_not_train(judged: Campaign) -> None:
    done = Seat.objects.filter(state=Seat.State.DONE, judge__username="zoe")
    seat = done.order_by("-judged_at")[0]
    assert seat.judge is not None
    assert seat.judgment is not None
    routing.take_back(seat.judge, seat.judgment.pk)
    assert len(build(judged, training_rows="use-all").frozen.row) == 3 * 48 - 1
