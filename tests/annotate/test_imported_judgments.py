"""Judgments that come in files: whose they are, what follows of them, and never twice."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate import campaigns, exports, imports, jobs, labels, people, routing, tasks
from annotate.imports import BusyError, ImportRefusedError, Options
from annotate.models import (
    Campaign,
    Event,
    Job,
    Judgment,
    Label,
    Ledger,
    Pair,
    Query,
    Seat,
    Upload,
    User,
)

TABLE = "query,doc_id,judge,rating\nrain,a,ann,3\nrain,a,bob,2\nrain,b,ann,0\n"


@pytest.fixture
def draft(dana: User) -> Campaign:
    return campaigns.create(dana, {"name": "Draft", "scheme_name": "if-good-k", "k": 3})


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def loaded(campaign: Campaign, path: Path, content: str, **options: str) -> int:
    chosen = Options(**{"scale": "0-4", **options})
    return imports.load_file(campaign, written(path, content), chosen)


def said() -> set[tuple[str, str, int | None]]:
    rows = Seat.objects.filter(state=Seat.State.DONE).values_list(
        "pair__document__key", "judge__username", "judgment__grade"
    )
    return set(rows)


# -- What comes of them ---------------------------------------------------------------------------


def test_ratings_become_judgments_of_people_who_stand_in(draft: Campaign, tmp_path: Path) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    assert said() == {
        ("a", "ann (draft)", 3),
        ("a", "bob (draft)", 2),
        ("b", "ann (draft)", 0),
    }
    ann = User.objects.get(username="ann (draft)")
    assert (ann.is_active, ann.has_usable_password(), ann.first_name) == (False, False, "ann")
    assert not draft.memberships.filter(user=ann).exists()


def test_a_judge_of_the_campaign_is_herself_and_a_stranger_is_not(
    campaign: Campaign, charlie: User, tmp_path: Path
) -> None:
    content = "query,doc_id,judge,grade\nq,d,alice,4\nq,d,charlie,1\n"
    loaded(campaign, tmp_path / "f.csv", content)
    assert said() == {("d", "alice", 4), ("d", "charlie (library)", 1)}


def test_the_scheme_decides_what_is_still_wanted(draft: Campaign, tmp_path: Path) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    open_seats = Seat.objects.filter(state=Seat.State.OPEN)
    # if-good-3: a was first called Good+, so one judgment more; b was not, so none.
    assert list(open_seats.values_list("pair__document__key", flat=True)) == ["a"]
    assert Pair.objects.get(document__key="b").state == Pair.State.CLOSED


def test_judgments_bring_labels_and_cost_budget(campaign: Campaign, tmp_path: Path) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(budget=10)
    campaign.refresh_from_db()
    Ledger.objects.create(campaign=campaign, spent=0)
    loaded(campaign, tmp_path / "f.csv", TABLE)
    assert Ledger.objects.get(campaign=campaign).spent == 3
    while labels.label_batch(campaign):
        pass
    grades = Label.objects.filter(pair__query__key="rain").order_by("pair__document__key")
    assert list(grades.values_list("grade", "judgments")) == [(3, 2), (0, 1)]


def test_unnamed_grades_belong_to_the_file(draft: Campaign, tmp_path: Path) -> None:
    loaded(draft, tmp_path / "web.qrels.txt", "1 0 a 2\n1 0 b 0\n")
    assert {judge for _, judge, _ in said()} == {"web (draft)"}
    loaded(draft, tmp_path / "other.txt", "1 0 a 2\n", judge="web")
    assert Judgment.objects.count() == 2


def test_loading_again_makes_nothing_anew_and_another_grade_corrects(
    draft: Campaign, tmp_path: Path
) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    loaded(draft, tmp_path / "f.csv", TABLE)
    assert Judgment.objects.count() == 3
    loaded(draft, tmp_path / "f.csv", TABLE.replace("a,bob,2", "a,bob,1"))
    assert Judgment.objects.count() == 4
    assert ("a", "bob (draft)", 1) in said()
    new = Judgment.objects.latest("pk")
    assert new.supersedes is not None
    assert new.supersedes.grade == 2


def test_a_judgment_that_was_taken_out_stays_out(
    draft: Campaign, dana: User, tmp_path: Path
) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    routing.void(dana, Judgment.objects.get(grade=2).pk)
    loaded(draft, tmp_path / "f.csv", TABLE)
    assert {judge for document, judge, _ in said() if document == "a"} == {"ann (draft)"}


def test_a_judge_who_holds_the_pair_is_done_with_it(campaign: Campaign, alice: User) -> None:
    seat = routing.claim(campaign, alice)
    assert seat is not None
    entry = routing.Entry(seat.pair_id, alice.pk, 4)
    assert routing.record(campaign, [entry]) == 1
    seat.refresh_from_db()
    assert (seat.state, seat.token) == (Seat.State.DONE, None)
    assert routing.record(campaign, [entry]) == 0


def test_times_comments_and_guidelines_are_kept(draft: Campaign, tmp_path: Path) -> None:
    content = (
        "query,doc_id,judge,grade,comment,created_at,duration_ms,guideline_version\n"
        "q,d,ann,3,Long.,2025-03-01T12:00:00.250+01:00,4200,2\n"
    )
    loaded(draft, tmp_path / "f.csv", content)
    judgment = Judgment.objects.get()
    assert (judgment.comment, judgment.active_ms, judgment.guideline_version) == ("Long.", 4200, 2)
    assert judgment.created_at.isoformat() == "2025-03-01T11:00:00.250000+00:00"
    assert judgment.seat.judged_at == judgment.created_at


def test_a_pair_keeps_what_a_file_does_not_say(draft: Campaign, tmp_path: Path) -> None:
    full = "query_id,query,intent,doc_id,title,snippet,rank,truth\n7,rain,Dry?,a,T,S,3,2\n"
    loaded(draft, tmp_path / "f.csv", full)
    loaded(draft, tmp_path / "f.txt", "7 0 a 4\n")
    pair = Pair.objects.select_related("query", "document").get()
    assert (pair.query.text, pair.query.intent, pair.rank, pair.truth) == ("rain", "Dry?", 3, 2)
    assert (pair.document.title, pair.document.snippet) == ("T", "S")


def test_queries_known_by_their_words_are_found(draft: Campaign, tmp_path: Path) -> None:
    loaded(draft, tmp_path / "f.csv", "query_id,query,doc_id\n7,red dress,B1\n")
    loaded(draft, tmp_path / "g.csv", "query,docid,rating\nred dress,B1,3\n")
    loaded(draft, tmp_path / "h.csv", "query,information_need\nred dress,For a wedding.\n")
    query = Query.objects.get()
    assert (query.key, query.text, query.intent) == ("7", "red dress", "For a wedding.")
    assert Pair.objects.count() == 1


def test_a_need_of_an_unknown_query_is_named(draft: Campaign, tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="line 2: There is no such query in this campaign"):
        loaded(draft, tmp_path / "f.csv", "query,information_need\nwhat,Nothing.\n")


def test_a_run_sets_the_first_stage_order(draft: Campaign, tmp_path: Path) -> None:
    loaded(draft, tmp_path / "f.csv", "query,doc_id\nq,a\nq,b\n")
    loaded(draft, tmp_path / "f.run", "q Q0 b 1 9.0 bm25\nq Q0 a 2 8.0 bm25\n")
    ranks = Pair.objects.order_by("rank").values_list("document__key", "rank")
    assert list(ranks) == [("b", 1), ("a", 2)]


def test_the_scale_is_asked_for_and_never_guessed(draft: Campaign, tmp_path: Path) -> None:
    path = written(tmp_path / "f.csv", TABLE)
    with pytest.raises(ImportRefusedError, match=r"go from 0 to 3\. Say which scale"):
        imports.load_file(draft, path)
    assert not Pair.objects.exists()
    report = imports.check(path, draft)
    assert report.asks
    assert [str(scale) for scale in report.choices][:2] == ["0-4", "0-3"]


# -- From the page --------------------------------------------------------------------------------


def post(client: Client, campaign: Campaign, content: bytes, **fields: str) -> Upload:
    file = SimpleUploadedFile("ratings.csv", content)
    address = reverse("campaign_data", args=[campaign.slug])
    assert client.post(address, {"file": file, **fields}).status_code == 302
    return Upload.objects.latest("pk")


def page(client: Client, upload: Upload, **form: str) -> Any:
    address = reverse("upload", args=[upload.campaign.slug, upload.pk])
    return client.post(address, form, follow=True) if form else client.get(address)


def worked() -> None:
    for job in Job.objects.filter(kind="import", state=Job.State.DUE):
        tasks.run(job.pk)


def test_the_page_asks_for_the_scale_and_then_loads(draft: Campaign, dana_client: Client) -> None:
    upload = post(dana_client, draft, TABLE.encode())
    assert upload.state == Upload.State.ASKED
    shown = page(dana_client, upload).content.decode()
    assert "One question first." in shown
    assert "0 Bad, 1 Fair, 2 Excellent, 3 Perfect" in shown
    page(dana_client, upload, action="load")
    assert not Job.objects.filter(kind="import").exists()
    shown = page(
        dana_client, upload, action="check", format="csv", scale="0-3", grades="judgments"
    ).content.decode()
    assert "2 pairs of 1 query and 3 judgments" in " ".join(shown.split())
    page(dana_client, upload, action="load")
    worked()
    upload.refresh_from_db()
    assert upload.state == Upload.State.LOADED
    assert ("a", "ann (draft)", 4) in said()
    assert Event.objects.filter(
        campaign=draft, sentence__contains="3 judgments were loaded"
    ).exists()
    assert Job.objects.filter(kind="aggregate").exists()


def test_a_scale_that_does_not_hold_the_grades_is_no_choice(
    draft: Campaign, dana_client: Client
) -> None:
    upload = post(dana_client, draft, TABLE.encode())
    response = page(dana_client, upload, action="check", format="csv", scale="1-5")
    assert response.status_code == 422
    upload.refresh_from_db()
    assert upload.state == Upload.State.ASKED


def test_the_format_can_be_said_otherwise(draft: Campaign, dana_client: Client) -> None:
    content = b"query,docid,rating\nq,d,3\n"
    upload = post(dana_client, draft, content, format="csv")
    assert upload.format == "csv"
    page(dana_client, upload, action="check", format="quepid-csv", scale="0-3")
    upload.refresh_from_db()
    assert (upload.format, upload.state) == ("quepid-csv", Upload.State.CHECKED)


def test_a_large_file_is_checked_by_the_worker(
    draft: Campaign, dana_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.imports.uploads.CHECK_NOW_BYTES", 10)
    upload = post(dana_client, draft, b"query,url\nq,https://a.org/\n")
    assert upload.state == Upload.State.CHECKING
    assert "Being checked." in page(dana_client, upload).content.decode()
    worked()
    upload.refresh_from_db()
    assert (upload.state, upload.rows) == (Upload.State.CHECKED, 1)


def test_every_problem_can_be_taken_away(draft: Campaign, dana_client: Client) -> None:
    upload = post(dana_client, draft, b"query,url\n" + b"q,=ftp\n" * 700)
    address = reverse("upload", args=[draft.slug, upload.pk])
    assert "500 of 700 lines" in dana_client.get(address).content.decode()
    table = dana_client.get(address, {"problems": "csv"})
    assert table["Content-Disposition"].startswith("attachment")
    assert len(table.content.decode().splitlines()) == 701


def test_one_file_at_a_time(draft: Campaign, dana: User) -> None:
    first, second = (
        imports.check_upload(draft, dana, SimpleUploadedFile("f", b"query,doc_id\nq,d\n"), name)
        for name in ("one", "two")
    )
    imports.load(first)
    with pytest.raises(BusyError, match="Another file is being loaded"):
        imports.load(second)
    worked()
    imports.load(second)


# -- All or nothing -------------------------------------------------------------------------------


def many(rows: int) -> bytes:
    return b"query,doc_id,title\n" + b"".join(b"q%d,d%d,T\n" % (n % 7, n) for n in range(rows))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in ("SMALLEST", "FIRST", "LARGEST"):
        monkeypatch.setattr(f"annotate.imports.pace.{size}", 10)


def taken(upload: Upload) -> Job:
    job = imports.load(upload)
    assert job is not None
    found = jobs.take(job.pk)
    assert found is not None
    upload.refresh_from_db()
    return found


@pytest.mark.usefixtures("small_batches")
def test_nothing_can_be_judged_before_all_is_there(
    campaign: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Seat.objects.count()
    file = SimpleUploadedFile("f", many(100))
    upload = imports.check_upload(campaign, dana, file, "f")
    job = taken(upload)
    seen = []
    write = imports.loading.Writer.write

    def spying(self: Any, *args: Any) -> None:
        write(self, *args)
        seen.append((Seat.objects.count(), Pair.objects.filter(state="open").count()))

    monkeypatch.setattr(imports.loading.Writer, "write", spying)
    imports.load_now(upload, job)
    assert len(seen) == 20  # once to add, once to bring up to date what was there before
    assert set(seen[:10]) == {(before, 6)}
    assert Seat.objects.count() == before + 100


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("step", ["write", "judge", "finish"])
def test_a_load_that_breaks_is_gone_on_with(
    draft: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    content = many(60).replace(b"title", b"grade").replace(b",T", b",2")
    file = SimpleUploadedFile("f", content)
    upload = imports.check_upload(draft, dana, file, "f", Options(scale="0-4"))
    job = taken(upload)
    real = getattr(imports.loading.Writer, step)
    calls = []

    def breaking(self: Any, *args: Any) -> None:
        calls.append(1)
        if len(calls) == (1 if step == "finish" else 4):
            raise OSError("No space left on device")
        real(self, *args)

    monkeypatch.setattr(imports.loading.Writer, step, breaking)
    with pytest.raises(OSError, match="No space"):
        imports.load_now(upload, job)
    upload.refresh_from_db()
    imports.load_now(upload, job)
    assert Pair.objects.exclude(state=Pair.State.LOADING).count() == 60
    assert Judgment.objects.count() == 60
    upload.refresh_from_db()
    assert upload.state == Upload.State.LOADED


@pytest.mark.usefixtures("small_batches")
def test_a_load_that_cannot_be_finished_leaves_nothing_behind(
    campaign: Campaign, dana: User, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    title = "Title 1.1"
    content = many(60) + b"q1,https://example.org/1/1,Changed\n"
    upload = imports.check_upload(campaign, dana, SimpleUploadedFile("f", content), "f")
    counts = (Pair.objects.count(), Query.objects.count(), campaign.documents.count())
    job = taken(upload)
    job.attempts = jobs.MAX_ATTEMPTS
    real = imports.loading.Writer.write

    def breaking(self: Any, batch: Any, *args: Any) -> None:
        real(self, batch, *args)
        if len(batch) < 10:
            raise OSError("No space left on device")

    monkeypatch.setattr(imports.loading.Writer, "write", breaking)
    with pytest.raises(OSError, match="No space"):
        imports.load_now(upload, job)
    now = (Pair.objects.count(), Query.objects.count(), campaign.documents.count())
    assert now == counts
    assert campaign.documents.get(key="https://example.org/1/1").title == title
    upload.refresh_from_db()
    assert upload.state == Upload.State.REFUSED
    assert list((data_dir / "uploads").iterdir()) == []


# -- Commands -------------------------------------------------------------------------------------


def test_the_command_wants_the_scale_and_says_what_it_found(
    draft: Campaign, tmp_path: Path
) -> None:
    path = written(tmp_path / "f.csv", TABLE)
    with pytest.raises(CommandError, match=r"go from 0 to 3.*Give it with --scale") as refused:
        call_command("load", "draft", str(path))
    assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="A scale must be written as"):
        call_command("load", "draft", str(path), "--scale", "five")
    call_command("load", "draft", str(path), "--scale", "0-3")
    assert Judgment.objects.count() == 3
    assert Upload.objects.latest("pk").state == Upload.State.LOADED
    call_command("load", "draft", str(path), "--scale", "0-3")
    assert Judgment.objects.count() == 3


def test_the_command_speaks_json(
    draft: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path / "f.txt.gz", gzip.compress(b"1 0 a 2\n1 0 b 0\n"))
    call_command("load", "draft", str(good), "--scale", "0-2", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["state"], facts["format"], facts["pairs"], facts["judgments"]) == (
        "loaded",
        "qrels",
        2,
        2,
    )
    bad = written(tmp_path / "g.csv", "query,url\nq,ftp://x\n")
    with pytest.raises(CommandError, match="1 lines cannot be loaded"):
        call_command("load", "draft", str(bad), "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["state"] == "refused"
    assert facts["errors"][0]["line"] == 2


def test_the_export_command_writes_whole_files(
    draft: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    while labels.label_batch(draft):
        pass
    target = tmp_path / "out.txt"
    call_command("export", "draft", "qrels.txt", "-o", str(target), "--json")
    facts = json.loads(capsys.readouterr().out)
    assert target.read_text() == "rain 0 a 3\nrain 0 b 0\n"
    assert facts == {"export": "qrels.txt", "file": str(target), "bytes": 22}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(CommandError, match="There is no campaign nowhere"):
        call_command("export", "nowhere", "qrels.txt")
    with pytest.raises(CommandError, match="use-all is for LETOR files"):
        call_command("export", "draft", "qrels.txt", "--labels", "use-all")
    with pytest.raises(CommandError, match="--json needs --output"):
        call_command("export", "draft", "qrels.txt", "--json")


# -- Exports and their options --------------------------------------------------------------------


def test_pseudonyms_are_the_same_in_a_campaign_and_nowhere_else(
    draft: Campaign, dana: User, tmp_path: Path
) -> None:
    loaded(draft, tmp_path / "f.csv", TABLE)
    hidden = exports.Options(pseudonyms=True)
    first, second = (
        b"".join(exports.stream(name, draft, hidden)).decode()
        for name in ("judgments.csv", "judgments.jsonl")
    )
    assert "ann" not in first.replace("annotat", "")
    names = {json.loads(line)["judge"] for line in second.splitlines()}
    assert len(names) == 2
    assert all(name in first and name.startswith("judge-") for name in names)
    other = campaigns.create(dana, {"name": "Other"})
    ann = User.objects.get(username="ann (draft)")
    pair = imports.load_file(other, written(tmp_path / "g.csv", "query,doc_id\nq,d\n"))
    assert pair == 1
    routing.record(other, [routing.Entry(Pair.objects.get(campaign=other).pk, ann.pk, 1)])
    elsewhere = b"".join(exports.stream("judgments.jsonl", other, hidden)).decode()
    assert json.loads(elsewhere)["judge"] not in names


@pytest.mark.parametrize("query", ["?labels=nonsense", "?judges=nobody", "?labels=use-all"])
def test_an_export_that_cannot_be_made_says_why(
    draft: Campaign, dana_client: Client, query: str
) -> None:
    address = reverse("campaign_export", args=["draft", "qrels.txt"])
    response = dana_client.get(address + query)
    assert response.status_code == 422
    assert response.content.decode().endswith(".")


def test_the_export_page_lists_every_file(
    draft: Campaign, dana_client: Client, charlie_client: Client
) -> None:
    address = reverse("campaign_exports", args=["draft"])
    shown = dana_client.get(address, {"judges": "pseudonyms"}).content.decode()
    assert all(f"/export/{name}?judges=pseudonyms" in shown for name in exports.EXPORTS)
    assert charlie_client.get(address).status_code == 404


def test_people_who_stand_in_are_one_person_each(db: None) -> None:
    assert people.stand_in("ann", "a") == people.stand_in("ann", "a")
    assert people.stand_in("ann", "a") != people.stand_in("ann", "b")


# -- Real files -----------------------------------------------------------------------------------


@pytest.mark.real_data
def test_a_real_quepid_book_is_loaded(draft: Campaign, real_data: Path) -> None:
    (path,) = (real_data / "haystack_rating_party").glob("*.json.gz")
    report = imports.check(path, draft, Options(scale="0-3"))
    assert (report.options.format, report.count, report.pairs, report.judgments) == (
        "quepid-json",
        0,
        2420,
        1920,
    )
    assert imports.load_file(draft, path, Options(scale="0-3")) == 2420
    assert Judgment.objects.count() == 1920
    assert Query.objects.exclude(intent="").count() == 2


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "scale", "rows"),
    [("qrels.web.151-200.txt.gz", "-2-4", 16_055), ("qrels.dl19-passage.txt.gz", "0-3", 9_260)],
)
def test_real_qrels_are_read(
    draft: Campaign, real_data: Path, name: str, scale: str, rows: int
) -> None:
    report = imports.check(real_data / "trec_qrels" / name, draft, Options(scale=scale))
    assert (report.options.format, report.count, report.judgments) == ("qrels", 0, rows)
    assert imports.check(real_data / "trec_qrels" / name, draft).asks


@pytest.mark.real_data
def test_real_letor_files_are_read(draft: Campaign, real_data: Path) -> None:
    for name, rows, width in (
        ("mq2008_letor4/S1.txt.gz", 2933, 46),
        ("mslr_sample_5grade/mslr_union_all.txt.gz", 15_469, 136),
    ):
        report = imports.check(real_data / name, draft)
        assert (report.options.format, report.count) == ("letor", 0)
        assert (report.rows, report.width) == (rows, width)


@pytest.mark.real_data
def test_real_tables_of_other_people_are_read(
    draft: Campaign, real_data: Path, tmp_path: Path
) -> None:
    # Ten judges on addresses without a scheme, the columns unnamed and the names elsewhere.
    folder = real_data / "a66_query_url"
    queries = dict(line.split(",", 1) for line in (folder / "queries.csv").read_text().splitlines())
    rows = [line.split(",", 6) for line in (folder / "data.csv").read_text().splitlines()]
    lines = ["judge,qid,query,rank,docid,relevance"]
    lines += [f'{j},{q},"{queries[q]}",{k},{d},{r}' for j, q, k, d, r, *_ in rows]
    path = written(tmp_path / "a66.csv", "\n".join(lines))
    report = imports.check(path, draft, Options(scale="1-4"))
    assert (report.count, report.rows, report.queries) == (1, 499, 10)
    assert report.problems[0].reason.startswith("The pair stands on line")  # one judge, twice
    kept = [line for number, line in enumerate(lines, 1) if number != report.problems[0].line]
    path = written(tmp_path / "a66.csv", "\n".join(kept))
    assert imports.load_file(draft, path, Options(scale="1-4")) == 499
    assert Judgment.objects.count() == 499
    assert Judgment.objects.values("judge").distinct().count() == 10


@pytest.mark.real_data
def test_real_crowd_judgments_are_loaded_once_their_words_are_numbers(
    draft: Campaign, real_data: Path, tmp_path: Path
) -> None:
    words = {"": "", "not_relevant": "0", "relevant": "1", "highly_relevant": "2"}
    files = sorted((real_data / "nyt_topical_relevance").glob("Pilot_3P-*.csv.gz"))
    assert len(files) == 4
    said: dict[tuple[str, str, str], str] = {}
    for number, file in enumerate(files):
        report = imports.check(file, draft)
        # Every line is named with what is wrong with it: words are no grades.
        assert report.problems[0].line == 2
        assert "A grade must be a number. Got" in report.problems[0].reason
        with gzip.open(file, "rt", newline="") as source:
            rows = list(csv.DictReader(source))
        graded = [row for row in rows if row["relevance"]]
        assert report.count == len(graded)
        path = tmp_path / f"{number}.csv"
        with path.open("w", newline="") as target:
            writer = csv.DictWriter(target, list(rows[0]))
            writer.writeheader()
            writer.writerows(row | {"relevance": words[row["relevance"]]} for row in rows)
        assert imports.load_file(draft, path, Options(scale="0-2")) == len(rows)
        said |= {(r["topic"], r["document_id"], r["worker"]): r["relevance"] for r in graded}
    assert Query.objects.get(key="325").text == "Cult Lifestyles"
    assert Query.objects.get(key="325").intent.startswith("Describe a cult by name")
    standing = Judgment.objects.filter(superseded_by=None)
    assert standing.count() == len(said)
    spread = {"not_relevant": 0, "relevant": 2, "highly_relevant": 4}
    assert sum(spread[word] for word in said.values()) == sum(one.grade or 0 for one in standing)
