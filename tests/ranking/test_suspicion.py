"""Spammers are found, honest judges are left alone."""

import numpy as np
import pytest

from ranking.simulation import SKILLS, draw
from ranking.suspicion import Suspect, suspects

JUDGES, JUDGMENTS, PER_PAIR = 20, 5_000, 5
SPAMMERS = {0: "random", 1: "constant", 2: "copier", 3: "copier"}
SHARES = (0.45, 0.2, 0.15, 0.12, 0.08)


def crowd(seed, skill="crowd", spammers=True, per_pair=PER_PAIR):
    """Twenty judges of different skill: one clicks at random, one always says 3, one copies."""
    rng = np.random.default_rng(seed)
    pairs = JUDGMENTS // per_pair
    truth = rng.choice(5, p=SHARES, size=pairs)
    pair = np.repeat(np.arange(pairs), per_pair)
    judge = np.concatenate([rng.permutation(JUDGES)[:per_pair] for _ in range(pairs)])
    grade = np.empty(len(pair), dtype=np.int64)
    for one in range(JUDGES):
        grade[judge == one] = draw(truth[pair[judge == one]], skilled(skill, rng), rng)
    if spammers:
        grade[judge == 0] = rng.integers(0, 5, np.sum(judge == 0))
        grade[judge == 1] = 3
        copied = dict(zip(pair[judge == 2], grade[judge == 2], strict=True))
        for row in np.flatnonzero(judge == 3):
            grade[row] = copied.get(pair[row], grade[row])
    return pair, judge, grade


def skilled(skill, rng):
    """Some do better than the average judge of that skill, some worse."""
    better = rng.uniform(-0.25, 0.35)
    far = np.eye(5) if better > 0 else np.full((5, 5), 0.2)
    return (1 - abs(better)) * SKILLS[skill] + abs(better) * far


def right(found):
    kinds = {suspect.judge: suspect.kind for suspect in found}
    honest = [judge for judge in kinds if judge not in SPAMMERS]
    return SPAMMERS.items() <= kinds.items() and len(honest) <= 1


@pytest.mark.parametrize("per_pair", [3, 5])
@pytest.mark.parametrize("skill", sorted(SKILLS))
def test_four_spammers_among_twenty_are_found(skill, per_pair):
    crowds = [crowd(seed, skill, per_pair=per_pair) for seed in range(8)]
    assert sum(right(suspects(*rows)) for rows in crowds) >= 7


@pytest.mark.faults
@pytest.mark.parametrize("per_pair", [3, 5])
@pytest.mark.parametrize("skill", sorted(SKILLS))
def test_four_spammers_are_found_in_48_of_50_crowds(skill, per_pair):
    crowds = [crowd(seed, skill, per_pair=per_pair) for seed in range(50)]
    assert sum(right(suspects(*rows)) for rows in crowds) >= 48


@pytest.mark.parametrize("skill", sorted(SKILLS))
def test_honest_crowd_is_left_alone(skill):
    found = [suspects(*crowd(seed, skill, spammers=False)) for seed in range(10)]
    assert sum(map(len, found)) <= 1


def test_suspect_says_what_was_seen():
    pair, judge, grade = crowd(0)
    random, constant, one, two = suspects(pair, judge + 100, grade)[:4]
    assert (constant.judge, constant.kind, constant.grade, constant.value) == (
        101,
        "constant",
        3,
        1.0,
    )
    assert constant.n == np.sum(judge == 1)
    assert constant.expected == pytest.approx(np.mean(grade[judge != 1] == 3), abs=0.1)
    assert abs(random.value) < random.expected / 2
    assert (one.other, two.other) == (103, 102)
    both = np.intersect1d(pair[judge == 2], pair[judge == 3])
    assert (one.n, one.value) == (len(both), 1.0)
    assert all(suspect.p < 0.05 for suspect in (random, constant, one, two))


def test_harsh_judge_is_not_a_spammer():
    pair, judge, grade = crowd(1, "expert", spammers=False)
    harsh = np.where(judge == 5, np.maximum(grade - 1, 0), grade)
    assert 5 not in {suspect.judge for suspect in suspects(pair, judge, harsh)}


def test_saying_bad_where_all_say_bad_is_no_spam():
    pair, judge, _ = crowd(2)
    grade = (np.arange(len(pair)) % 50 == 0).astype(np.int64)
    assert suspects(pair, judge, grade) == []


def test_first_judge_whose_grade_decides_is_not_a_spammer():
    """Others are asked where she says Good+: what is left of her grades tells little."""
    pair, judge, grade = crowd(4, "crowd", spammers=False)
    first = np.r_[True, pair[1:] != pair[:-1]]
    hers = np.where(first, 99, judge)
    kept = np.isin(pair, pair[first & (grade >= 2)])
    rows = pair[kept], hers[kept], grade[kept]
    assert 99 in {suspect.judge for suspect in suspects(*rows)}
    assert 99 not in {suspect.judge for suspect in suspects(*rows, ~first[kept])}


def test_few_judgments_suspect_nobody():
    assert suspects([], [], []) == []
    assert suspects([1, 1, 2, 2], [1, 2, 1, 2], [3, 3, 3, 3]) == []
    assert suspects(np.arange(100), np.zeros(100, int), np.full(100, 3)) == []


def test_only_the_latest_grade_of_a_pair_counts():
    pair, judge, grade = crowd(3)
    twice = [np.r_[values, values] for values in (pair, judge)]
    before = np.random.default_rng(0).integers(0, 5, len(grade))
    assert suspects(*twice, np.r_[before, grade]) == suspects(pair, judge, grade)
    assert isinstance(suspects(pair, judge, grade)[0], Suspect)
