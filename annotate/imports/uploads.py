"""A file on its way in: kept, checked, asked about, loaded. The only writer of uploads."""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from annotate import campaigns, history, jobs
from annotate.formats import Row
from annotate.imports.checking import Limits, Report, check
from annotate.imports.loading import Marks, Tell, Writer, open_pairs, take_out
from annotate.imports.pace import writing_much
from annotate.imports.reading import Options, items
from annotate.models import Campaign, Job, Upload, User

#: A file that is larger is checked by the worker, not while somebody waits for the page.
CHECK_NOW_BYTES = 4 * 2**20
KEEP_SECONDS = 1.0
#: How much of the whole each of the three steps is taken to be.
STEP = 1 / 3
_PREVIEW = ("line", "query", "query_key", "document_key", "url", "title", "snippet", "rank")
_BUSY = (Upload.State.LOADING, Upload.State.APPLYING)
State = Upload.State

#: Shown how much is done, from 0 to 1, and of what.
Show = Callable[[float, str], None]


class BusyError(Exception):
    """Another file is being loaded into the same campaign."""


# -- Check ----------------------------------------------------------------------------------------


def check_upload(
    campaign: Campaign,
    user: User,
    file: "UploadedFile[bytes]",
    name: str,
    options: Options | None = None,
) -> Upload:
    """Keep the file under a name of ours and read it through without loading anything.

    A large one is read by the worker.
    """
    upload = _new(campaign, user, name, options or Options())
    with path_of(upload).open("wb") as target:
        for chunk in file.chunks():
            target.write(chunk)
    if (file.size or 0) <= CHECK_NOW_BYTES:
        upload.save()
        return recheck(upload, options or Options())
    with transaction.atomic():
        upload.save()
        jobs.enqueue("import", campaign, key=_key(upload))
    return upload


def check_path(
    campaign: Campaign, user: User, path: Path, options: Options
) -> tuple[Upload, Report]:
    """The same for a file of this machine, as large as it is."""
    upload = _new(campaign, user, path.name, options)
    shutil.copyfile(path, path_of(upload))
    upload.save()
    report = check(path_of(upload), campaign, options, Limits())
    _keep(upload, report)
    return upload, report


def _new(campaign: Campaign, user: User, name: str, options: Options) -> Upload:
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    shown = "".join(c if c.isprintable() else "?" for c in name)[-200:] or "file"
    return Upload(
        campaign=campaign,
        created_by=user,
        state=State.CHECKING,
        name=shown,
        file=f"{uuid.uuid4().hex}.data",
        **asdict(options),
    )


def recheck(upload: Upload, options: Options) -> Upload:
    """Read a file that was not loaded yet, as a person says that it is to be read."""
    if upload.state in (State.CHECKING, State.ASKED, State.CHECKED):
        _keep(upload, check(path_of(upload), upload.campaign, options))
    return upload


def _keep(upload: Upload, report: Report) -> None:
    """What was found, on the row of the file. A file that cannot be loaded is not kept."""
    state = State.REFUSED if report.count else State.ASKED if report.asks else State.CHECKED
    for name, value in asdict(report.options).items():
        setattr(upload, name, value)
    for name in ("guess", "rows", "pairs", "queries", "judgments", "passed_over"):
        setattr(upload, name, getattr(report, name))
    upload.low, upload.high, upload.fractions = report.low, report.high, report.fractions
    upload.state = state
    upload.problems = report.count
    upload.preview = [_shown(row) for row in report.preview]
    upload.errors = [asdict(problem) for problem in report.problems]
    upload.marks = {"width": report.width}
    upload.message = f"{report.count} lines cannot be loaded." if report.count else report.question
    upload.save()
    if state == State.REFUSED:
        path_of(upload).unlink(missing_ok=True)


def _shown(row: Row) -> dict[str, Any]:
    """What the preview shows of a row."""
    shown = {name: getattr(row, name) for name in _PREVIEW}
    grades = [f"{said.judge} {said.value:g}".strip() for said in row.ratings]
    return shown | {"snippet": row.snippet[:300], "grades": ", ".join(grades)}


def path_of(upload: Upload) -> Path:
    return Path(settings.UPLOAD_DIR) / upload.file


def options_of(upload: Upload) -> Options:
    """How the file is read."""
    return Options(upload.format, upload.scale, upload.grades, upload.judge)


# -- Load -----------------------------------------------------------------------------------------


