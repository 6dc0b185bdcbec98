"""``manage.py export CAMPAIGN NAME``: write judgments, labels, training files or runs."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from annotate import exports
from annotate.management.reporting import Progress, Report, UsageError, campaign_named


class Command(Report):
    help = "Writes an export of a campaign to a file, or to standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("name", metavar="NAME", choices=list(exports.EXPORTS))
        parser.add_argument(
            "--output", "-o", type=Path, metavar="FILE", help="It appears when it is whole."
        )
        parser.add_argument("--pseudonyms", action="store_true", help="Do not name the judges.")
        parser.add_argument("--labels", choices=list(exports.LABELS), default="")

    def work(self, options: dict[str, Any]) -> None:
        campaign = campaign_named(options["campaign"])
        target: Path | None = options["output"]
        if target is None and options["json"]:
            raise UsageError("--json needs --output: standard output is the export.")
        chosen = exports.Options(pseudonyms=options["pseudonyms"], labels=options["labels"])
        try:
            pieces = exports.stream(options["name"], campaign, chosen)
        except exports.ExportRefusedError as error:
            raise CommandError(str(error)) from None
        if target is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            return
        with self.progress("B") as progress:
            size = _write_whole(target, pieces, progress)
        sentence = f"{options['name']} written to {target}, {size} bytes."
        self.say(options, sentence, export=options["name"], file=str(target), bytes=size)


def _write_whole(target: Path, pieces: Iterator[bytes], progress: Progress) -> int:
    """Under another name until it is whole: nobody reads half of it."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            size = _write(file, pieces, progress)
        part.replace(target)
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)
    return size


def _write(file: IO[bytes], pieces: Iterator[bytes], progress: Progress) -> int:
    size = 0
    for piece in pieces:
        file.write(piece)
        size += len(piece)
        progress.more(len(piece))
    return size
