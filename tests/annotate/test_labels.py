"""Judgments to labels and snapshots."""

import uuid
from typing import Any

import pytest

from annotate import adjudication, campaigns, jobs, labels, routing, tasks
from annotate.clock import now_plus
from annotate.labels import passes, snapshots
from annotate.models import Campaign, Job, Label, Membership, Pair, Seat, Snapshot, User
from ranking.aggregation import AGGREGATORS
from ranking.agreement import krippendorff_alpha
from tests.conftest import person

pytestmark = pytest.mark.django_db


def judge(campaign: Campaign, user: User, *grades: int) -> None:
    """The user judges as many pairs as there are grades, as the router gives them."""
    for grade in grades:
        seat = routing.claim(campaign, user)
        assert seat is not None
        assert seat.token is not None
        routing.submit(user, seat.pk, seat.token, routing.Answer(grade, uuid.uuid4()))


def make_due() -> Job:
    """Aggregation waits a moment for more judgments; a test does not."""
    Job.objects.filter(kind="aggregate").update(due_at=now_plus(seconds=-1))
    return Job.objects.get(kind="aggregate", state=Job.State.DUE)


@pytest.fixture
def judged(campaign: Campaign, alice: User, bob: User) -> Campaign:
    """alice and bob judge every pair: 3-overlap without its third judge."""
    Campaign.objects.filter(pk=campaign.pk).update(scheme_name="k-overlap", k=3)
    campaign.refresh_from_db()
    campaign.seats.all().delete()
    routing.open_seats(campaign)
    judge(campaign, alice, 4, 3, 2, 1, 0, 0)
    judge(campaign, bob, 4, 1, 2, 1, 1, 0)
    return campaign


def test_aggregate_writes_a_label_for_every_judged_pair(judged: Campaign) -> None:
    tasks.run(make_due().pk)
    found = list(Label.objects.order_by("pair__position").values_list("grade", "judgments"))
    # {E, F} is a tie of two: number ceil(2/2) = 1 from the most relevant, Excellent.
    assert found == [(4, 2), (3, 2), (2, 2), (1, 2), (1, 2), (0, 2)]
    assert not Pair.objects.filter(stale=True).exists()


def test_the_campaign_chooses_the_aggregator(judged: Campaign) -> None:
    Campaign.objects.update(aggregator="mean")
    tasks.run(make_due().pk)
    scores = list(Label.objects.order_by("pair__position").values_list("score", flat=True))
    assert scores == [4.0, 2.0, 2.0, 1.0, 0.5, 0.0]


def test_the_snapshot_holds_what_the_library_says(judged: Campaign) -> None:
    tasks.run(make_due().pk)
    snapshot = Snapshot.objects.get()
    pair = list(range(6)) * 2
    judge_ids = [0] * 6 + [1] * 6
    grade = [4, 3, 2, 1, 0, 0, 4, 1, 2, 1, 1, 0]
    alpha = krippendorff_alpha(pair, judge_ids, grade)
    assert snapshot.alpha == pytest.approx(float(alpha), abs=1e-12)
    assert snapshot.alpha_low is not None
    assert snapshot.alpha_high is not None
    assert snapshot.alpha_low <= snapshot.alpha <= snapshot.alpha_high
    assert snapshot.histogram == [3, 4, 2, 1, 2]
    counts = (snapshot.pairs, snapshot.judgments, snapshot.judges, snapshot.overlapping)
    assert counts == (6, 12, 2, 6)
    assert snapshot.first_good == 3


def test_without_overlap_there_is_no_alpha(campaign: Campaign, alice: User) -> None:
    judge(campaign, alice, 0, 1)
    tasks.run(make_due().pk)
    assert Snapshot.objects.get().alpha is None


def test_a_judgment_taken_back_takes_its_label_away(campaign: Campaign, alice: User) -> None:
    judge(campaign, alice, 0)
    tasks.run(make_due().pk)
    assert Label.objects.count() == 1
    routing.take_back(alice, alice.judgments.get().pk)
    tasks.run(make_due().pk)
    assert Label.objects.count() == 0


def test_only_changed_pairs_are_labelled_again(judged: Campaign) -> None:
    tasks.run(make_due().pk)
    before = dict(Label.objects.values_list("pair_id", "updated_at"))
    third = person("eve")
    Membership.objects.create(campaign=judged, user=third, role=Membership.Role.JUDGE)
    judge(judged, third, 1)
    tasks.run(make_due().pk)
    after = dict(Label.objects.values_list("pair_id", "updated_at"))
    assert sum(before[pair] != after[pair] for pair in before) == 1


