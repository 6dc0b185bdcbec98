"""``manage.py export CAMPAIGN NAME``: write judgments, labels, training files or runs."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from annotate import exports
from annotate.models import Campaign


class Command(BaseCommand):
    help = "Writes an export of a campaign to a file, or to standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument("name", metavar="NAME", choices=list(exports.EXPORTS))
        parser.add_argument(
            "--output", "-o", type=Path, metavar="FILE", help="It appears when it is whole."
        )
        parser.add_argument("--pseudonyms", action="store_true", help="Do not name the judges.")
        parser.add_argument("--labels", choices=list(exports.LABELS), default="")
        parser.add_argument("--json", action="store_true", help="Say what was done as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign {options['campaign']}.")
        target: Path | None = options["output"]
        if target is None and options["json"]:
            raise CommandError(
                "--json needs --output: standard output is the export.", returncode=2
            )
        chosen = exports.Options(pseudonyms=options["pseudonyms"], labels=options["labels"])
        try:
            pieces = exports.stream(options["name"], campaign, chosen)
        except exports.ExportRefusedError as error:
            raise CommandError(str(error)) from None
        if target is None:
            _write(sys.stdout.buffer, pieces, hidden=True)
            return
        size = _write_whole(target, pieces)
        facts = {"export": options["name"], "file": str(target), "bytes": size}
        said = f"{options['name']} written to {target}, {size} bytes."
        self.stdout.write(json.dumps(facts) if options["json"] else said)


def _write_whole(target: Path, pieces: Iterator[bytes]) -> int:
    """Under another name until it is whole: nobody reads half of it."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            size = _write(file, pieces, hidden=not sys.stderr.isatty())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return size


def _write(file: IO[bytes], pieces: Iterator[bytes], hidden: bool) -> int:
    size = 0
    with tqdm(unit="B", unit_scale=True, disable=hidden) as bar:
        for piece in pieces:
            file.write(piece)
            size += len(piece)
            bar.update(len(piece))
    return size
