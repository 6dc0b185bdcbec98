"""Files in and out at size, in a process of its own: ``python -m bench.files ROWS``.

Loads ROWS pairs into an open campaign while a judge's small write is timed beside it, makes a
judgment of every pair, and exports them. Prints one JSON object. DATABASE_URL and DATA_DIR say
where.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from annotate import campaigns, exports, people  # noqa: E402
from annotate.models import Campaign, Judgment, Pair, Seat, User  # noqa: E402

DOCUMENTS = 20
PAUSE = 0.05


def main(rows: int) -> None:
    call_command("migrate", verbosity=0)
    manager = people.create_person("manager", role=User.Role.MANAGER)
    campaign = campaigns.create(manager, {"name": "Bench", "scheme_name": "single"})
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.OPEN)
    path = written(rows)
    idle = memory()
    with probe() as waits:
        start, cpu = time.perf_counter(), time.process_time()
        call_command("load", campaign.slug, str(path), verbosity=0, stdout=sys.stderr)
        seconds, used = time.perf_counter() - start, time.process_time() - cpu
    grown = peak() - idle
    assert Pair.objects.filter(state=Pair.State.OPEN).count() == rows
    assert Seat.objects.count() == rows
    found = {"seconds": seconds, "cpu": used, "mb": grown, "waits": waits.result()}
    judge_all(campaign)
    exported = subprocess.run(
        [sys.executable, "-m", "bench.files", "export", campaign.slug],
        stdout=subprocess.PIPE,
        check=True,
    )
    print(json.dumps({"import": found, "export": json.loads(exported.stdout)}))


def written(rows: int) -> Path:
    path = Path(settings.DATA_DIR) / "pairs.csv"
    with path.open("w") as file:
        file.write("query_id,query,url,title,snippet,rank\n")
        for number in range(rows):
            q, d = divmod(number, DOCUMENTS)
            address = f"https://example.org/{number * 7919 % 1_000_003}/{number}"
            file.write(
                f"q{q},how to do thing {q},{address},Title {number},About thing {q}.,{d + 1}\n"
            )
    return path


def memory() -> float:
    """What this process holds now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak() -> float:
    """The most that it has held, in MB; what its parent held does not count."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


class probe:  # noqa: N801
    """Another process that makes a small write now and then, and notes how long each takes."""

    def __enter__(self) -> "probe":
        command = [sys.executable, "-m", "bench.files", "probe"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        out, _ = self.process.communicate(b"\n")
        self.waits = sorted(json.loads(out))

    def result(self) -> dict[str, float]:
        at = self.waits
        return {"n": len(at), "p95": at[int(0.95 * len(at))], "longest": at[-1]}


def probing() -> None:
    os.set_blocking(0, False)
    waits = []
    user = User.objects.get()
    while sys.stdin.buffer.read(1) is None:
        start = time.perf_counter()
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(last_name=str(start))
        waits.append(time.perf_counter() - start)
        time.sleep(PAUSE)
    print(json.dumps(waits))


def judge_all(campaign: Campaign) -> None:
    """A judgment on every seat, made by the database itself."""
    judge = people.create_person("judge")
    judgments, seats = Judgment._meta.db_table, Seat._meta.db_table
    now = "now()" if connection.vendor == "postgresql" else "strftime('%Y-%m-%d %H:%M:%f', 'now')"
    key = "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {judgments} (seat_id, pair_id, judge_id, grade, key, comment,"
            f" guideline_version, active_ms, created_at) SELECT id, pair_id, %s, id %% 5, {key},"
            f" 'Says what it is.', 1, 4200, {now} FROM {seats}",
            [judge.pk],
        )
        cursor.execute(
            f"UPDATE {seats} SET state = 'done', judge_id = %s, judged_at = {now}, judgment_id ="
            f" (SELECT id FROM {judgments} j WHERE j.seat_id = {seats}.id)",
            [judge.pk],
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def exporting(slug: str) -> None:
    campaign = Campaign.objects.get(slug=slug)
    for _ in exports.stream("judgments.csv", Campaign(pk=0, slug="x")):
        pass  # whatever is imported and compiled at first use
    idle = memory()
    start, cpu = time.perf_counter(), time.process_time()
    first, rows = 0.0, -1
    for piece in exports.stream("judgments.csv", campaign):
        first = first or time.perf_counter() - start
        rows += piece.count(b"\r\n")
    seconds = time.perf_counter() - start
    used = time.process_time() - cpu
    print(
        json.dumps(
            {"rows": rows, "seconds": seconds, "cpu": used, "first": first, "mb": peak() - idle}
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        probing()
    elif sys.argv[1] == "export":
        exporting(sys.argv[2])
    else:
        main(int(sys.argv[1]))
