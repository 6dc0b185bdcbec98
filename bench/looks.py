"""``python -m bench.looks QUERIES``: what if-it-pays costs after a judgment, and as a whole.

In processor time of this process: the database is SQLite, which does its work in it too.
"""

import json
import os
import sys
import uuid
from time import process_time

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from annotate import jobs, routing  # noqa: E402
from annotate.clock import now_plus  # noqa: E402
from annotate.models import (  # noqa: E402
    Campaign,
    Document,
    Job,
    Membership,
    Pair,
    Query,
    User,
)
from annotate.routing.judgments import save  # noqa: E402
from annotate.routing.worth import follow  # noqa: E402

JUDGES, BUSY, DEPTH, TURNS = 30, 20, 20, 400
GRADES = (0.5, 0.25, 0.15, 0.07, 0.03)


def fill(queries: int, **fields: object) -> Campaign:
    """Queries of 20 documents, each pair judged once by one of twenty judges."""
    users = list(User.objects.order_by("pk"))
    slug = str(fields["scheme_name"])
    campaign = Campaign.objects.create(
        slug=slug, name=slug, state="open", created_by=users[0], **fields
    )
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role=Membership.Role.JUDGE) for user in users
    )
    lists = Query.objects.bulk_create(Query(campaign=campaign, key=str(n)) for n in range(queries))
    documents = Document.objects.bulk_create(
        Document(campaign=campaign, key=str(n)) for n in range(queries * DEPTH)
    )
    pairs = Pair.objects.bulk_create(
        Pair(campaign=campaign, query=lists[n // DEPTH], document=d, rank=1, position=n)
        for n, d in enumerate(documents)
    )
    routing.open_seats(campaign)
    grades = np.random.default_rng(0).choice(5, len(pairs), p=GRADES)
    entries = [
        routing.Entry(pair.pk, users[n % BUSY].pk, int(grades[n])) for n, pair in enumerate(pairs)
    ]
    for start in range(0, len(entries), 1000):
        routing.record(campaign, entries[start : start + 1000])
    return campaign


def estimate(campaign: Campaign) -> float:
    """The whole job: judges, price, and the queries where something is to be asked."""
    jobs.enqueue("estimate", campaign)
    due = Job.objects.filter(kind="estimate", campaign=campaign, state=Job.State.DUE)
    due.update(due_at=now_plus(minutes=-1))
    taken = jobs.take(due.get().pk)
    assert taken is not None
    began = process_time()
    routing.estimate(taken)
    return process_time() - began


def turns(campaign: Campaign) -> tuple[list[float], list[float]]:
    """Judgments of judges who saw nothing yet, and the looks at their queries: each one's time."""
    judges = list(User.objects.order_by("pk"))[BUSY:]
    draw = np.random.default_rng(1)
    saved, looked = [], []
    for number in range(TURNS):
        judge = judges[number % len(judges)]
        seat = routing.claim(campaign, judge)
        assert seat is not None
        assert seat.token is not None
        answer = routing.Answer(int(draw.choice(5, p=GRADES)), uuid.uuid4())
        began = process_time()
        with transaction.atomic():
            save(campaign, judge, (seat.pk, seat.token), answer)
        between = process_time()
        follow(campaign, seat.pair_id)
        saved.append(between - began)
        looked.append(process_time() - between)
    return saved, looked


def main(queries: int) -> dict[str, list[float]]:
    call_command("migrate", verbosity=0)
    User.objects.bulk_create(User(username=f"judge-{n}") for n in range(JUDGES))
    rule = fill(queries, scheme_name="k-overlap", k=3)
    pays = fill(queries, scheme_name="if-it-pays", per_pair=None, least_value=0.0005)
    first = estimate(pays)
    saved, looked = turns(pays)
    return {
        "rule": turns(rule)[0],
        "saved": saved,
        "looked": looked,
        "estimate": [first, estimate(pays)],
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
