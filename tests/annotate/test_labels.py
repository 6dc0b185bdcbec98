"""Judgments to labels and snapshots."""

import uuid

import pytest

from annotate import jobs, labels, routing, tasks
from annotate.models import Campaign, Job, Label, Membership, Pair, Snapshot, User
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
    Job.objects.filter(kind="aggregate").update(due_at=jobs.now_plus(seconds=-1))
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
    Snapshot.objects.update(created_at=jobs.now_plus(seconds=-61))
    assert labels.take_snapshot(judged).pk != first.pk
