"""Exports: whole files, safe for spreadsheets, in constant memory."""

import csv
import io
import json
import re
import tracemalloc
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import campaigns, exports, imports, labels, routing, spreadsheets
from annotate.exports.reading import FETCH_ROWS
from annotate.models import Campaign, Document, Judgment, Label, Membership, Pair, Query, User
from tests.conftest import fill, person, signed_in

JUDGMENTS = (
    "query_id,query,locale,intent,doc_id,url,title,snippet,rank,judge,grade,grade_name,comment,"
    "created_at,duration_ms,guideline_version,superseded\r\n"
)
LABELS = (
    "query_id,query,doc_id,url,rank,grade,grade_name,grade_mean,n_judgments,method,updated_at\r\n"
)


def download(client: Client, name: str, slug: str = "library") -> str:
    response = client.get(reverse("campaign_export", args=[slug, f"{name}.csv"]))
    assert response.status_code == 200
    assert response.streaming
    return b"".join(response.streaming_content).decode()  # type: ignore[arg-type]


def judge(campaign: Campaign, user: User, grade: int, **extra: Any) -> Judgment:
    seat = routing.claim(campaign, user)
    assert seat is not None
    assert seat.token is not None
    answer = routing.Answer(grade, uuid.uuid4(), **extra)
    return routing.submit(user, seat.pk, seat.token, answer)


def at(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_judgments_of_a_fresh_campaign_are_a_header(
    campaign: Campaign, dana_client: Client
) -> None:
    assert download(dana_client, "judgments") == JUDGMENTS
    assert download(dana_client, "labels") == LABELS


def test_judgments_whole_with_corrections_marked(
    campaign: Campaign, dana_client: Client, alice: User, bob: User
) -> None:
    Query.objects.filter(key="q1").update(locale="en", intent="Find it.")
    campaigns.save_guidelines(campaign, "Be fair.")
    campaign.refresh_from_db()
    first = judge(campaign, alice, 3, comment="Long, but good.", active_ms=4200)
    routing.take_back(alice, first.pk)
    back = Judgment.objects.get(supersedes=first)
    again = judge(campaign, alice, 2)
    other = judge(campaign, bob, 0)
    about = "q1,query 1,en,Find it.,{0},{0},Title 1.{1},About {1}.,{1}"

    def row(judgment: Judgment) -> str:
        return about.format(judgment.pair.document.url, judgment.pair.rank)

    assert download(dana_client, "judgments") == (
        JUDGMENTS
        + f'{row(first)},alice,3,Excellent,"Long, but good.",{at(first.created_at)},4200,1,true\r\n'
        + f"{row(back)},alice,,Taken back,,{at(back.created_at)},,1,true\r\n"
        + f"{row(again)},alice,2,Good,,{at(again.created_at)},,1,false\r\n"
        + f"{row(other)},bob,0,Bad,,{at(other.created_at)},,1,false\r\n"
    )


def test_labels_whole_in_the_order_of_the_first_stage(
    campaign: Campaign, dana_client: Client, alice: User, bob: User
) -> None:
    judge(campaign, alice, 4)
    judge(campaign, alice, 0)
    judge(campaign, bob, 1)
    while labels.label_batch(campaign):
        pass
    rows = {label.pair.rank: label for label in Label.objects.select_related("pair__document")}
    url = "https://example.org/1/"
    assert download(dana_client, "labels") == (
        LABELS
        + f"q1,query 1,{url}1,{url}1,1,4,Perfect,2.5,2,majority,{at(rows[1].updated_at)}\r\n"
        + f"q1,query 1,{url}2,{url}2,2,0,Bad,0.0,1,majority,{at(rows[2].updated_at)}\r\n"
    )


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\n=1", "'\n'=1"),
        ("\r=1", "'\r'=1"),
        ("x\n=1", "x\n'=1"),
        ("x\r\n  @y", "x\r\n'  @y"),
        ("'=1", "''=1"),
        ("'quoted'", "'quoted'"),
        ("  =1", "'  =1"),
        ("\u00a0=1", "'\u00a0=1"),
        ("\ufeff@x", "'\ufeff@x"),
        ("＝1+1", "'＝1+1"),
        ("-2", "-2"),
        ("+3.5", "+3.5"),
        ("-1e-3", "-1e-3"),
        ("-", "'-"),
        ("a=b", "a=b"),
        ("", ""),
        (-2.5, -2.5),
        (None, None),
    ],
)
def test_cells_cannot_become_formulas(cell: object, safe: object) -> None:
    assert spreadsheets.safe(cell) == safe
    assert not isinstance(safe, str) or spreadsheets.plain(safe) == cell


