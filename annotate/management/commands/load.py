"""``manage.py load CAMPAIGN FILE``: load pairs, judgments or information needs from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotate import imports, jobs
from annotate.formats import FORMATS
from annotate.management.reporting import Report, UsageError, campaign_named
from annotate.models import Upload


class Command(Report):
    help = "Loads a file into a campaign, whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("file", metavar="FILE", type=Path, help="It may be gzipped.")
        parser.add_argument(
            "--format", choices=list(FORMATS), default="", help="Found out where it is not given."
        )
        parser.add_argument(
            "--scale", default="", metavar="LOW-HIGH", help="What its grades stand on: 0-4, 1-5."
        )
        parser.add_argument("--grades", choices=["judgments", "truth"], default="")
        parser.add_argument(
            "--judge", default="", metavar="NAME", help="Whose grades, where the file names nobody."
        )
        parser.add_argument("--check", action="store_true", help="Read the file, load nothing.")

    def work(self, options: dict[str, Any]) -> None:
        campaign = campaign_named(options["campaign"])
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        reading = _options(options)
        if options["check"]:
            report = imports.check(path, campaign, reading, imports.Limits())
            self._require_good(path, report, options)
        else:
            upload, report = imports.check_path(campaign, campaign.created_by, path, reading)
            try:
                self._require_good(path, report, options)
                self._load(upload)
            finally:
                _discard_unfinished(upload)
        done = "read" if options["check"] else "loaded"
        self.say(options, _sentence(path, report, done), **_facts(path, report, done))

    def _require_good(self, path: Path, report: imports.Report, options: dict[str, Any]) -> None:
        if options["json"] and (report.count or report.asks):
            self.say(options, "", **_facts(path, report, "refused"))
        for problem in report.problems:
            self.stderr.write(f"{path}:{problem.line}: {problem.reason}")
        if report.count:
            raise CommandError(f"{report.count} lines cannot be loaded, so nothing was.")
        if report.asks:
            raise UsageError(f"{report.question} Give it with --scale.")

    def _load(self, upload: Upload) -> None:
        try:
            with transaction.atomic():
                job = imports.load(upload)
                # Ours before the commit, so that no worker takes it; if we are killed, one will.
                taken = jobs.take(job.pk) if job else None
        except imports.BusyError as error:
            raise CommandError(str(error)) from None
        if taken is None:
            raise CommandError("The file was loaded by somebody else just now.")
        upload.refresh_from_db()
        with self.progress() as progress:
            taken.attempts = jobs.MAX_ATTEMPTS  # there is one try: a failure takes it out again
            try:
                imports.load_now(upload, taken, progress)
            except Exception as error:
                jobs.fail(taken, error)
                raise


def _sentence(path: Path, report: imports.Report, done: str) -> str:
    judged = f" and {report.judgments} judgments" if report.judgments else ""
    what = f"{report.pairs} pairs" if report.pairs else f"{report.rows} rows"
    return f"{what}{judged} {done} from {path} ({report.options.format})."


def _options(options: dict[str, Any]) -> imports.Options:
    try:
        return imports.Options(
            options["format"], options["scale"], options["grades"], options["judge"]
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _discard_unfinished(upload: Upload) -> None:
    """Whatever went wrong, nothing of a file that does not count stays behind."""
    upload.refresh_from_db()
    if upload.state not in (Upload.State.LOADED, Upload.State.APPLYING, Upload.State.REFUSED):
        imports.discard(upload)


def _facts(path: Path, report: imports.Report, done: str) -> dict[str, Any]:
    return {
        "file": str(path),
        "state": done,
        "format": report.options.format,
        "guess": report.guess,
        "rows": report.rows,
        "pairs": report.pairs,
        "queries": report.queries,
        "judgments": report.judgments,
        "passed_over": report.passed_over,
        "question": report.question,
        "problems": report.count,
        "errors": [{"line": problem.line, "reason": problem.reason} for problem in report.problems],
    }
