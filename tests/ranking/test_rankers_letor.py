"""The rankers on real LETOR data, against a floor a little under the published level."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranking.experiments.letor_baselines import evaluate, letor_ndcg, main, read_parts
from ranking.metrics import ndcg
from ranking.rankers import RANKERS

ROOT = os.environ.get("REAL_DATA")
needs_data = pytest.mark.skipif(
    not ROOT, reason="REAL_DATA does not name a folder with LETOR data."
)


@pytest.fixture(scope="module")
def ohsumed() -> Any:
    return read_parts(Path(str(ROOT)) / "ohsumed_letor3")


@pytest.fixture(scope="module")
def mq2008() -> Any:
    return read_parts(Path(str(ROOT)) / "mq2008_letor4")


@pytest.mark.real_data
@needs_data
@pytest.mark.parametrize("name", list(RANKERS))
def test_rankers_reach_the_published_level_on_ohsumed(name: str, ohsumed: Any) -> None:
    score = evaluate(name, *ohsumed)
    assert len(score.letor_ndcg) == 106
    assert score.letor_ndcg.mean() > 0.41
    assert score.letor_ap.mean() > 0.42


@pytest.mark.real_data
@needs_data
@pytest.mark.parametrize("name", list(RANKERS))
def test_rankers_beat_a_random_order_by_far_on_two_folds_of_mq2008(name: str, mq2008: Any) -> None:
    data, part = mq2008
    score = evaluate(name, data, part, turns=2)
    luck = np.random.default_rng(0).random(len(data.y))
    assert len(score.ndcg) == 313
    assert np.nanmean(score.ndcg) > 0.65
    assert np.nanmean(score.ndcg) > np.nanmean(ndcg(data.y, luck, data.qid, 10)) + 0.15


def test_letor_ndcg_follows_its_own_conventions() -> None:
    y = np.array([0, 2, 1, 0, 0, 0, 2])
    scores = np.array([4.0, 3, 2, 1, 2, 1, 0])
    qid = np.array([1, 1, 1, 2, 2, 2, 3])
    first = (0 + 3 + 1 / np.log2(3)) / (3 + 1 + 0)
    np.testing.assert_allclose(letor_ndcg(y, scores, qid, 3), [first, 0, 0])


def test_the_command_wants_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([]) == 2
    assert "FOLDER" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"must hold five part files\. Got 0 instead"):
        main([str(tmp_path)])
