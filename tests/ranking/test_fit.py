"""The process that trains: what it writes, what it says, how it fails."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranking import fit
from ranking.rankers import load_ranker
from tests.ranking.test_rankers import agreement, toy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X, y, qid = toy()
    np.savez(
        tmp_path / "train.npz",
        X=X,
        y=y,
        qid=qid,
        weight=np.ones(len(y)),
        feature_names=["title", "body", "noise"],
    )
    X, y, qid = toy(1)
    np.savez(tmp_path / "valid.npz", X=X, y=y, qid=qid)
    X, y, qid = toy(2)
    np.savez(tmp_path / "test.npz", X=X, y=y, qid=qid)
    np.savez(tmp_path / "score.npz", X=X[:5])
    write_job(tmp_path, ranker="lambdamart", parameters={"n_estimators": 20}, seed=3)
    return tmp_path


def write_job(folder: Path, **job: Any) -> None:
    (folder / "job.json").write_text(json.dumps(job))


def result_of(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def test_a_process_trains_saves_and_scores_without_django(folder: Path) -> None:
    code = (
        "import sys; from ranking.fit import main; status = main(sys.argv[1:]);"
        "sys.exit(status or ('django' in sys.modules and 'Django was imported.'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    result = result_of(folder)
    content = (folder / result["model"]).read_bytes()
    assert result["sha256"] == hashlib.sha256(content).hexdigest()
    assert result["bytes"] == len(content)
    assert result["parameters"]["seed"] == 3
    assert result["parameters"]["n_estimators"] == 20
    assert result["seconds"] > 0
    assert (result["rows"], result["queries"]) == (360, 30)
    assert set(result["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "lightgbm"}
    importance = result["feature_importance"]
    assert max(importance, key=importance.__getitem__) == "title"
    ranker = load_ranker(folder / result["model"], sha256=result["sha256"])
    X, y, qid = toy(2)
    np.testing.assert_array_equal(np.load(folder / "scores.npy"), ranker.predict(X[:5]))
    scores = np.load(folder / "test_scores.npy")
    np.testing.assert_array_equal(scores, ranker.predict(X))
    assert agreement(y, scores, qid) > 0.8


def test_progress_is_told_line_by_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit.main([str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    shares = [float(line.removeprefix("progress ")) for line in lines]
    assert shares == sorted(set(shares))
    assert shares[-1] == 1
    assert len(shares) == 20


def test_the_same_job_gives_the_same_file(folder: Path) -> None:
    digests = set()
    for _ in range(2):
        fit.run(folder)
        digests.add(result_of(folder)["sha256"])
    assert len(digests) == 1


def test_only_whole_files_are_left_behind(folder: Path) -> None:
    (folder / "valid.npz").unlink()
    (folder / "test.npz").unlink()
    (folder / "score.npz").unlink()
    fit.run(folder)
    left = {path.name for path in folder.iterdir()}
    assert left == {"train.npz", "job.json", "model.txt", "result.json"}


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.txt"
    path.write_text("old")

    def full_disk(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        fit.write_atomically(path, b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["model.txt"]
    assert path.read_text() == "old"


def test_a_model_without_a_split_is_reported(folder: Path) -> None:
    write_job(folder, ranker="lambdamart", parameters={"min_child_samples": 1000})
    fit.run(folder)
    (warning,) = result_of(folder)["warnings"]
    assert "No split was found in 360 rows" in warning


BAD_JOBS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown ranker": ({"ranker": "magic"}, "ranker must be one of lambdamart"),
    "no ranker": ({}, "Got None instead"),
    "unknown key": ({"ranker": "lambdamart", "rounds": 3}, "must have ranker, parameters and seed"),
    "unknown parameter": (
        {"ranker": "lambdamart", "parameters": {"depth": 3}},
        "A parameter of lambdamart must be one of",
    ),
    "bad parameter": (
        {"ranker": "lambdamart", "parameters": {"learning_rate": 0}},
        "learning_rate must be a number above 0. Got 0 instead.",
    ),
    "two seeds": (
        {"ranker": "lambdamart", "parameters": {"seed": 1}, "seed": 2},
        "with one seed",
    ),
}


@pytest.mark.parametrize("case", list(BAD_JOBS))
def test_a_bad_job_ends_with_status_2_and_one_line(
    folder: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job, reason = BAD_JOBS[case]
    (folder / "result.json").write_text("{}")
    write_job(folder, **job)
    assert fit.main([str(folder)]) == 2
    errors = capsys.readouterr().err
    assert reason in errors
    assert errors.count("\n") == 1
    assert not (folder / "result.json").exists()


def test_bad_files_end_with_status_2_and_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(folder / "valid.npz", X=np.ones((2, 3)))
    assert fit.main([str(folder)]) == 2
    assert "valid.npz must have X, y, qid. Got X." in capsys.readouterr().err
    (folder / "valid.npz").write_bytes(b"not a zip file")
    assert fit.main([str(folder)]) == 2
    assert "valid.npz must be an npz file of plain arrays." in capsys.readouterr().err
    np.savez(folder / "valid.npz", X=np.array([{}], dtype=object), y=[1], qid=[1])
    assert fit.main([str(folder)]) == 2
    assert "valid.npz must be an npz file of plain arrays." in capsys.readouterr().err
    (folder / "train.npz").unlink()
    assert fit.main([str(folder)]) == 2
    assert capsys.readouterr().err == "train.npz must be in the folder. Got nothing instead.\n"
    (folder / "job.json").write_text("{")
    assert fit.main([str(folder)]) == 2
    assert "job.json must be JSON." in capsys.readouterr().err
    assert fit.main([]) == 2
    assert capsys.readouterr().err == "Usage: python -m ranking.fit FOLDER.\n"


def test_any_other_failure_ends_with_status_1_and_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(*_: Any, **__: Any) -> None:
        raise MemoryError("Unable to allocate\n9 TiB")

    monkeypatch.setattr("ranking.rankers.LambdaMART.fit", out_of_memory)
    assert fit.main([str(folder)]) == 1
    assert capsys.readouterr().err == "MemoryError: Unable to allocate 9 TiB\n"
