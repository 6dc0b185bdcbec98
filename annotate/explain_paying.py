"""Why if-it-pays asks about a pair again, or does not, in sentences. Reads only."""

import numpy as np

from annotate import routing
from annotate.models import Pair
from ranking.grades import LEVELS, Grade
from ranking.judgments import FloatArray
from ranking.schemes import Paying

#: Smaller values and prices are told as this.
SMALLEST = 0.0001


def reason(pair: Pair, scheme: Paying, grades: list[int]) -> str:
    """What another judgment of the pair is worth now, and what follows from that."""
    found, known = routing.look(pair)
    rows = {stand.pair.pk: row for row, stand in enumerate(found.stands)}
    if not grades or pair.pk not in rows or len(grades) >= scheme.cap:
        return scheme.because(grades)
    row = rows[pair.pk]
    if found.stands[row].known is not None:
        return "Its grade is decided, and no judgment could change that."
    if not found.complete:
        return _waiting(pair)
    worth, price = float(found.values[row]), known.price
    is_more = worth > price
    told = (
        f"Another judgment is worth {_number(worth)} NDCG@{scheme.k}, "
        f"{'above' if is_more else 'not above'} the price of {_number(price)}, "
        f"as the document {_standing(found.posterior, row)}."
    )
    if is_more and pair.state == Pair.State.CLOSED:
        told += f" {_why_not(found, row, known.left)}"
    return told


def _waiting(pair: Pair) -> str:
    first = pair.query.pairs.filter(state__in=[Pair.State.OPEN, Pair.State.CLOSED])
    bare = first.exclude(seats__state="done").count()
    rest = "one has none yet" if bare == 1 else f"{bare} have none yet"
    return f"The query is looked at when all of its pairs have their first judgment, and {rest}."


def _standing(posterior: FloatArray, row: int) -> str:
    """Where it stands by what was judged, and how sure that is."""
    gains = posterior @ (np.exp2(np.arange(LEVELS)) - 1)
    place = int((gains > gains[row]).sum()) + 1
    likely = int(posterior[row].argmax())
    sure = f"{posterior[row, likely]:.0%}".replace("%", " %")
    return f"stands at place {place} of {len(posterior)} and is {Grade(likely).word} for {sure}"


def _why_not(found: routing.Valued, row: int, left: int | None) -> str:
    others = (s for number, s in enumerate(found.stands) if number != row and s.made)
    if any(stand.free or stand.held for stand in others):
        return "Another document of its query is asked about first."
    if left == 0:
        return "The judgments per pair that were set are spent."
    return "It is asked about when somebody is there who has not judged it."


def _number(value: float) -> str:
    return f"{value:.2g}" if value >= SMALLEST else f"less than {SMALLEST}"
