"""The demo as a campaign: what a new installation shows in its first minute."""

from django.db import transaction

from annotate import campaigns, imports, jobs, people
from annotate.demo import load_demo
from annotate.formats import Row
from annotate.models import Campaign, User

SLUG = "python-standard-library-search"
NAME = "Python standard library search"
MANAGER = "manager"
JUDGE = "judge"


@transaction.atomic
def load(progress: jobs.Progress = lambda _share, _words: None) -> Campaign:
    """Make the demo's people and its campaign, open and ready to judge; all of it or nothing."""
    manager = _person(MANAGER, User.Role.MANAGER)
    fields = {"name": NAME, "scheme_name": "if-good-k", "k": 3, "retrain_judgments": 150}
    campaign = campaigns.create(manager, fields)
    progress(0.1, "reading what this Python says of itself")
    rows = _rows()
    progress(0.6, "loading")
    imports.load_rows(campaign, rows)
    progress(0.9, "opening")
    campaigns.add_judge(campaign, _person(JUDGE, User.Role.JUDGE))
    campaigns.change_state(campaign, "open")
    return campaign


def _person(name: str, role: User.Role) -> User:
    known = User.objects.filter(username=name).first()
    return known or people.create_person(name, role=role)


def _rows() -> list[Row]:
    return [
        Row(
            line=line,
            query_key=str(row["query_id"]),
            query=str(row["query"]),
            intent=str(row["intent"]),
            locale=str(row["locale"]),
            document_key=str(row["doc_id"]),
            url=str(row["url"]),
            title=str(row["title"]),
            snippet=str(row["snippet"]),
            text=str(row["text"]),
            rank=int(row["rank"]),
            truth=int(row["truth"]),
        )
        for line, row in enumerate(load_demo().rows(), start=1)
    ]
