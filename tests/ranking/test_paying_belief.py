"""What is believed of judges: the model of ordinal, kept sane where little overlaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.aggregation import Ordinal
from ranking.paying import Belief, at_first, believe, list_values, next_judge, value
from ranking.simulation import SKILLS, draw

CROWD = SKILLS["crowd"] / SKILLS["crowd"].sum(axis=1, keepdims=True)
SHARES = [0.5, 0.25, 0.15, 0.07, 0.03]
JUDGES = 12


def judged(pairs: int, second: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """So many pairs; this share has three judgments, the others one."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, pairs, p=SHARES)
    pair = np.repeat(np.arange(pairs), np.where(rng.random(pairs) < second, 3, 1))
    return pair, rng.integers(0, JUDGES, len(pair)), draw(truth[pair], CROWD, rng)


# -- Posteriors -----------------------------------------------------------------------------------


def test_before_anybody_judged_every_grade_is_alike_and_errors_are_small() -> None:
    belief = at_first()
    assert belief.prior == pytest.approx([0.2] * 5)
    assert belief.anyone.sum(axis=1) == pytest.approx([1] * 5)
    assert (belief.anyone.argmax(axis=1) == range(5)).all()
    # 0.35 per grade: for Bad 1 + 0.35 + 0.1225 + 0.042875 + 0.01500625 = 1.53038125
    assert belief.anyone[0, 0] == pytest.approx(1 / 1.53038125)
    assert belief.posterior([], [], [], 2) == pytest.approx(np.full((2, 5), 0.2))


def test_posterior_is_bayes_rule() -> None:
    sure, odd = np.full((5, 5), 0.05) + 0.75 * np.eye(5), np.full((5, 5), 0.2)
    prior = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    belief = Belief(prior, odd, np.array([3]), sure[None])
    # 7 is not known: anyone, who tells nothing. 3 said Good of the first and Bad of the second.
    found = belief.posterior([0, 1, 0, 1], [3, 3, 7, 7], [2, 0, 4, 1], 3)
    first = prior * [0.05, 0.05, 0.8, 0.05, 0.05]
    second = prior * [0.8, 0.05, 0.05, 0.05, 0.05]
    assert found[0] == pytest.approx(first / first.sum())
    assert found[1] == pytest.approx(second / second.sum())
    assert found[2] == pytest.approx(prior)


def test_where_all_agree_no_other_grade_is_more_probable() -> None:
    prior = np.array([0.96, 0.01, 0.01, 0.01, 0.01])
    belief = Belief(prior, at_first().anyone, np.empty(0, dtype=np.int64), np.empty((0, 5, 5)))
    found = belief.posterior([0, 1, 1], [1, 1, 2], [3, 3, 0], 2)
    assert found[0].argmax() == 3
    assert found[1].argmax() == 0
    assert found.sum(axis=1) == pytest.approx([1, 1])


def test_belief_gives_the_posterior_of_the_model_it_was_learnt_by() -> None:
    pair, judge, grade = judged(400, 0.6)
    labels = Ordinal().aggregate(pair, judge, grade)
    belief = believe(pair, judge, grade)
    found = belief.posterior(pair, judge, grade, 400)
    assert labels.posterior is not None
    assert np.abs(found - labels.posterior).max() < 0.02
    assert belief.anyone == pytest.approx(next_judge(labels, judge))


def test_posterior_of_some_documents_is_that_of_all() -> None:
    pair, judge, grade = judged(60, 0.5)
    belief = believe(pair, judge, grade)
    some = pair < 20
    found = belief.posterior(pair[some], judge[some], grade[some], 20)
    assert found == pytest.approx(belief.posterior(pair, judge, grade, 60)[:20])


# -- Learning -------------------------------------------------------------------------------------


def test_many_single_judgments_do_not_make_judges_seem_unerring() -> None:
    pair, judge, grade = judged(20_000, 0.0)
    plain = next_judge(Ordinal().aggregate(pair, judge, grade), judge)
    assert np.diag(plain).min() > 0.99
    assert np.diag(believe(pair, judge, grade).anyone).max() < 0.9


def test_gold_judgments_count_as_they_are() -> None:
    pair, judge, grade = judged(200, 0.3)
    before = believe(pair, judge, grade)
    gold = np.full(60, 4), np.full(60, 2), np.zeros(60, dtype=np.int64)
    after = believe(pair, judge, grade, known=gold)
    assert after.judge.tolist() == list(range(JUDGES))
    # Judge 4 said Bad of sixty Good pairs; nobody else did.
    assert before.matrices(np.array([4]))[0, 2, 0] < 0.2
    assert after.matrices(np.array([4]))[0, 2, 0] > 0.6
    assert after.matrices(np.array([5])) == pytest.approx(before.matrices(np.array([5])))
    assert after.anyone[2, 0] > before.anyone[2, 0]


def test_gold_judgments_alone_are_enough_to_begin_with() -> None:
    wrong = believe([], [], [], known=([9] * 40, [4] * 40, [0] * 40))
    assert wrong.matrices(np.array([9]))[0, 4, 0] > 0.75
    assert wrong.prior == pytest.approx([0.2] * 5)


def test_grades_of_known_pairs_are_checked() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 4\. Got 5 instead"):
        believe([], [], [], known=([1], [5], [0]))


# -- Many queries ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), seed=st.integers(0, 999))
def test_values_of_many_queries_are_those_of_each(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(100 * np.arange(len(sizes)), sizes))
    posterior = rng.dirichlet(np.full(5, 0.5), len(query))
    found = list_values(query, posterior, CROWD)
    for one in np.unique(query):
        alone = value(posterior[query == one], CROWD)
        assert found[query == one] == pytest.approx(alone, abs=1e-12)


def test_every_document_must_have_its_posterior() -> None:
    with pytest.raises(ValueError, match=r"a row for each of 3 documents\. Got shape \(2, 5\)"):
        list_values([1, 1, 2], np.full((2, 5), 0.2), CROWD)
