"""TREC judgment files and folds by query."""

import gzip
import io

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.data import folds, read_letor, read_qrels, rotation, write_qrels

WORD = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8)
QRELS = st.dictionaries(st.tuples(WORD, WORD), st.integers(-127, 127), min_size=1, max_size=20).map(
    lambda found: [(q, d, g) for (q, d), g in found.items()]
)


def read(text):
    return read_qrels(io.BytesIO(text if isinstance(text, bytes) else text.encode()))


def columns(rows):
    return tuple(map(list, zip(*rows, strict=True)))


def test_lines_become_rows():
    data = read("q1 0 d1 2\nq1\tQ0\td2   -2\r\n\nq0 0 d1 0")
    assert data.query == ["q1", "q1", "q0"]
    assert data.document == ["d1", "d2", "d1"]
    assert data.grade.tolist() == [2, -2, 0]
    assert data.qid.tolist() == [0, 0, 1]
    assert data.as_dict() == {"q1": {"d1": 2, "d2": -2}, "q0": {"d1": 0}}
    assert len(data) == 3


def test_rows_become_lines():
    file = io.StringIO()
    write_qrels(file, [3, "q"], ["http://a/?b=c", "d"], [4, 0])
    assert file.getvalue() == "3 0 http://a/?b=c 4\nq 0 d 0\n"


@settings(deadline=None, max_examples=100)
@given(rows=QRELS, gzipped=st.booleans())
def test_round_trip_is_exact(rows, gzipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("qrels") / ("a.qrels.gz" if gzipped else "a.qrels")
    query, document, grade = columns(rows)
    write_qrels(path, query, document, grade)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == gzipped
    data = read_qrels(path)
    assert (data.query, data.document, data.grade.tolist()) == (query, document, grade)


@settings(deadline=None, max_examples=50)
@given(rows=QRELS)
def test_files_are_read_by_others(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("qrels") / "a.trec"
    write_qrels(path, *columns(rows))
    expected = read_qrels(path).as_dict()
    theirs: dict[str, dict[str, int]] = {}
    for qrel in ir_measures.read_trec_qrels(str(path)):
        theirs.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    assert theirs == expected
    # As ranx and many scripts do it: every line splits into exactly four words.
    words = [line.split() for line in path.read_text().splitlines()]
    assert [(q, d, int(g)) for q, _, d, g in words] == rows


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q 0 d", r"A line must be '<query> 0 <document> <grade>'\. Got 3 words instead\."),
        ("q 0 my document 1", r"Got 5 words instead\."),
        ("# comment", r"Got 2 words instead\."),
        ("q 0 d x", r"A grade must be a whole number from -127 to 127\. Got 'x' instead\."),
        ("q 0 d 1.0", r"Got '1\.0' instead\."),
        ("q 0 d 128", r"Got '128' instead\."),
        ("q 0 d -128", r"Got '-128' instead\."),
        ("q 0 d 99999999999999999999", r"Got '99999999999999999999' instead\."),
        ("q1 0 d1 3", r"A query must have a document once\. Got it in line 1 too\."),
        (b"q 0 \xff 1", r"A line must be UTF-8 text\."),
        ("q 0 a\0b 1", r"A name must hold no NUL\."),
    ],
)
def test_a_bad_line_is_named_with_its_reason(line, reason):
    bad = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(ValueError, match=rf"^Line 3: .*{reason}"):
        read(b"q1 0 d1 2\n\n" + bad + b"\nbroken\n")


def test_a_file_without_rows_is_an_error():
    with pytest.raises(ValueError, match=r"at least one row\. Got none\."):
        read("\n")
    with pytest.raises(ValueError, match=r"must be a whole gzip file"):
        read(gzip.compress(b"".join(b"q 0 d%d 1\n" % i for i in range(100)))[:-9])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((["q"], ["d"], [1, 2]), r"same length\. Got 1, 1 and 2"),
        (([], [], []), r"at least one row\. Got 0"),
        ((["q"], ["d"], [1.5]), r"grade must hold integers\. Got float64"),
        ((["q"], ["d"], [128]), r"between -127 and 127\. Got 128"),
        ((["q"], ["a b"], [1]), r"no blanks and not be empty\. Got 'a b'"),
        ((["q"], ["a\u00a0b"], [1]), r"no blanks and not be empty\."),
        (([""], ["d"], [1]), r"no blanks and not be empty\. Got ''"),
        ((["q\0"], ["d"], [1]), r"no blanks and not be empty\."),
        ((["q", "q"], ["d", "d"], [1, 2]), r"a document once\. Got one twice"),
    ],
)
def test_rows_that_cannot_be_written_are_named(rows, message):
    with pytest.raises(ValueError, match=message):
        write_qrels(io.StringIO(), *rows)