def test_hostile_cells_are_made_safe_on_the_way_out(
    campaign: Campaign, dana_client: Client, alice: User
) -> None:
    Query.objects.filter(key="q1").update(text='=HYPERLINK("http://evil")')
    judge(campaign, alice, 1, comment="\n@evil")
    (row,) = csv.DictReader(io.StringIO(download(dana_client, "judgments"), newline=""))
    assert row["query"] == '\'=HYPERLINK("http://evil")'
    assert row["comment"] == "'\n'@evil"


BLANKS = ("", " ", "\t", "\u00a0", "\u2003", "\ufeff", "x\n", "x\r\n", "\n", "'")
FORMULAS = [f"{blank}{start}1" for blank in BLANKS for start in ("=cmd|x", "+2+", "-2+", "@A")]


def test_formulas_are_neutral_in_a_spreadsheet_and_exact_everywhere_else(
    campaign: Campaign, alice: User, dana: User, tmp_path: Path
) -> None:
    assert len(FORMULAS) >= 40
    judge(campaign, alice, 1)
    pair = Pair.objects.get(judgments__isnull=False)
    for cell in FORMULAS:
        Document.objects.filter(pk=pair.document_id).update(title=cell, snippet=cell)
        (row,) = csv.DictReader(io.StringIO(exported(campaign, "judgments.csv"), newline=""))
        lines = re.split(r"[\r\n]", row["title"])
        assert not any(re.match(r"[\s\ufeff]*[=+\-@]", line) for line in lines), cell
        (line,) = exported(campaign, "judgments.jsonl").splitlines()
        assert json.loads(line)["title"] == cell
        other = campaigns.create(dana, {"name": "Other"})
        path = tmp_path / "file.csv"
        path.write_bytes(exported(campaign, "judgments.csv").encode())
        imports.load_file(other, path)
        found = Document.objects.get(campaign=other)
        assert (found.title, found.snippet) == (cell, cell)


def exported(campaign: Campaign, name: str) -> str:
    return b"".join(exports.stream(name, campaign)).decode()


def test_download_is_an_attachment(campaign: Campaign, dana_client: Client) -> None:
    response = dana_client.get(reverse("campaign_export", args=["library", "labels.csv"]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="library-labels.csv"'
    assert response["X-Content-Type-Options"] == "nosniff"


def test_only_rows_of_this_campaign_come_out(
    campaign: Campaign, dana: User, dana_client: Client, alice: User
) -> None:
    judge(campaign, alice, 1)
    campaigns.create(dana, {"name": "Other"})
    assert download(dana_client, "judgments", "other") == JUDGMENTS


@pytest.mark.parametrize("name", ["judgments.csv", "labels.csv", "qrels.txt", "run.txt"])
def test_exports_are_the_managers(
    campaign: Campaign, client: Client, alice_client: Client, dana_client: Client, name: str
) -> None:
    address = reverse("campaign_export", args=["library", name])
    assert client.get(address).status_code == 302
    assert alice_client.get(address).status_code == 404
    assert signed_in(person("erin", User.Role.MANAGER)).get(address).status_code == 404
    assert dana_client.post(address).status_code == 405


def test_unknown_export_is_404(campaign: Campaign, dana_client: Client) -> None:
    address = reverse("campaign_export", args=["library", "passwords"])
    assert dana_client.get(address).status_code == 404


def peak(campaign: Campaign) -> int:
    """The most memory an export of labels holds at once, in bytes."""
    tracemalloc.start()
    for _ in exports.stream("labels.csv", campaign):
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_rows(dana: User) -> None:
    assert FETCH_ROWS < 3000, "the smaller size must fill what is held at once"
    campaign = campaigns.create(dana, {"name": "Big"})
    Membership.objects.filter(campaign=campaign).delete()
    fill(campaign, queries=1, documents=1)
    pair = Pair.objects.select_related("document").get(campaign=campaign)

    def grow(start: int, stop: int) -> None:
        numbers = range(start, stop)
        document = type(pair.document)
        documents = document.objects.bulk_create(
            document(campaign=campaign, key=f"d{n}", url="https://example.org/" + "x" * 500)
            for n in numbers
        )
        pairs = Pair.objects.bulk_create(
            Pair(campaign=campaign, query=pair.query, document=found, rank=n, position=n)
            for n, found in zip(numbers, documents, strict=True)
        )
        Label.objects.bulk_create(
            Label(pair=made, grade=1, score=1, judgments=1, method="majority") for made in pairs
        )

    grow(2, 3000)
    few = peak(campaign)
    grow(3000, 15_000)
    assert peak(campaign) < 1.5 * few
