"""A small BM25 search engine: words, stems and Okapi scores.

Everything here is pure and deterministic: the same strings give the same numbers, in the same
order, on every machine. First-stage candidates of the demo are chosen with it, and
``ranking.text`` builds its features on it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Chinese and Japanese are written without spaces: each of their characters is a word of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile(r"[aeiouy]")


def words(text: str) -> list[str]:
    """Lower-case words in reading order; ``_``, ``.`` and other punctuation separate words.

    >>> words("os.path and Snake_case")
    ['os', 'path', 'and', 'snake', 'case']
    """
    return [word.lower() for word in _WORD.findall(_normal(text))]


def tokenize(text: str) -> list[str]:
    """Index terms: stemmed words, and the parts of a camel-case word before the word itself.

    The whole word is kept beside its parts because people type names without capitals
    (``iphone`` finds ``iPhone``), and the parts because they describe what a name is about.

    >>> tokenize("ArgumentParser parses os.path")
    ['argument', 'parser', 'argumentparser', 'pars', 'os', 'path']
    """
    return [term for word in _WORD.findall(_normal(text)) for term in _terms(word)]


def stem(word: str) -> str:
    """Cut the commonest English endings, so that *parse, parses, parsed, parsing* are one term.

    Three steps on words of four ASCII letters or more: plural (``-ies`` → ``-y``, ``-s`` dropped
    unless the word ends in ``-ss``, ``-us`` or ``-is``), verb (``-ing``, ``-ed`` dropped where at
    least three letters with a vowel stay, a doubled last letter halved), and a final ``-e``
    dropped. Words of other scripts and words with digits stay as they are.

    >>> [stem(word) for word in ("copies", "splitting", "files", "string", "class")]
    ['copy', 'split', 'fil', 'string', 'class']
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    word = _stem_verb(_stem_plural(word))
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _stem_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _stem_verb(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and _VOWEL.search(root):
            doubled = root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root
    return word


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=1 << 17)
def _terms(word: str) -> tuple[str, ...]:
    parts = [part.lower() for part in _CAMEL.split(word)]
    whole = [word.lower()] if len(parts) > 1 else []
    return tuple(stem(part) for part in parts + whole)


class BM25:
    """Okapi BM25 over a list of texts.

    score(q, d) = Σ_{t in q} idf(t) · tf·(k1 + 1) / (tf + k1·(1 − b + b·|d| / mean |d|)),
    idf(t) = ln(1 + (N − n_t + ½) / (n_t + ½)), which is never negative. A term repeated in the
    query counts once. A text without any query term scores 0. Reference: Robertson and Zaragoza,
    *The Probabilistic Relevance Framework*, 2009, with the idf that Lucene uses.

    After ``fit``: ``vocabulary_`` (term → column), ``idf_`` (n_terms), ``weights_`` (sparse
    n_documents × n_terms, each entry a summand of the formula), ``lengths_`` (terms per text).
    """

    def __init__(self, k1: float = 1.2, b: float = 0.75) -> None:
        if k1 < 0:
            raise ValueError(f"k1 must be at least 0. Got {k1} instead.")
        if not 0 <= b <= 1:
            raise ValueError(f"b must be between 0 and 1. Got {b} instead.")
        self.k1 = k1
        self.b = b

    def fit(self, texts: Iterable[str]) -> Self:
        """Index the texts; an empty list is allowed and scores nothing."""
        vocabulary: dict[str, int] = {}
        columns: list[int] = []
        lengths: list[int] = []
        for text in texts:
            terms = tokenize(text)
            columns.extend([vocabulary.setdefault(term, len(vocabulary)) for term in terms])
            lengths.append(len(terms))
        self.vocabulary_ = vocabulary
        self.lengths_ = np.array(lengths, dtype=np.int64)
        self._weigh(np.array(columns, dtype=np.int64))
        return self

    def _weigh(self, columns: IntArray) -> None:
        n_documents, n_terms = len(self.lengths_), len(self.vocabulary_)
        rows = np.repeat(np.arange(n_documents), self.lengths_)
        # One number per (row, column): a binary search then finds what a term weighs in a text.
        self._keys, counts = np.unique(rows * max(n_terms, 1) + columns, return_counts=True)
        row, column = np.divmod(self._keys, max(n_terms, 1))
        frequency = np.bincount(column, minlength=n_terms)
        self.idf_: FloatArray = idf(n_documents, frequency)
        mean_length = max(float(self.lengths_.mean()), 1.0) if n_documents else 1.0
        norm = self.k1 * (1 - self.b + self.b * self.lengths_ / mean_length)
        values = self.idf_[column] * counts * (self.k1 + 1) / (counts + norm[row])
        starts = np.searchsorted(row, np.arange(n_documents + 1))
        self.weights_ = sparse.csr_array((values, column, starts), shape=(n_documents, n_terms))

    def scores(self, query: str) -> FloatArray:
        """The score of every text for one query, shape (n_documents,)."""
        terms = [t for t in dict.fromkeys(tokenize(query)) if t in self.vocabulary_]
        indicator = np.zeros(len(self.vocabulary_))
        indicator[[self.vocabulary_[term] for term in terms]] = 1.0
        return np.asarray(self.weights_ @ indicator, dtype=np.float64)

    def top(self, query: str, n: int) -> IntArray:
        """Indices of the n best texts that score above 0, best first, ties in input order."""
        if n < 1:
            raise ValueError(f"n must be at least 1. Got {n} instead.")
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[:n]
        return order[scores[order] > 0]

    def term_weights(
        self, terms: Sequence[str], documents: IntArray, which: IntArray
    ) -> FloatArray:
        """Weight of ``terms[which[i]]`` in text ``documents[i]``, 0 where it does not occur."""
        columns = np.array([self.vocabulary_.get(term, -1) for term in terms], dtype=np.int64)
        if not len(self._keys) or not len(which):
            return np.zeros(len(which))
        column = columns[which]
        wanted = documents * len(self.vocabulary_) + column
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        found = (self._keys[place] == wanted) & (column >= 0)
        return np.where(found, self.weights_.data[place], 0.0)


def idf(n_documents: int, frequency: npt.ArrayLike) -> FloatArray:
    """ln(1 + (N − n_t + ½) / (n_t + ½)) for terms that occur in ``frequency`` of the texts."""
    n_t = np.asarray(frequency, dtype=np.float64)
    return np.asarray(np.log1p((n_documents - n_t + 0.5) / (n_t + 0.5)), dtype=np.float64)
