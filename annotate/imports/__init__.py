"""Files to queries, documents, pairs and judgments. A file is loaded whole or not at all."""

from pathlib import Path

from annotate.formats import Row
from annotate.imports.checking import Limits, Report, check
from annotate.imports.loading import load_rows, position
from annotate.imports.reading import ImportRefusedError, Options, items
from annotate.imports.uploads import (
    BusyError,
    check_path,
    check_upload,
    discard,
    job_of,
    load,
    load_now,
    options_of,
    recheck,
    run,
)
from annotate.models import Campaign


def load_file(campaign: Campaign, path: Path, options: Options | None = None) -> int:
    """Load a whole file in one transaction, or raise ImportRefusedError. Returns its rows."""
    report = check(path, campaign, options)
    if report.asks:
        report.add(0, report.question)
    if report.count:
        raise ImportRefusedError(report.problems, report.count)
    rows = (item for item in items(path, report.options) if isinstance(item, Row))
    return load_rows(campaign, rows, report.options.judge or path.name.partition(".")[0])


__all__ = [
    "BusyError",
    "ImportRefusedError",
    "Limits",
    "Options",
    "Report",
    "check",
    "check_path",
    "check_upload",
    "discard",
    "items",
    "job_of",
    "load",
    "load_file",
    "load_now",
    "load_rows",
    "options_of",
    "position",
    "recheck",
    "run",
]
