"""Every format: what it is told by, what its lines become, and what is wrong with them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate import imports
from annotate.formats import FORMATS, Problem, Rating, Row, Source, guess, scales
from annotate.formats.scales import Scale

Read = Callable[..., list[Row | Problem]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The rows and problems of a file with this content, its format told by it."""

    def reading(content: str | bytes, **options: Any) -> list[Row | Problem]:
        path = tmp_path / "file"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        kind = options.pop("format", "") or guess(Source(path, 2**30).head()).name
        return list(imports.items(path, imports.Options(format=kind, **options)))

    return reading


def good(found: list[Row | Problem]) -> list[Row]:
    assert [item for item in found if isinstance(item, Problem)] == []
    return [item for item in found if isinstance(item, Row)]


def bad(found: list[Row | Problem]) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in found if isinstance(item, Problem)]


def said(row: Row) -> list[tuple[str, float]]:
    return [(rating.judge, rating.value) for rating in row.ratings]


# -- What a file is told by -----------------------------------------------------------------------

BOOK = '{"name": "b", "query_doc_pairs": [{"query_text": "q", "doc_id": "d"}]}'
CASE = '{"queries": [{"query": "q", "ratings": {"d": 3}}]}'
WORKBENCH = (
    '{"name": "n", "type": "IMPORT_JUDGMENT", "judgmentRatings": '
    '[{"query": "red dress", "ratings": [{"docId": "B077", "rating": "0.000"}]}]}'
)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("query,url\n", "csv"),
        ("query;url\nq;https://a.org/\n", "csv"),
        ("query\turl\n", "tsv"),
        ('{"query": "q", "url": "https://a.org/"}\n', "jsonl"),
        ("2 qid:1 1:0.5 # docid = x\n", "letor"),
        ("# a comment\n2 qid:1 1:0.5\n", "letor"),
        ("# qid:1: rambo\n4 qid:1 # 7555 rambo\n", "es-ltr"),
        ("151 0 clueweb09-en0000-00-03430 -2\n", "qrels"),
        ("151\t0\tclueweb\t2\n", "qrels"),
        ("151 Q0 clueweb 1 14.2 bm25\n", "run"),
        ("query-id\tcorpus-id\tscore\n", "beir"),
        ("query,docid,rating\n", "quepid-csv"),
        ("query,docid,Ann Smith,Bob\n", "quepid-csv"),
        ("query,docid,title,rating\n", "csv"),
        (BOOK, "quepid-json"),
        (CASE, "quepid-json"),
        (WORKBENCH, "opensearch"),
        ("query,information_need\n", "needs"),
        ("PAR1", "parquet"),
        ("", "csv"),
        ("\0\0", "csv"),
    ],
)
def test_a_file_is_told_by_its_content(head: str, name: str) -> None:
    found = guess(head.encode())
    assert found.name == name
    assert found.reason.endswith(".")


def test_every_format_has_words_for_people() -> None:
    assert all(kind.words for kind in FORMATS.values())


# -- Judgments ------------------------------------------------------------------------------------


def test_qrels_become_judgments_of_nobody(read: Read) -> None:
    first, second = good(read("151 0 d1   -2\r\n\n152\t0\thttps://a.org/x%20y\t4\n", scale="-2-4"))
    assert (first.query_key, first.query, first.document_key) == ("151", "", "d1")
    assert (said(first), said(second)) == ([("", 0)], [("", 4)])


def test_runs_give_the_first_stage_order_from_zero_or_one(read: Read) -> None:
    rows = good(read("1 Q0 a 0 9.5 t\n1 Q0 b 1 9.1 t\n2 Q0 a 1 3 t\n2 Q0 b 2 2 t\n"))
    assert [(row.query_key, row.document_key, row.rank) for row in rows] == [
        ("1", "a", 1),
        ("1", "b", 2),
        ("2", "a", 1),
        ("2", "b", 2),
    ]


def test_beir_columns_are_keys_and_a_grade(read: Read) -> None:
    (row,) = good(read("query-id\tcorpus-id\tscore\nPLAIN-2\tMED-10\t2\n", scale="0-2"))
    assert (row.query_key, row.query, row.document_key, said(row)) == (
        "PLAIN-2",
        "",
        "MED-10",
        [("", 4)],
    )


def test_quepid_csv_has_a_column_for_each_judge(read: Read) -> None:
    first, second, third = good(
        read("query,docid,Ann,Bob\nrain,d1,3,\nrain,d2, 1.0 ,0\nsnow\n", scale="0-3")
    )
    assert (first.query, first.document_key, said(first)) == ("rain", "d1", [("Ann", 4)])
    assert said(second) == [("Ann", 1), ("Bob", 0)]
    assert third.passed_over


