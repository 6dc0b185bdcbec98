"""A campaign with very many judgments, written by the database's own bulk path.

It looks as a large campaign does after months: judged, open, disputed, refused, decided and gold
pairs, a long history, many runs. ``rows`` are drawn by the library's simulated judges.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from django.db import connection, models, transaction
from django.utils import timezone

from annotate import campaigns, people
from annotate.models import (
    Adjudication,
    Campaign,
    Document,
    Event,
    Job,
    Judgment,
    Label,
    Pair,
    Query,
    Refusal,
    Seat,
    Snapshot,
    TrainingRun,
    User,
)
from ranking.grades import GOOD
from ranking.judgments import IntArray
from ranking.simulation import SKILLS, draw

JUDGES, DOCUMENTS, GOLD, REFERRED, DECIDED, DAYS = 100, 25, 500, 200, 1_000, 60
SNAPSHOTS, EVENTS, JOBS, RUNS = 20_000, 5_000, 2_000, 60
SHARES = (0.45, 0.25, 0.15, 0.1, 0.05)
K = 3
BATCH = 20_000
HISTOGRAM = "[5, 4, 3, 2, 1]"


@dataclass(frozen=True)
class Crowd:
    """Who said what of which pair, pair by pair; pairs are 0, 1, 2, …"""

    pairs: int
    pair: IntArray
    ordinal: IntArray
    judge: IntArray
    grade: IntArray

    @property
    def spread(self) -> IntArray:
        low, high = np.full(self.pairs, 9), np.zeros(self.pairs, dtype=np.int64)
        np.minimum.at(low, self.pair, self.grade)
        np.maximum.at(high, self.pair, self.grade)
        return np.asarray(np.maximum(high - low, 0))


def crowd(judgments: int, rng: np.random.Generator) -> Crowd:
    """If-good-3 by a hundred judges. One pair of ten has not been judged yet."""
    pairs = judgments  # more than enough
    truth = rng.choice(5, p=SHARES, size=pairs)
    first = draw(truth, SKILLS["expert"], rng)
    size = np.where(rng.random(pairs) < 0.1, 0, np.where(first >= GOOD, K, 1))
    size[:GOLD] = 10
    kept = int(np.searchsorted(np.cumsum(size), judgments)) + 1
    size = size[:kept]
    pair = np.repeat(np.arange(kept), size)
    ordinal = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size)
    start, step = rng.integers(JUDGES, size=kept), rng.integers(1, JUDGES // K, size=kept)
    judge = (start[pair] + ordinal * step[pair] % JUDGES) % JUDGES
    judge[pair < GOLD] = (start[pair] + ordinal)[pair < GOLD] % JUDGES
    grade = draw(truth[pair], SKILLS["expert"], rng)
    grade[ordinal == 0] = first[pair[ordinal == 0]]
    return Crowd(kept, pair, ordinal, judge, grade)


def fill(judgments: int) -> Campaign:
    """The whole campaign; the same every time. Its manager is called so."""
    rng = np.random.default_rng(1)
    manager = people.create_person("manager", role=User.Role.MANAGER)
    campaign = campaigns.create(manager, {"name": "A large campaign", "scheme_name": "if-good-k"})
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.OPEN, price="0.05")
    judges = [people.create_person(f"judge-{number}") for number in range(JUDGES)]
    for judge in judges:
        campaigns.add_judge(campaign, judge)
    made = crowd(judgments, rng)
    with transaction.atomic():
        pool(campaign, made)
        judging(campaign, made, np.array([judge.pk for judge in judges]), rng)
        decisions(campaign, manager, judges, made)
        past(campaign, manager, made)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    campaign.refresh_from_db()
    return campaign


# -- Parts ----------------------------------------------------------------------------------------


def pool(campaign: Campaign, made: Crowd) -> None:
    of, queries = campaign.pk, made.pairs // DOCUMENTS + 1
    insert(
        Query,
        ("id", "campaign_id", "key", "text"),
        ((n + 1, of, f"q{n}", f"how to do thing number {n}") for n in range(queries)),
    )
    insert(
        Document,
        ("id", "campaign_id", "key", "url", "title"),
        (
            (n + 1, of, f"d{n}", f"https://example.org/{n}", f"All about thing {n}")
            for n in range(made.pairs)
        ),
    )
    judged = np.bincount(made.pair, minlength=made.pairs) > 0
    state = np.where(judged, "closed", "open").astype("U8")
    state[:GOLD] = "gold"
    state[np.flatnonzero(~judged)[:REFERRED]] = "referred"
    gold: list[int | None] = [2 if n < GOLD else None for n in range(made.pairs)]
    rows = zip(range(made.pairs), state.tolist(), made.spread.tolist(), gold, strict=True)
    insert(
        Pair,
        *_columns("id campaign_id query_id document_id rank position state spread gold"),
        (
            (n + 1, of, n // DOCUMENTS + 1, n + 1, n % DOCUMENTS + 1, n, name, apart, known)
            for n, name, apart, known in rows
        ),
    )


def judging(campaign: Campaign, made: Crowd, judges: IntArray, rng: np.random.Generator) -> None:
    size = len(made.pair)
    step = np.sort(rng.integers(DAYS * 86_400_000_000, size=size))
    begun = np.datetime64(timezone.now().replace(tzinfo=None)) - np.timedelta64(DAYS, "D")
    at = np.char.replace(np.datetime_as_string(begun + step.astype("timedelta64[us]")), "T", " ")
    who, active = judges[made.judge].tolist(), rng.integers(3000, 40_000, size=size).tolist()
    table = list(
        zip(
            range(1, size + 1),
            (made.pair + 1).tolist(),
            who,
            made.grade.tolist(),
            at.tolist(),
            strict=True,
        )
    )
    insert(
        Judgment,
        *_columns("id seat_id pair_id judge_id grade key active_ms created_at"),
        (
            (n, n, pair, judge, grade, f"{n:032x}", ms, when)
            for (n, pair, judge, grade, when), ms in zip(table, active, strict=True)
        ),
    )
    rows = zip(table, made.ordinal.tolist(), strict=True)
    insert(
        Seat,
        *_columns(
            "id campaign_id query_id pair_id ordinal position state judge_id judged_at judgment_id"
        ),
        (
            (n, campaign.pk, (p - 1) // DOCUMENTS + 1, p, o, p - 1, "done", judge, when, n)
            for (n, p, judge, _, when), o in rows
        ),
    )
    judged = np.bincount(made.pair, minlength=made.pairs) > 0
    insert(
        Seat,
        *_columns("id campaign_id query_id pair_id ordinal position state"),
        (
            (size + n + 1, campaign.pk, p // DOCUMENTS + 1, p + 1, 0, p, "open")
            for n, p in enumerate(np.flatnonzero(~judged)[REFERRED:].tolist())
        ),
    )
    first = np.flatnonzero((made.ordinal == 0) & (made.pair >= GOLD))
    labels = zip(made.pair[first].tolist(), made.grade[first].tolist(), strict=True)
    insert(
        Label,
        *_columns("pair_id grade score judgments method"),
        ((pair + 1, grade, float(grade), 1, "majority") for pair, grade in labels),
    )


def decisions(campaign: Campaign, manager: User, judges: list[User], made: Crowd) -> None:
    judged = np.bincount(made.pair, minlength=made.pairs) > 0
    refused = np.flatnonzero(~judged)[:REFERRED].tolist()
    insert(
        Refusal,
        *_columns("pair_id judge_id reason"),
        ((pair + 1, judge.pk, "not-loaded") for pair in refused for judge in judges[:K]),
    )
    decided = np.flatnonzero(made.spread[GOLD:] >= 3)[:DECIDED] + GOLD
    insert(
        Adjudication,
        *_columns("pair_id grade by_id"),
        ((pair + 1, 2, manager.pk) for pair in decided.tolist()),
    )


def past(campaign: Campaign, manager: User, made: Crowd) -> None:
    of, size = campaign.pk, len(made.pair)

    def at(whole: int, moment: int) -> int:
        return whole * moment // SNAPSHOTS

    insert(
        Snapshot,
        *_columns(
            "campaign_id pairs judgments judges overlapping alpha alpha_low alpha_high histogram"
            " first_good"
        ),
        (
            (of, at(made.pairs, n), at(size, n), JUDGES, 1000, 0.5, 0.4, 0.6, HISTOGRAM, at(9, n))
            for n in range(1, SNAPSHOTS + 1)
        ),
    )
    insert(
        Event,
        *_columns("campaign_id actor_id sentence pair_id"),
        ((of, manager.pk, "Decided: Good.", n + 1) for n in range(EVENTS)),
    )
    now = timezone.now()
    Job.objects.bulk_create(
        Job(kind="aggregate", key=str(n), campaign=campaign, state="done", due_at=now)
        for n in range(JOBS)
    )
    TrainingRun.objects.bulk_create(run(campaign, n, size * n // RUNS) for n in range(1, RUNS + 1))


def run(campaign: Campaign, number: int, judgments: int) -> TrainingRun:
    """A run with every measure a run has."""
    at = {
        "ranker": {"mean": 0.7, "low": 0.65, "high": 0.75, "n": 900},
        "first_stage": {"mean": 0.6, "low": 0.55, "high": 0.65, "n": 900},
        "p": 0.01,
    }
    depths = ("1", "2", "3", "5", "10")
    metrics = {
        "ndcg": dict.fromkeys(depths, at),
        "map": at,
        "err": at,
        "ceiling": {depth: {"value": 0.8, "n": 900} for depth in depths},
        "importance": [[f"feature_{n}", float(40 - n)] for n in range(40)],
        "left_out": 3,
    }
    return TrainingRun(
        campaign=campaign,
        number=number,
        state=TrainingRun.State.DONE,
        ranker="lambdamart",
        judgments=judgments,
        metrics=metrics,
        is_champion=number == RUNS,
        promoted_at=timezone.now(),
    )


# -- Rows -----------------------------------------------------------------------------------------


def _columns(names: str) -> tuple[tuple[str, ...]]:
    return (tuple(names.split()),)


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Rows straight into the table; columns that are left out have their defaults."""
    rest = _rest(model, columns)
    names = ", ".join(f'"{name}"' for name in (*columns, *rest))
    whole = (row + tuple(rest.values()) for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {model._meta.db_table} ({names}) FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
            return
        marks = ", ".join("?" for _ in (*columns, *rest))
        statement = f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({marks})"
        for batch in _batches(whole):
            cursor.connection.executemany(statement, batch)


def _rest(model: type[models.Model], given: Sequence[str]) -> dict[str, Any]:
    """What a column that must have a value gets."""
    found: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        empty = field.primary_key or field.null or field.has_db_default()
        if field.column and not empty and field.column not in given:
            found[field.column] = field.get_default()
    return found


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
