"""Model-based aggregators: against crowd-kit, and on simulated judges whose truth is known."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene as CrowdKitDawidSkene
from crowdkit.aggregation import MajorityVote
from crowdkit.aggregation import OneCoinDawidSkene as CrowdKitOneCoin

from ranking.aggregation import AGGREGATORS, DawidSkene, Majority, OneCoin, Ordinal

# Crowd-kit uses pandas in ways that pandas will drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: P(said | truth) of simulated judges, rows Bad … Perfect.
CAREFUL = np.array(
    [
        [0.80, 0.14, 0.05, 0.008, 0.002],
        [0.35, 0.45, 0.17, 0.025, 0.005],
        [0.12, 0.28, 0.45, 0.13, 0.02],
        [0.05, 0.10, 0.27, 0.45, 0.13],
        [0.03, 0.05, 0.12, 0.25, 0.55],
    ]
)
EVEN = np.full(5, 0.2)
SKEWED = np.array([0.54, 0.30, 0.13, 0.02, 0.01])


def simulate(
    rng: np.random.Generator, prior: Floats, each: int, pairs: int = 600
) -> tuple[Ints, Ints, Ints, Ints]:
    """The truth, and judgments by 30 judges; each strays from CAREFUL, and five do not look."""
    truth = rng.choice(5, pairs, p=prior)
    matrices = np.stack([rng.dirichlet(5 * row, size=30) for row in CAREFUL], axis=1)
    matrices[:5] = rng.dirichlet(np.ones(5), size=(5, 1))
    pair = np.repeat(np.arange(pairs), each)
    judge = np.argsort(rng.random((pairs, 30)), axis=1)[:, :each].ravel()
    upto = matrices[judge, truth[pair]].cumsum(axis=1)
    said = (rng.random((len(pair), 1)) > upto[:, :4]).sum(axis=1)
    return truth, pair, judge, said


def frame(pair: Ints, judge: Ints, grade: Ints) -> pd.DataFrame:
    return pd.DataFrame({"task": pair, "worker": judge, "label": grade})


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Crowd-kit keeps the order in which pairs and grades were met."""
    return table.sort_index(axis=0).sort_index(axis=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("iterations", [1, 7, 20])
def test_dawid_skene_equals_crowd_kit(seed: int, iterations: int) -> None:
    _, *data = simulate(np.random.default_rng(seed), SKEWED, each=4)
    peer = CrowdKitDawidSkene(n_iter=iterations, tol=-np.inf).fit(frame(*data))
    labels = DawidSkene(iterations=iterations, tolerance=0).aggregate(*data)
    assert np.array_equal(labels.grade, peer.labels_.sort_index())
    np.testing.assert_allclose(labels.posterior, in_order(peer.probas_), atol=1e-6)


def test_dawid_skene_learns_the_confusion_crowd_kit_learns() -> None:
    """Crowd-kit reports the matrices of one step later, hence the extra iteration here."""
    _, *data = simulate(np.random.default_rng(0), EVEN, each=6)
    peer = CrowdKitDawidSkene(n_iter=9, tol=-np.inf).fit(frame(*data))
    labels = DawidSkene(iterations=10, tolerance=0).aggregate(*data)
    assert labels.confusion is not None
    for (judge, said), chances in in_order(peer.errors_).iterrows():
        np.testing.assert_allclose(labels.confusion[judge, :, said], chances, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_one_coin_equals_crowd_kit_when_it_learns_the_prior(seed: int) -> None:
    _, *data = simulate(np.random.default_rng(seed), EVEN, each=5, pairs=200)
    peer = CrowdKitOneCoin(n_iter=8, tol=-np.inf).fit(frame(*data))
    labels = OneCoin(iterations=8, tolerance=0, learn_prior=True).aggregate(*data)
    assert np.array_equal(labels.grade, peer.labels_.sort_index())
    np.testing.assert_allclose(labels.posterior, in_order(peer.probas_), atol=1e-6)


def test_majority_equals_crowd_kit_where_no_grades_tie() -> None:
    _, *data = simulate(np.random.default_rng(0), EVEN, each=5)
    peer = MajorityVote().fit(frame(*data))
    shares = np.sort(in_order(peer.probas_), axis=1)
    clear = shares[:, -1] > shares[:, -2]
    assert clear.sum() > 300
    labels = Majority().aggregate(*data)
    assert np.array_equal(labels.grade[clear], peer.labels_.sort_index()[clear])


@pytest.mark.parametrize("prior", [EVEN, SKEWED], ids=["even", "skewed"])
@pytest.mark.parametrize("name", ["dawid-skene", "ordinal"])
def test_models_beat_majority_with_seven_judgments(name: str, prior: Floats) -> None:
    """In at least 19 of 20 draws, whether or not the grades are equally frequent."""
    wins = 0
    for seed in range(20):
        truth, *data = simulate(np.random.default_rng(seed), prior, each=7)
        model = np.mean(AGGREGATORS[name].aggregate(*data).grade == truth)
        wins += model > np.mean(Majority().aggregate(*data).grade == truth)
    assert wins >= 19


@pytest.mark.parametrize("prior", [EVEN, SKEWED], ids=["even", "skewed"])
@pytest.mark.parametrize("each", [2, 3])
def test_ordinal_is_at_least_as_good_as_mean_and_dawid_skene(each: int, prior: Floats) -> None:
    right = dict.fromkeys(("ordinal", "dawid-skene", "mean", "first"), 0.0)
    for seed in range(10):
        truth, *data = simulate(np.random.default_rng(seed), prior, each=each)
        for name in right:
            right[name] += float(np.mean(AGGREGATORS[name].aggregate(*data).grade == truth)) / 10
    assert right["ordinal"] == max(right.values())


@pytest.mark.parametrize("prior", [EVEN, SKEWED], ids=["even", "skewed"])
@pytest.mark.parametrize("name", list(AGGREGATORS))
def test_one_judgment_per_pair_is_never_made_worse(name: str, prior: Floats) -> None:
    _, *data = simulate(np.random.default_rng(1), prior, each=1)
    assert np.array_equal(AGGREGATORS[name].aggregate(*data).grade, data[2])


def test_ordinal_score_doubts_a_judge_who_always_says_perfect() -> None:
    """Two pairs called Perfect once each: the judge who tells grades apart counts for more."""
    _, pair, judge, said = simulate(np.random.default_rng(2), EVEN, each=4)
    said[judge == 0] = 4
    lone = np.array([600, 601])
    careful = 20
    labels = Ordinal().aggregate(
        np.concatenate([pair, lone]), np.append(judge, [0, careful]), np.append(said, [4, 4])
    )
    spammed, judged = labels.score[-2:]
    assert labels.grade[-2:].tolist() == [4, 4]
    assert spammed < judged - 0.3


def test_ordinal_believes_in_an_odd_judge_only_after_he_did_much() -> None:
    """One who says Perfect for Bad and Bad for Perfect, seen three times or two hundred times."""
    truth, pair, judge, said = simulate(np.random.default_rng(3), EVEN, each=5)
    swaps = []
    for done in (3, 200):
        labels = Ordinal().aggregate(
            np.append(pair, np.arange(done)),
            np.append(judge, np.full(done, 99)),
            np.append(said, 4 - truth[:done]),
        )
        assert labels.confusion is not None
        swaps.append(labels.confusion[-1][[0, 4], [4, 0]])
    assert swaps[0].max() < 0.4
    assert swaps[1].min() > 0.6


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"iterations must be at least 1\. Got 0 instead\."):
        DawidSkene(iterations=0)
    with pytest.raises(ValueError, match=r"tolerance must be at least 0\. Got -1 instead\."):
        OneCoin(tolerance=-1)
    with pytest.raises(ValueError, match=r"shrink must be positive\. Got 0 instead\."):
        Ordinal(shrink=0)
    with pytest.raises(ValueError, match=r"falloff must lie between 0 and 1\. Got 1 instead\."):
        Ordinal(falloff=1)


@pytest.mark.parametrize("name", ["dawid-skene", "one-coin", "ordinal"])
def test_one_judge_only_is_taken_at_his_word(name: str) -> None:
    labels = AGGREGATORS[name].aggregate([3, 1, 2], [8, 8, 8], [4, 0, 2])
    assert labels.grade.tolist() == [0, 2, 4]
    assert labels.judge is not None
    assert labels.judge.tolist() == [8]


@pytest.mark.parametrize("name", ["dawid-skene", "one-coin", "ordinal"])
def test_thousands_of_judgments_of_one_pair_do_not_overflow(name: str) -> None:
    labels = AGGREGATORS[name].aggregate(np.zeros(6000, int), np.arange(6000) % 7, [2, 2, 3] * 2000)
    assert labels.grade.tolist() == [2]
    assert np.isfinite(labels.score).all()
