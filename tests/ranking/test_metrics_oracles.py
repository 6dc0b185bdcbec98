"""The same numbers as independent libraries, each by its own convention."""

import gzip

import ir_measures
import numpy as np
import pytest
import ranx
from sklearn.metrics import ndcg_score

from ranking import metrics

QUERIES, K = 40, 5


@pytest.fixture(scope="module")
def rows():
    """Lists of 1 to 60 documents without tied scores, shuffled, some without a Good document."""
    rng = np.random.default_rng(11)
    qid = rng.permutation(np.repeat(np.arange(QUERIES), rng.integers(1, 61, QUERIES)))
    grades = rng.choice(5, qid.size, p=[0.6, 0.2, 0.1, 0.06, 0.04])
    grades[qid < 3] = np.minimum(grades[qid < 3], 1)
    return grades, rng.permutation(qid.size) / qid.size, qid


def as_dicts(qid, values):
    """{query: {document: value}}, as the peers want it."""
    found = {}
    for row, (q, value) in enumerate(zip(qid, values, strict=True)):
        found.setdefault(str(q), {})[str(row)] = value
    return found


@pytest.mark.parametrize(("k", "name"), [(None, "ndcg"), (K, f"ndcg@{K}")])
def test_ndcg_is_that_of_ranx_with_exponential_gains(rows, k, name):
    grades, scores, qid = rows
    run = ranx.Run(as_dicts(qid, scores.tolist()))
    ranx.evaluate(ranx.Qrels(as_dicts(qid, (2**grades - 1).tolist())), run, name)
    want = [run.scores[name][str(q)] for q in np.unique(qid)]
    np.testing.assert_allclose(metrics.ndcg(*rows, k=k, undefined=0), want, atol=1e-12)


@pytest.mark.parametrize(
    ("measure", "name", "options"),
    [
        (metrics.ndcg, f"nDCG@{K}", {"k": K, "undefined": 0}),
        (metrics.ndcg, "nDCG", {"undefined": 0}),
        (metrics.average_precision, "AP(rel=2)", {"undefined": 0}),
        (metrics.average_precision, f"AP(rel=2)@{K}", {"k": K, "undefined": 0}),
        (metrics.average_precision, f"AP(rel=3)@{K}", {"k": K, "undefined": 0, "relevant": 3}),
        (metrics.precision, f"P(rel=2)@{K}", {"k": K}),
        (metrics.mrr, "RR(rel=2)", {"undefined": 0}),
        (metrics.err, f"ERR@{K}", {"k": K}),
    ],
)
def test_measures_are_those_of_ir_measures(rows, measure, name, options):
    grades, scores, qid = rows
    if name.startswith("nDCG"):
        grades = 2**grades - 1
    relevance, run = as_dicts(qid, grades.tolist()), as_dicts(qid, scores.tolist())
    found = {
        m.query_id: m.value
        for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], relevance, run)
    }
    want = [found[str(q)] for q in np.unique(qid)]
    # gdeval, which computes ERR there, prints five digits.
    digits = 6e-6 if name.startswith("ERR") else 1e-12
    np.testing.assert_allclose(measure(*rows, **options), want, atol=digits)


@pytest.mark.parametrize("k", [None, 3, 10])
def test_expected_ndcg_is_that_of_scikit_learn_which_averages_ties(k):
    rng = np.random.default_rng(12)
    grades, scores = rng.integers(0, 5, (30, 25)), rng.integers(0, 4, (30, 25))
    want = [
        ndcg_score([2.0**g - 1], [s], k=k)
        for g, s in zip(grades, scores.astype(float), strict=True)
    ]
    got = metrics.ndcg(
        grades.ravel(), scores.ravel(), np.repeat(np.arange(30), 25), k=k, ties="expected"
    )
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.real_data
def test_ndcg_of_real_queries_is_that_of_scikit_learn(real_data):
    with gzip.open(real_data / "mq2008_letor4" / "S1.txt.gz", "rt") as lines:
        parts = [line.split() for line in lines]
    grades = np.array([int(p[0]) for p in parts])
    qid = np.array([int(p[1].removeprefix("qid:")) for p in parts])
    scores = np.array([float(p[20].split(":")[1]) for p in parts])
    got = metrics.ndcg(grades, scores, qid, k=10, ties="expected")
    assert np.isnan(got).any()
    for value, q in zip(got, np.unique(qid), strict=True):
        mine = qid == q
        if grades[mine].any() and mine.sum() > 1:
            want = ndcg_score([2.0 ** grades[mine] - 1], [scores[mine]], k=10)
            assert value == pytest.approx(want)
