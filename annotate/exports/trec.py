"""TREC's files: labels as judgments (qrels), and the order of a ranker (a run)."""

from collections.abc import Iterator

from annotate.exchange import encoded
from annotate.exports.features import ranked
from annotate.exports.options import Options
from annotate.exports.reading import graded
from annotate.exports.text import in_chunks, one_grade_a_pair
from annotate.models import Campaign


def qrels(campaign: Campaign, options: Options) -> Iterator[bytes]:
    """``<query> 0 <document> <grade>``; blanks in names are percent-encoded."""
    one_grade_a_pair(options)
    return in_chunks(
        f"{encoded(row.query_key)} 0 {encoded(row.document_key)} {row.grade}\n"
        for row in graded(campaign, options)
    )


def run(campaign: Campaign, _options: Options) -> Iterator[bytes]:
    """``<query> Q0 <document> <rank> <score> <tag>``: by the champion, or the first stage."""
    tag, pairs = ranked(campaign)
    return in_chunks(
        f"{encoded(query)} Q0 {encoded(document)} {rank} {score!r} {tag}\n"
        for query, document, rank, score in pairs
    )
