"""Labels for Quepid and for OpenSearch's Search Relevance Workbench: queries by their words."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from itertools import groupby

from annotate.exports.options import Options
from annotate.exports.reading import graded
from annotate.exports.tables import CHUNK_ROWS, drain
from annotate.exports.text import in_chunks, one_grade_a_pair
from annotate.models import Campaign
from annotate.spreadsheets import safe


def quepid(campaign: Campaign, options: Options) -> Iterator[bytes]:
    """``query,docid,rating``."""
    one_grade_a_pair(options)
    return _quepid(campaign, options)


def _quepid(campaign: Campaign, options: Options) -> Iterator[bytes]:
    buffer = StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["query", "docid", "rating"])
    for number, row in enumerate(graded(campaign, options), start=1):
        writer.writerow([safe(row.query), safe(row.document_key), row.grade])
        if number % CHUNK_ROWS == 0:
            yield drain(buffer)
    yield drain(buffer)


def opensearch(campaign: Campaign, options: Options) -> Iterator[bytes]:
    """The body of ``PUT _plugins/_search_relevance/judgments``; ratings are texts there."""
    one_grade_a_pair(options)
    return in_chunks(_opensearch(campaign, options))


def _opensearch(campaign: Campaign, options: Options) -> Iterator[str]:
    about = {
        "name": campaign.name,
        "description": f"Labels of {campaign.name}.",
        "type": "IMPORT_JUDGMENT",
    }
    yield json.dumps(about, ensure_ascii=False)[:-1] + ', "judgmentRatings": ['
    between = "\n"
    for _, rows in groupby(graded(campaign, options), key=lambda row: row.query_id):
        found = list(rows)
        ratings = [{"docId": row.document_key, "rating": f"{row.grade:.3f}"} for row in found]
        item = {"query": found[0].query, "ratings": ratings}
        yield between + json.dumps(item, ensure_ascii=False)
        between = ",\n"
    yield "\n]}\n"
