"""Final grades: above any aggregator, in every pass, until they are withdrawn."""

import uuid

import pytest

from annotate import adjudication, jobs, labels, routing, tasks
from annotate.models import Campaign, Job, Label, Pair, User
from annotate.routing import Answer

B, F, G, E, P = range(5)


def judge(campaign: Campaign, user: User, grade: int) -> Pair:
    seat = routing.claim(campaign, user)
    assert seat is not None
    assert seat.token is not None
    return routing.submit(user, seat.pk, seat.token, Answer(grade, uuid.uuid4())).pair


def run(campaign: Campaign, kind: str) -> None:
    """Do the work as a worker does."""
    Job.objects.filter(kind=kind, state=Job.State.DUE).delete()
    job = jobs.enqueue(kind, campaign)
    assert job is not None
    tasks.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error


def label(pair: Pair) -> tuple[int, str, int] | None:
    return Label.objects.filter(pair=pair).values_list("grade", "method", "judgments").first()


@pytest.fixture
def pair(campaign: Campaign, alice: User, bob: User) -> Pair:
    """Perfect by alice, Bad by bob."""
    pair = judge(campaign, alice, P)
    assert judge(campaign, bob, B) == pair
    return pair


@pytest.mark.parametrize("aggregator", ["majority", "highest", "ordinal"])
@pytest.mark.parametrize("kind", ["aggregate", "relabel"])
def test_final_grade_stands_over_any_aggregator(
    campaign: Campaign, pair: Pair, dana: User, *, aggregator: str, kind: str
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(aggregator=aggregator)
    campaign.refresh_from_db()
    run(campaign, "aggregate")
    adjudication.decide(dana, pair.pk, F)
    run(campaign, "aggregate")
    run(campaign, kind)
    assert label(pair) == (F, labels.ADJUDICATED, 2)


def test_other_pairs_keep_their_labels(
    campaign: Campaign, pair: Pair, alice: User, dana: User
) -> None:
    other = judge(campaign, alice, B)
    adjudication.decide(dana, pair.pk, F)
    run(campaign, "aggregate")
    assert label(other) == (B, "majority", 1)


def test_new_judgment_does_not_move_it(
    campaign: Campaign, pair: Pair, dana: User, charlie: User
) -> None:
    adjudication.decide(dana, pair.pk, F)
    run(campaign, "aggregate")
    campaign.memberships.create(user=charlie, role="judge")
    assert judge(campaign, charlie, P) == pair
    run(campaign, "aggregate")
    assert label(pair) == (F, labels.ADJUDICATED, 3)


def test_pair_that_nobody_judged_gets_its_label_too(campaign: Campaign, dana: User) -> None:
    pair = campaign.pairs.order_by("position")[0]
    adjudication.decide(dana, pair.pk, G)
    run(campaign, "aggregate")
    assert label(pair) == (G, labels.ADJUDICATED, 0)
    run(campaign, "relabel")
    assert label(pair) == (G, labels.ADJUDICATED, 0)


def test_withdrawn_grade_leaves_what_the_judgments_say(
    campaign: Campaign, pair: Pair, dana: User
) -> None:
    untouched = campaign.pairs.exclude(pk=pair.pk)[0]
    for number in (pair.pk, untouched.pk):
        adjudication.decide(dana, number, F)
    run(campaign, "aggregate")
    for number in (pair.pk, untouched.pk):
        adjudication.withdraw(dana, number)
    run(campaign, "aggregate")
    assert label(pair) == (P, "majority", 2)
    assert label(untouched) is None


def test_gold_pair_has_no_final_grade(campaign: Campaign, pair: Pair, dana: User) -> None:
    adjudication.decide(dana, pair.pk, F)
    routing.give_gold(dana, pair.pk, E)
    run(campaign, "aggregate")
    assert label(pair) is None
    routing.take_gold(dana, pair.pk)
    run(campaign, "aggregate")
    assert label(pair) == (F, labels.ADJUDICATED, 2)


def test_full_pass_does_not_take_it_for_a_method_given_up(
    campaign: Campaign, pair: Pair, dana: User
) -> None:
    adjudication.decide(dana, pair.pk, F)
    run(campaign, "aggregate")
    Job.objects.all().delete()
    run(campaign, "relabel")
    pair.refresh_from_db()
    assert not pair.stale
    due = Job.objects.exclude(state=Job.State.DONE).values_list("kind", flat=True)
    assert not {"aggregate", "relabel"} & set(due)
