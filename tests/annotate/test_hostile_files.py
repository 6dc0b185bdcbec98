"""Whatever comes: every row is loaded or named, the counts add up, memory and disk are safe."""

import gzip
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate import imports
from annotate.formats import FORMATS
from annotate.models import Campaign, Pair, Upload, User

CORPUS = [
    b"ok,https://example.org/%d,3\n",
    b"nul\0,https://example.org/%d,3\n",
    b"\xef\xbb\xbfbom,https://example.org/%d,3\n",
    "utf-16,https://example.org/%%d,3\n".encode("utf-16").replace(b"\n\0", b"\n"),
    b'lone,"https://example.org/%d,3\n',
    b'"lone,https://example.org/%d,3\n',
    b'"closed"x,https://example.org/%d,3\n',
    b"wide,https://example.org/%d" + b",x" * 10_000 + b"\n",
    b"narrow\n",
    b"crlf,https://example.org/%d,3\r\n",
    b"cr,https://example.org/%d,3\r",
    "emoji 🌧 \u202e rtl,https://example.org/%d,3\n".encode(),
    b"surrogate \xed\xa0\x80,https://example.org/%d,3\n",
    b"latin \xe9,https://example.org/%d,3\n",
    b"infinite,https://example.org/%d,1e309\n",
    b"six,https://example.org/%d,6\n",
    b"negative,https://example.org/%d,-1\n",
    b"point,https://example.org/%d,3.0\n",
    b"blanks,https://example.org/%d, 4 \n",
    b"twice,https://example.org/,1\n",
    b"script,javascript:alert(%d),1\n",
    b"data,data:text/html;base64,%d\n",
    b"user,https://me@example.org/%d,1\n",
    b"pass,https://me:secret@example.org/%d,1\n",
    b"long,https://example.org/" + b"x" * 2100 + b"/%d,1\n",
    b",https://example.org/%d,1\n",
    b"=cmd|' /C calc'!A0,https://example.org/%d,1\n",
    b"x" * 3000 + b",https://example.org/%d,1\n",
    b"y" * 131_073 + b",https://example.org/%d,1\n",
    b"\n",
]
HEADER = b"query,url,grade\n"
SCALE = imports.Options(format="csv", scale="0-4")


@pytest.fixture
def draft(dana: User) -> Campaign:
    return Campaign.objects.create(slug="draft", name="Draft", created_by=dana)


def checked(campaign: Campaign, path: Path, content: bytes, **options: Any) -> imports.Report:
    path.write_bytes(content)
    return imports.check(path, campaign, imports.Options(**options))


# -- Ten thousand rows ----------------------------------------------------------------------------


def test_ten_thousand_rows_of_all_kinds_are_loaded_or_named(
    draft: Campaign, tmp_path: Path
) -> None:
    kinds = [kind for kind in CORPUS if kind != b"\n"]
    rows = [
        kinds[n % len(kinds)].replace(b"%d", b"%d" % n).replace(b"%%", b"%") for n in range(10_000)
    ]
    path = tmp_path / "file.csv"
    path.write_bytes(HEADER + b"".join(rows))
    report = imports.check(path, draft, SCALE, imports.Limits())
    # The quote of a row that lacks its end is a problem of its own; it takes no other row away.
    assert report.rows + report.count == 10_000
    named = {problem.line for problem in report.problems}
    assert len(named) == report.count
    assert all(problem.reason.endswith(".") for problem in report.problems)
    good = [number for number in range(2, 10_002) if number not in named]
    kept = b"".join(rows[number - 2] for number in good)
    path.write_bytes(HEADER + kept)
    assert imports.load_file(draft, path, SCALE) == report.rows
    assert not Pair.objects.filter(document__url__contains="@").exists()
    assert not Pair.objects.exclude(document__url__startswith="https://example.org/").exists()


def test_the_page_names_every_bad_row_of_ten_thousand(
    draft: Campaign, dana: User, dana_client: Client
) -> None:
    draft.memberships.create(user=dana, role="manager")
    kinds = [kind for kind in CORPUS if len(kind) < 5000 and b"\r" not in kind and kind != b"\n"]
    rows = [kinds[n % len(kinds)].replace(b"%d", b"%d" % n) for n in range(10_000)]
    file = SimpleUploadedFile("rows.csv", HEADER + b"".join(rows))
    sent = {"file": file, "format": "csv"}
    answer = dana_client.post(reverse("campaign_data", args=["draft"]), sent)
    assert answer.status_code == 302
    upload = Upload.objects.get()
    assert upload.state == Upload.State.REFUSED
    assert upload.rows + upload.problems == 10_000
    page = reverse("upload", args=["draft", upload.pk])
    assert dana_client.get(page).status_code == 200
    named = dana_client.get(page, {"problems": "csv"}).content.decode().splitlines()
    assert len(named) == 1 + upload.problems
    assert not Pair.objects.exists()