@settings(deadline=None, max_examples=60)
@given(
    qid=st.lists(st.integers(-(10**9), 10**9), min_size=3, max_size=60),
    n=st.integers(3, 6),
    seed=st.none() | st.integers(0, 99),
)
def test_folds_share_no_query_and_test_every_row_once(qid, n, seed):
    if len(set(qid)) < n:
        with pytest.raises(ValueError, match=rf"at least n = {n} queries\. Got {len(set(qid))}"):
            folds(qid, n, rng=seed)
        return
    found = folds(qid, n, rng=seed)
    names = np.array(qid)
    assert len(found) == n
    for fold in found:
        sides = [set(names[rows]) for rows in (fold.train, fold.validate, fold.test)]
        assert all(sides)
        assert sum(map(len, sides)) == len(set(qid))
        rows = np.concatenate([fold.train, fold.validate, fold.test])
        assert sorted(rows) == list(range(len(qid)))
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(len(qid)))
    sizes = [len(set(names[fold.test])) for fold in found]
    assert max(sizes) - min(sizes) <= 1


def test_folds_rotate_like_letor():
    found = rotation([1, 2, 3, 4, 5])
    assert [(f.train.tolist(), f.validate.tolist(), f.test.tolist()) for f in found] == [
        ([0, 1, 2], [3], [4]),
        ([1, 2, 3], [4], [0]),
        ([2, 3, 4], [0], [1]),
        ([0, 3, 4], [1], [2]),
        ([0, 1, 4], [2], [3]),
    ]


def test_folds_are_runs_of_queries_unless_shuffled():
    qid = np.repeat([9, 2, 7, 4, 5, 1], 2)
    assert [qid[fold.test][0] for fold in folds(qid, 6)] == [1, 9, 2, 7, 4, 5]
    same = [fold.test.tolist() for fold in folds(qid, 3, rng=1)]
    assert same == [fold.test.tolist() for fold in folds(qid, 3, rng=np.random.default_rng(1))]
    assert same != [fold.test.tolist() for fold in folds(qid, 3)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: folds([1, 2, 3], 2), r"n must be at least 3.*Got 2"),
        (lambda: folds([], 5), r"qid must hold at least one value\. Got 0"),
        (lambda: folds(["a"] * 5), r"qid must hold integers\. Got <U1"),
        (lambda: folds([[1, 2, 3]], 3), r"qid must have one dimension\. Got 2"),
        (lambda: rotation([1, 2, 1]), r"at least 3 parts.*Got 2"),
    ],
)
def test_bad_folds_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "rows", "queries", "grades"),
    [
        ("qrels.dl19-passage.txt.gz", 9260, 43, {0, 1, 2, 3}),
        ("qrels.web.151-200.txt.gz", 16055, 50, {-2, 0, 1, 2, 3, 4}),
    ],
)
def test_real_qrels(real_data, name, rows, queries, grades):
    path = real_data / "trec_qrels" / name
    data = read_qrels(path)
    assert len(data) == rows
    assert len(set(data.query)) == queries
    assert set(data.grade.tolist()) == grades
    with gzip.open(path, "rt") as file:
        theirs = {(q.query_id, q.doc_id): q.relevance for q in ir_measures.read_trec_qrels(file)}
    ours = zip(data.query, data.document, data.grade.tolist(), strict=True)
    assert {(q, d): g for q, d, g in ours} == theirs


@pytest.mark.real_data
def test_the_standard_folds_of_mq2008(real_data):
    parts = [read_letor(real_data / "mq2008_letor4" / f"S{i}.txt.gz") for i in range(1, 6)]
    part = np.repeat(np.arange(1, 6), [len(data) for data in parts])
    first = rotation(part)[0]
    assert len(first.train) == sum(len(data) for data in parts[:3])
    assert len(first.test) == len(parts[4])
