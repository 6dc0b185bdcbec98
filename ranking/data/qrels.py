"""TREC judgments: ``<query> <iteration> <document> <grade>``, as trec_eval reads them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.data.files import Source, lines, write
from ranking.judgments import IntArray

#: trec_eval keeps a grade in one signed byte.
GRADE_LIMIT = 127

_GRADE = re.compile(rb"[+-]?\d{1,9}")


@dataclass(frozen=True, eq=False)
class Qrels:
    """Rows of a judgment file: query and document by name, with the grade."""

    query: list[str]
    document: list[str]
    grade: IntArray

    def __len__(self) -> int:
        return len(self.query)

    @property
    def qid(self) -> IntArray:
        """The query of each row as a code from 0 in order of appearance."""
        code = {name: place for place, name in enumerate(dict.fromkeys(self.query))}
        return np.array([code[name] for name in self.query], dtype=np.int64)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """``{query: {document: grade}}``, as ranx, ir_measures and pytrec_eval take it."""
        found: dict[str, dict[str, int]] = {}
        for query, document, grade in zip(
            self.query, self.document, self.grade.tolist(), strict=True
        ):
            found.setdefault(query, {})[document] = grade
        return found


def read_qrels(source: Source) -> Qrels:
    """Read TREC judgments from a path or an open file, plain or gzipped.

    Four words a line between blanks or tabs; the second (iteration) is ignored; the grade is a
    whole number from -127 to 127. Blank lines are left out. Any other line, a document that a query
    has twice, and a file without rows are a ``ValueError`` with the line's number and the reason.
    """
    queries: list[str] = []
    documents: list[str] = []
    grades: list[int] = []
    seen: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(lines(source), start=1):
        words = line.split()
        if not words:
            continue
        wrong = _fault(words)
        if not wrong and (words[0], words[2]) in seen:
            first = seen[words[0], words[2]]
            wrong = f"A query must have a document once. Got it in line {first} too."
        if wrong:
            raise ValueError(f"Line {number}: {wrong}")
        seen[words[0], words[2]] = number
        try:
            queries.append(words[0].decode())
            documents.append(words[2].decode())
        except UnicodeDecodeError:
            raise ValueError(
                f"Line {number}: A line must be UTF-8 text. Got other bytes instead."
            ) from None
        grades.append(int(words[3]))
    if not grades:
        raise ValueError("The file must have at least one row. Got none.")
    return Qrels(queries, documents, np.array(grades, dtype=np.int64))


def write_qrels(
    target: Source, query: Sequence[object], document: Sequence[object], grade: npt.ArrayLike
) -> None:
    """Write TREC judgments, one row per entry, iteration 0; gzipped for ``….gz``.

    Names are written as ``str`` gives them and must not be empty nor hold blanks or NUL, since no
    reader of this format could take them apart again. A document comes once per query.
    """
    grades = np.asarray(grade)
    if grades.ndim != 1 or not len(query) == len(document) == grades.size:
        raise ValueError(
            "query, document and grade must have the same length. "
            f"Got {len(query)}, {len(document)} and {grades.size} instead."
        )
    if not grades.size:
        raise ValueError("There must be at least one row. Got 0 instead.")
    if grades.dtype.kind not in "iu":
        raise ValueError(f"grade must hold integers. Got {grades.dtype} instead.")
    extreme = grades[np.abs(grades.astype(np.int64)) > GRADE_LIMIT]
    if extreme.size:
        raise ValueError(f"A grade must lie between -127 and 127. Got {extreme[0]} instead.")
    names = [[str(name) for name in column] for column in (query, document)]
    for name in {name for column in names for name in column}:
        if name.split() != [name] or "\0" in name:
            raise ValueError(f"A name must have no blanks and not be empty. Got {name!r} instead.")
    if len(set(zip(*names, strict=True))) < grades.size:
        raise ValueError("A query must have a document once. Got one twice instead.")

    def rows() -> Iterator[str]:
        for q, d, g in zip(*names, grades.tolist(), strict=True):
            yield f"{q} 0 {d} {g}\n"

    write(target, rows())


def _fault(words: list[bytes]) -> str:
    """What is wrong with the words of a line, or nothing."""
    if len(words) != 4:
        return f"A line must be '<query> 0 <document> <grade>'. Got {len(words)} words instead."
    if not _GRADE.fullmatch(words[3]) or abs(int(words[3])) > GRADE_LIMIT:
        shown = repr(words[3][:40].decode(errors="replace"))
        return f"A grade must be a whole number from -127 to 127. Got {shown} instead."
    if b"\0" in words[0] or b"\0" in words[2]:
        return "A name must hold no NUL. Got one instead."
    return ""
