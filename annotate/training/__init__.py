"""Labels to fitted rankers, their evaluation and the champion. One writer of runs and artifacts."""

from annotate.training.champion import current, previous, promote, roll_back
from annotate.training.errors import ModelError, TrainingError
from annotate.training.registry import describe, load, read
from annotate.training.runs import cancel, jobs_of, progress, request, settle
from annotate.training.steps import finish, fold, train, work

__all__ = [
    "ModelError",
    "TrainingError",
    "cancel",
    "current",
    "describe",
    "finish",
    "fold",
    "jobs_of",
    "load",
    "previous",
    "progress",
    "promote",
    "read",
    "request",
    "roll_back",
    "settle",
    "train",
    "work",
]