def test_quepid_case_csv_names_no_judge(read: Read) -> None:
    (row,) = good(read("query,docid,rating\nrain,https://a.org/,2\n", scale="0-3"))
    assert (row.url, said(row)) == ("https://a.org/", [("", 3)])


def test_quepid_book_brings_pairs_needs_and_judgments(read: Read) -> None:
    pair = {
        "query_text": "projector",
        "doc_id": 325,
        "position": 2,
        "document_fields": '{"title": "Screen", "description": "White."}',
        "information_need": "A screen.",
        "judgements": [
            {"rating": 3.0, "judge": "ann"},
            {"rating": None, "unrateable": True, "judge": "bob"},
        ],
    }
    (row,) = good(read(json.dumps({"name": "x", "query_doc_pairs": [pair]}, indent=1), scale="0-3"))
    assert (row.document_key, row.title, row.snippet, row.intent, row.rank) == (
        "325",
        "Screen",
        "White.",
        "A screen.",
        2,
    )
    assert said(row) == [("ann", 4)]


def test_quepid_case_json_also_as_the_rated_ranking_evaluator_has_it(read: Read) -> None:
    (row,) = good(read(CASE, scale="0-3"))
    assert (row.query, row.document_key, said(row)) == ("q", "d", [("", 4)])
    evaluator = {"placeholders": {"$query": "q"}, "relevant_documents": {"d": {"gain": 1}}}
    (row,) = good(read(json.dumps({"queries": [evaluator]}), scale="0-3"))
    assert (row.query, row.document_key, said(row)) == ("q", "d", [("", 1)])


def test_opensearch_ratings_are_texts(read: Read) -> None:
    (row,) = good(read(WORKBENCH, scale="0-4"))
    assert (row.query, row.document_key, said(row)) == ("red dress", "B077", [("", 0)])


def test_elasticsearch_lists_name_their_queries_in_the_head(read: Read) -> None:
    content = "# qid:1: rambo\n# qid:2: rocky horror\n4 qid:1 # 7555 rambo\n0 qid:2 # 12 rocky x\n"
    first, second = good(read(content, scale="0-4"))
    assert (first.query, first.document_key, said(first)) == ("rambo", "7555", [("", 4)])
    assert (second.query, second.document_key) == ("rocky horror", "12")


def test_needs_tell_of_queries_alone(read: Read) -> None:
    (row,) = good(read("query,information_need\nrain,Whether it rains.\n"))
    assert (row.query, row.document_key, row.intent) == ("rain", "", "Whether it rains.")


def test_letor_grades_can_be_judgments(read: Read) -> None:
    (row,) = good(read("2 qid:7 1:0.5 # docid = x\n", scale="0-2", grades="judgments"))
    assert (row.truth, said(row), row.features) == (None, [("", 4)], (0.5,))


def test_json_lines_have_the_columns_of_a_csv(read: Read) -> None:
    line = {"Query Text": "q", "docid": 7, "Rating": 3, "worker": "ann", "rank": None, "x": [1]}
    (row,) = good(read(json.dumps(line) + "\n", scale="0-4"))
    assert (row.query, row.document_key, row.rank, said(row)) == ("q", "7", None, [("ann", 3)])


def test_our_own_tables_need_no_scale_and_pass_over_what_was_corrected(read: Read) -> None:
    header = "query,doc_id,judge,grade,grade_name,superseded,created_at,comment\n"
    content = (
        header
        + "q,d,ann,3,Excellent,true,2026-01-31T10:00:00.000Z,\n"
        + "q,d,ann,,Taken back,true,2026-01-31T10:01:00.000Z,\n"
        + "q,d,ann,2,Good,false,2026-01-31T10:02:00.000Z,'=x\n"
    )
    first, back, last = good(read(content))
    assert (first.passed_over, back.passed_over, last.passed_over) == (True, True, False)
    (rating,) = last.ratings
    assert (rating.value, rating.judge, rating.comment) == (2, "ann", "=x")
    assert rating.at is not None
    assert rating.at.isoformat() == "2026-01-31T10:02:00+00:00"
    assert last.own_scale


