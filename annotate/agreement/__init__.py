"""Whether the judges agree: all, over time, by query, by couple, by grade. Reads only."""

from annotate.agreement.matrices import MATRIX, NO_OVERLAP, matrix_rows
from annotate.agreement.pages import WORDS, couples, figures
from annotate.agreement.snapshots import HISTORY, KIND, fall, history, is_low, latest

__all__ = [
    "HISTORY",
    "KIND",
    "MATRIX",
    "NO_OVERLAP",
    "WORDS",
    "couples",
    "fall",
    "figures",
    "history",
    "is_low",
    "latest",
    "matrix_rows",
]
