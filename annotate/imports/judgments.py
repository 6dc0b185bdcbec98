"""What people said elsewhere: the ratings of a file, handed to routing under somebody's name."""

from collections.abc import Sequence

from annotate import people, routing
from annotate.formats import Rating, Row
from annotate.models import Campaign, Membership, Pair, User


class Judges:
    """The people that a file names, and whoever is meant where it names nobody."""

    def __init__(self, campaign: Campaign, unnamed: str) -> None:
        self._campaign = campaign
        self._unnamed = unnamed
        self._known: dict[str, int] = {}

    def record(self, rows: Sequence[Row]) -> None:
        """Record the judgments of these rows. What is known already is not made again."""
        pairs = self._pairs(rows)
        routing.record(
            self._campaign,
            [
                _entry(pairs[row.query_key, row.document_key], self._judge(rating.judge), rating)
                for row in rows
                for rating in row.ratings
            ],
        )

    def _pairs(self, rows: Sequence[Row]) -> dict[tuple[str, str], int]:
        found = Pair.objects.filter(
            campaign=self._campaign,
            query__key__in={row.query_key for row in rows},
            document__key__in={row.document_key for row in rows},
        )
        keys = found.values_list("query__key", "document__key", "pk")
        return {(query, document): pk for query, document, pk in keys}

    def _judge(self, name: str) -> int:
        """A judge of this campaign by her name, or a person that stands for a name of the file."""
        name = name or self._unnamed
        if name not in self._known:
            judge = User.objects.filter(
                username=name,
                memberships__campaign=self._campaign,
                memberships__role=Membership.Role.JUDGE,
            ).first()
            judge = judge or people.stand_in(name, self._campaign.slug)
            self._known[name] = judge.pk
        return self._known[name]


def _entry(pair: int, judge: int, rating: Rating) -> routing.Entry:
    return routing.Entry(
        pair_id=pair,
        judge_id=judge,
        grade=int(rating.value),
        comment=rating.comment,
        active_ms=rating.active_ms,
        guideline_version=rating.guideline_version or 0,
        at=rating.at,
    )
