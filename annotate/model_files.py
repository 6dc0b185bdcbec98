"""What can be taken of a trained ranker: the model, what it was made of, its form for others."""

import json
from collections.abc import Callable
from typing import NamedTuple

from annotate import training
from annotate.models import TrainingRun
from ranking.ltr import ltr_model


class ModelFile(NamedTuple):
    """A file, ready to be sent."""

    content: bytes
    name: str
    kind: str


def _model(run: TrainingRun) -> ModelFile:
    return ModelFile(training.read(run), run.model_file, "application/octet-stream")


def _sidecar(run: TrainingRun) -> ModelFile:
    text = json.dumps(training.describe(run), indent=1, ensure_ascii=False)
    return ModelFile(text.encode(), f"{run.campaign.slug}-{run.number}.json", "application/json")


def _elasticsearch(run: TrainingRun) -> ModelFile:
    name = f"{run.campaign.slug}-{run.number}"
    try:
        body = json.dumps(ltr_model(training.load(run), name))
    except ValueError as error:  # a kind of ranker that Elasticsearch does not know
        raise training.ModelError(str(error)) from None
    return ModelFile(body.encode(), f"{name}-ltr.json", "application/json")


#: Each raises ModelError where there is no such file of the run.
FILES: dict[str, Callable[[TrainingRun], ModelFile]] = {
    "model": _model,
    "sidecar": _sidecar,
    "elasticsearch": _elasticsearch,
}
