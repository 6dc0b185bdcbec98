"""LETOR files: what is written is what is read, and a bad line is named."""

import gzip
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ranking.data import read_letor, write_letor
from ranking.data.letor import MAX_FEATURES

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORD = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Z"), blacklist_characters="#"), min_size=1
)


def read(text, **options):
    return read_letor(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


@st.composite
def tables(draw):
    rows, columns = draw(st.integers(1, 12)), draw(st.integers(0, 6))
    X = np.array(draw(st.lists(FINITE, min_size=rows * columns, max_size=rows * columns)))
    y = draw(st.lists(st.integers(-2, 4), min_size=rows, max_size=rows))
    qid = draw(st.lists(st.integers(-(10**17), 10**17), min_size=rows, max_size=rows))
    return X.reshape(rows, columns), np.array(y), np.array(qid)


def test_lines_become_rows():
    data = read("2 qid:7 1:0.5 3:-1e-3 # docid = GX1 inc = 1\n\n# a heading\n0 qid:3 2:4\n")
    np.testing.assert_array_equal(data.X, [[0.5, 0, -0.001], [0, 4, 0]])
    np.testing.assert_array_equal(data.y, [2, 0])
    np.testing.assert_array_equal(data.qid, [7, 3])
    assert data.comments == ["docid = GX1 inc = 1", ""]
    assert data.docids == ["GX1", ""]
    assert data.names == {7: "7", 3: "3"}
    assert len(data) == 2


def test_rows_unpack_as_ranking_data():
    X, y, qid = read("1 qid:1 1:2\n")
    assert (X.tolist(), y.tolist(), qid.tolist()) == ([[2.0]], [1], [1])


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:1 1:2 2:3 #c\n0 qid:2 1:4\n",
        "1 qid:1 1:2 2:3 #c\r\n0 qid:2 1:4\r\n",
        "1\tqid:1\t1:2   2:3   # c  \n\n  0 qid:2 1:4",
        "\ufeff1 qid:1 2:3 1:2 #c\n0 qid:2 1:4\n",
        "1.0 qid:1 01:2. 2:+3e0 #c\n0. qid:2 1:.4e1\n",
    ],
)
def test_the_same_rows_in_other_clothes(text):
    data = read(text)
    np.testing.assert_array_equal(data.X, [[2, 3], [4, 0]])
    np.testing.assert_array_equal(data.y, [1, 0])
    np.testing.assert_array_equal(data.qid, [1, 2])
    assert data.comments == ["c", ""]


def test_missing_and_null_features_get_the_stated_value():
    text = "1 qid:1 1:NULL 3:5\n0 qid:1 2:nan\n"
    np.testing.assert_array_equal(read(text).X, [[0, 0, 5], [0, 0, 0]])
    np.testing.assert_array_equal(read(text, missing=-1).X, [[-1, -1, 5], [-1, -1, -1]])
    unknown = read(text, missing=math.nan).X
    assert np.isnan(unknown).tolist() == [[True, True, False], [True, True, True]]


def test_width_can_be_given_so_that_parts_match():
    assert read("1 qid:1 1:2\n", features=4).X.tolist() == [[2, 0, 0, 0]]
    with pytest.raises(ValueError, match=r"Line 1: A feature's number must be from 1 to 4\."):
        read("1 qid:1 5:2\n", features=4)
    with pytest.raises(ValueError, match=r"features must be at least 0\. Got -1"):
        read("1 qid:1 5:2\n", features=-1)


def test_named_queries_get_codes_in_order_of_appearance():
    data = read("1 qid:zebra 1:1\n0 qid:7 1:1\n2 qid:zebra 1:1\n")
    assert data.qid.tolist() == [0, 1, 0]
    assert data.names == {0: "zebra", 1: "7"}
    assert read("1 qid:007\n0 qid:7\n").names == {0: "007", 1: "7"}


def test_judgment_lists_without_features_can_be_read():
    data = read("# qid:1: rambo\n4 qid:1 # 7555 rambo\n3 qid:1 # 1370 rambo\n")
    assert data.X.shape == (2, 0)
    assert data.docids == ["7555", "1370"]


