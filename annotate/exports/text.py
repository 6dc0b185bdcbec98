"""What the formats of lines have in common."""

from collections.abc import Iterable, Iterator

from annotate.exports.options import ExportRefusedError, Options
from ranking.aggregation import USE_ALL

CHUNK_LINES = 500


def in_chunks(lines: Iterable[str]) -> Iterator[bytes]:
    """The lines some hundred at a time."""
    gathered: list[str] = []
    for line in lines:
        gathered.append(line)
        if len(gathered) == CHUNK_LINES:
            yield "".join(gathered).encode()
            gathered = []
    yield "".join(gathered).encode()


def one_grade_a_pair(options: Options) -> None:
    """Only training files have a line for every judgment."""
    if options.labels == USE_ALL:
        raise ExportRefusedError(f"{USE_ALL} is for LETOR files: here a pair has one grade.")


def one_line(text: str) -> str:
    """A text that may not have line ends."""
    return " ".join(text.split())
