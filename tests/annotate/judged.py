"""Campaigns that were judged: rows written at once, for figures that need many of them."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from django.utils import timezone

from annotate.models import Campaign, Document, Judgment, Membership, Pair, Query, Seat, User
from ranking.grades import GOOD
from ranking.judgments import IntArray
from ranking.simulation import SKILLS, draw
from tests.conftest import fill, person

GRADES = ([3, 2, 1], [0], [2, 2, 4], [1], [1], [4, 1, 2])


def judges_of(campaign: Campaign, count: int, called: str = "judge") -> list[User]:
    """So many judges, added to the campaign."""
    found = [person(f"{called}{number:02}") for number in range(count)]
    for user in found:
        Membership.objects.create(campaign=campaign, user=user, role=Membership.Role.JUDGE)
    return found


def give(campaign: Campaign, rows: Sequence[tuple[Pair, User, int]], seconds: float = 12) -> None:
    """Judgments as rows, one a minute, the last one just now."""
    start = timezone.now() - timedelta(minutes=len(rows))
    taken: dict[int, int] = {}
    for number, (pair, judge, grade) in enumerate(rows):
        taken[pair.pk] = taken.get(pair.pk, 0) + 1
        seat, _ = Seat.objects.get_or_create(
            pair=pair,
            ordinal=taken[pair.pk],
            defaults={"campaign": campaign, "query_id": pair.query_id, "position": pair.position},
        )
        judgment = Judgment.objects.create(
            seat=seat,
            pair=pair,
            judge=judge,
            grade=grade,
            key=uuid.uuid4(),
            active_ms=int(1000 * seconds),
        )
        Seat.objects.filter(pk=seat.pk).update(
            state=Seat.State.DONE,
            judge=judge,
            judgment=judgment,
            judged_at=start + timedelta(minutes=number),
        )


def pool(campaign: Campaign, queries: int) -> None:
    """Other pairs than those of the fixture: five documents for each of so many queries."""
    campaign.queries.all().delete()
    campaign.documents.all().delete()
    fill(campaign, queries=queries, documents=5)


def crowd(
    campaign: Campaign, judges: int = 6, queries: int = 20, *, seed: int = 0, called: str = "judge"
) -> list[User]:
    """Three of the judges on every pair of many queries; the first one clicks at random."""
    pool(campaign, queries)
    people = judges_of(campaign, judges, called)
    rng = np.random.default_rng(seed)
    pairs = list(Pair.objects.filter(campaign=campaign).order_by("id"))
    truth: IntArray = rng.integers(0, 5, len(pairs))
    rows = []
    for pair, true in zip(pairs, truth, strict=True):
        for number in rng.permutation(judges)[:3]:
            said = int(draw(np.array([true]), SKILLS["expert"], rng)[0])
            rows.append((pair, people[number], int(rng.integers(5)) if number == 0 else said))
    give(campaign, rows)
    return people


def if_good_3(campaign: Campaign) -> list[User]:
    """The six pairs of the fixture, judged to the end as in the study's example."""
    people = judges_of(campaign, 3)
    pairs = Pair.objects.filter(campaign=campaign).order_by("id")
    give(
        campaign,
        [
            (pair, people[turn], grades[turn])
            for turn in range(3)
            for pair, grades in zip(pairs, GRADES, strict=True)
            if turn < len(grades)
        ],
    )
    assert sum(grades[0] >= GOOD for grades in GRADES) == 3
    return people


def selected(campaign: Campaign, queries: int = 40, seed: int = 0) -> list[User]:
    """Three experts under if-good-3: the others are asked only where the first says Good+."""
    pool(campaign, queries)
    people = judges_of(campaign, 3)
    rng = np.random.default_rng(seed)
    pairs = list(Pair.objects.filter(campaign=campaign).order_by("id"))
    truth: IntArray = rng.integers(0, 5, len(pairs))
    said = draw(np.repeat(truth[:, None], 3, axis=1), SKILLS["expert"], rng)
    rows = [
        (pair, people[turn], int(grades[turn]))
        for pair, grades in zip(pairs, said, strict=True)
        for turn in range(3 if grades[0] >= GOOD else 1)
    ]
    give(campaign, rows)
    return people


def more_pairs(campaign: Campaign, count: int) -> list[Pair]:
    """So many pairs of one more query."""
    query = Query.objects.create(campaign=campaign, key="more", text="one more query")
    documents = [
        Document.objects.create(campaign=campaign, key=f"more-{number}", title=f"More {number}")
        for number in range(count)
    ]
    return [
        Pair.objects.create(
            campaign=campaign, query=query, document=document, rank=rank, position=10_000 + rank
        )
        for rank, document in enumerate(documents, start=1)
    ]


def gold(campaign: Campaign, count: int, judges: Sequence[User], seed: int = 0) -> None:
    """So many gold pairs, judged by everybody; the first judge is always right."""
    rng = np.random.default_rng(seed)
    rows = []
    for pair in more_pairs(campaign, count):
        truth = int(rng.integers(5))
        Pair.objects.filter(pk=pair.pk).update(state=Pair.State.GOLD, gold=truth)
        for number, judge in enumerate(judges):
            said = truth if number == 0 else int(draw(np.array([truth]), SKILLS["crowd"], rng)[0])
            rows.append((pair, judge, said))
    give(campaign, rows)
