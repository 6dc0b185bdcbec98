"""Text features for query–document pairs that come without features.

A campaign may be loaded from a file of queries, addresses, titles and snippets alone. This module
gives such a campaign a feature matrix, so that a ranker can be trained for it. It is pure and
deterministic. ``docs/features.md`` has a table of the features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from ranking.bm25 import BM25, FloatArray, IntArray, idf, tokenize, words

__all__ = ["BM25", "FEATURE_NAMES", "TextDocument", "text_features", "tokenize", "words"]


class TextDocument(NamedTuple):
    """What is known of a document: its address and up to three texts, empty where missing."""

    url: str
    title: str
    snippet: str = ""
    text: str = ""


FEATURE_NAMES: tuple[str, ...] = (
    "bm25_title",
    "bm25_snippet",
    "bm25_text",
    "bm25_url",
    "bm25_all",
    "bm25_all_share",
    "coverage_title",
    "coverage_snippet",
    "coverage_text",
    "coverage_url",
    "idf_coverage_title",
    "idf_coverage_all",
    "title_focus",
    "title_company",
    "phrase_title",
    "phrase_snippet",
    "phrase_text",
    "log_length_title",
    "log_length_snippet",
    "log_length_text",
    "url_length",
    "url_depth",
    "query_length",
    "reciprocal_rank",
)
"""The columns of :func:`text_features`, in order. Stored models depend on it: only ever append."""


def text_features(
    queries: Sequence[str],
    documents: Sequence[TextDocument],
    pairs: tuple[npt.ArrayLike, npt.ArrayLike],
    first_stage_rank: npt.ArrayLike | None = None,
) -> FloatArray:
    """Features of every pair of a campaign, shape (n_pairs, len(FEATURE_NAMES)), float64.

    ``pairs`` is (query_index, document_index), two integer sequences of length n_pairs that point
    into ``queries`` and ``documents``. ``first_stage_rank`` has one number per pair, 1 = best, nan
    (or the whole argument None) where there was no first stage. Statistics such as idf and mean
    length come from ``documents``, so pass a whole campaign at once. The result is always finite:
    what is missing (an empty snippet, no rank) is 0.

    With Q the distinct terms of the query and F those of a field f (title, snippet, text, url, or
    all = title, snippet and text together):

    - bm25_f: BM25 with k1 = 1.2, b = 0.75; bm25_all_share: bm25_all divided by its largest value
      among the pairs of the same query;
    - coverage_f = |Q ∩ F| / |Q|; idf_coverage_f = Σ_{Q ∩ F} idf / Σ_Q idf;
      title_focus = |Q ∩ F_title| / |F_title|;
    - title_company: mean cosine of the BM25 weights of the title with those of the titles of the
      query's other pairs, 0 where there are none;
    - phrase_f = 1 if the words of the query stand in f, in order and next to each other;
    - log_length_f = ln(1 + terms of f); query_length: terms of the query; url_length: characters;
      url_depth: non-empty parts of the path;
    - reciprocal_rank = 1 / first_stage_rank.
    """
    query_index, document_index = _check_pairs(queries, documents, pairs)
    columns = _term_columns(queries, documents, (query_index, document_index))
    columns |= _phrase_columns(queries, documents, (query_index, document_index))
    addresses = [document.url for document in documents]
    depths = [_depth(url) for url in addresses]
    columns["url_length"] = _floats(map(len, addresses))[document_index]
    columns["url_depth"] = _floats(depths)[document_index]
    columns["query_length"] = _floats(len(tokenize(query)) for query in queries)[query_index]
    columns["reciprocal_rank"] = _reciprocal(first_stage_rank, len(query_index))
    return np.column_stack([columns[name] for name in FEATURE_NAMES])


def _check_pairs(
    queries: Sequence[str],
    documents: Sequence[TextDocument],
    pairs: tuple[npt.ArrayLike, npt.ArrayLike],
) -> tuple[IntArray, IntArray]:
    query_index, document_index = (np.asarray(index, dtype=np.int64) for index in pairs)
    if query_index.shape != document_index.shape or query_index.ndim != 1:
        raise ValueError(
            "pairs must be two sequences of the same length. "
            f"Got shapes {query_index.shape} and {document_index.shape} instead."
        )
    for name, index, size in (
        ("query_index", query_index, len(queries)),
        ("document_index", document_index, len(documents)),
    ):
        outside = index[(index < 0) | (index >= size)]
        if len(outside):
            raise ValueError(f"{name} must be between 0 and {size - 1}. Got {outside[0]} instead.")
    return query_index, document_index


def _term_columns(
    queries: Sequence[str],
    documents: Sequence[TextDocument],
    pairs: tuple[IntArray, IntArray],
) -> dict[str, FloatArray]:
    """Every feature that adds something up over the distinct terms of the query."""
    query_index, document_index = pairs
    terms, which, pair = _pair_terms(queries, query_index)

    def total(values: npt.ArrayLike) -> FloatArray:
        return np.bincount(pair, values, len(query_index)).astype(np.float64)

    columns: dict[str, FloatArray] = {}
    for name, texts in _fields(documents).items():
        index = BM25().fit(texts)
        weights = index.term_weights(terms, document_index[pair], which)
        found = np.asarray(weights > 0, dtype=np.float64)
        rarity = _term_idf(index, terms)[which]
        columns[f"bm25_{name}"] = total(weights)
        columns[f"coverage_{name}"] = _ratio(total(found), total(np.ones(len(pair))))
        columns[f"idf_coverage_{name}"] = _ratio(total(rarity * found), total(rarity))
        columns[f"log_length_{name}"] = np.log1p(index.lengths_)[document_index]
        if name == "title":
            distinct = np.diff(index.weights_.indptr).astype(np.float64)
            columns["title_focus"] = _ratio(total(found), distinct[document_index])
            columns["title_company"] = _company(index, query_index, document_index)
    best = np.zeros(len(queries))
    np.maximum.at(best, query_index, columns["bm25_all"])
    columns["bm25_all_share"] = _ratio(columns["bm25_all"], best[query_index])
    return columns


def _company(index: BM25, query_index: IntArray, document_index: IntArray) -> FloatArray:
    """Mean cosine of each pair's text with the texts of the other pairs of its query."""
    chosen = index.weights_[document_index]
    n_pairs = len(document_index)
    pair = np.repeat(np.arange(n_pairs), np.diff(chosen.indptr))
    norm = np.sqrt(np.bincount(pair, chosen.data**2, n_pairs))
    unit = chosen.data / norm[pair]
    place = query_index[pair] * len(index.vocabulary_) + chosen.indices
    _, term = np.unique(place, return_inverse=True)
    together = np.bincount(term, unit)[term] - unit  # this term in the query's other texts
    others = np.bincount(query_index)[query_index].astype(np.float64) - 1
    return _ratio(np.bincount(pair, unit * together, n_pairs).astype(np.float64), others)