@settings(deadline=None, max_examples=150)
@given(table=tables(), gzipped=st.booleans())
def test_round_trip_is_exact(table, gzipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("letor") / ("a.txt.gz" if gzipped else "a.txt")
    write_letor(path, *table)
    data = read_letor(path, features=table[0].shape[1])
    np.testing.assert_array_equal(data.X, table[0])
    np.testing.assert_array_equal(np.signbit(data.X), np.signbit(table[0]))
    np.testing.assert_array_equal(data.y, table[1])
    np.testing.assert_array_equal(data.qid, table[2])


@settings(deadline=None, max_examples=100)
@given(said=st.lists(st.tuples(WORD, st.lists(WORD, max_size=3)), min_size=1, max_size=8))
def test_names_and_comments_round_trip(said):
    names = dict(enumerate(dict.fromkeys(f"q{name}" for name, _ in said)))
    code = {name: number for number, name in names.items()}
    qid = [code[f"q{name}"] for name, _ in said]
    comments = [" # ".join(words).strip() for _, words in said]
    file = io.StringIO()
    X, y = np.zeros((len(said), 1)), np.ones(len(said), int)
    write_letor(file, X, y, qid, comments=comments, names=names)
    data = read_letor(io.StringIO(file.getvalue()))
    assert data.names == names
    assert data.qid.tolist() == qid
    assert data.comments == comments


def test_missing_values_round_trip():
    file = io.BytesIO()
    write_letor(file, [[math.nan, 1.5]], [2], [1])
    assert file.getvalue() == b"2 qid:1 1:NULL 2:1.5\n"
    file.seek(0)
    np.testing.assert_array_equal(read_letor(file, missing=math.nan).X, [[math.nan, 1.5]])


@settings(deadline=None, max_examples=50)
@given(table=tables())
def test_files_are_read_by_scikit_learn_and_its_files_by_us(table):
    X, y, qid = table
    # scikit-learn's 16 digits can round the very largest numbers up to infinity.
    X = np.clip(np.column_stack([X, y]), -1e300, 1e300)
    file = io.BytesIO()
    write_letor(file, X, y, qid)
    file.seek(0)
    theirs = load_svmlight_file(file, n_features=X.shape[1], query_id=True, zero_based=False)
    np.testing.assert_array_equal(theirs[0].toarray(), X)
    np.testing.assert_array_equal(theirs[2], qid)
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, query_id=qid, zero_based=False)
    file.seek(0)
    data = read_letor(file, features=X.shape[1])
    np.testing.assert_allclose(data.X, X, rtol=1e-14)
    np.testing.assert_array_equal(data.qid, qid)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x qid:1 1:2", r"A grade must be a whole number\. Got 'x' instead"),
        ("1.5 qid:1 1:2", r"A grade must be a whole number\. Got '1.5' instead"),
        ("1_0 qid:1 1:2", r"A grade must be a whole number\. Got '1_0' instead"),
        ("qid:1 1:2", r"A grade must be a whole number\. Got 'qid:1' instead"),
        ("1 1:2 2:3", r"Got no qid, '1:2', instead"),
        ("1", r"Got no qid, '', instead"),
        ("1 qid: 1:2", r"Got no qid, 'qid:', instead"),
        ("1 qid:1 2", r"A feature must be '<number>:<value>'\. Got '2' instead"),
        ("1 qid:1 1:2:3", r"A feature must be '<number>:<value>'\. Got '1:2:3' instead"),
        ("1 qid:1 1:2 3 4:5:6", r"A feature must be '<number>:<value>'\. Got '3' instead"),
        ("1 qid:1 1: 2:3", r"A feature must be '<number>:<value>'\. Got '1:' instead"),
        ("1 qid:1 2:3 1:", r"A feature must be '<number>:<value>'\. Got '1:' instead"),
        ("1 qid:1 :3", r"A feature must be '<number>:<value>'\. Got ':3' instead"),
        ("1 qid:1 :", r"A feature must be '<number>:<value>'\. Got ':' instead"),
        ("1 qid:1 0:3", r"A feature's number must be from 1 to 10000\. Got '0' instead"),
        ("1 qid:1 -1:3", r"A feature's number must be from 1 to 10000\. Got '-1' instead"),
        ("1 qid:1 1.0:3", r"A feature's number must be from 1 to 10000\. Got '1.0' instead"),
        ("1 qid:1 1e2:3", r"A feature's number must be from 1 to 10000\. Got '1e2' instead"),
        ("1 qid:1 99999:3", r"from 1 to 10000\. Got '99999' instead"),
        ("1 qid:1 12345678901234567890:3", r"from 1 to 10000\. Got '12345678901234567890' inst"),
        ("1 qid:1 1:abc", r"A value must be a finite number or NULL\. Got 'abc' instead"),
        ("1 qid:1 1:1_0", r"A value must be a finite number or NULL\. Got '1_0' instead"),
        ("1 qid:1 1:0x10", r"A value must be a finite number or NULL\. Got '0x10' instead"),
        ("1 qid:1 1:inf", r"A value must be a finite number or NULL\. Got 'inf' instead"),
        ("1 qid:1 1:1e309", r"A value must be a finite number or NULL\. Got '1e309' instead"),
        ("1 qid:1 1:1,5", r"A value must be a finite number or NULL\. Got '1,5' instead"),
        ("1 qid:1 1:1\x002", r"A value must be a finite number or NULL\."),
        ("1 qid:1 1:2 1:3", r"A feature must not be given twice\."),
        ("1 qid:1 2:2 1:3 2:2", r"A feature must not be given twice\."),
        (b"1 qid:1 1:2 # \xff", r"A line must be UTF-8 text\."),
        (b"1 qid:\xff 1:2", r"A line must be UTF-8 text\."),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 100])
