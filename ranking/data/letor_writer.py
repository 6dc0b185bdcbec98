"""Writing LETOR lines, so that reading them gives the same rows."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ranking.data.files import Source, write
from ranking.judgments import FloatArray, IntArray

_BLOCK = 1024


def write_letor(
    target: Source,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    qid: npt.ArrayLike,
    *,
    comments: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
) -> None:
    """Write rows so that :func:`ranking.data.read_letor` gives them back exactly.

    All features are written, each with the fewest digits that are read as the same number, ``nan``
    as ``NULL`` (read it back with ``missing=nan``). ``names`` gives queries another name than their
    number; a name has no blanks and no ``#``. A comment is one line. Gzipped for ``….gz``. What
    cannot be written is a ``ValueError``, and then nothing is.
    """
    values, grades, queries = _checked_rows(X, y, qid)
    said = _checked_names(queries, names)
    tails = _checked_comments(len(grades), comments)
    numbers = range(1, values.shape[1] + 1)
    spell = "{}:{!r}".format

    def rows() -> Iterator[str]:
        for start in range(0, len(grades), _BLOCK):
            block = slice(start, start + _BLOCK)
            columns = values[block].tolist(), grades[block].tolist(), said[block], tails[block]
            for row, grade, query, tail in zip(*columns, strict=True):
                body = " ".join(map(spell, numbers, row)).replace(":nan", ":NULL")
                words = [str(grade), f"qid:{query}", body, f"# {tail}" if tail else ""]
                yield " ".join(filter(None, words)) + "\n"

    write(target, rows())


def _checked_rows(
    X: npt.ArrayLike, y: npt.ArrayLike, qid: npt.ArrayLike
) -> tuple[FloatArray, IntArray, IntArray]:
    values = np.asarray(X, dtype=np.float64)
    grades, queries = np.asarray(y), np.asarray(qid)
    if values.ndim != 2 or not values.shape[:1] == grades.shape == queries.shape:
        raise ValueError(
            "X must be rows × features, y and qid one value per row. "
            f"Got {values.shape}, {grades.shape} and {queries.shape} instead."
        )
    if not len(values):
        raise ValueError("There must be at least one row. Got 0 instead.")
    for name, array in (("y", grades), ("qid", queries)):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} must hold integers. Got {array.dtype} instead.")
    if np.isinf(values).any():
        raise ValueError("X must hold finite numbers or nan. Got inf instead.")
    return values, grades.astype(np.int64), queries.astype(np.int64)


def _checked_names(queries: IntArray, names: Mapping[int, str] | None) -> list[str]:
    numbers = queries.tolist()
    if names is None:
        return [str(number) for number in numbers]
    try:
        said = {number: names[number] for number in set(numbers)}
    except KeyError as error:
        raise ValueError(f"names must have a name for every query. Got none for {error}.") from None
    for name in said.values():
        if name.split() != [name] or "#" in name or "\0" in name:
            raise ValueError(
                f"A query's name must have no blanks and no '#'. Got {name!r} instead."
            )
    if len(set(said.values())) < len(said):
        raise ValueError("Every query must have its own name. Got one name twice instead.")
    return [said[number] for number in numbers]


def _checked_comments(rows: int, comments: Sequence[str] | None) -> list[str]:
    tails = [""] * rows if comments is None else list(comments)
    if len(tails) != rows:
        raise ValueError(f"comments must have one entry per row, {rows}. Got {len(tails)} instead.")
    for tail in tails:
        if "\n" in tail or "\r" in tail:
            raise ValueError(f"A comment must be one line. Got {tail!r} instead.")
    return tails