# -- What is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grade", "reason"),
    [
        ("6", "A grade must be a whole number from 0 to 4. Got 6 instead."),
        ("-1", "A grade must be a whole number from 0 to 4. Got -1 instead."),
        ("2.5", "A grade must be a whole number from 0 to 4. Got 2.5 instead."),
        ("1e309", "A grade must be a number. Got '1e309' instead."),
        ("nan", "A grade must be a number. Got 'nan' instead."),
        ("good", "A grade must be a number. Got 'good' instead."),
        ("٣", "A grade must be a number. Got '٣' instead."),
    ],
)
def test_a_bad_grade_names_its_line(read: Read, grade: str, reason: str) -> None:
    content = f"query,doc_id,grade\nq,a,1\nq,b,{grade}\nq,c,2\n"
    assert bad(read(content, scale="0-4")) == [(3, reason)]


@pytest.mark.parametrize("grade", ["3.0", " 3 ", "+3", "3", "3e0"])
def test_whole_grades_may_be_written_in_other_ways(read: Read, grade: str) -> None:
    (row,) = good(read(f"query,doc_id,grade\nq,a,{grade}\n", scale="0-4"))
    assert said(row) == [("", 3)]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("1 0 d\n", 1, "A line must be '<query> 0 <document> <grade>'. Got 3 words."),
        ("1 0 d x y z\n", 1, "'<query> 0 <document> <grade>'. Got 6 words."),
        ("1 0 d high\n", 1, "A grade must be a number."),
        ("1 0 d\ud800 1\n", 1, "The line must be UTF-8."),
    ],
)
def test_a_bad_qrels_line_names_its_reason(
    read: Read, content: str, line: int, reason: str
) -> None:
    ((found, why),) = bad(read(content.encode(errors="surrogatepass"), format="qrels", scale="0-4"))
    assert found == line
    assert reason in why


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[1]", "A line must be a JSON object. Got list instead."),
        ("{", "A line must be a JSON object. Got: "),
        ("[" * 100_000, "A line must be a JSON object. Got: "),
        ('{"query": "q"}', "The columns must name a query"),
        ('{"query": {}, "url": "https://a.org/"}', "query must be a text or a number."),
        ('{"query": "\\ud800", "doc_id": "d"}', "A text must not hold a lone surrogate."),
        ('{"query": "\\u0000", "doc_id": "d"}', "A text must not hold a NUL character."),
        ('{"query": "q", "doc_id": "d", "docid": "e"}', "Each column must stand once."),
    ],
)
def test_a_bad_json_line_names_its_reason(read: Read, content: str, reason: str) -> None:
    ((line, why),) = bad(read(f"\n{content}\n", format="jsonl"))
    assert line == 2
    assert why.startswith(reason)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"judgmentRatings": [', "The file must be whole JSON."),
        ('{"judgmentRatings": [{"query": "q"', "The file must be JSON. Got: "),
        ('{"judgmentRatings": ' + "[" * 100_000, "The file is nested too deep."),
        ("nothing", "The file must be JSON. Got 'n' for '{'."),
        ('{"judgmentRatings": [1]}', "An item must have a query and a list of ratings."),
        (
            '{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d"}]}]}',
            "A rating must have a docId and a rating.",
        ),
        ('{"judgmentRatings": [{"query": "\xff', "The file must be UTF-8."),
    ],
)
def test_a_bad_json_file_says_why(read: Read, content: str, reason: str) -> None:
    ((_, why),) = bad(read(content.encode("latin-1"), format="opensearch"))
    assert why.startswith(reason)


def test_json_items_are_read_one_at_a_time_and_name_their_lines(read: Read) -> None:
    items = [{"query": f"q{n}", "ratings": [{"docId": "d" * 2000, "rating": "x" if n == 70 else 1}]}
             for n in range(100)]  # fmt: skip
    found = read(json.dumps({"a": [1.5, {}], "judgmentRatings": items}, indent=0), scale="0-4")
    assert len(found) == 100
    ((line, _),) = bad(found)
    assert line == 6 + 70 * 9 + 1


# -- Scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "grades"),
    [
        ("0-4", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: None, -1: None, 2.5: None}),
        ("1-5", {1: 0, 5: 4, 0: None}),
        ("0-3", {0: 0, 1: 1, 2: 3, 3: 4}),
        ("0-2", {0: 0, 1: 2, 2: 4}),
        ("0-1", {0: 0, 1: 4, 0.5: None}),
        ("-2-4", {-2: 0, -1: 0, 0: 0, 1: 1, 4: 4, -3: None}),
        ("0.0-1.0", {0: 0, 0.5: 2, 0.9: 4, 1: 4, 1.1: None}),
        ("1–5", {3: 2}),
    ],
)
def test_a_scale_is_spread_over_our_grades(scale: str, grades: dict[float, int | None]) -> None:
    found = scales.parse(scale)
    assert {value: found.grade(value) for value in grades} == grades


