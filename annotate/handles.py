"""How seats are named outside: by numbers that tell nothing.

The seat of a gold pair is made when it is claimed, so its row number would be higher than those
around it, and a judge could tell gold by it. A handle is the row number, shuffled by a secret.
"""

import hashlib
from functools import cache

from django.conf import settings

#: A handle has two halves of so many bits. Together they are exact in every script's numbers.
BITS = 26
MASK = (1 << BITS) - 1
ROUNDS = 4


def handle(seat_id: int) -> int:
    """The number by which a seat goes outside."""
    left, right = seat_id >> BITS & MASK, seat_id & MASK
    for step in range(ROUNDS):
        left, right = right, left ^ _mix(step, right)
    return left << BITS | right


def seat_id(number: int) -> int:
    """The row a handle means; 0, which no row has, where it can be none."""
    if not 0 <= number < 1 << 2 * BITS:
        return 0
    left, right = number >> BITS, number & MASK
    for step in reversed(range(ROUNDS)):
        left, right = right ^ _mix(step, left), left
    return left << BITS | right


def _mix(step: int, half: int) -> int:
    word = step.to_bytes(1) + half.to_bytes(4)
    return int.from_bytes(hashlib.blake2b(word, key=_secret(), digest_size=4).digest()) & MASK


@cache
def _secret() -> bytes:
    return hashlib.sha256(b"seats" + settings.SECRET_KEY.encode()).digest()
