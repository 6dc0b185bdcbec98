"""Agreement over all judges: worked examples, oracles, properties, and what is undefined."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from ranking.agreement import (
    Agreement,
    fleiss_kappa,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from ranking.agreement.tally import tally

COEFFICIENTS = [krippendorff_alpha, fleiss_kappa, gwet_ac2, percent_agreement]

# Krippendorff's example, also in Gwet's handbook: four judges, twelve pairs, values 1 to 5.
FOUR_JUDGES = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]

# Fleiss 1971: ten pairs with 14 judges each, how many gave each of the five grades.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def from_matrix(matrix):
    """Pair, judge and grade of a judges × pairs matrix with 0 for nothing and 1 for the grade 0."""
    judge, pair = np.nonzero(matrix)
    return pair, judge, np.asarray(matrix)[judge, pair] - 1


def from_counts(counts):
    """Judgments with these counts per pair, judges numbered within each pair."""
    rows = [(p, g) for p, row in enumerate(counts) for g, n in enumerate(row) for _ in range(n)]
    pair, grade = np.array(rows).T
    judge = np.concatenate([np.arange(sum(row)) for row in counts])
    return pair, judge, grade


@st.composite
def judgments(draw, max_pairs=12, max_judges=6, share=0.7):
    """Random judgments without repeats, at least one."""
    seed = draw(st.integers(0, 2**32 - 1))
    pairs, judges = draw(st.integers(1, max_pairs)), draw(st.integers(1, max_judges))
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 6, (judges, pairs)) * (rng.random((judges, pairs)) < share)
    matrix[0, 0] = max(1, matrix[0, 0])
    return from_matrix(matrix)


def overlapping(seed, pairs=40, judges=6, share=0.6):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, pairs)
    matrix = np.clip(truth + rng.integers(-1, 2, (judges, pairs)), 1, 5)
    return from_matrix(matrix * (rng.random((judges, pairs)) < share))


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example(level, published):
    assert float(krippendorff_alpha(*from_matrix(FOUR_JUDGES), level)) == pytest.approx(
        published, abs=5e-4
    )


def test_alpha_counts_only_pairs_with_two_judges():
    found = krippendorff_alpha(*from_matrix(FOUR_JUDGES))
    assert (found.pairs, found.judgments) == (11, 40)


def test_fleiss_kappa_of_his_example():
    # P̄ = 0.378, P̄e = 0.213 in the study; the sums behind them, written out:
    share = np.sum(FLEISS, axis=0) / 140
    agreed = sum(sum(n * (n - 1) for n in row) / (14 * 13) for row in FLEISS) / 10
    chance = sum(share**2)
    found = fleiss_kappa(*from_counts(FLEISS))
    assert found.value == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)
    assert found.value == pytest.approx(0.210, abs=5e-4)


def test_gwets_example():
    # Published: AC1 0.77544, AC2 with quadratic weights 0.914, Fleiss 0.76117, agreement 0.81818.
    rows = from_matrix(FOUR_JUDGES)
    assert float(gwet_ac2(*rows, None)) == pytest.approx(0.77544, abs=5e-6)
    assert float(gwet_ac2(*rows, "quadratic")) == pytest.approx(0.914, abs=5e-4)
    assert float(fleiss_kappa(*rows)) == pytest.approx(0.76117, abs=5e-6)
    assert float(percent_agreement(*rows)) == pytest.approx(0.81818, abs=5e-6)


def test_gwet_ac2_written_out():
    # Two pairs, two judges: (0, 1) and (4, 4), linear weights, q = 5.
    agreed = (0.75 + 1) / 2
    share = [0.25, 0.25, 0, 0, 0.5]
    weights = sum(1 - abs(i - j) / 4 for i in range(5) for j in range(5))
    chance = weights / 20 * sum(p * (1 - p) for p in share)
    found = gwet_ac2([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 4, 4], "linear")
    assert found.value == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)


def test_gwet_scale_is_the_scale_and_not_the_grades_used():
    rows = ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1])
    shares = 2 * 0.25 * 0.75
    three, five = 1 / 2 * shares, 1 / 4 * shares
    assert float(gwet_ac2(*rows, None, levels=3)) == pytest.approx((0.5 - three) / (1 - three))
    assert float(gwet_ac2(*rows, None)) == pytest.approx((0.5 - five) / (1 - five))


def test_percent_agreement_written_out():
    # Pair 0: couples (2, 2), (2, 3), (2, 3); pair 1: one couple (0, 4); pair 2 stands alone.
    rows = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 0], [2, 2, 3, 0, 4, 1])
    assert percent_agreement(*rows).value == pytest.approx((1 / 3 + 0) / 2)
    assert percent_agreement(*rows, within=1).value == pytest.approx((3 / 3 + 0) / 2)
    assert percent_agreement(*rows, within=4).value == 1.0


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@settings(deadline=None, max_examples=60)
@given(rows=judgments())
def test_alpha_agrees_with_krippendorff(level, rows):
    pair, _, grade = rows
    counts = np.zeros((pair.max() + 1, 5), dtype=int)
    np.add.at(counts, (pair, grade), 1)
    ours = krippendorff_alpha(*rows, level)
    if math.isnan(ours.value):
        together = counts[counts.sum(axis=1) > 1].sum(axis=0)
        assert np.count_nonzero(together) < 2
        return
    theirs = krippendorff.alpha(
        value_counts=counts, level_of_measurement=level, value_domain=np.arange(5.0)
    )
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_kappa_agrees_with_nltk_when_all_judge_all(seed):
    pair, judge, grade = overlapping(seed, pairs=15, judges=4, share=1.1)
    rows = zip(judge, pair, grade, strict=True)
    task = AnnotationTask([tuple(map(str, row)) for row in rows])
    # nltk's multi_kappa is Davies and Fleiss'; its pi is Fleiss' kappa of 1971.
    assert fleiss_kappa(pair, judge, grade).value == pytest.approx(task.pi(), abs=1e-9)
    assert percent_agreement(pair, judge, grade).value == pytest.approx(task.avg_Ao(), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(rows=judgments(), seed=st.integers(0, 1000))
def test_order_and_names_do_not_matter(rows, seed):
    rng = np.random.default_rng(seed)
    pair, judge, grade = rows
    order = rng.permutation(len(pair))
    names = rng.permutation(10**12 + 7 * np.arange(50)) * rng.choice([-1, 1])
    for coefficient in COEFFICIENTS:
        before = coefficient(pair, judge, grade)
        after = coefficient(names[pair[order]], names[judge[order]], grade[order])
        assert after.value == pytest.approx(before.value, abs=1e-12, nan_ok=True)
        assert (after.pairs, after.judgments) == (before.pairs, before.judgments)


@settings(deadline=None, max_examples=60)
@given(rows=judgments())
def test_values_stay_within_bounds(rows):
    for coefficient in COEFFICIENTS:
        found = coefficient(*rows)
        assert math.isnan(found.value) == bool(found.reason)
        assert math.isnan(found.value) or found.value <= 1 + 1e-12
    share = percent_agreement(*rows).value
    assert math.isnan(share) or 0 <= share <= 1


@settings(deadline=None, max_examples=30)
@given(rows=judgments())
def test_judges_who_copy_agree_perfectly(rows):
    pair, _, grade = rows
    first = np.unique(pair, return_index=True)[1]
    pair, grade = np.tile(pair[first], 2), np.tile(grade[first], 2)
    judge = np.repeat([0, 1], len(first))
    constant = len(np.unique(grade)) == 1
    for coefficient in (krippendorff_alpha, fleiss_kappa):
        assert coefficient(pair, judge, grade).value == pytest.approx(
            math.nan if constant else 1.0, nan_ok=True
        )
    assert gwet_ac2(pair, judge, grade).value == pytest.approx(1.0)
    assert percent_agreement(pair, judge, grade).value == 1.0


def test_random_judges_agree_as_chance_does():
    rng = np.random.default_rng(5)
    pair, judge = np.repeat(np.arange(20_000), 3), np.tile(np.arange(3), 20_000)
    grade = rng.integers(0, 5, 60_000)
    for coefficient in (krippendorff_alpha, fleiss_kappa, gwet_ac2):
        assert abs(float(coefficient(pair, judge, grade))) < 0.02
    assert percent_agreement(pair, judge, grade).value == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_judge_who_repeats_counts_once_with_the_latest_grade(coefficient):
    pair, judge, grade = overlapping(3)
    again = (np.append(pair[:5], pair), np.append(judge[:5], judge), np.append(grade[5:10], grade))
    assert coefficient(*again, interval=0.9) == coefficient(pair, judge, grade, interval=0.9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_one_judge_alone_has_no_agreement(coefficient):
    found = coefficient([0, 0, 1], [7, 7, 7], [1, 2, 3])
    assert math.isnan(found.value)
    assert found.reason == "There is only one judge."
    assert (found.pairs, found.judgments) == (0, 0)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_judges_without_a_common_pair_have_no_agreement(coefficient):
    found = coefficient([0, 1], [0, 1], [1, 2], interval=0.95)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.reason == "No pair was judged by two judges."


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, fleiss_kappa])
def test_all_equal_grades_leave_nothing_to_compare_with_chance(coefficient):
    found = coefficient([0, 0, 1, 1], [0, 1, 0, 1], [3, 3, 3, 3], interval=0.95)
    assert math.isnan(found.value)
    assert found.reason == "All grades are equal, so chance alone would agree as well."


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_interval_is_that_of_resampled_pairs(coefficient):
    rows = overlapping(11, pairs=60)
    pair, judge, grade = rows
    found = coefficient(*rows, interval=0.9, rng=1, resamples=4000)
    rng = np.random.default_rng(2)
    where = [np.flatnonzero(pair == p) for p in np.unique(pair)]
    slow = []
    for _ in range(1500):
        drawn = [where[i] for i in rng.integers(0, len(where), len(where))]
        take = np.concatenate(drawn)
        fresh = np.repeat(np.arange(len(drawn)), [len(d) for d in drawn])
        slow.append(coefficient(fresh, judge[take], grade[take]).value)
    low, high = np.quantile(slow, [0.05, 0.95])
    spread = np.std(slow)
    assert found.low == pytest.approx(low, abs=0.15 * spread)
    assert found.high == pytest.approx(high, abs=0.15 * spread)
    assert found.low < found.value < found.high


def test_interval_covers_the_truth_about_as_often_as_it_says():
    # Judges who say the truth with probability 0.6 agree with probability 0.36 + 0.4²/4 = 0.4.
    rng = np.random.default_rng(9)
    pair, judge = np.repeat(np.arange(150), 2), np.tile([0, 1], 150)
    inside = 0
    for _ in range(200):
        truth = rng.integers(0, 5, 150)[pair]
        grade = np.where(rng.random(300) < 0.6, truth, (truth + rng.integers(1, 5, 300)) % 5)
        found = percent_agreement(pair, judge, grade, interval=0.9, rng=rng, resamples=300)
        inside += found.low <= 0.4 <= found.high
    assert 160 <= inside <= 196


def test_interval_is_the_same_for_the_same_seed():
    rows = overlapping(4)
    assert krippendorff_alpha(*rows, interval=0.95) == krippendorff_alpha(*rows, interval=0.95)
    one = krippendorff_alpha(*rows, interval=0.95, rng=np.random.default_rng(8))
    assert one == krippendorff_alpha(*rows, interval=0.95, rng=8)
    assert one != krippendorff_alpha(*rows, interval=0.95, rng=9)


def test_one_pair_has_a_value_but_no_interval():
    found = percent_agreement([0, 0], [0, 1], [1, 1], interval=0.95)
    assert found.value == 1.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_agreement_reads_as_a_number():
    assert float(Agreement(0.5, 0.4, 0.6, 10, 20)) == 0.5


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_inputs_are_left_as_they_are(coefficient):
    rows = tuple(np.array(column) for column in overlapping(6))
    for column in rows:
        column.setflags(write=False)
    assert coefficient(*rows, interval=0.95).pairs > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f([0, 0], [0, 1], [1]), r"must have the same length\. Got 2, 2 and 1"),
        (lambda f: f([0, 0], [0, 1], [1, 5]), r"between 0 and 4\. Got 5 instead"),
        (lambda f: f([0, 0], [0, 1], [-1, 2]), r"between 0 and 4\. Got -1 instead"),
        (lambda f: f([], [], []), r"at least one judgment\. Got 0 instead"),
        (lambda f: f([0, 0], [0, 1], [1.0, 2.0]), r"must hold integers\. Got float64"),
        (lambda f: f([0, 0], [0, 1], [1, 2], interval=95), r"between 0 and 1\. Got 95 instead"),
        (lambda f: f([0, 0], [0, 1], [1, 2], resamples=0), r"at least 1\. Got 0 instead"),
    ],
)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_bad_input_is_named(coefficient, call, message):
    with pytest.raises(ValueError, match=message):
        call(coefficient)


def test_bad_choices_are_named():
    rows = ([0, 0], [0, 1], [1, 2])
    with pytest.raises(ValueError, match=r"nominal, ordinal, interval, ratio\. Got 'cardinal'"):
        krippendorff_alpha(*rows, "cardinal")
    with pytest.raises(ValueError, match=r"'ordinal'\. Got 'cubic' instead"):
        fleiss_kappa(*rows, "cubic")
    with pytest.raises(ValueError, match=r"Grades must be below levels, 2\. Got 2 instead"):
        gwet_ac2(*rows, levels=2)
    with pytest.raises(ValueError, match=r"levels must be between 2 and 5\. Got 6 instead"):
        gwet_ac2(*rows, levels=6)
    with pytest.raises(ValueError, match=r"within must be at least 0\. Got -1 instead"):
        percent_agreement(*rows, within=-1)


@pytest.mark.parametrize("per_pair", [1, 4, 40, 2000])
def test_kinds_of_pairs_are_all_the_pairs_whatever_their_size(per_pair):
    rng = np.random.default_rng(per_pair)
    pair = np.repeat(np.arange(0, 60, 2), rng.integers(1, per_pair + 1, 30))
    judge, grade = np.arange(len(pair)), rng.integers(0, 5, len(pair))
    found = tally(pair, judge, grade)
    spread = np.repeat(found.counts, found.freq, axis=0)
    table = np.zeros((60, 5))
    np.add.at(table, (pair, grade), 1)
    assert sorted(map(tuple, spread)) == sorted(map(tuple, table[::2]))
