"""Out, in and out again gives the same file, whatever people wrote; and others can read it."""

import io
import itertools
import json
import string
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ir_measures
import lightgbm
import numpy as np
import pytest
import ranx
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from annotate import exports, imports, labels
from annotate.formats import Rating, Row
from annotate.imports import Options
from annotate.models import Campaign, Label, Pair, Query, User
from annotate.spreadsheets import plain, safe

#: Each takes out and in so many sets of data; together there are 500.
EXAMPLES = 63
slugs = (f"round-{number}" for number in itertools.count())


class _RolledBackError(Exception):
    """Every example begins with an empty database."""


# -- Data sets ------------------------------------------------------------------------------------

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
) | st.sampled_from(
    ["=1+1", "'=1", "-2", "@x", "\n=y", " \t+z", "\u00a0=1", "''-3", 'a"b,c;d', "\r\n"]
)
words = texts.filter(lambda text: text.strip() and len(text.strip().splitlines()) == 1)
names = st.text(string.ascii_letters + string.digits + "-_.:/%#äß", min_size=1, max_size=12)
plain_names = names.filter(lambda name: not name.startswith("#"))
moments = st.integers(10**12, 17 * 10**11).map(lambda ms: datetime.fromtimestamp(ms / 1000, UTC))
ratings = st.builds(
    Rating,
    value=st.integers(0, 4),
    judge=st.sampled_from(["ann", "bob", "Carl Öst", "=dora", "-eve"]),
    comment=texts,
    at=moments,
    active_ms=st.none() | st.integers(0, 10**8),
    guideline_version=st.integers(0, 9),
)


def judge_of(rating: Rating) -> str:
    return rating.judge


def one_line(text: str) -> str:
    """What is left of a query in formats of words and blanks."""
    return " ".join(text.split())


@st.composite
def datasets(draw: st.DrawFn) -> list[Row]:
    """Some queries with some documents each, all judged by one or several people."""
    rows = []
    queries = draw(st.lists(plain_names, min_size=1, max_size=2, unique=True))
    many = len(queries)
    asked = draw(st.lists(words, min_size=many, max_size=many, unique_by=one_line))
    for key, text in zip(queries, asked, strict=True):
        documents = draw(st.lists(plain_names, min_size=1, max_size=3, unique=True))
        for rank, document in enumerate(documents, start=1):
            rows.append(
                Row(
                    line=1,
                    query_key=key,
                    query=text,
                    intent=draw(texts),
                    locale=draw(st.sampled_from(["", "de", "en-GB"])),
                    document_key=document,
                    title=draw(texts),
                    snippet=draw(texts),
                    rank=rank,
                    ratings=tuple(
                        draw(st.lists(ratings, min_size=1, max_size=2, unique_by=judge_of))
                    ),
                    features=(draw(st.floats(allow_nan=False, allow_infinity=False)), 0.5),
                )
            )
    return rows


# -- The way --------------------------------------------------------------------------------------


def new_campaign() -> Campaign:
    manager, _ = User.objects.get_or_create(username="manager")
    slug = next(slugs)
    return Campaign.objects.create(slug=slug, name="Round", created_by=manager)


def loaded(rows: list[Row]) -> Campaign:
    campaign = new_campaign()
    imports.load_rows(campaign, rows)
    return labelled(campaign)


def labelled(campaign: Campaign) -> Campaign:
    while labels.label_batch(campaign):
        pass
    return campaign


def exported(campaign: Campaign, name: str, **options: Any) -> bytes:
    return b"".join(exports.stream(name, campaign, exports.Options(**options)))