def test_snapshots_of_the_same_minute_are_one(judged: Campaign) -> None:
    first = labels.take_snapshot(judged)
    second = labels.take_snapshot(judged)
    assert first.pk == second.pk
    Snapshot.objects.update(created_at=now_plus(seconds=-61))
    assert labels.take_snapshot(judged).pk != first.pk


# -- Every aggregator, and full passes ------------------------------------------------------------


def relabel(campaign: Campaign) -> Job:
    """A full pass, as a worker does it."""
    job = jobs.enqueue("relabel", campaign) or Job.objects.get(kind="relabel", state="due")
    Job.objects.filter(pk=job.pk).update(due_at=now_plus(seconds=-1))
    tasks.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    return job


def expected(campaign: Campaign) -> list[tuple[int, int, float]]:
    made = labels.judgments(labels.counted(campaign))
    result = AGGREGATORS[campaign.aggregator].aggregate(*made)
    return list(
        zip(result.pair.tolist(), result.grade.tolist(), result.score.tolist(), strict=True)
    )


def stored() -> list[tuple[int, int, float]]:
    return list(Label.objects.order_by("pair").values_list("pair_id", "grade", "score"))


@pytest.mark.parametrize("method", AGGREGATORS)
def test_full_pass_gives_every_pair_what_the_library_says(judged: Campaign, method: str) -> None:
    tasks.run(make_due().pk)
    campaigns.update(judged, {"aggregator": method})
    relabel(judged)
    for ours, theirs in zip(stored(), expected(judged), strict=True):
        assert ours == pytest.approx(theirs)
    assert set(Label.objects.values_list("method", "judgments")) == {(method, 2)}


@pytest.mark.parametrize("method", AGGREGATORS)
def test_a_new_judgment_counts_at_once_whatever_the_aggregator(
    campaign: Campaign, alice: User, method: str
) -> None:
    Campaign.objects.update(aggregator=method)
    judge(campaign, alice, 3)
    tasks.run(make_due().pk)
    label = Label.objects.get()
    by_model = labels.needs_all(method)
    assert (label.grade, label.method) == (3, labels.PROVISIONAL if by_model else method)
    assert Job.objects.filter(kind="relabel", state=Job.State.DUE).exists() == by_model


def test_models_and_only_they_need_all_judgments() -> None:
    assert {name for name in AGGREGATORS if labels.needs_all(name)} == {
        "dawid-skene",
        "one-coin",
        "ordinal",
    }


def test_a_model_is_fitted_once_a_minute_however_many_judgments_come(
    campaign: Campaign, alice: User
) -> None:
    Campaign.objects.update(aggregator="ordinal")
    for _ in range(3):
        judge(campaign, alice, 3)
        tasks.run(make_due().pk)
    job = Job.objects.get(kind="relabel")
    assert jobs.take(job.pk) is None, "It waits for more judgments."
    relabel(campaign)
    assert set(Label.objects.values_list("method", flat=True)) == {"ordinal"}
    assert not Job.objects.filter(kind="relabel", state=Job.State.DUE).exists()


def test_full_pass_writes_only_labels_that_changed(judged: Campaign) -> None:
    tasks.run(make_due().pk)
    before = dict(Label.objects.values_list("pair_id", "updated_at"))
    assert relabel(judged).message == "0 labels changed, from 12 judgments."
    assert dict(Label.objects.values_list("pair_id", "updated_at")) == before
    Label.objects.filter(pair=min(before)).update(grade=0)
    assert relabel(judged).message == "1 labels changed, from 12 judgments."
    assert stored() == expected(judged)