def _fields(documents: Sequence[TextDocument]) -> dict[str, list[str]]:
    return {
        "title": [document.title for document in documents],
        "snippet": [document.snippet for document in documents],
        "text": [document.text for document in documents],
        "url": [document.url for document in documents],
        "all": [f"{d.title}\n{d.snippet}\n{d.text}" for d in documents],
    }


def _pair_terms(
    queries: Sequence[str], query_index: IntArray
) -> tuple[list[str], IntArray, IntArray]:
    """All query terms, and one row per pair and distinct query term: (terms, which, pair)."""
    vocabulary: dict[str, int] = {}
    per_query = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in dict.fromkeys(tokenize(query))]
        for query in queries
    ]
    lengths = np.array([len(terms) for terms in per_query], dtype=np.int64)
    flat = np.array([term for terms in per_query for term in terms], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    repeats = lengths[query_index]
    pair = np.repeat(np.arange(len(query_index)), repeats)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return list(vocabulary), flat[starts[query_index][pair] + within], pair


def _term_idf(index: BM25, terms: Sequence[str]) -> FloatArray:
    """Idf of each term in a fitted index; a term that occurs nowhere has the largest."""
    unseen = float(idf(len(index.lengths_), 0))
    columns = [index.vocabulary_.get(term) for term in terms]
    return _floats(unseen if c is None else float(index.idf_[c]) for c in columns)


def _phrase_columns(
    queries: Sequence[str],
    documents: Sequence[TextDocument],
    pairs: tuple[IntArray, IntArray],
) -> dict[str, FloatArray]:
    # Spaces at both ends make a substring search a search for whole words.
    phrases = [f" {' '.join(words(query))} " for query in queries]
    columns: dict[str, FloatArray] = {}
    for name in ("title", "snippet", "text"):
        texts = [f" {' '.join(words(getattr(document, name)))} " for document in documents]
        columns[f"phrase_{name}"] = _floats(
            bool(phrases[q].strip()) and phrases[q] in texts[d]
            for q, d in zip(*(index.tolist() for index in pairs), strict=True)
        )
    return columns


def _depth(url: str) -> int:
    try:
        path = urlsplit(url).path
    except ValueError:  # an address too broken to split has no path
        return 0
    return sum(1 for part in path.split("/") if part)


def _reciprocal(rank: npt.ArrayLike | None, n_pairs: int) -> FloatArray:
    if rank is None:
        return np.zeros(n_pairs)
    ranks = np.asarray(rank, dtype=np.float64)
    if ranks.shape != (n_pairs,):
        raise ValueError(f"first_stage_rank must have {n_pairs} values. Got {ranks.shape} instead.")
    if np.any(ranks < 1):
        raise ValueError(f"A first-stage rank must be at least 1. Got {np.nanmin(ranks)} instead.")
    return np.nan_to_num(1 / ranks, nan=0.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _floats(values: Iterable[float]) -> FloatArray:
    return np.fromiter(values, dtype=np.float64)