def again(content: bytes, folder: Path, options: Options) -> Campaign:
    """The file in a fresh campaign."""
    path = folder / "file"
    path.write_bytes(content)
    campaign = new_campaign()
    imports.load_file(campaign, path, options)
    return labelled(campaign)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("judgments.csv", Options()),
        ("judgments.jsonl", Options()),
        ("judgments.parquet", Options()),
        ("qrels.txt", Options(format="qrels", scale="0-4")),
        ("letor.txt", Options(format="letor", scale="0-4", grades="judgments")),
        ("elasticsearch-ltr.txt", Options(format="es-ltr", scale="0-4")),
        ("opensearch.json", Options(format="opensearch", scale="0-4")),
        ("quepid.csv", Options(format="quepid-csv", scale="0-4")),
    ],
)
@pytest.mark.django_db
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=datasets())
def test_out_in_and_out_is_the_same(
    tmp_path: Path, name: str, options: Options, rows: list[Row]
) -> None:
    try:
        with transaction.atomic():
            first = exported(loaded(rows), name)
            assert first == exported(again(first, tmp_path, options), name)
            raise _RolledBackError
    except _RolledBackError:
        pass


@pytest.mark.django_db
def test_loading_an_export_where_it_came_from_changes_nothing(tmp_path: Path) -> None:
    campaign = loaded(sample())
    before = {
        name: exported(campaign, name) for name in exports.EXPORTS if name != "labels.parquet"
    }
    counts = (campaign.pairs.count(), campaign.queries.count(), campaign.documents.count())
    for name, options in (
        ("judgments.csv", Options()),
        ("judgments.jsonl", Options()),
        ("judgments.parquet", Options()),
        ("run.txt", Options()),
        ("letor.txt", Options()),
    ):
        path = tmp_path / name
        path.write_bytes(before[name])
        imports.load_file(campaign, path, options)
        now = (campaign.pairs.count(), campaign.queries.count(), campaign.documents.count())
        assert now == counts, name
        assert exported(campaign, "judgments.csv") == before["judgments.csv"], name
    for name in ("qrels.txt", "elasticsearch-ltr.txt", "opensearch.json", "quepid.csv"):
        path = tmp_path / name
        path.write_bytes(before[name])
        imports.load_file(campaign, path, Options(scale="0-4", judge="ann"))
        now = (campaign.pairs.count(), campaign.queries.count(), campaign.documents.count())
        assert now == counts, name


def sample() -> list[Row]:
    """Names and texts with blanks, of two queries with three documents."""
    return [
        Row(
            line=1,
            query_key=f"query {q}",
            query=f"words of {q}",
            document_key=f"https://example.org/{q}/{d} x",
            title=f"=T{d}",
            rank=d,
            truth=d,
            ratings=(Rating((q + d) % 5, "ann", at=datetime(2026, 1, 1, q, d, tzinfo=UTC)),),
            features=(float(d), 0.25),
        )
        for q in (1, 2)
        for d in (1, 2, 3)
    ]


@given(texts)
@settings(max_examples=500, deadline=None)
def test_every_text_comes_back_from_a_spreadsheet_cell(text: str) -> None:
    cell = safe(text)
    assert isinstance(cell, str)
    assert plain(cell) == text


# -- Others read them -----------------------------------------------------------------------------


@pytest.fixture
def campaign(db: None) -> Campaign:
    return loaded(sample())


def expected(campaign: Campaign) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    rows = Label.objects.filter(pair__campaign=campaign).values_list(
        "pair__query__key", "pair__document__key", "grade"
    )
    for query, document, grade in rows:
        found.setdefault(query.replace(" ", "%20"), {})[document.replace(" ", "%20")] = grade
    assert found
    return found


