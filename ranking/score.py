"""Score rows with a saved ranker in a process of its own: ``python -m ranking.score FOLDER``.

A worker that was forked must not start LightGBM's threads itself. The folder is the interface:
``model.json`` names the model file beside it and its digest, ``{"model": …, "sha256": …}``;
``X.npy`` holds the rows; ``scores.npy`` appears whole, last of all.

Exit status: 0 done; 2 the model or the rows are wrong. Every failure is one line on standard error.
"""

import json
import sys
from pathlib import Path

import numpy as np

from ranking.rankers import load_ranker


def run(folder: Path) -> None:
    """Score the rows of ``folder``."""
    named = json.loads((folder / "model.json").read_bytes())
    ranker = load_ranker(folder / named["model"], sha256=named["sha256"])
    X = np.load(folder / "X.npy", allow_pickle=False)
    temporary = folder / ".scores.npy"
    with temporary.open("wb") as file:
        np.save(file, ranker.predict(X), allow_pickle=False)
    temporary.replace(folder / "scores.npy")


def main(arguments: list[str]) -> int:
    """Score, and turn what goes wrong into an exit status and one line."""
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m ranking.score FOLDER.\n")
        return 2
    try:
        run(Path(arguments[0]))
    except (ValueError, OSError, KeyError) as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
