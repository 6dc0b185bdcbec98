"""Text features and BM25: expectations as arithmetic, and properties over any strings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.bm25 import stem
from ranking.text import BM25, FEATURE_NAMES, TextDocument, text_features, tokenize, words

TEXTS = ["cats chase mice", "a dog and a cat", "fish swim"]

QUERIES = ["parse arguments", "sort list"]
DOCUMENTS = [
    TextDocument(
        "https://docs.example.org/3/argparse.html#argparse.ArgumentParser",
        "argparse.ArgumentParser",
        "Parse arguments of a program.",
        "Parse arguments of a program. Help comes for free.",
    ),
    TextDocument("https://docs.example.org/sort", "sorted", "Return a sorted list.", ""),
    TextDocument("", "", "", ""),
]
PAIRS = ([0, 0, 1, 1], [0, 1, 1, 2])


def features(rank=None):
    return text_features(QUERIES, DOCUMENTS, PAIRS, rank)


def column(name, rank=None):
    return features(rank)[:, FEATURE_NAMES.index(name)].tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ArgumentParser", ["argument", "parser", "argumentparser"]),
        ("os.path", ["os", "path"]),
        ("read_csv_file", ["read", "csv", "fil"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("Straße naïve", ["straße", "naïve"]),
        ("日本 go", ["日", "本", "go"]),
        ("base64, utf-8!", ["base64", "utf", "8"]),
        ("", []),
    ],
)
def test_tokenize_splits_identifiers_and_lowers_words(text, expected):
    assert tokenize(text) == expected


def test_words_keep_whole_words_unstemmed():
    assert words("The ArgumentParser parses os.path") == [
        "the", "argumentparser", "parses", "os", "path",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "family",
    [
        ("parse", "parses", "parsed", "parsing"),
        ("copy", "copies", "copied", "copying"),
        ("split", "splits", "splitting"),
        ("file", "files"),
        ("call", "calls", "called", "calling"),
    ],
)
def test_stem_gives_one_term_to_a_family_of_words(family):
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["class", "string", "status", "this", "csv", "md5s", "жизнь"])
def test_stem_leaves_other_words_alone(word):
    assert stem(word) == word


def test_bm25_equals_the_value_worked_out_by_hand():
    # Terms per text 3, 5, 2, mean 10/3. "cat" is in two of three texts, once each.
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / (10 / 3)))
    second = idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / (10 / 3)))
    np.testing.assert_allclose(BM25().fit(TEXTS).scores("cat"), [first, second, 0.0], rtol=1e-12)


def test_bm25_adds_terms_up_and_counts_a_repeated_query_term_once():
    index = BM25(k1=0.9, b=0.4).fit(TEXTS)
    together = index.scores("cat mice")
    np.testing.assert_allclose(together, index.scores("cat") + index.scores("mice"), rtol=1e-12)
    np.testing.assert_array_equal(index.scores("cat mice cats"), together)


def test_bm25_top_is_best_first_and_leaves_out_what_does_not_match():
    index = BM25().fit(TEXTS)
    assert index.top("cat", 5).tolist() == [0, 1]
    assert index.top("cat", 1).tolist() == [0]
    assert index.top("zebra", 5).tolist() == []


def test_bm25_ties_keep_the_order_of_the_texts():
    assert BM25().fit(["same words"] * 4).top("words", 3).tolist() == [0, 1, 2]


def test_bm25_of_no_texts_scores_nothing():
    assert BM25().fit([]).scores("cat").shape == (0,)
    assert BM25().fit(["", ""]).scores("cat").tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k1": -1}, "k1 must be at least 0. Got -1 instead."),
        ({"b": 1.5}, "b must be between 0 and 1. Got 1.5 instead."),
    ],
)
def test_bm25_refuses_parameters_without_meaning(parameters, message):
    with pytest.raises(ValueError, match=message):
        BM25(**parameters)


def test_bm25_top_refuses_less_than_one():
    with pytest.raises(ValueError, match=r"n must be at least 1. Got 0 instead."):
        BM25().fit(TEXTS).top("cat", 0)


def test_features_have_one_named_column_each():
    assert features().shape == (4, len(FEATURE_NAMES))
    assert features().dtype == np.float64
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)


def test_bm25_features_equal_the_search_engine_over_the_same_field():
    for field in ("title", "snippet", "text", "url"):
        index = BM25().fit([getattr(document, field) for document in DOCUMENTS])
        expected = [index.scores(QUERIES[q])[d] for q, d in zip(*PAIRS, strict=True)]
        np.testing.assert_allclose(column(f"bm25_{field}"), expected, rtol=1e-12)


def test_coverage_is_the_share_of_query_terms_found():
    assert column("coverage_title") == [1 / 2, 0, 1 / 2, 0]
    assert column("coverage_snippet") == [1, 0, 1, 0]
    assert column("coverage_text") == [1, 0, 0, 0]
    assert column("coverage_url") == [1 / 2, 0, 1 / 2, 0]


def test_idf_coverage_weighs_terms_by_rarity():
    # In titles "argument" occurs once in three documents, "pars" never.
    seen, unseen = math.log(1 + 2.5 / 1.5), math.log(1 + 3.5 / 0.5)
    np.testing.assert_allclose(column("idf_coverage_title")[0], seen / (seen + unseen))
    assert column("idf_coverage_all") == [1, 0, 1, 0]


def test_title_focus_is_the_share_of_title_terms_asked_for():
    # argparse, argument, parser, argumentparser: one of four; sorted: one of one.
    assert column("title_focus") == [1 / 4, 0, 1, 0]


def test_title_company_is_the_mean_cosine_with_the_other_titles_of_the_query():
    titles = ["red fox", "red fox", "blue", ""]
    documents = [TextDocument("", title) for title in titles]
    X = text_features(["fox", "fox"], documents, ([0, 0, 0, 0, 1], [0, 1, 2, 3, 0]))
    company = X[:, FEATURE_NAMES.index("title_company")]
    np.testing.assert_allclose(company, [1 / 3, 1 / 3, 0, 0, 0], atol=1e-15)


def test_phrase_flags_need_the_words_next_to_each_other_in_order():
    assert column("phrase_snippet") == [1, 0, 0, 0]
    assert column("phrase_text") == [1, 0, 0, 0]
    assert column("phrase_title") == [0, 0, 0, 0]


def test_lengths_and_addresses_are_measured():
    np.testing.assert_allclose(column("log_length_snippet"), np.log1p([5, 4, 4, 0]))
    assert column("url_length") == [64, 29, 29, 0]
    assert column("url_depth") == [2, 1, 1, 0]
    assert column("query_length") == [2, 2, 2, 2]


def test_best_pair_of_a_query_has_the_whole_bm25_share():
    assert column("bm25_all_share") == [1, 0, 1, 0]


def test_missing_first_stage_rank_is_zero():
    assert column("reciprocal_rank", [1, 4, math.nan, 2]) == [1, 0.25, 0, 0.5]
    assert column("reciprocal_rank") == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("pairs", "rank", "message"),
    [
        (([0], [0, 1]), None, r"two sequences of the same length. Got shapes \(1,\) and \(2,\)"),
        (([2], [0]), None, "query_index must be between 0 and 1. Got 2 instead."),
        (([0], [-1]), None, "document_index must be between 0 and 2. Got -1 instead."),
        (([0], [0]), [1, 2], r"first_stage_rank must have 1 values. Got \(2,\) instead."),
        (([0], [0]), [0], "A first-stage rank must be at least 1. Got 0.0 instead."),
    ],
)
def test_features_refuse_pairs_that_point_nowhere(pairs, rank, message):
    with pytest.raises(ValueError, match=message):
        text_features(QUERIES, DOCUMENTS, pairs, rank)


def test_no_pairs_give_an_empty_matrix():
    assert text_features([], [], ([], [])).shape == (0, len(FEATURE_NAMES))


@settings(max_examples=60, deadline=None)
@given(
    queries=st.lists(st.text(max_size=20), min_size=1, max_size=3),
    documents=st.lists(
        st.builds(TextDocument, *[st.text(max_size=30)] * 4), min_size=1, max_size=4
    ),
)
def test_features_of_any_strings_are_finite_and_the_same_twice(queries, documents):
    pairs = np.indices((len(queries), len(documents))).reshape(2, -1)
    once = text_features(queries, documents, (pairs[0], pairs[1]))
    assert np.isfinite(once).all()
    np.testing.assert_array_equal(once, text_features(queries, documents, (pairs[0], pairs[1])))


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)))
def test_features_follow_the_order_of_the_pairs(order):
    shuffled = tuple([index[place] for place in order] for index in PAIRS)
    np.testing.assert_array_equal(
        text_features(QUERIES, DOCUMENTS, shuffled), features()[list(order)]
    )
