"""Rankers: functions from feature vectors to scores, learnt from graded documents.

Adding one is a file with a subclass of :class:`ranking.rankers.base.Ranker` and a line in
``RANKERS``.
"""

import hashlib
from pathlib import Path

from ranking.rankers import arrays, lambdamart
from ranking.rankers.adarank import AdaRank
from ranking.rankers.base import EvalSet, Progress, Ranker
from ranking.rankers.lambdamart import LambdaMART
from ranking.rankers.lambdarank import LambdaRank
from ranking.rankers.listnet import ListNet
from ranking.rankers.lists import normalise_per_query
from ranking.rankers.rankboost import RankBoost
from ranking.rankers.ranksvm import RankSVM

__all__ = [
    "RANKERS",
    "AdaRank",
    "EvalSet",
    "LambdaMART",
    "LambdaRank",
    "ListNet",
    "Progress",
    "RankBoost",
    "RankSVM",
    "Ranker",
    "load_ranker",
    "normalise_per_query",
]

#: Every ranker by the name that campaigns, jobs and files use for it.
RANKERS: dict[str, type[Ranker]] = {
    cls.name: cls for cls in (LambdaMART, LambdaRank, RankSVM, RankBoost, ListNet, AdaRank)
}


def load_ranker(path: str | Path, *, sha256: str | None = None) -> Ranker:
    """Read a saved model of any kind; with ``sha256``, only a file of that digest.

    Nothing in a model file is ever executed. Give the digest for files that somebody else could
    have touched.
    """
    content = Path(path).read_bytes()
    if sha256 is not None:
        digest = hashlib.sha256(content).hexdigest()
        if digest != sha256.lower():
            raise ValueError(f"{path} must have the SHA-256 {sha256}. Got {digest} instead.")
    zipped = content.startswith(b"PK")
    name = (arrays if zipped else lambdamart).read_header(path).get("ranker")
    if name not in RANKERS:
        raise ValueError(f"{path} must hold one of {', '.join(RANKERS)}. Got {name!r} instead.")
    return RANKERS[name].load(path)