def test_each_kind_of_row_is_taken_or_refused_as_it_should_be(
    draft: Campaign, tmp_path: Path
) -> None:
    taken = {}
    for kind in CORPUS:
        report = checked(
            draft, tmp_path / "f", HEADER + kind.replace(b"%d", b"1"), format="csv", scale="0-4"
        )
        taken[kind.split(b",")[0][:10]] = report.rows
        assert report.rows + report.count == 1
    assert {name for name, rows in taken.items() if rows} == {
        b"ok", b"crlf", b"cr", b"point", b"blanks", b"twice", b"\xef\xbb\xbfbom", b"=cmd|' /C ",
        "emoji 🌧".encode(),
    }  # fmt: skip


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    kind=st.sampled_from(sorted(FORMATS)),
    content=st.binary(max_size=300)
    | st.lists(st.sampled_from(CORPUS), max_size=8).map(lambda rows: HEADER + b"".join(rows))
    | st.text('{}[]",:\\0\n 1aq-#eE.', max_size=200).map(str.encode)
    | st.text("0123456789.e+-: #qid\t\n=", max_size=200).map(str.encode),
)
@pytest.mark.django_db
def test_no_bytes_make_a_reader_fall_over(tmp_path: Path, kind: str, content: bytes) -> None:
    campaign = Campaign(slug="x", feature_names=[])
    report = checked(campaign, tmp_path / "f", content, format=kind, scale="0-4")
    assert report.rows or report.count
    assert len(report.problems) == report.count
    checked(campaign, tmp_path / "f", content)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", HEADER, HEADER + b"\r\n\r\n"])
def test_a_file_without_rows_is_refused(draft: Campaign, tmp_path: Path, content: bytes) -> None:
    report = checked(draft, tmp_path / "f", content)
    assert (report.rows, report.count) == (0, 1)


# -- Size -----------------------------------------------------------------------------------------

PEAK = """
import os, sys
from pathlib import Path
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from annotate import imports
from annotate.models import Campaign
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
limits = imports.Limits(bytes=50 * 2**20, rows=10**6)
report = imports.check(Path(sys.argv[1]), Campaign(slug="x", feature_names=[]),
                       imports.Options(format="csv"), limits)
print((peak() - before) // 1024, report.count, report.problems[0].reason, sep="|")
"""


