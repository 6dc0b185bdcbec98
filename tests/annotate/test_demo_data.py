"""The demo's queries, documents and grades keep what docs/demo.md promises. No database."""

import collections
import csv
import inspect
import math
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import annotate.demo
from annotate.demo import Demo, FirstStage, load_demo
from annotate.demo.corpus import (
    LONGEST_SNIPPET,
    LONGEST_TEXT,
    MODULES,
    Document,
    standard_library,
)
from ranking.grades import GOOD, Grade

PROJECT = Path(annotate.demo.__file__).parents[2]
DATA = Path(annotate.demo.__file__).parent
ADDRESS = re.compile(r"https://docs\.python\.org/3/library/[a-z0-9._-]+\.html#(module-)?[\w.]+")
COLUMNS = "query_id,query,intent,locale,doc_id,url,title,snippet,text,rank,truth"


@pytest.fixture(scope="module")
def demo() -> Demo:
    return load_demo()


@pytest.fixture(scope="module")
def library() -> dict[str, Document]:
    return {document.key: document for document in standard_library()}


def table(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ndcg(grades: list[int], cutoff: int) -> float:
    def gain(order: list[int]) -> float:
        return sum((2**g - 1) / math.log2(1 + i) for i, g in enumerate(order[:cutoff], start=1))

    return gain(grades) / gain(sorted(grades, reverse=True))


def test_demo_has_at_least_sixty_different_queries_with_intents(demo):
    assert len(demo.queries) >= 60
    assert len({query.query_id for query in demo.queries}) == len(demo.queries)
    assert len({query.text for query in demo.queries}) == len(demo.queries)
    assert all(query.intent.endswith(".") and query.locale == "en" for query in demo.queries)


def test_every_query_has_eight_to_twelve_ranked_candidates(demo):
    assert set(demo.candidates) == {query.query_id for query in demo.queries}
    for row in demo.candidates.values():
        assert 8 <= len(row) <= 12
        assert [candidate.rank for candidate in row] == list(range(1, len(row) + 1))
        assert len({candidate.document.key for candidate in row}) == len(row)


def test_every_candidate_has_the_grade_that_the_truth_file_gives_it(demo):
    written = {(row["query_id"], row["document"]): int(row["grade"]) for row in table("truth.csv")}
    assert demo.truth.items() <= written.items()
    assert len(demo.truth) == sum(len(row) for row in demo.candidates.values())


def test_truth_file_grades_each_pair_once_on_the_scale():
    rows = table("truth.csv")
    queries = {row["query_id"] for row in table("queries.csv")}
    assert {row["query_id"] for row in rows} == queries
    assert {int(row["grade"]) for row in rows} == set(Grade)
    assert len({(row["query_id"], row["document"]) for row in rows}) == len(rows)
    assert all(re.fullmatch(r"[\w.]+", row["document"]) for row in rows)


def test_candidates_come_in_the_order_of_the_first_stage(demo):
    library = standard_library()
    place = {document.key: index for index, document in enumerate(library)}
    search = FirstStage(library)
    for query in demo.queries:
        scores = search.scores(query.text)
        found = [
            scores[place[candidate.document.key]] for candidate in demo.candidates[query.query_id]
        ]
        assert all(later <= sooner + 1e-8 for sooner, later in pairwise(found))
        assert found[-1] > 0


def test_most_pairs_are_fair_or_bad_and_nearly_every_query_has_something_good(demo):
    good = [grade >= GOOD for grade in demo.truth.values()]
    assert 0.10 <= sum(good) / len(good) <= 0.35
    answered = [any(c.grade >= GOOD for c in row) for row in demo.candidates.values()]
    assert sum(answered) / len(answered) >= 0.9


def test_first_stage_is_useful_but_leaves_room_for_a_ranker(demo):
    grades = [[candidate.grade for candidate in row] for row in demo.candidates.values()]
    values = [ndcg(row, 3) for row in grades if any(row)]
    assert 0.45 <= sum(values) / len(values) <= 0.75


def test_rows_have_the_columns_of_an_import_file(demo):
    rows = list(demo.rows())
    assert len(rows) == len(demo.truth)
    assert all(",".join(row) == COLUMNS for row in rows)
    first = rows[0]
    candidate = demo.candidates["q01"][0]
    assert first["query"] == "parse command line arguments"
    assert (first["doc_id"], first["rank"]) == (candidate.document.key, 1)
    assert first["truth"] == candidate.grade


def test_documents_are_the_candidates_once_each(demo):
    keys = [document.key for document in demo.documents]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {key for _, key in demo.truth}


def test_loading_twice_gives_the_same_demo(demo):
    assert load_demo() == demo


def test_every_address_is_a_page_of_the_python_documentation(library):
    wrong = [d.url for d in library.values() if not ADDRESS.fullmatch(d.url)]
    assert wrong == []
    assert all(document.url.endswith(document.key) for document in library.values())


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("json", "json.html#module-json"),
        ("json.dumps", "json.html#json.dumps"),
        ("argparse.ArgumentParser", "argparse.html#argparse.ArgumentParser"),
        ("os.path.join", "os.path.html#os.path.join"),
        (
            "xml.etree.ElementTree.parse",
            "xml.etree.elementtree.html#xml.etree.ElementTree.parse",
        ),
        ("cProfile", "profile.html#module-cProfile"),
        ("cProfile.run", "profile.html#cProfile.run"),
        ("asyncio", "asyncio.html#module-asyncio"),
        ("asyncio.run", "asyncio-runner.html#asyncio.run"),
        ("asyncio.wait_for", "asyncio-task.html#asyncio.wait_for"),
        ("asyncio.Lock", "asyncio-sync.html#asyncio.Lock"),
        ("asyncio.Future", "asyncio-future.html#asyncio.Future"),
        ("asyncio.get_running_loop", "asyncio-eventloop.html#asyncio.get_running_loop"),
        ("sorted", "functions.html#sorted"),
        ("str.strip", "stdtypes.html#str.strip"),
        ("list", "stdtypes.html#list"),
        ("int", "functions.html#int"),
        ("KeyboardInterrupt", "exceptions.html#KeyboardInterrupt"),
        ("datetime.datetime.strptime", "datetime.html#datetime.datetime.strptime"),
        ("random.sample", "random.html#random.sample"),
        ("xml.sax.saxutils.escape", "xml.sax.utils.html#xml.sax.saxutils.escape"),
    ],
)
def test_address_of(key, address, library):
    assert library[key].url == f"https://docs.python.org/3/library/{address}"


