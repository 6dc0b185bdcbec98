"""``python -m bench.claims PAIRS``: how long claims take in a campaign of so many pairs."""

import json
import os
import sys
import uuid
from time import perf_counter

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from django.core.management import call_command  # noqa: E402
from django.core.management.color import no_style  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import F, Model  # noqa: E402

from annotate import routing  # noqa: E402
from annotate.clock import now_plus  # noqa: E402
from annotate.models import (  # noqa: E402
    Campaign,
    Document,
    Judgment,
    Membership,
    Pair,
    Query,
    Seat,
    User,
)

CLAIMS = 300
OWN = 100_000

#: The number n as a key.
KEY = {
    "sqlite": "printf('%%032x', n)",
    "postgresql": "lpad(to_hex(n), 32, '0')::uuid",
}


def multiply(row: Model, **columns: str) -> None:
    """A row for every number, like the first but for these columns: SQL in which n is the number.

    The database does it alone: a million objects would take longer than all that is measured.
    """
    table = row._meta.db_table
    names = [field.column for field in row._meta.concrete_fields]
    values = [columns.get(name, f"t.{name}") for name in names]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} "
            f"FROM {table} t, numbers WHERE t.id = %s AND n > 1",
            [row.pk],
        )


def fill(pairs: int) -> tuple[Campaign, list[User]]:
    """Three seats for every pair, ten documents to a query."""
    call_command("migrate", verbosity=0)
    users = User.objects.bulk_create(User(username=f"judge-{n}") for n in range(12))
    campaign = Campaign.objects.create(
        slug="bench", name="Bench", state="open", scheme_name="k-overlap", created_by=users[0]
    )
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role=Membership.Role.JUDGE) for user in users
    )
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY)")
        cursor.execute(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %s) "
            "INSERT INTO numbers SELECT n FROM c",
            [pairs],
        )
    query = Query.objects.create(campaign=campaign, key="1", text="query")
    document = Document.objects.create(campaign=campaign, key="1", title="Title")
    pair = Pair.objects.create(
        campaign=campaign, query=query, document=document, rank=1, position=1
    )
    routing.open_seats(campaign)
    of_query = "(n - 1) / 10 + 1"
    multiply(query, id="n", key="n")
    multiply(document, id="n", key="n")
    multiply(pair, id="n", query_id=of_query, document_id="n", position="n")
    for seat in Seat.objects.filter(pair=pair):
        own = f"{seat.ordinal} + 3 * (n - 1)"
        multiply(seat, id=own, pair_id="n", query_id=of_query, position="n")
    return campaign, users


def go_on_counting() -> None:
    """The next row gets a number that is free; the planner knows the sizes as it would later."""
    models = [Query, Document, Pair, Seat, Judgment]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")


def judge_first(judge: User, pairs: int) -> None:
    """She judged the first pairs of the list, which wait for two others now."""
    seat = Seat.objects.get(pair=1, ordinal=1)
    judgment = Judgment.objects.create(
        seat=seat, pair_id=1, judge=judge, grade=2, key=uuid.UUID(int=1)
    )
    key, number = KEY[connection.vendor], "1 + 3 * (n - 1)"
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM numbers WHERE n > %s", [pairs])
    multiply(judgment, id=number, seat_id=number, pair_id="n", key=key)
    hers = Seat.objects.filter(ordinal=1, position__lte=pairs)
    hers.update(state="done", judge=judge, judgment=F("pk"), judged_at=now_plus(days=-30))
    go_on_counting()


def measure(campaign: Campaign, judges: list[User], claims: int) -> tuple[float, float]:
    """Median and 95th percentile of claims; what was claimed is judged between them."""
    times = []
    for number in range(claims):
        judge = judges[number % len(judges)]
        began = perf_counter()
        seat = routing.claim(campaign, judge)
        times.append(perf_counter() - began)
        assert seat is not None
        assert seat.token is not None
        routing.submit(judge, seat.pk, seat.token, routing.Answer(2, uuid.uuid4()))
    times.sort()
    return times[len(times) // 2], times[int(0.95 * len(times))]


def main(pairs: int) -> list[tuple[str, float, float]]:
    campaign, users = fill(pairs)
    claims = min(CLAIMS, pairs // 20)
    own = min(OWN, pairs * 9 // 10)
    judge_first(users[0], own)
    alone = measure(campaign, users[:1], claims)
    many = measure(campaign, users[1:11], CLAIMS)
    return [
        ("ten judges", *many),
        (f"a judge whose {own:,} judged pairs head the list", *alone),
    ]


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