def checked_in_a_process(path: Path, folder: Path) -> tuple[int, str]:
    """How many MB more a process holds at most while it checks the file, and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)],
        env={"DATA_DIR": str(folder), "PATH": "", "LOG_LEVEL": "ERROR"},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    grown, _, reason = done.stdout.strip().split("|")
    return int(grown), reason


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Memory is told by /proc.")
@pytest.mark.parametrize("kind", ["gzip bomb", "two gigabytes", "quotes", "the same again"])
def test_a_bomb_is_stopped_at_the_limit_in_little_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb"
    if kind == "gzip bomb":
        with gzip.open(path, "wb", compresslevel=9) as file:
            file.write(b"query,doc_id\n")
            for _ in range(1024):
                file.write((b"a" * 1023 + b"\n") * 1024)
        assert path.stat().st_size < 2 * 2**20
    elif kind == "two gigabytes":
        with path.open("wb") as file:
            file.truncate(2 * 2**30)
    else:
        row = b'"' if kind == "quotes" else b"a,b\n"
        path.write_bytes(b"query,doc_id\n" + row * (40 * 2**20 // len(row)))
    grown, reason = checked_in_a_process(path, tmp_path)
    assert grown < 100, grown
    if kind in ("gzip bomb", "two gigabytes"):
        assert reason == "A file must have at most 50 MB, unzipped."


def test_an_upload_beyond_the_limit_is_refused_and_not_kept(
    draft: Campaign, dana_client: Client, settings: Any, data_dir: Path
) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    file = SimpleUploadedFile("big.csv", HEADER + b"a,https://a.org/,1\n" * 100)
    response = dana_client.post(reverse("campaign_data", args=["draft"]), {"file": file})
    assert response.status_code in (404, 422)
    assert not Upload.objects.exists()
    assert not list((data_dir / "uploads").glob("*"))


@pytest.mark.parametrize("path", ["/campaigns/draft/data/", "/api/v1/campaigns/draft/uploads/"])
def test_two_gigabytes_are_refused_before_a_byte_of_them_is_read(
    draft: Campaign, dana_client: Client, data_dir: Path, path: str
) -> None:
    class Unread:
        def read(self, *_: int) -> bytes:
            raise AssertionError("It was read.")

        readline = read

    announced = {
        "CONTENT_LENGTH": str(2 * 2**30),
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "wsgi.input": Unread(),
    }
    answer = dana_client.generic("POST", path, **announced)  # type: ignore[arg-type]
    assert answer.status_code == 413
    assert "A file must have at most 50 MB." in answer.content.decode()
    assert "Content-Security-Policy" in answer.headers
    assert not Upload.objects.exists()
    assert not (data_dir / "uploads").exists()


@pytest.mark.django_db(transaction=True)
def test_a_server_answers_without_waiting_for_two_gigabytes(live_server: Any) -> None:
    with socket.create_connection((live_server.thread.host, live_server.thread.port)) as line:
        line.settimeout(60)
        line.sendall(
            b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2147483648\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        )
        assert line.recv(100).startswith(b"HTTP/1.1 413 ")


# -- Names ----------------------------------------------------------------------------------------

NAMES = [
    "../../etc/passwd", "..\\..\\windows", "%2e%2e%2f", "/etc/passwd", "a\0b.csv", "CON", "nul.csv",
    "x" * 300 + ".csv", "", ".", "..", "a/b/c.csv", "<script>alert(1)</script>.csv", "=cmd.csv",
    "a\nb.csv", "a\r\nSet-Cookie: x.csv", "\u202egpj.csv", "ü🌧.csv", "-rf", "~root", "$(id)",
    "a;b|c&d", "'quote\".csv", " ", "\ttab.csv", "a.csv/", "C:\\x.csv", "file:///etc/passwd",
    "....//....//etc/passwd", "..%c0%af..%c0%afetc", "%00.csv", "a%00.csv", "..;/x.csv",
    "~/.ssh/id",
    "\\\\server\\share", "//server/share", "C:", "aux.csv", "com1", "LPT1.csv", "con.txt", "prn",
    "a.csv::$DATA", "a:b.csv", "a*.csv", "a?.csv", "a|b.csv", ".htaccess", ".git/config", "-",
    "--help",
    "`id`.csv", "${HOME}.csv", "%s%s%s%n.csv", "{{7*7}}.csv", "a\x1b[31m.csv", "a\x7f.csv",
    "\u200b.csv",
    "e\u0301.csv", "ﬁle.csv", "\U000e0001.csv", "\ufeff.csv", "'; DROP TABLE pair;--.csv", "null",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_name_is_ours_whatever_its_sender_says(
    draft: Campaign, dana: User, data_dir: Path, name: str
) -> None:
    file = SimpleUploadedFile("x", HEADER + b"a,https://a.org/,1\n")
    upload = imports.check_upload(draft, dana, file, name)
    (stored,) = (data_dir / "uploads").iterdir()
    assert stored.name == upload.file
    assert len(stored.stem) == 32
    assert set(stored.stem) <= set("0123456789abcdef")
    assert len(upload.name) <= 200
    assert upload.name.isprintable()


def test_a_hostile_name_is_shown_as_text(draft: Campaign, dana_client: Client, dana: User) -> None:
    file = SimpleUploadedFile("x", b"query,url\na,https://a.org/\n")
    upload = imports.check_upload(draft, dana, file, "<script>alert(1)</script>.csv")
    Campaign.objects.filter(pk=draft.pk).update(created_by=dana)
    draft.memberships.create(user=dana, role="manager")
    page = dana_client.get(reverse("upload", args=["draft", upload.pk])).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_there_are_sixty_names() -> None:
    assert len(set(NAMES)) >= 60


@pytest.mark.parametrize(
    "path",
    [
        "/static/../manage.py", "/static/%2e%2e/manage.py", "/static/..%2fmanage.py",
        "/static/..\\manage.py", "/static//etc/passwd", "/static/%00",
        "/static/css/%2e%2e/%2e%2e/x",
        "/static/....//manage.py", "/uploads/", "/media/", "/media/../manage.py", "/var/secret_key",
        "/campaigns/draft/export/..%2f..%2fmanage.py", "/campaigns/draft/export/%2e%2e",
        "/campaigns/draft/figures/cost/..%2fx.csv",
    ],
)  # fmt: skip
def test_no_address_leads_to_another_file(draft: Campaign, dana: User, path: str) -> None:
    draft.memberships.create(user=dana, role="manager")
    client = Client()
    client.force_login(dana)
    assert client.get(path).status_code == 404
