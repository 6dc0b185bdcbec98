"""Replays of a campaign in the background. The only writer of their rows."""

from annotate.lab.errors import LabError
from annotate.lab.runs import (
    MOST_DRAWS,
    cancel,
    jobs_of,
    progress,
    recipe,
    request,
    resume,
    settle,
)
from annotate.lab.sets import freeze
from annotate.lab.steps import begin, draw, finish, work

__all__ = [
    "MOST_DRAWS",
    "LabError",
    "begin",
    "cancel",
    "draw",
    "finish",
    "freeze",
    "jobs_of",
    "progress",
    "recipe",
    "request",
    "resume",
    "settle",
    "work",
]