def test_documents_describe_themselves(library):
    parser = library["argparse.ArgumentParser"]
    assert parser.title == "argparse.ArgumentParser"
    assert parser.text.startswith(parser.snippet)
    for document in library.values():
        assert 0 < len(document.snippet) <= LONGEST_SNIPPET
        assert 0 < len(document.text) <= LONGEST_TEXT
        assert "\n" not in document.snippet


def test_a_class_that_only_inherits_a_docstring_is_left_out(library):
    assert inspect.getdoc(collections.UserDict)
    assert collections.UserDict.__doc__ is None
    assert "collections.UserDict" not in library
    assert "collections.OrderedDict" in library


def test_an_object_that_several_modules_export_is_described_once(library):
    assert "open" in library
    assert "io.open" not in library


def test_modules_that_are_private_graphical_or_noisy_are_not_walked():
    noisy = {"this", "antigravity", "idlelib", "tkinter", "turtle", "site", "imp", "cgi"}
    assert not noisy & set(MODULES)
    assert not any(part.startswith("_") for name in MODULES for part in name.split("."))


def test_a_module_that_is_missing_is_passed_over(monkeypatch):
    monkeypatch.setattr("annotate.demo.corpus.MODULES", ("no_such_module", "json"))
    keys = [document.key for document in standard_library()]
    assert keys[0] == "json"


def test_loading_says_what_is_wrong_when_docstrings_are_stripped(monkeypatch):
    monkeypatch.setattr(annotate.demo, "standard_library", list)
    with pytest.raises(RuntimeError, match=r"Query q01 needs at least 8 documents\. Got 0 instead"):
        load_demo()


def test_no_docstring_is_kept_in_the_project(library):
    kept = "".join(
        " ".join(path.read_text(encoding="utf-8").split())
        for path in [*DATA.iterdir(), PROJECT / "docs" / "demo.md"]
        if path.suffix in {".py", ".csv", ".md"}
    )
    long = [document for document in library.values() if len(document.snippet) >= 40]
    assert len(long) > 500
    assert [document.key for document in long if document.snippet[:60] in kept] == []


def test_demo_loads_without_django():
    code = "import sys, annotate.demo as d; d.load_demo(); print('django' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
