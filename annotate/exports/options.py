"""How an export is written, and what is said when it cannot be."""

from dataclasses import dataclass

from ranking.aggregation import AGGREGATORS, USE_ALL

#: The ways from judgments to labels, besides the campaign's own.
LABELS = (*AGGREGATORS, USE_ALL)


class ExportRefusedError(Exception):
    """Why there is no such file, in a sentence for whoever wanted it."""


@dataclass(frozen=True)
class Options:
    """``pseudonyms``: judges under names that only this campaign has. ``labels``: how judgments
    become labels, empty for the labels that the campaign has.
    """

    pseudonyms: bool = False
    labels: str = ""

    def __post_init__(self) -> None:
        if self.labels and self.labels not in LABELS:
            raise ValueError(f"Labels must be one of {', '.join(LABELS)}. Got {self.labels!r}.")
