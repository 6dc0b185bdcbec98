"""Which pair goes to which judge. The only place where seats and judgments are written.

Locks are taken in one order everywhere: standing, ledger, pair, estimate, seat; several pairs in
the order of their numbers; and nobody who holds a pair waits for a seat. SQLite takes its one write
lock at BEGIN instead, so the same code holds there.
"""

from annotate.routing.claiming import claim, hold
from annotate.routing.errors import CampaignNotOpenError, RoutingError, StaleSeatError
from annotate.routing.estimating import estimate
from annotate.routing.judgments import Answer, correct, submit, submit_to, take_back, void
from annotate.routing.membership import exclude, put_back, readmit, set_qualified
from annotate.routing.recording import Entry, record
from annotate.routing.referrals import drop, give_gold, refuse, resume, take_gold
from annotate.routing.seats import extend, open_seats, release, why_none
from annotate.routing.settling import reroute
from annotate.routing.standing import recount
from annotate.routing.turns import submit_and_hold
from annotate.routing.worth import Valued, look, look_at

__all__ = [
    "Answer",
    "CampaignNotOpenError",
    "Entry",
    "RoutingError",
    "StaleSeatError",
    "Valued",
    "claim",
    "correct",
    "drop",
    "estimate",
    "exclude",
    "extend",
    "give_gold",
    "hold",
    "look",
    "look_at",
    "open_seats",
    "put_back",
    "readmit",
    "record",
    "recount",
    "refuse",
    "release",
    "reroute",
    "resume",
    "set_qualified",
    "submit",
    "submit_and_hold",
    "submit_to",
    "take_back",
    "take_gold",
    "void",
    "why_none",
]