def test_a_bad_line_is_named_with_its_reason(line, reason, before):
    good = b"# heading\n" + b"1 qid:1 1:0.5 2:3 # note\n" * before
    bad = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(ValueError, match=rf"^Line {before + 2}: .*{reason}"):
        read(good + bad + b"\n" + b"0 qid:2 1:1\n" * 50 + b"broken too\n")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_rows_is_an_error(text):
    with pytest.raises(ValueError, match=r"at least one row\. Got none\."):
        read(text)


def test_gzip_is_known_by_its_content_and_a_broken_one_is_an_error():
    whole = gzip.compress(b"1 qid:1 1:2\n" * 1000)
    assert len(read(whole)) == 1000
    with pytest.raises(ValueError, match=r"must be a whole gzip file"):
        read(whole[:-20])
    with pytest.raises(ValueError, match=r"must be a whole gzip file"):
        read(whole[:20] + b"\x00\x01\x02\x03" + whole[24:])


def test_a_single_line_cannot_ask_for_all_memory():
    wide = read(f"1 qid:1 {MAX_FEATURES}:1\n")
    assert wide.X.shape == (1, MAX_FEATURES)
    with pytest.raises(ValueError, match=r"Line 1: A feature's number"):
        read(f"1 qid:1 {MAX_FEATURES + 1}:1\n")


def test_files_longer_than_a_block_are_read_whole():
    text = "".join(f"{i % 5} qid:{i // 10} 1:{i} {2 + i // 20000}:0.5\n" for i in range(40_000))
    data = read(text)
    assert data.X.shape == (40_000, 3)
    np.testing.assert_array_equal(data.X[:, 0], np.arange(40_000))
    np.testing.assert_array_equal(data.X[:, 2], np.repeat([0, 0.5], 20_000))
    with pytest.raises(ValueError, match=r"^Line 40001: "):
        read(text + "1 qid:1 1:x\n")


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (([[1.0]], [1, 2], [1]), {}, r"Got \(1, 1\), \(2,\) and \(1,\) instead"),
        (([1.0], [1], [1]), {}, r"rows × features.*Got \(1,\)"),
        (([[math.inf]], [1], [1]), {}, r"finite numbers or nan\. Got inf"),
        (([[1.0]], [1.5], [1]), {}, r"y must hold integers\. Got float64"),
        (([[1.0]], [1], ["a"]), {}, r"qid must hold integers\. Got <U1"),
        ((np.empty((0, 2)), np.empty(0, int), np.empty(0, int)), {}, r"at least one row\. Got 0"),
        (([[1.0]], [1], [1]), {"comments": []}, r"one entry per row, 1\. Got 0"),
        (([[1.0]], [1], [1]), {"comments": ["a\nb"]}, r"must be one line\. Got 'a\\nb'"),
        (([[1.0]], [1], [1]), {"names": {1: "a b"}}, r"no blanks and no '#'\. Got 'a b'"),
        (([[1.0]], [1], [1]), {"names": {1: "a#b"}}, r"no blanks and no '#'\. Got 'a#b'"),
        (([[1.0]], [1], [1]), {"names": {2: "a"}}, r"name for every query\. Got none for 1"),
        (
            ([[1.0]] * 2, [1, 1], [1, 2]),
            {"names": {1: "a", 2: "a"}},
            r"own name\. Got one name twi",
        ),
    ],
)
def test_rows_that_cannot_be_written_are_named(rows, options, message, tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(ValueError, match=message):
        write_letor(path, *rows, **options)
    assert not path.exists()


@pytest.mark.real_data
def test_mq2008(real_data):
    parts = [read_letor(real_data / "mq2008_letor4" / f"S{i}.txt.gz") for i in range(1, 6)]
    assert sum(map(len, parts)) == 15_211
    assert len(set().union(*(part.names for part in parts))) == 784
    assert {part.X.shape[1] for part in parts} == {46}
    assert set(np.concatenate([part.y for part in parts])) == {0, 1, 2}
    assert parts[0].docids[0] == "GX008-86-4444840"
    assert parts[0].X[0, [0, 2, 45]].tolist() == [0.007477, 1.0, 0.007042]


@pytest.mark.real_data
def test_ohsumed(real_data):
    folder = real_data / "ohsumed_letor3"
    parts = [read_letor(folder / f"fold{i}.test.txt.gz") for i in range(1, 6)]
    assert sum(map(len, parts)) == 16_140
    assert sum(len(part.names) for part in parts) == 106
    assert {part.X.shape[1] for part in parts} == {45}


@pytest.mark.real_data
def test_mslr_agrees_with_scikit_learn(real_data):
    path = real_data / "mslr_sample_5grade" / "mslr_union_all.txt.gz"
    data = read_letor(path)
    assert np.bincount(data.y).tolist() == [8406, 4696, 2031, 243, 93]
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    np.testing.assert_array_equal(data.X, X.toarray())
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal(data.qid, qid)