def test_qrels_are_read_by_ranx_and_ir_measures(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(exported(campaign, "qrels.txt"))
    assert ranx.Qrels.from_file(str(path), kind="trec").to_dict() == expected(campaign)
    read = list(ir_measures.read_trec_qrels(str(path)))
    assert {(row.query_id, row.doc_id, row.relevance) for row in read} == {
        (query, document, grade)
        for query, grades in expected(campaign).items()
        for document, grade in grades.items()
    }
    assert all(len(line.split()) == 4 for line in path.read_text().splitlines())


def test_a_run_is_read_and_evaluated_by_ir_measures(campaign: Campaign) -> None:
    run = list(ir_measures.read_trec_run(exported(campaign, "run.txt").decode()))
    assert len(run) == 6
    assert sorted(row.score for row in run) == sorted([1, 1 / 2, 1 / 3] * 2)
    values = ir_measures.calc_aggregate([ir_measures.nDCG @ 3], expected(campaign), list(run))
    assert 0 < values[ir_measures.nDCG @ 3] <= 1


def test_letor_is_read_by_scikit_learn_and_trained_on_by_lightgbm(campaign: Campaign) -> None:
    content = exported(campaign, "letor.txt")
    X, y, qid = load_svmlight_file(io.BytesIO(content), query_id=True)
    assert X.toarray().tolist() == [[1, 0.25], [2, 0.25], [3, 0.25]] * 2
    assert y.tolist() == [2, 3, 4, 3, 4, 0]
    assert qid.tolist() == [1, 1, 1, 2, 2, 2]
    sizes = np.unique(qid, return_counts=True)[1]
    ranker = lightgbm.LGBMRanker(n_estimators=2, min_child_samples=1, verbose=-1)
    assert len(ranker.fit(X, y, group=sizes).predict(X)) == 6


def test_letor_has_a_line_for_every_judgment_when_all_are_used(campaign: Campaign) -> None:
    pair = Pair.objects.filter(campaign=campaign).order_by("pk")[0]
    rows = sample()[:1]
    more = Rating(0, "bob", at=datetime(2026, 1, 2, tzinfo=UTC))
    imports.load_rows(campaign, [Row(**{**_fields(rows[0]), "ratings": (more,)})])
    lines = exported(campaign, "letor.txt", labels="use-all").decode().splitlines()
    assert len(lines) == 7
    assert [line.split()[0] for line in lines[:2]] == ["2", "0"]
    highest = exported(campaign, "letor.txt", labels="highest").decode().splitlines()
    assert [line.split()[0] for line in highest] == ["2", "3", "4", "3", "4", "0"]
    first = exported(campaign, "qrels.txt", labels="mean").decode().splitlines()[0]
    assert first.endswith(" 1"), pair


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__dataclass_fields__}


def test_numbers_stay_numbers_where_all_keys_are(db: None) -> None:
    campaign = loaded([Row(**{**_fields(row), "query_key": row.query_key[6:]}) for row in sample()])
    lines = exported(campaign, "letor.txt").decode().splitlines()
    assert [line.split()[1] for line in lines] == ["qid:1"] * 3 + ["qid:2"] * 3
    assert "queryid" not in lines[0]
    assert set(Query.objects.filter(campaign=campaign).values_list("key", flat=True)) == {"1", "2"}


def test_elasticsearch_opensearch_and_quepid_are_written_as_they_are_documented(
    campaign: Campaign,
) -> None:
    listed = exported(campaign, "elasticsearch-ltr.txt").decode().splitlines()
    assert listed[:3] == [
        "# qid:1: words of 1",
        "# qid:2: words of 2",
        "2 qid:1 # https://example.org/1/1%20x words of 1",
    ]
    workbench = json.loads(exported(campaign, "opensearch.json"))
    assert workbench["type"] == "IMPORT_JUDGMENT"
    assert workbench["judgmentRatings"][0] == {
        "query": "words of 1",
        "ratings": [
            {"docId": f"https://example.org/1/{d} x", "rating": f"{d + 1}.000"} for d in (1, 2, 3)
        ],
    }
    quepid = exported(campaign, "quepid.csv").decode().splitlines()
    assert quepid[:2] == ["query,docid,rating", "words of 1,https://example.org/1/1 x,2"]


def test_parquet_keeps_types_and_texts(campaign: Campaign, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(exported(campaign, "judgments.parquet")))
    assert table.column("title").to_pylist()[0] == "=T1"
    assert table.column("grade").to_pylist() == [2, 3, 4, 3, 4, 0]
    assert table.column("superseded").to_pylist() == [False] * 6
    assert table.column("created_at").to_pylist()[0] == datetime(2026, 1, 1, 1, 1, tzinfo=UTC)


def test_without_pyarrow_a_sentence_says_what_to_install(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str) -> None:
        raise ImportError

    monkeypatch.setattr("annotate.parquet.import_module", missing)
    with pytest.raises(
        exports.ExportRefusedError, match=r"pip install 'second-opinion\[parquet\]'"
    ):
        exported(campaign, "labels.parquet")