def load(upload: Upload) -> Job | None:
    """Hand a checked file to the worker. BusyError while another one is being loaded."""
    with transaction.atomic():
        # One file at a time: what is unseen belongs to the one that is being loaded.
        Campaign.objects.select_for_update().get(pk=upload.campaign_id)
        others = Upload.objects.filter(campaign=upload.campaign_id, state__in=_BUSY)
        if others.exclude(pk=upload.pk).exists():
            raise BusyError("Another file is being loaded. Wait for it, or discard it.")
        marks = {**upload.marks, **asdict(Marks.now(upload.campaign))}
        ours = Upload.objects.filter(pk=upload.pk, state=State.CHECKED)
        if not ours.update(state=State.LOADING, marks=marks):
            return None
        return jobs.enqueue("import", upload.campaign, key=_key(upload))


def _key(upload: Upload) -> str:
    return f"upload-{upload.pk}"


def job_of(upload: Upload) -> Job | None:
    return Job.objects.filter(kind="import", key=_key(upload)).order_by("-pk").first()


def run(job: Job) -> None:
    """The worker's part: check a large file, or load one that was checked."""
    upload = Upload.objects.select_related("campaign").get(pk=int(job.key.removeprefix("upload-")))
    if upload.state == State.CHECKING:
        recheck(upload, options_of(upload))
        jobs.finish(job, f"{upload.rows} rows checked.")
    elif upload.state in _BUSY:
        load_now(upload, job)
    else:
        jobs.finish(job, "There was nothing to do.")


def load_now(upload: Upload, job: Job, show: Show | None = None) -> None:
    """Load the file in steps that can be done again. If it cannot be done, nothing stays of it."""
    try:
        _load(upload, job, show or _silent)
    except jobs.LostJobError:
        raise
    except Exception:
        if job.attempts >= jobs.MAX_ATTEMPTS:
            discard(upload)
        raise


def _silent(_share: float, _what: str) -> None:
    """The job's row says how far it is."""


def _load(upload: Upload, job: Job, show: Show) -> None:
    campaign = upload.campaign
    marks = Marks(upload.marks["query"], upload.marks["document"])
    writer = Writer(campaign, upload.judge or PurePosixPath(upload.name).name.partition(".")[0])
    if upload.marks["width"]:
        campaigns.name_features(campaign, upload.marks["width"])
    with writing_much():
        _load_in_steps(upload, writer, marks, lambda *part: _telling(job, upload, show, part))
    _finish(upload, job)


def _load_in_steps(
    upload: Upload, writer: Writer, marks: Marks, telling: Callable[[float, str], Tell]
) -> None:
    if upload.state == State.LOADING:
        writer.add(_rows(upload), marks, telling(0.0, "rows read"))
        # From here on it counts: whatever happens now is gone on with, not taken back.
        Upload.objects.filter(pk=upload.pk, state=State.LOADING).update(state=State.APPLYING)
        upload.state = State.APPLYING
    open_pairs(upload.campaign, telling(STEP, "pairs opened"))
    old = marks.covers(upload.campaign)
    if old or upload.judgments:
        writer.renew(_rows(upload), old, telling(2 * STEP, "rows brought up to date"))
    writer.finish()


def _finish(upload: Upload, job: Job) -> None:
    judged = f" and {upload.judgments} judgments" if upload.judgments else ""
    sentence = f"{upload.pairs} pairs{judged} were loaded from {upload.name}."
    with transaction.atomic():
        Upload.objects.filter(pk=upload.pk).update(state=State.LOADED)
        history.record(upload.campaign, upload.created_by, sentence)
        if upload.judgments:
            jobs.enqueue("aggregate", upload.campaign)
        jobs.finish(job, f"{upload.pairs} pairs loaded.")
    path_of(upload).unlink(missing_ok=True)


def _rows(upload: Upload) -> Iterator[Row]:
    """The rows of a file that was found good."""
    for item in items(path_of(upload), options_of(upload)):
        if not isinstance(item, Row):
            raise RuntimeError(f"The file has changed since it was checked: line {item.line}.")
        yield item


def _telling(job: Job, upload: Upload, show: Show, part: tuple[float, str]) -> Tell:
    """Keeps the job's lease and says how far it is."""
    start, what = part
    said = 0.0

    def tell(done: int) -> None:
        nonlocal said
        share = start + STEP * min(done / max(upload.rows, 1), 1.0)
        show(share, f"{done} {what}")
        if time.monotonic() - said > KEEP_SECONDS:
            jobs.keep(job, share, f"{done} {what}")
            said = time.monotonic()

    return tell


def discard(upload: Upload) -> None:
    """Take out what a file that does not count yet has brought. It can be uploaded again."""
    if upload.state == State.LOADING:
        take_out(upload.campaign, Marks(upload.marks["query"], upload.marks["document"]))
    message = "It was discarded. Nothing of it was loaded."
    dropped = Upload.objects.filter(pk=upload.pk).exclude(state__in=(State.APPLYING, State.LOADED))
    if dropped.update(state=State.REFUSED, message=message):
        path_of(upload).unlink(missing_ok=True)