def test_full_pass_leaves_a_label_that_another_worker_made_meanwhile(
    judged: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.run(make_due().pk)
    Campaign.objects.update(aggregator="ordinal")
    judged.refresh_from_db()
    first = Pair.objects.order_by("pk")[0]

    def reads_then_is_overtaken(seats: Any) -> Any:
        made = labels.judgments(seats)
        monkeypatch.setattr(passes, "judgments", labels.judgments)
        seat = Seat.objects.filter(pair=first).order_by("pk")[0]
        routing.correct(seat.judge, seat.judgment_id, routing.Answer(0, uuid.uuid4()))  # type: ignore[arg-type]
        while labels.label_batch(judged):
            pass
        return made

    monkeypatch.setattr(passes, "judgments", reads_then_is_overtaken)
    relabel(judged)
    methods = dict(Label.objects.values_list("pair_id", "method"))
    assert methods.pop(first.pk) == labels.PROVISIONAL
    assert set(methods.values()) == {"ordinal"}
    assert Job.objects.filter(kind="relabel", state=Job.State.DUE).exists(), "A pass follows."
    relabel(judged)
    assert set(Label.objects.values_list("method", flat=True)) == {"ordinal"}


def test_full_pass_does_not_bring_back_a_label_that_was_taken_away_meanwhile(
    judged: Campaign, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Pair.objects.update(stale=False)
    pair = Pair.objects.order_by("pk")[0]

    def reads_then_is_overtaken(seats: Any) -> Any:
        made = labels.judgments(seats)
        Pair.objects.filter(pk=pair.pk).update(state=Pair.State.GOLD, gold=4)
        return made

    monkeypatch.setattr(passes, "judgments", reads_then_is_overtaken)
    relabel(judged)
    assert Label.objects.count() == 5
    assert not Label.objects.filter(pair=pair).exists()


def test_full_pass_sees_to_labels_of_a_method_that_was_given_up(
    judged: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow worker writes by the old method after the pass has read."""
    tasks.run(make_due().pk)

    def writes_late(*_: Any) -> None:
        Label.objects.update(method="highest")

    monkeypatch.setattr(passes, "_write_all", writes_late)
    relabel(judged)
    assert Pair.objects.filter(stale=True).count() == 6
    assert Job.objects.filter(kind="aggregate", state=Job.State.DUE).exists()


def test_full_pass_of_nothing_is_done_at_once(campaign: Campaign) -> None:
    assert relabel(campaign).message == "0 labels changed, from 0 judgments."


def test_changing_the_aggregator_makes_all_labels_anew(judged: Campaign) -> None:
    campaigns.update(judged, {"aggregator": "mean"})
    assert Job.objects.filter(kind="relabel").count() == 1
    assert not Job.objects.filter(kind="reroute").exists()
    campaigns.update(judged, {"name": "Archive"})
    assert Job.objects.filter(kind="relabel").count() == 1


def test_gold_pairs_are_labelled_only_where_the_campaign_wants_it(judged: Campaign) -> None:
    tasks.run(make_due().pk)
    Pair.objects.filter(pk=Pair.objects.order_by("pk")[0].pk).update(state=Pair.State.GOLD, gold=4)
    relabel(judged)
    assert Label.objects.count() == 5
    campaigns.update(judged, {"gold_in_labels": True})
    relabel(judged)
    assert Label.objects.count() == 6


def test_effects_of_a_worker_that_lost_its_job_do_not_count(
    judged: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = jobs.enqueue("relabel", judged)
    assert job is not None

    def is_cancelled(seats: Any) -> Any:
        Job.objects.filter(pk=job.pk).update(token=None, state=Job.State.FAILED)
        return labels.judgments(seats)

    monkeypatch.setattr(passes, "judgments", is_cancelled)
    tasks.run(job.pk)
    assert not Label.objects.exists()
    assert not Snapshot.objects.exists()


def test_a_large_campaign_takes_its_snapshots_apart_from_its_labels(
    judged: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels.take_snapshot(judged)
    Snapshot.objects.update(histogram=[])
    monkeypatch.setattr(snapshots, "SMALL", 11)
    tasks.run(make_due().pk)
    assert Label.objects.count() == 6
    assert Snapshot.objects.get().histogram == []
    job = Job.objects.get(kind="snapshot")
    Job.objects.filter(pk=job.pk).update(due_at=now_plus(seconds=-1))
    tasks.run(job.pk)
    assert Snapshot.objects.get().histogram == [3, 4, 2, 1, 2]
    assert Job.objects.get(pk=job.pk).message == "12 judgments."


# -- What managers decided ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["median", "ordinal"])
def test_a_final_grade_is_above_any_aggregator(judged: Campaign, dana: User, method: str) -> None:
    Campaign.objects.update(aggregator=method)
    pair = Pair.objects.order_by("position")[1]
    adjudication.decide(dana, pair.pk, 0)
    for work in (lambda: tasks.run(make_due().pk), lambda: relabel(judged)):
        work()
        label = Label.objects.get(pair=pair)
        assert (label.grade, label.score, label.method) == (0, 0.0, labels.ADJUDICATED)
        assert Label.objects.filter(method=labels.ADJUDICATED).count() == 1
    adjudication.withdraw(dana, pair.pk)
    relabel(judged)
    assert set(Label.objects.values_list("method", flat=True)) == {method}


def test_a_final_grade_needs_no_judgment(campaign: Campaign, dana: User) -> None:
    pair = Pair.objects.order_by("position")[0]
    adjudication.decide(dana, pair.pk, 4)
    tasks.run(make_due().pk)
    relabel(campaign)
    label = Label.objects.get()
    assert (label.pair, label.grade, label.judgments) == (pair, 4, 0)
