"""Models: files with their digests, the same on every machine, refused when changed."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotate import training
from annotate.models import Artifact, TrainingRun, User
from annotate.training import registry, sets
from ranking.fit import run as fit_folder
from tests.annotate.rankers import fits_here, letor, train

__all__ = ["fits_here"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fits_here")]


@pytest.fixture
def run(dana: User) -> TrainingRun:
    return train(letor(dana))


def file_of(run: TrainingRun, data_dir: Path) -> Path:
    return data_dir / "models" / run.model_file


def test_sidecar_says_what_the_model_is_made_of(run: TrainingRun, data_dir: Path) -> None:
    sidecar = json.loads(file_of(run, data_dir).with_suffix(".json").read_text())
    assert sidecar == json.loads(json.dumps(training.describe(run)))
    assert sidecar["features"] == ["feature_1", "feature_2"]
    assert (sidecar["snapshot"], sidecar["sha256"]) == (run.snapshot, run.model_sha256)
    assert sidecar["recipe"]["parameters"]["n_estimators"] == 150
    assert sidecar["recipe"]["seed"] == 1
    assert {"python", "numpy", "lightgbm"} <= set(sidecar["versions"])
    assert sidecar["metrics"]["ndcg"]["3"]["ranker"]["mean"] > 0.9


def test_a_changed_file_is_refused_when_read_and_when_loaded(
    run: TrainingRun, data_dir: Path
) -> None:
    assert training.load(run).predict([[1.0, 1.0]]).shape == (1,)
    path = file_of(run, data_dir)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    for use in (training.read, training.load):
        with pytest.raises(
            training.ModelError, match=r"was changed after it was saved and is refused\. Its SHA"
        ):
            use(run)


def test_a_machine_without_the_file_gets_it_from_the_database(
    run: TrainingRun, data_dir: Path
) -> None:
    path = file_of(run, data_dir)
    before = path.read_bytes()
    os.unlink(path)
    assert training.read(run) == before == path.read_bytes()


def test_changed_bytes_in_the_database_are_refused_too(run: TrainingRun, data_dir: Path) -> None:
    os.unlink(file_of(run, data_dir))
    Artifact.objects.filter(run=run, name="model").update(content=b"something else")
    with pytest.raises(training.ModelError, match="was changed after it was saved"):
        training.read(run)


def test_a_model_that_is_nowhere_is_said_to_be(run: TrainingRun, data_dir: Path) -> None:
    os.unlink(file_of(run, data_dir))
    Artifact.objects.filter(run=run).delete()
    with pytest.raises(training.ModelError, match="neither on the disk nor kept"):
        training.read(run)


def test_a_failed_run_has_no_model(run: TrainingRun) -> None:
    failed = TrainingRun(number=9, state=TrainingRun.State.FAILED)
    with pytest.raises(training.ModelError, match="Run 9 has no model: it is failed"):
        training.read(failed)


def test_the_frozen_set_alone_gives_the_same_bytes_again(run: TrainingRun, tmp_path: Path) -> None:
    frozen = sets.Frozen.from_bytes(bytes(run.artifacts.get(name="set").content))
    data = sets.thaw(run.campaign, run.recipe, frozen, run.snapshot)
    folder = tmp_path / "again"
    folder.mkdir()
    np.savez(folder / "train.npz", **data.training(~data.pool.held_out))
    job = {name: run.recipe[name] for name in ("ranker", "parameters", "seed")}
    (folder / "job.json").write_text(json.dumps(job))
    fit_folder(folder)
    again = (folder / "model.txt").read_bytes()
    assert hashlib.sha256(again).hexdigest() == run.model_sha256
    assert again == registry.read(run)


# -- Downloads ------------------------------------------------------------------------------------


def test_model_sidecar_and_export_can_be_downloaded(run: TrainingRun, dana_client: Client) -> None:
    model = dana_client.get("/campaigns/letor/ranker/1/model/")
    assert hashlib.sha256(model.content).hexdigest() == run.model_sha256
    assert model["Content-Disposition"] == f'attachment; filename="{run.model_file}"'
    sidecar = dana_client.get("/campaigns/letor/ranker/1/sidecar/").json()
    assert sidecar["sha256"] == run.model_sha256
    export = dana_client.get("/campaigns/letor/ranker/1/elasticsearch/").json()
    assert export["model"]["name"] == "letor-1"
    assert export["model"]["model"]["type"] == "model/xgboost+json"
    assert len(json.loads(export["model"]["model"]["definition"])) == 150


@pytest.mark.parametrize("what", ["model", "elasticsearch"])
def test_a_changed_file_is_not_given_out(
    run: TrainingRun, dana_client: Client, data_dir: Path, what: str
) -> None:
    file_of(run, data_dir).write_text("something else")
    answer = dana_client.get(f"/campaigns/letor/ranker/1/{what}/", follow=True)
    assert answer.redirect_chain == [("/campaigns/letor/ranker/", 302)]
    assert "was changed after it was saved and is refused" in answer.content.decode()


def test_strangers_and_wrong_numbers_get_404(
    run: TrainingRun, dana_client: Client, charlie_client: Client, client: Client
) -> None:
    for what in ("model", "sidecar", "elasticsearch"):
        assert charlie_client.get(f"/campaigns/letor/ranker/1/{what}/").status_code == 404
        assert client.get(f"/campaigns/letor/ranker/1/{what}/").status_code == 302
    assert dana_client.get("/campaigns/letor/ranker/2/model/").status_code == 404
    assert dana_client.get("/campaigns/letor/ranker/1/pickle/").status_code == 404
