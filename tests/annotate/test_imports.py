"""Files in: whole or not at all, and every bad line with its reason."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from annotate import imports, tasks
from annotate.formats import Problem, Row, Source, guess
from annotate.imports import ImportRefusedError, load_file, position
from annotate.imports.pace import Pace, writing_much
from annotate.models import Campaign, Document, Job, Pair, Query, Seat, Upload, User

HEADER = "query,url,title,snippet\n"
GOOD = (
    HEADER + "rain,https://example.org/rain,Rain,Water falls.\nrain,https://example.org/sun,Sun,\n"
)


@pytest.fixture
def draft(dana: User) -> Campaign:
    return Campaign.objects.create(slug="draft", name="Draft", created_by=dana)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str | bytes], list[Row | Problem]]:
    """The rows and problems of a file with this content, its format told by it."""

    def reading(content: str | bytes) -> list[Row | Problem]:
        path = written(tmp_path / "read", content)
        kind = guess(Source(path, 2**30).head()).name
        return list(imports.items(path, imports.Options(format=kind)))

    return reading


Read = Callable[[str | bytes], list[Row | Problem]]


@pytest.fixture
def problems(read: Read) -> Callable[[str | bytes], list[tuple[int, str]]]:
    return lambda content: [(p.line, p.reason) for p in read(content) if isinstance(p, Problem)]


Problems = Callable[[str | bytes], list[tuple[int, str]]]


# -- CSV ------------------------------------------------------------------------------------------


def test_csv_columns_are_found_by_name_whatever_their_order_case_or_separator(read: Read) -> None:
    (row,) = read(
        "Title,URL,Query-ID,QUERY,Information Need,lang,Rank\nT,https://a.org/,7,q,i,de,3\n"
    )
    assert row == Row(
        line=2,
        query_key="7",
        query="q",
        intent="i",
        locale="de",
        document_key="https://a.org/",
        url="https://a.org/",
        title="T",
        rank=3,
    )


def test_csv_takes_a_byte_order_mark_and_records_over_several_lines(read: Read) -> None:
    first, second = read(b'\xef\xbb\xbfquery,url\r\n"a\nb",https://a.org/\r\nc,https://c.org/\r\n')
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert (first.line, first.query, second.line, second.query) == (2, "a\nb", 4, "c")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("q,javascript:alert(1)", "url must begin with http:// or https:// and name a host."),
        ("q,https://user@host/", "url must not hold a user name or password."),
        ("q,https://a.org/a b", "url must not hold blanks or control characters."),
        ("q,https://[::1/", "url must be an address."),
        (",https://a.org/", "query must not be empty."),
        ("q,", "url or doc_id must not be empty."),
        ("q", "There must be 2 columns. Got 1 instead."),
        ("q,https://a.org/,x", "There must be 2 columns. Got 3 instead."),
        ("q\0,https://a.org/", "A text must not hold a NUL character."),
        (f"{'q' * 2001},https://a.org/", "query must have at most 2000 characters. Got 2001"),
        (f"q,https://a.org/{'x' * 2100}", "at most 2048 characters"),
        ('"q"x,https://a.org/', "The line is not CSV"),
    ],
)
def test_a_bad_csv_row_names_its_line_and_reason(
    cells: str, reason: str, problems: Problems
) -> None:
    found = problems(f"query,url\nok,https://a.org/\n{cells}\nok,https://b.org/\n")
    assert [line for line, _ in found] == [3]
    assert reason in found[0][1]


def test_a_line_that_is_no_utf8_does_not_stop_the_rest(read: Read) -> None:
    rows = read(b"query,url\nok,https://a.org/\n\xff\xfe,https://b.org/\nok,https://c.org/\n")
    assert [isinstance(row, Row) for row in rows] == [True, False, True]
    assert rows[1] == Problem(3, "The line must be UTF-8.")


@pytest.mark.parametrize("content", ["", "title,snippet\nx,y\n", "query\nx\n", "\0\n"])
def test_a_csv_file_without_the_two_columns_says_which_it_needs(
    content: str, problems: Problems
) -> None:
    assert problems(content)[0][1].startswith("The columns must name a query")


@pytest.mark.parametrize("rank", ["first", "1.5", "1e9", "0", "-1"])
def test_a_rank_is_a_whole_number_from_one(rank: str, problems: Problems) -> None:
    ((line, reason),) = problems(f"query,url,rank\nq,https://a.org/,{rank}\n")
    assert line == 2
    assert reason.startswith("rank must be")


# -- LETOR ----------------------------------------------------------------------------------------


def test_letor_lines_become_rows_with_features_truth_and_document_id(read: Read) -> None:
    (row,) = read("2 qid:10 1:0.5 3:NULL 4:-1e-3 #docid = GX004 inc = 1 prob = 0.2\r\n")
    assert isinstance(row, Row)
    assert (row.query_key, row.document_key, row.truth) == ("10", "GX004", 2)
    assert row.features == (0.5, 0.0, 0.0, -0.001)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("5 qid:1 1:0", "A grade must be a whole number from 0 to 4. Got 5 instead."),
        ("-1 qid:1 1:0", "A grade must be a whole number from 0 to 4. Got -1 instead."),
        ("1 qid:1 1:zero", "A feature must be a number. Got '1:zero' instead."),
        ("1 qid:1 1:1e309", "A feature must be finite. Got '1:1e309' instead."),
        ("1 qid:1 0:1", "A feature's number must be 1 to 10000. Got '0:1'."),
        ("1 qid:1 1:1 1:2", "Feature 1 must stand once. Got it twice."),
        ("nonsense", "The line must be '<grade> qid:<id> <feature>:<value> …'."),
    ],
)
def test_a_bad_letor_line_names_its_reason(line: str, reason: str, problems: Problems) -> None:
    assert problems(f"0 qid:1 1:0\n{line}\n") == [(2, reason)]


# -- Loading --------------------------------------------------------------------------------------


def test_a_file_becomes_queries_documents_and_pairs(draft: Campaign, tmp_path: Path) -> None:
    assert load_file(draft, written(tmp_path / "f.csv", GOOD)) == 2
    assert list(Query.objects.values_list("key", "text")) == [("rain", "rain")]
    assert Document.objects.count() == 2
    assert list(Pair.objects.order_by("rank").values_list("document__title", "rank")) == [
        ("Rain", 1),
        ("Sun", 2),
    ]


def test_a_file_with_one_bad_line_loads_nothing(draft: Campaign, tmp_path: Path) -> None:
    path = written(tmp_path / "f.csv", f"{GOOD}rain,ftp://example.org/,X,\n")
    with pytest.raises(ImportRefusedError, match="line 4: url must begin with http"):
        load_file(draft, path)
    assert (Query.objects.count(), Document.objects.count(), Pair.objects.count()) == (0, 0, 0)


def test_a_pair_that_stands_twice_names_both_lines(draft: Campaign, tmp_path: Path) -> None:
    path = written(tmp_path / "f.csv", f"{GOOD}rain,https://example.org/rain,Again,\n")
    with pytest.raises(ImportRefusedError, match="line 4: The pair stands on line 2 already"):
        load_file(draft, path)


def test_loading_again_updates_and_doubles_nothing(draft: Campaign, tmp_path: Path) -> None:
    load_file(draft, written(tmp_path / "f.csv", GOOD))
    load_file(draft, written(tmp_path / "f.csv", GOOD.replace("Sun", "Star")))
    assert Pair.objects.count() == 2
    assert set(Document.objects.values_list("title", flat=True)) == {"Rain", "Star"}


def test_a_gzipped_file_is_read(draft: Campaign, tmp_path: Path) -> None:
    assert load_file(draft, written(tmp_path / "f.csv.gz", gzip.compress(GOOD.encode()))) == 2


def test_an_empty_file_is_refused(draft: Campaign, tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="must name a query"):
        load_file(draft, written(tmp_path / "f.csv", ""))
    with pytest.raises(ImportRefusedError, match="The file holds no row"):
        load_file(draft, written(tmp_path / "f.csv", HEADER))


def test_letor_features_are_kept_exactly(draft: Campaign, tmp_path: Path) -> None:
    load_file(
        draft, written(tmp_path / "f.txt", "1 qid:a 1:0.1 2:0.3333333333 # x\n0 qid:a 1:7 # y\n")
    )
    assert draft.feature_names == ["feature_1", "feature_2"]
    first, second = Pair.objects.order_by("rank")
    assert np.frombuffer(first.features or b"").tolist() == [0.1, 0.3333333333]
    assert np.frombuffer(second.features or b"").tolist() == [7.0, 0.0]


def test_more_features_than_the_campaign_has_are_refused(draft: Campaign, tmp_path: Path) -> None:
    load_file(draft, written(tmp_path / "a.txt", "1 qid:a 1:0.1 # x\n"))
    with pytest.raises(ImportRefusedError, match=r"There must be 1 features\. Got 2"):
        load_file(draft, written(tmp_path / "b.txt", "1 qid:a 1:0.1 2:1 # y\n"))


def test_pairs_loaded_into_an_open_campaign_get_seats(campaign: Campaign, tmp_path: Path) -> None:
    load_file(campaign, written(tmp_path / "f.csv", GOOD))
    assert Seat.objects.filter(query__key="rain").count() == 2


# -- The order of judging -------------------------------------------------------------------------


def place(query: str, document: str, rank: int, seed: int = 1) -> int:
    row = Row(line=1, query_key=query, query=query, document_key=document)
    return position(seed, row, rank)


def test_the_first_eight_documents_of_every_query_come_before_any_ninth() -> None:
    shallow = [place(f"q{q}", f"d{rank}", rank) for q in range(50) for rank in range(1, 9)]
    deep = [place(f"q{q}", f"d{rank}", rank) for q in range(50) for rank in (9, 16)]
    deeper = [place(f"q{q}", "d17", 17) for q in range(50)]
    assert max(shallow) < min(deep) <= max(deep) < min(deeper)


def test_documents_of_a_query_are_judged_together_but_not_by_rank() -> None:
    found = {(q, r): place(f"q{q}", f"d{r}", r) for q in range(40) for r in range(1, 9)}
    order = sorted(found, key=lambda key: found[key])
    queries = [q for q, _ in order]
    assert all(len(set(queries[start : start + 8])) == 1 for start in range(0, len(queries), 8))
    first_ranks = [rank for index, (_, rank) in enumerate(order) if index % 8 == 0]
    assert len(set(first_ranks)) > 4


def test_the_order_depends_on_the_seed_and_nothing_else() -> None:
    assert place("q", "d", 3) == place("q", "d", 5)
    assert place("q", "d", 3) != place("q", "d", 3, seed=2)


# -- From the page --------------------------------------------------------------------------------


def test_an_upload_is_checked_then_loaded_by_the_worker(draft: Campaign, dana: User) -> None:
    file = SimpleUploadedFile("../../pairs.csv", GOOD.encode())
    upload = imports.check_upload(draft, dana, file, "pairs.csv")
    assert (upload.state, upload.rows, upload.queries) == (Upload.State.CHECKED, 2, 1)
    assert upload.preview[0]["title"] == "Rain"
    assert Pair.objects.count() == 0
    imports.load(upload)
    job = Job.objects.get(kind="import")
    tasks.run(job.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.LOADED
    assert Pair.objects.count() == 2


def test_a_bad_upload_is_refused_with_every_line_and_not_kept(
    draft: Campaign, dana: User, data_dir: Path
) -> None:
    content = HEADER + "a,x,,\n" + "b,https://b.org/,,\n" + "c,y,,\n"
    upload = imports.check_upload(draft, dana, SimpleUploadedFile("f", content.encode()), "f")
    assert upload.state == Upload.State.REFUSED
    assert [error["line"] for error in upload.errors] == [2, 4]
    assert list((data_dir / "uploads").iterdir()) == []


def test_loading_the_same_upload_twice_writes_one_job(draft: Campaign, dana: User) -> None:
    upload = imports.check_upload(draft, dana, SimpleUploadedFile("f", GOOD.encode()), "f")
    imports.load(upload)
    imports.load(upload)
    assert Job.objects.filter(kind="import").count() == 1


# -- The command ----------------------------------------------------------------------------------


def test_the_command_loads_a_file(
    draft: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "f.csv", GOOD)
    call_command("load", "draft", str(path), "--check")
    assert Pair.objects.count() == 0
    call_command("load", "draft", str(path))
    assert Pair.objects.count() == 2
    assert f"2 pairs loaded from {path} (csv)." in capsys.readouterr().out


def test_the_command_names_every_bad_line(
    draft: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "f.csv", HEADER + "a,x,,\nb,y,,\n")
    with pytest.raises(CommandError, match="2 lines cannot be loaded, so nothing was"):
        call_command("load", "draft", str(path))
    errors = capsys.readouterr().err
    assert f"{path}:2: url must" in errors
    assert f"{path}:3: url must" in errors


def test_the_command_needs_a_campaign_and_a_file(draft: Campaign, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no campaign nowhere"):
        call_command("load", "nowhere", str(tmp_path / "f.csv"))
    with pytest.raises(CommandError, match="There is no file"):
        call_command("load", "draft", str(tmp_path / "f.csv"))


# -- Pace -----------------------------------------------------------------------------------------


def test_batches_are_as_large_as_goes_quickly() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    sizes = []
    for seconds in (0.01, 0.07, 0.5, 0.5, 0.5, 0.5, *[0.01] * 20):
        with pace.timed():
            now[0] += seconds
        sizes.append(pace.size)
    assert sizes[:6] == [3000, 3000, 1500, 1000, 1000, 1000]
    assert sizes[-1] == 4000
    assert [len(batch) for batch in Pace().batches(range(4500))] == [2000, 2000, 500]


@writing_much()
def _break_off() -> None:
    raise RuntimeError("break")


@pytest.mark.django_db(transaction=True)
def test_a_connection_writes_as_before_after_an_import() -> None:
    names = ("cache_size", "temp_store", "synchronous") if connection.vendor == "sqlite" else ()

    def set_up() -> list[int]:
        with connection.cursor() as cursor:
            return [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    before = set_up()
    assert before[2:] == [2][: len(names)]  # what a judge hears of is on the disk
    with writing_much():
        assert set_up() == [-65536, 2, 1][: len(names)]
    assert set_up() == before
    with pytest.raises(RuntimeError, match="break"):
        _break_off()
    assert set_up() == before
    with transaction.atomic(), writing_much():
        assert set_up() == before
