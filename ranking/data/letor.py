"""Reading LETOR lines: ``<grade> qid:<query> <feature>:<value> … # <comment>``."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from ranking.data.files import Source, lines
from ranking.judgments import FloatArray, IntArray

#: The highest feature number a file may use unless ``features`` says otherwise, so that one line
#: cannot ask for a matrix that fits nowhere.
MAX_FEATURES = 10_000

_BLOCK = 16_384
_SHAPE = "'<grade> qid:<query> <feature>:<value> …'"
_GRADE = re.compile(rb"-?\d{1,9}(?:\.0*)?")
_VALUE = re.compile(rb"nan|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.IGNORECASE)
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_DOCID = re.compile(r"docid\s*=\s*(\S+)")
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_BLANK, _COLON, _ZERO = b" :0"


@dataclass(frozen=True, eq=False)
class LetorData:
    """Rows of a LETOR file: ``X`` (rows × features), grade ``y`` and query ``qid`` of each row.

    ``qid`` holds the file's own numbers, or codes from 0 in order of appearance when some query is
    not named by a whole number; ``names`` has the name in the file of every ``qid``. ``comments``
    has what follows ``#`` in each row, without blanks around it. ``X, y, qid = read_letor(path)``
    works too.
    """

    X: FloatArray
    y: IntArray
    qid: IntArray
    comments: list[str]
    names: dict[int, str]

    def __iter__(self) -> Iterator[npt.NDArray[np.float64] | npt.NDArray[np.int64]]:
        return iter((self.X, self.y, self.qid))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def docids(self) -> list[str]:
        """The document of each row: ``docid = …`` of its comment, else the comment's first word."""
        found = ((_DOCID.search(comment), comment.split()) for comment in self.comments)
        return [match[1] if match else (words or [""])[0] for match, words in found]


def read_letor(source: Source, *, missing: float = 0.0, features: int | None = None) -> LetorData:
    """Read LETOR, SVM-rank or RankLib lines from a path or an open file, plain or gzipped.

    Features are numbered from 1, in any order, each at most once in a row. A feature that a row
    does not name, or whose value is ``NULL`` or ``nan``, gets the value ``missing``. The matrix has
    ``features`` columns, by default as many as the highest number in the file (at most 10,000).
    Grades are whole numbers, also negative. Blank lines and lines that are only a comment are left
    out; a row needs no features, so judgment lists (``4 qid:1 # 7555 rambo``) can be read.

    Every other line is a ``ValueError`` with the number of the first such line and the reason; so
    are a file without rows and a broken gzip file.
    """
    if features is not None and features < 0:
        raise ValueError(f"features must be at least 0. Got {features} instead.")
    limit = MAX_FEATURES if features is None else features
    blocks: list[_Block] = []
    numbered = (
        (number, line)
        for number, line in enumerate(lines(source), start=1)
        if line.lstrip()[:1] not in (b"", b"#")
    )
    while chunk := list(islice(numbered, _BLOCK)):
        blocks.extend(_located(chunk, lambda some: _parse(some, limit, missing)))
    if not blocks:
        raise ValueError("The file must have at least one row. Got none.")
    width = max(block.X.shape[1] for block in blocks) if features is None else features
    X = np.full((sum(len(block.y) for block in blocks), width), missing)
    start = 0
    for block in blocks:
        X[start : start + len(block.y), : block.X.shape[1]] = block.X
        start += len(block.y)
    qid, names = _queries([query for block in blocks for query in block.queries])
    y = np.array([grade for block in blocks for grade in block.y], dtype=np.int64)
    return LetorData(X, y, qid, [c for block in blocks for c in block.comments], names)


@dataclass(frozen=True)
class _Block:
    """Some parsed lines."""

    y: list[int]
    queries: list[str]
    comments: list[str]
    X: FloatArray


class _MalformedError(Exception):
    """What is wrong with one of some lines; which one is found by halving."""


def _located(
    chunk: list[tuple[int, bytes]], parse: Callable[[list[bytes]], _Block]
) -> list[_Block]:
    """Parse numbered lines at once; if they cannot be, say which is the first that cannot."""
    try:
        return [parse([line for _, line in chunk])]
    except _MalformedError as error:
        if len(chunk) == 1:
            raise ValueError(f"Line {chunk[0][0]}: {error}") from None
    half = len(chunk) // 2
    return _located(chunk[:half], parse) + _located(chunk[half:], parse)


