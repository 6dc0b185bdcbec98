"""LETOR training files and judgment lists of Elasticsearch LTR."""

import re
from collections.abc import Iterator

from annotate.exchange import encoded
from annotate.exports.features import with_features
from annotate.exports.options import Options
from annotate.exports.reading import graded
from annotate.exports.text import in_chunks, one_grade_a_pair, one_line
from annotate.models import Campaign, Query

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def letor(campaign: Campaign, options: Options) -> Iterator[bytes]:
    """``<grade> qid:<number> <feature>:<value> … # docid = <document>``.

    Most readers want numbers for queries. Keys that are numbers are kept; otherwise queries are
    numbered from 1 and their keys stand in the comment.
    """
    return in_chunks(_lines(campaign, options, _numbered(campaign)))


def _lines(campaign: Campaign, options: Options, numbered: bool) -> Iterator[str]:
    number, query = 0, 0
    for query_id, key, document, features, grade in with_features(campaign, options):
        number += query_id != query
        query = query_id
        values = " ".join(f"{place}:{value!r}" for place, value in enumerate(features.tolist(), 1))
        named = f" queryid = {encoded(key)}" if numbered else ""
        qid = number if numbered else key
        yield f"{grade} qid:{qid} {values} # docid = {encoded(document)}{named}\n"


def _numbered(campaign: Campaign) -> bool:
    """Whether any key is no number, so that all queries get one."""
    keys = Query.objects.filter(campaign=campaign).values_list("key", flat=True).iterator()
    return not all(_NUMBER.fullmatch(key) for key in keys)


def judgment_list(campaign: Campaign, options: Options) -> Iterator[bytes]:
    """``<grade> qid:<number> # <document> <query>``, after comments that name each query."""
    one_grade_a_pair(options)
    return in_chunks(_listed(campaign, options))


def _listed(campaign: Campaign, options: Options) -> Iterator[str]:
    number, query = 0, 0
    for row in graded(campaign, options):
        if row.query_id != query:
            number, query = number + 1, row.query_id
            yield f"# qid:{number}: {one_line(row.query)}\n"
    number, query = 0, 0
    for row in graded(campaign, options):
        number += row.query_id != query
        query = row.query_id
        yield f"{row.grade} qid:{number} # {encoded(row.document_key)} {one_line(row.query)}\n"
