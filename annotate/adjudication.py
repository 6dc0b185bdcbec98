"""Final grades by managers, above any aggregator. The only writer of adjudications."""

from django.db import transaction
from django.db.models.functions import Now

from annotate import history, jobs
from annotate.models import Adjudication, Pair, User
from ranking.grades import LEVELS, Grade


class AdjudicationError(Exception):
    """What the manager is told when a pair cannot be decided."""


def decide(manager: User, pair_id: int, grade: int, note: str = "") -> Adjudication:
    """The final grade of a pair. A second one takes the place of the first; both are on record."""
    if grade not in range(LEVELS):
        raise AdjudicationError(f"A grade must be 0 to 4. Got {grade} instead.")
    with transaction.atomic():
        pair = _locked(pair_id)
        if pair.state == Pair.State.GOLD:
            raise AdjudicationError("A gold pair has its grade already.")
        final, _ = Adjudication.objects.update_or_create(
            pair=pair,
            defaults={"grade": grade, "note": note, "by": manager, "created_at": Now()},
        )
        _changed(manager, pair, f"The final grade is {Grade(grade).word}.")
    return final


def withdraw(manager: User, pair_id: int) -> None:
    """The label is again what the judgments add up to."""
    with transaction.atomic():
        pair = _locked(pair_id)
        if Adjudication.objects.filter(pair=pair).delete()[0]:
            _changed(manager, pair, "The final grade was withdrawn.")


def _locked(pair_id: int) -> Pair:
    """Labels are made under the same lock: none is written past this decision."""
    return Pair.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=pair_id)


def _changed(manager: User, pair: Pair, sentence: str) -> None:
    Pair.objects.filter(pk=pair.pk).update(stale=True)
    history.record(pair.campaign, manager, sentence, pair)
    jobs.enqueue("aggregate", pair.campaign)
