"""Ranking data in files: LETOR lines, TREC judgments, and folds by query.

Every reader takes a path or an open file, plain or gzipped, with LF or CRLF. A malformed line
is a ``ValueError`` that names the line and what is wrong with it.
"""

from ranking.data.folds import Fold, folds, rotation
from ranking.data.letor import LetorData, read_letor
from ranking.data.letor_writer import write_letor
from ranking.data.qrels import Qrels, read_qrels, write_qrels

__all__ = [
    "Fold",
    "LetorData",
    "Qrels",
    "folds",
    "read_letor",
    "read_qrels",
    "rotation",
    "write_letor",
    "write_qrels",
]
