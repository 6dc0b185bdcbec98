"""What all commands share: how far they are, what they say at the end, how they fail.

Progress goes to standard error, results to standard output. Exit codes: 0 done, 1 it could not be
done, 2 it was asked for wrongly.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from annotate.models import Campaign

#: Where nobody watches a bar, a line says how far it is: not more often than this.
LINE_SECONDS = 5.0


class UsageError(CommandError):
    """What was asked for makes no sense, whatever is in the database."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, returncode=2)


class Report(BaseCommand):
    """A command that says what it did: in a sentence, or with ``--json`` as one object."""

    _said = False
    _called_from_command_line = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--json", action="store_true", help="Say what was done as one JSON object."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.work(options)
        except CommandError as error:
            if options["json"] and not self._said:
                self._write({"error": str(error)})
            if not self._called_from_command_line or options["traceback"]:
                raise
            # Django would put the name of its class before the sentence.
            self.stderr.write(str(error))
            sys.exit(error.returncode)

    def work(self, options: dict[str, Any]) -> None:
        raise NotImplementedError("A command must say what it does.")

    def say(self, options: dict[str, Any], sentence: str, **facts: Any) -> None:
        """The result. Call it once."""
        if options["json"]:
            self._write(facts)
        else:
            self.stdout.write(sentence)

    def _write(self, facts: dict[str, Any]) -> None:
        self._said = True
        self.stdout.write(json.dumps(facts, ensure_ascii=False))

    @contextmanager
    def progress(self, unit: str = "") -> Iterator["Progress"]:
        """How far it is: a bar for whoever watches, a line now and then for a log."""
        bar = _Bar(unit) if sys.stderr.isatty() else _Lines(self)
        try:
            yield bar
            bar.done()
        finally:
            bar.close()


class Progress:
    """Told a share of the whole and words, or a number of units where nobody knows the whole."""

    def __call__(self, share: float, words: str = "") -> None:
        raise NotImplementedError

    def more(self, number: int) -> None:
        raise NotImplementedError

    def done(self) -> None:
        """It came to its end."""

    def close(self) -> None:
        """Nothing is left open."""


class _Bar(Progress):
    def __init__(self, unit: str) -> None:
        if unit:
            self._bar: tqdm[Any] = tqdm(unit=unit, unit_scale=True, file=sys.stderr)
        else:
            shape = "{l_bar}{bar}| {postfix}"
            self._bar = tqdm(total=1.0, bar_format=shape, file=sys.stderr)

    def __call__(self, share: float, words: str = "") -> None:
        self._bar.set_postfix_str(words, refresh=False)
        self._bar.update(share - self._bar.n)

    def more(self, number: int) -> None:
        self._bar.update(number)

    def done(self) -> None:
        if self._bar.total:
            self._bar.update(self._bar.total - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Lines(Progress):
    def __init__(self, command: Report) -> None:
        self._command = command
        self._next = time.monotonic() + LINE_SECONDS
        self._number = 0

    def __call__(self, share: float, words: str = "") -> None:
        self._line(f"{share:.0%}: {words}" if words else f"{share:.0%}")

    def more(self, number: int) -> None:
        self._number += number
        self._line(f"{self._number:,} so far")

    def _line(self, text: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_SECONDS
            self._command.stderr.write(self._command.style.NOTICE(text))


def campaign_named(slug: str) -> Campaign:
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        raise CommandError(f"There is no campaign {slug}.")
    return campaign
