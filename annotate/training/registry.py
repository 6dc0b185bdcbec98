"""Models and what belongs to them: bytes in the database, a file beside its sidecar on the disk.

Every machine has the bytes by the database; the file is what is loaded and downloaded. Whatever
was changed after it was saved is refused.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from annotate.models import Artifact, TrainingRun
from annotate.training.errors import ModelError
from ranking.fit import write_atomically
from ranking.rankers import Ranker, load_ranker

MODEL = "model"
#: Models kept ready in each process that ranks.
READY = 8


def store(run: TrainingRun, model: bytes, suffix: str) -> tuple[str, str]:
    """Keep a model's bytes, in the caller's transaction. Returns its file name and SHA-256."""
    sha256 = hashlib.sha256(model).hexdigest()
    Artifact.objects.update_or_create(run=run, name=MODEL, defaults={"content": model})
    return f"{run.campaign_id}-{run.number}-{sha256[:12]}{suffix}", sha256


def write_files(run: TrainingRun) -> None:
    """Put the model and its sidecar on this machine's disk."""
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)
    path = settings.MODEL_DIR / run.model_file
    stored = run.artifacts.filter(name=MODEL).values_list("content", flat=True).first()
    if stored is None:
        raise ModelError(f"The model of run {run.number} is neither on the disk nor kept.")
    write_atomically(path, bytes(stored))
    sidecar = json.dumps(describe(run), indent=1, ensure_ascii=False)
    write_atomically(path.with_suffix(".json"), sidecar.encode())


def read(run: TrainingRun) -> bytes:
    """The bytes of a model, unchanged since it was saved, or ModelError."""
    path = _path(run)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != run.model_sha256:
        raise ModelError(
            f"The model file of run {run.number}, {path.name}, was changed after it was saved and "
            f"is refused. Its SHA-256 must be {run.model_sha256}. Got {digest} instead."
        )
    return content


def load(run: TrainingRun) -> Ranker:
    """The ranker of a run, ready to score. The file is held against its digest every time."""
    read(run)
    return _ready(str(_path(run)), run.model_sha256)


@lru_cache(maxsize=READY)
def _ready(path: str, sha256: str) -> Ranker:
    return load_ranker(path, sha256=sha256)


def _path(run: TrainingRun) -> Path:
    if not run.model_file:
        raise ModelError(f"Run {run.number} has no model: it is {run.state}.")
    path: Path = settings.MODEL_DIR / run.model_file
    if not path.exists():  # made on another machine, or a disk was replaced
        write_files(run)
    return path


def describe(run: TrainingRun) -> dict[str, Any]:
    """The sidecar: what the model was made of, by what, and how good it is."""
    facts = run.metrics.get("facts", {})
    return {
        "format": 1,
        "campaign": run.campaign.slug,
        "run": run.number,
        "created_at": run.created_at.isoformat(),
        "ranker": run.ranker,
        "file": run.model_file,
        "sha256": run.model_sha256,
        "features": facts.get("features", []),
        "snapshot": run.snapshot,
        "recipe": run.recipe,
        "versions": facts.get("versions", {}),
        "rows": run.rows,
        "queries": run.train_queries,
        "metrics": {name: value for name, value in run.metrics.items() if name != "facts"},
    }
