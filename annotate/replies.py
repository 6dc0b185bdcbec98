"""One effect for a request that comes again. The only writer of replies.

The reply is written in the transaction of the effect: they count together or not at all. Of two
that come at once the second waits for the first, by the unique key on PostgreSQL and by the one
write lock on SQLite, and then finds its answer.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import transaction

from annotate.clock import now_plus
from annotate.models import Reply, User

KEEP_HOURS = 24
BATCH = 1000


class KeyUsedError(Exception):
    """The key came before with something else."""


class Asked(NamedTuple):
    """What tells a request that came again from another: digests of its key and of its body."""

    key: str
    body: str


class Given(NamedTuple):
    """An answer, and whether it was given before."""

    status: int
    answer: str
    again: bool


def once(user: User, asked: Asked, do: Callable[[], tuple[int, str]]) -> Given:
    """Do it and keep the answer, or give the answer of the first time. What fails is not kept."""
    with transaction.atomic():
        hers = Reply.objects.filter(user=user, digest=asked.key)
        hers.filter(created_at__lt=_oldest()).delete()
        reply, new = Reply.objects.get_or_create(
            user=user, digest=asked.key, defaults={"body": asked.body}
        )
        if new:
            status, answer = do()
            Reply.objects.filter(pk=reply.pk).update(status=status, answer=answer)
            return Given(status, answer, again=False)
    if reply.body != asked.body:
        raise KeyUsedError("Every request must have its own key. This one came with another body.")
    return Given(reply.status, reply.answer, again=True)


def forget() -> None:
    """Nobody asks again after a day."""
    old = Reply.objects.filter(created_at__lt=_oldest()).values_list("pk", flat=True)
    Reply.objects.filter(pk__in=list(old[:BATCH])).delete()


def _oldest() -> Any:
    return now_plus(hours=-KEEP_HOURS)
