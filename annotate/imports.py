"""Files to queries, documents and pairs. A file is loaded whole or not at all."""

import gzip
import hashlib
import math
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO

import numpy as np
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from annotate import campaigns, jobs, routing
from annotate.formats import FORMATS, Problem, Row, guess
from annotate.models import Campaign, Document, Job, Pair, Query, Upload, User

BATCH = 2000
PREVIEW_ROWS = 10
MAX_PROBLEMS = 1000
FIRST_TIER = 8
_PREVIEW = ("line", "query", "url", "title", "snippet", "rank")


class ImportRefusedError(Exception):
    """The file cannot be loaded; every bad line is named."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        lines = "; ".join(f"line {p.line}: {p.reason}" for p in problems[:3])
        super().__init__(f"{len(problems)} lines cannot be loaded. {lines}")


# -- From a page: check, look, load ---------------------------------------------------------------


def check_upload(campaign: Campaign, user: User, file: "UploadedFile[bytes]", name: str) -> Upload:
    """Keep the file under a name of ours and read it through without loading anything."""
    stored = f"{uuid.uuid4().hex}.data"
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    path = settings.UPLOAD_DIR / stored
    with path.open("wb") as target:
        for chunk in file.chunks():
            target.write(chunk)
    kind, rows, problems = check(path, campaign)
    upload = Upload.objects.create(
        campaign=campaign,
        created_by=user,
        state=Upload.State.REFUSED if problems else Upload.State.CHECKED,
        name=name[:200],
        file=stored,
        format=kind,
        rows=len(rows),
        queries=len({row.query_key for row in rows}),
        preview=[{name: asdict(row)[name] for name in _PREVIEW} for row in rows[:PREVIEW_ROWS]],
        errors=[asdict(problem) for problem in problems[:MAX_PROBLEMS]],
        message=f"{len(problems)} lines cannot be loaded." if problems else "",
    )
    if problems:
        path.unlink()
    return upload


def load(upload: Upload) -> None:
    """Hand a checked file to the worker."""
    with transaction.atomic():
        ours = Upload.objects.filter(pk=upload.pk, state=Upload.State.CHECKED)
        if ours.update(state=Upload.State.LOADING):
            jobs.enqueue("import", upload.campaign, key=f"upload-{upload.pk}")


def run(job: Job) -> None:
    """The worker's part: read the file again and write its rows."""
    upload = Upload.objects.get(pk=int(job.key.removeprefix("upload-")))
    path = settings.UPLOAD_DIR / upload.file
    with transaction.atomic():
        rows = load_file(upload.campaign, path)
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.LOADED)
        jobs.finish(job, f"{rows} pairs loaded.")
    path.unlink(missing_ok=True)


# -- Reading --------------------------------------------------------------------------------------


def check(path: Path, campaign: Campaign) -> tuple[str, list[Row], list[Problem]]:
    """The format of a file, its rows and its problems. Nothing is written."""
    with _opened(path) as file:
        kind = guess(file.read(65_536))
    rows: list[Row] = []
    problems: list[Problem] = []
    with _opened(path) as file:
        for item in FORMATS[kind](_capped(file)):
            (rows if isinstance(item, Row) else problems).append(item)  # type: ignore[arg-type]
    if not rows and not problems:
        problems.append(Problem(1, "The file holds no row."))
    problems += _across(rows, campaign)
    return kind, rows, sorted(problems, key=lambda problem: problem.line)


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else path.open("rb")  # type: ignore[return-value]