@pytest.mark.parametrize("scale", ["", "4", "4-0", "a-b", "0-0", "1-1000", "-3--1", "0-4; DROP"])
def test_what_is_no_scale_is_refused(scale: str) -> None:
    with pytest.raises(ValueError, match=r"A scale must be written as 0-4, 1-5 or 0\.0-1\.0"):
        scales.parse(scale)


def test_people_are_offered_the_scales_that_hold_the_grades() -> None:
    offered = [str(scale) for scale in scales.holding(0, 3, fractions=False)]
    assert offered[:2] == ["0-4", "0-3"]
    assert "1-5" not in offered
    assert next(str(scale) for scale in scales.holding(0.2, 0.9, True)) == "0.0-1.0"
    assert Scale(0, 3).words() == "0 Bad, 1 Fair, 2 Excellent, 3 Perfect"


# -- Bytes and lines ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_where_its_mark_says_so(read: Read, encoding: str) -> None:
    raw = "query,doc_id\nпогода 🌧,d\n".encode(encoding)
    found = read(raw, format="csv")
    if encoding in ("utf-16-le", "utf-16-be"):  # without a mark
        assert bad(found)
        assert not [item for item in found if isinstance(item, Row)]
    else:
        assert good(found)[0].query == "погода 🌧"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways_and_in_a_mixture(read: Read, end: str) -> None:
    rows = good(read(f"query,doc_id\r\na,1{end}b,2\n\nc,3\rd,4"))
    assert [(row.line, row.query) for row in rows][-1][1] == "d"
    assert [row.document_key for row in rows] == ["1", "2", "3", "4"]


def test_a_lone_quote_is_reported_and_swallows_nothing(read: Read) -> None:
    lines = [f"q{n},d{n}" for n in range(50)]
    lines[7] = 'q7,"d7'
    lines[20] = '"q20,d20'
    found = read("query,doc_id\n" + "\n".join(lines) + "\n")
    assert [line for line, _ in bad(found)] == [9, 22]
    assert len([item for item in found if isinstance(item, Row)]) == 48


def test_a_quote_that_is_never_closed_costs_its_line_only(read: Read) -> None:
    found = read('query,doc_id\na,1\n"b,2\n' + "".join(f"c{n},d{n}\n" for n in range(2000)))
    assert [line for line, _ in bad(found)] == [3]
    assert len(found) == 2002


def test_quotes_that_would_be_read_again_for_ever_are_given_up_on(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.formats.csv.MAX_REREAD", 100_000)
    found = read("query,doc_id\n" + 'a","\n' * 5000)
    assert bad(found)[-1][1] == "Too many quotes are not closed. The rest was not read."


def test_a_field_that_is_too_long_is_reported_and_the_next_line_read(read: Read) -> None:
    found = read(f"query,doc_id\n{'x' * 131_073},d\nq,d\n{'y' * 2_000_000},d\nq,e\n")
    assert [line for line, _ in bad(found)] == [2, 4]
    assert "field larger than field limit" in bad(found)[0][1]
    assert bad(found)[1][1] == "A line must have at most 1048576 bytes."


def test_ten_thousand_columns_are_reported(read: Read) -> None:
    wide = ",".join(["x"] * 10_000)
    assert bad(read(f"query,doc_id\n{wide}\nq,d\n")) == [
        (2, "There must be 2 columns. Got 10000 instead.")
    ]
    assert bad(read(f"query,doc_id,{wide}\nq,d\n"))[0][1].startswith("There must be at most 500")


def test_a_broken_gzip_is_refused(read: Read) -> None:
    whole = gzip.compress(b"query,doc_id\n" + b"q,d\n" * 10_000)
    ((line, reason),) = bad(read(whole[:-20], format="csv"))[-1:]
    assert line == 0
    assert reason.startswith("The file must be a whole gzip file.")


def test_semicolons_and_tabs_may_part_the_columns(read: Read) -> None:
    (row,) = good(read("query;doc_id;title\na,b;1;T\n"))
    assert (row.query, row.document_key, row.title) == ("a,b", "1", "T")
    (row,) = good(read("query\tdoc_id\na,b\t1\n"))
    assert (row.query, row.document_key) == ("a,b", "1")


def test_ratings_know_their_judge_and_time() -> None:
    assert Rating(2.0) == Rating(2.0, "", "", None, None, None)
