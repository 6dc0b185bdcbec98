"""Every page of a large campaign, in a process of its own: ``python -m bench.pages JUDGMENTS``.

Fills an empty database, reckons the reports in a further process, asks for every page as its
manager, and prints one JSON object. DATABASE_URL and DATA_DIR say where.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.urls import reverse  # noqa: E402

from annotate import jobs, reports  # noqa: E402
from annotate.models import Campaign, Pair, User  # noqa: E402
from bench import big  # noqa: E402
from bench.files import memory, peak  # noqa: E402

TIMES = 5

#: What a manager opens: name, and what is asked of it.
PAGES = (
    ("campaigns", ""),
    ("dashboard", ""),
    ("campaign_live", ""),
    ("campaign_agreement", ""),
    ("judge_figures", ""),
    ("judge_page", ""),
    ("judge_page", "?page=40"),
    ("campaign_judges", ""),
    ("campaign_pairs", ""),
    ("campaign_pairs", "?page=5000"),
    ("campaign_pairs", "?show=open"),
    ("campaign_pairs", "?show=disputed"),
    ("campaign_pairs", "?show=disputed&page=500"),
    ("campaign_pairs", "?query=number+77"),
    ("pair", ""),
    ("pair", "?queue=disputed"),
    ("campaign_referrals", ""),
    ("campaign_gold", ""),
    ("campaign_cost", ""),
    ("campaign_ranker", ""),
    ("campaign_data", ""),
    ("campaign_exports", ""),
    ("campaign_guidelines", ""),
    ("campaign_settings", ""),
    ("campaign_history", ""),
    ("campaign_jobs", ""),
)


def main(judgments: int) -> None:
    call_command("migrate", verbosity=0)
    start = time.perf_counter()
    campaign = big.fill(judgments)
    filled = time.perf_counter() - start
    child = subprocess.run(
        [sys.executable, "-m", "bench.pages", "report", campaign.slug],
        stdout=subprocess.PIPE,
        check=True,
    )
    found = {"filled": filled, "report": json.loads(child.stdout), "pages": timed(campaign)}
    print(json.dumps(found))


def report(slug: str) -> None:
    """The job of the worker, from the claim to the end."""
    campaign = Campaign.objects.get(slug=slug)
    due = jobs.enqueue("report", campaign)
    job = jobs.take(due.pk) if due else None
    assert job is not None
    idle, start = memory(), time.perf_counter()
    reports.run(job)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "mb": peak() - idle}))


def timed(campaign: Campaign) -> list[dict[str, Any]]:
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username="manager"))
    return [asked(client, name, address(campaign, name) + more) for name, more in PAGES]


def address(campaign: Campaign, name: str) -> str:
    if name == "campaigns":
        return reverse(name)
    if name == "judge_page":
        return reverse(name, args=[campaign.slug, User.objects.get(username="judge-0").pk])
    if name == "pair":
        pair = campaign.pairs.filter(spread__gte=2, state=Pair.State.CLOSED).order_by("id")[3]
        return reverse(name, args=[campaign.slug, pair.pk])
    return reverse(name, args=[campaign.slug])


def asked(client: Client, name: str, path: str) -> dict[str, Any]:
    """The first answer, and the best of the next ones."""
    seconds = []
    for _ in range(TIMES + 1):
        start = time.perf_counter()
        answer = client.get(path)
        seconds.append(time.perf_counter() - start)
        assert answer.status_code == 200, f"{path} answered {answer.status_code}."
    with CaptureQueriesContext(connection) as context:
        client.get(path)
    print(f"{min(seconds[1:]):.3f} s, {len(context)} queries: {path}", file=sys.stderr)
    return {
        "page": name,
        "path": path.partition("?")[2],
        "first": seconds[0],
        "seconds": min(seconds[1:]),
        "queries": len(context),
        "kb": len(answer.content) / 1024,
    }


if __name__ == "__main__":
    if sys.argv[1] == "report":
        report(sys.argv[2])
    elif sys.argv[1] == "again":
        print(json.dumps(timed(Campaign.objects.get())))
    else:
        main(int(sys.argv[1]))