def _capped(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of the file, as far as an installation lets a file go."""
    size = 0
    for line in file:
        size += len(line)
        if size > settings.UPLOAD_MAX_BYTES:
            raise ImportRefusedError(
                [Problem(0, f"A file must have at most {settings.UPLOAD_MAX_BYTES} bytes.")]
            )
        yield line


def _across(rows: list[Row], campaign: Campaign) -> list[Problem]:
    """What no line shows alone: pairs that stand twice, features that do not fit."""
    problems = []
    seen: dict[tuple[str, str], int] = {}
    width = len(campaign.feature_names) or None
    for row in rows:
        first = seen.setdefault((row.query_key, row.document_key), row.line)
        if first != row.line:
            problems.append(Problem(row.line, f"The pair stands on line {first} already."))
        if width and len(row.features or ()) > width:
            problems.append(
                Problem(row.line, f"There must be {width} features. Got {len(row.features or ())}.")
            )
    if len(rows) > settings.UPLOAD_MAX_ROWS:
        problems.append(Problem(rows[-1].line, f"At most {settings.UPLOAD_MAX_ROWS} rows."))
    return problems


# -- Writing --------------------------------------------------------------------------------------


def load_file(campaign: Campaign, path: Path) -> int:
    """Load a whole file or raise ImportRefusedError. Returns the number of its rows."""
    _, rows, problems = check(path, campaign)
    if problems:
        raise ImportRefusedError(problems)
    return load_rows(campaign, rows)


def load_rows(campaign: Campaign, rows: list[Row]) -> int:
    """Write rows that were checked. What is there already by its key is brought up to date."""
    with transaction.atomic():
        if width := max((len(row.features or ()) for row in rows), default=0):
            campaigns.name_features(campaign, width)
        queries = _write_queries(campaign, rows)
        documents = _write_documents(campaign, rows)
        _write_pairs(campaign, rows, queries, documents)
        if campaign.state != Campaign.State.DRAFT:
            routing.open_seats(campaign)
    return len(rows)


def _write_queries(campaign: Campaign, rows: list[Row]) -> dict[str, int]:
    fields = ["text", "intent", "locale"]
    new = {
        row.query_key: Query(
            campaign=campaign,
            key=row.query_key,
            text=row.query,
            intent=row.intent,
            locale=row.locale,
        )
        for row in rows
    }
    Query.objects.bulk_create(
        new.values(),
        BATCH,
        update_conflicts=True,
        unique_fields=["campaign", "key"],
        update_fields=fields,
    )
    return dict(Query.objects.filter(campaign=campaign).values_list("key", "pk"))


def _write_documents(campaign: Campaign, rows: list[Row]) -> dict[str, int]:
    new = {
        row.document_key: Document(
            campaign=campaign,
            key=row.document_key,
            url=row.url,
            title=row.title,
            snippet=row.snippet,
            text=row.text,
        )
        for row in rows
    }
    Document.objects.bulk_create(
        new.values(),
        BATCH,
        update_conflicts=True,
        unique_fields=["campaign", "key"],
        update_fields=["url", "title", "snippet", "text"],
    )
    return dict(Document.objects.filter(campaign=campaign).values_list("key", "pk"))


def _write_pairs(
    campaign: Campaign, rows: list[Row], queries: dict[str, int], documents: dict[str, int]
) -> None:
    width = len(campaign.feature_names)
    pairs = (
        Pair(
            campaign=campaign,
            query_id=queries[row.query_key],
            document_id=documents[row.document_key],
            rank=rank,
            position=position(campaign.seed, row, rank),
            truth=row.truth,
            features=_vector(row.features, width) if width else None,
        )
        for row, rank in _ranked(rows)
    )
    Pair.objects.bulk_create(
        pairs,
        BATCH,
        update_conflicts=True,
        unique_fields=["query", "document"],
        update_fields=["rank", "truth", "features"],
    )


def _ranked(rows: Iterable[Row]) -> Iterator[tuple[Row, int]]:
    """Where a file gives no first-stage rank, the order of its lines is the first stage."""
    counts: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        counts[row.query_key] += 1
        yield row, row.rank if row.rank is not None else counts[row.query_key]


def _vector(features: tuple[float, ...] | None, width: int) -> bytes:
    vector = np.zeros(width)
    vector[: len(features or ())] = features or ()
    return vector.tobytes()


def position(seed: int, row: Row, rank: int) -> int:
    """Where a pair stands in the order of judging: breadth first, then query by query.

    The rank decides only the tier (the first 8 documents of every query before any goes to 16);
    within it queries, and documents of a query, stand in an order of the seed's own, so that no
    judge can tell a rank from it.
    """
    tier = max(0, math.ceil(math.log2(rank / FIRST_TIER)))
    query = _hash(f"{seed}\n{row.query_key}")
    pair = _hash(f"{seed}\n{row.query_key}\n{row.document_key}")
    return tier << 56 | query << 28 | pair


def _hash(text: str) -> int:
    """28 bits that depend on nothing but the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) >> 4
