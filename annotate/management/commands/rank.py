"""``manage.py rank CAMPAIGN --query … FILE``: rank candidates with the campaign's champion."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate import scoring, training
from annotate.management.reporting import Report, campaign_named
from annotate.models import TrainingRun
from annotate.scoring import Candidate, Ranked
from ranking.text import TextDocument


class Command(Report):
    help = "Ranks the candidates of a query with the champion of a campaign."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", metavar="CAMPAIGN", help="The slug of the campaign.")
        parser.add_argument(
            "file",
            metavar="FILE",
            help="Candidates: CSV with a header, or .jsonl; - reads CSV from standard input.",
        )
        parser.add_argument("--query", default="", help="What is searched for.")

    def work(self, options: dict[str, Any]) -> None:
        campaign = campaign_named(options["campaign"])
        champion = training.current(campaign)
        names = scoring.feature_names(champion) if champion else []
        try:
            candidates = list(_candidates(_records(options["file"]), names))
            run, ranked = scoring.rank(campaign, options["query"], candidates)
        except (scoring.ScoringError, OSError, ValueError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            rows = [{"place": one.place, "id": one.name, "score": one.score} for one in ranked]
            self.say(options, "", run=run.number, ranker=run.ranker, ranked=rows)
        else:
            self._table(run, ranked)

    def _table(self, run: TrainingRun, ranked: Iterable[Ranked]) -> None:
        self.stderr.write(f"By run {run.number} ({run.ranker}).")
        out = csv.writer(self.stdout, lineterminator="\n")
        out.writerow(["place", "id", "score", "place_before"])
        for one in ranked:
            out.writerow([one.place, one.name, f"{one.score:.6g}", one.place_before])


def _records(name: str) -> list[dict[str, Any]]:
    if name == "-":
        return list(csv.DictReader(sys.stdin))
    with Path(name).open(encoding="utf-8-sig", newline="") as file:
        if not name.endswith(".jsonl"):
            return list(csv.DictReader(file))
        records = [json.loads(line) for line in file if line.strip()]
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ValueError(f"Line {number} of {name} must be a JSON object. Got {record}.")
    return records


def _candidates(records: Iterable[dict[str, Any]], names: list[str]) -> Iterator[Candidate]:
    """Columns named like the champion's features are features; else url, title, snippet, text."""
    for number, record in enumerate(records, start=1):
        cells = {key: value for key, value in record.items() if value not in (None, "")}
        features = record.get("features") or [record[name] for name in names if name in record]
        yield Candidate(
            name=str(cells.get("id") or cells.get("url") or number),
            features=[float(value) for value in features],
            document=TextDocument(
                *(str(cells.get(name, "")) for name in ("url", "title", "snippet", "text"))
            ),
            rank=int(cells["rank"]) if "rank" in cells else None,
        )