def _parse(some: list[bytes], limit: int, missing: float) -> _Block:
    """Lines to rows: Python takes each line apart, numpy parses all their features at once."""
    grades, queries, rests, comments = [], [], [], []
    for line in some:
        body, _, comment = line.partition(b"#")
        head, query, rest = (*body.split(None, 2), b"", b"", b"")[:3]
        if not _GRADE.fullmatch(head):
            raise _MalformedError(f"A grade must be a whole number. Got {_shown(head)} instead.")
        if len(query) < 5 or not query.startswith(b"qid:"):
            raise _MalformedError(f"A line must be {_SHAPE}. Got no qid, {_shown(query)}, instead.")
        grades.append(int(float(head)))
        queries.append(query[4:])
        rests.append(rest)
        comments.append(comment.strip())
    index, values = _features(b" ".join(rests), limit)
    row = np.repeat(np.arange(len(rests)), [rest.count(b":") for rest in rests])
    _check_once(row, index)
    X = np.full((len(rests), int(index.max(initial=0))), missing)
    X[row, index - 1] = np.where(np.isnan(values), missing, values)
    try:
        named, noted = [q.decode() for q in queries], [c.decode() for c in comments]
    except UnicodeDecodeError as error:
        raise _MalformedError("A line must be UTF-8 text. Got other bytes instead.") from error
    return _Block(grades, named, noted, X)


def _features(text: bytes, limit: int) -> tuple[IntArray, FloatArray]:
    """Numbers and values of ``1:0.5 2:NULL …``."""
    text = text.translate(_BLANKS).strip().replace(b":NULL", b":nan")
    if not text:
        return np.empty(0, dtype=np.int64), np.empty(0)
    buffer = np.frombuffer(text, dtype=np.uint8)
    blank = buffer == _BLANK
    start = np.r_[0, np.flatnonzero(blank[:-1] & ~blank[1:]) + 1]
    colon = np.flatnonzero(buffer == _COLON)
    ok = len(start) == len(colon) and (start < colon).all() and (colon[:-1] < start[1:]).all()
    if not ok or colon[-1] + 1 == len(buffer) or blank[colon + 1].any():
        raise _MalformedError(_reason(text, limit))
    rest = buffer.copy()
    rest[colon] = _BLANK
    index = _numbers(rest, start, colon)
    if not 1 <= index.min() <= index.max() <= limit:
        raise _MalformedError(_reason(text, limit))
    try:
        values = np.fromstring(rest.tobytes(), sep=" ")
    except ValueError:
        values = np.empty(0)
    if len(values) != len(index) or np.isinf(values).any():
        raise _MalformedError(_reason(text, limit))
    return index, values


def _numbers(text: npt.NDArray[np.uint8], start: IntArray, stop: IntArray) -> IntArray:
    """The numbers between ``start`` and ``stop``, blanked out of the text; 0 for what is none."""
    length = stop - start
    number = np.zeros(len(start), dtype=np.int64)
    wrong = length > 9
    for place in range(min(9, int(length.max()))):
        has = np.flatnonzero(length > place)
        at = stop[has] - 1 - place
        digit = text[at] - np.uint8(_ZERO)
        wrong[has] |= digit > 9
        number[has] += digit * np.int64(10**place)
        text[at] = _BLANK
    number[wrong] = 0
    return number


def _reason(text: bytes, limit: int) -> str:
    """What is wrong with the first wrong word of features that could not be parsed."""
    for word in text.split():
        number, _, value = word.partition(b":")
        if not number or not value or b":" in value:
            return f"A feature must be '<number>:<value>'. Got {_shown(word)} instead."
        if not number.isdigit() or not 1 <= int(number[:19]) <= limit:
            return f"A feature's number must be from 1 to {limit}. Got {_shown(number)} instead."
        if not _VALUE.fullmatch(value) or np.isinf(float(value)):
            return f"A value must be a finite number or NULL. Got {_shown(value)} instead."
    return "The features could not be read."


def _check_once(row: IntArray, index: IntArray) -> None:
    key = row * (index.max(initial=0) + 1) + index
    if (key[1:] > key[:-1]).all():
        return
    ordered = np.sort(key)
    if (ordered[1:] == ordered[:-1]).any():
        raise _MalformedError("A feature must not be given twice. Got one that is.")


def _queries(said: list[str]) -> tuple[IntArray, dict[int, str]]:
    """``qid`` of every row and the names: numbers as they are, other names by code."""
    different = dict.fromkeys(said)
    if all(_WHOLE.fullmatch(name) and name != "-0" for name in different):
        code = {name: int(name) for name in different}
    else:
        code = {name: place for place, name in enumerate(different)}
    qid = np.array([code[name] for name in said], dtype=np.int64)
    return qid, {number: name for name, number in code.items()}


def _shown(word: bytes) -> str:
    """A word of a file as it may stand in a message: short, and readable whatever it is."""
    return repr(word[:40].decode(errors="replace"))
