"""Rankers: functions from feature vectors to scores, learnt from graded documents.

Adding one is a file with a subclass of :class:`ranking.rankers.base.Ranker` and a line in
``RANKERS``.
"""

import hashlib
from pathlib import Path

from ranking.rankers.base import EvalSet, Progress, Ranker
from ranking.rankers.lambdamart import LambdaMART
from ranking.rankers.lambdamart import read_header as _lightgbm_header
from ranking.rankers.lists import normalise_per_query

__all__ = [
    "RANKERS",
    "EvalSet",
    "LambdaMART",
    "Progress",
    "Ranker",
    "load_ranker",
    "normalise_per_query",
]

#: Every ranker by the name that campaigns, jobs and files use for it.
RANKERS: dict[str, type[Ranker]] = {cls.name: cls for cls in (LambdaMART,)}


def load_ranker(path: str | Path, *, sha256: str | None = None) -> Ranker:
    """Read a saved model of any kind; with ``sha256``, only a file of that digest.

    Nothing in a model file is ever executed. Give the digest for files that somebody else could
    have touched.
    """
    if sha256 is not None:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if digest != sha256.lower():
            raise ValueError(f"{path} must have the SHA-256 {sha256}. Got {digest} instead.")
    name = _lightgbm_header(path).get("ranker")
    if name not in RANKERS:
        raise ValueError(f"{path} must hold one of {', '.join(RANKERS)}. Got {name!r} instead.")
    return RANKERS[name].load(path)
