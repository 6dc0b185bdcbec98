"""Keys for programs. The only place where API tokens are written.

A token is 256 random bits, shown once. We keep its SHA-256, so a stolen database opens nothing,
and its first characters, so that its owner recognises it.
"""

import hashlib
import secrets
from collections.abc import Sequence

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from annotate.clock import now_plus
from annotate.models import ApiToken, User

JUDGE, MANAGE = "judge", "manage"

#: What a token may be allowed to do, in words for its owner.
SCOPES = {
    JUDGE: "Judge in your name.",
    MANAGE: "Manage your campaigns in your name.",
}

TOKEN_BYTES = 32
MARK = "so_"
PREFIX_LENGTH = len(MARK) + 8
LONGEST_NAME = 100
LONGEST_DAYS = 366

#: A busy program must not cost a write per request.
USE_NOTED_EVERY_MINUTES = 1


class TokenError(Exception):
    """What is said when a token cannot be made."""


def create(user: User, name: str, scopes: Sequence[str], days: int) -> str:
    """A new token, as text. It is returned now and never again."""
    name = name.strip()
    _require_sound(name, days)
    _require_scopes(user, scopes)
    raw = MARK + secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        # Two clicks at once: the lock on the person makes the second see the first one's token.
        User.objects.select_for_update().get(pk=user.pk)
        if live(user).filter(name=name).exists():
            raise TokenError(f"Each token must have a name of its own. You have {name!r} already.")
        ApiToken.objects.create(
            user=user,
            name=name,
            digest=_digest(raw),
            prefix=raw[:PREFIX_LENGTH],
            scopes=[scope for scope in SCOPES if scope in scopes],
            expires_at=now_plus(days=days),
        )
    return raw


def _require_sound(name: str, days: int) -> None:
    if not 0 < len(name) <= LONGEST_NAME:
        raise TokenError(f"A name must have 1 to {LONGEST_NAME} characters. Got {len(name)}.")
    if not 1 <= days <= LONGEST_DAYS:
        raise TokenError(f"A token must last 1 to {LONGEST_DAYS} days. Got {days} instead.")


def _require_scopes(user: User, scopes: Sequence[str]) -> None:
    allowed = scopes_for(user)
    wrong = [scope for scope in scopes if scope not in allowed]
    if wrong or not scopes:
        got = ", ".join(wrong) or "none"
        raise TokenError(f"A token must be for one of: {', '.join(allowed)}. Got {got} instead.")


def scopes_for(user: User) -> list[str]:
    """Nobody's token may do more than she may herself."""
    return [JUDGE, MANAGE] if user.manages else [JUDGE]


def live(user: User) -> QuerySet[ApiToken]:
    """This person's tokens that work, the newest first."""
    return ApiToken.objects.filter(_usable(), user=user).order_by("-pk")


def find(raw: str) -> ApiToken | None:
    """The token with its owner, if it works now; that it was used is noted."""
    unnoted = Q(last_used_at__isnull=True) | Q(
        last_used_at__lt=now_plus(minutes=-USE_NOTED_EVERY_MINUTES)
    )
    token = (
        ApiToken.objects.filter(_usable(), digest=_digest(raw), user__is_active=True)
        .select_related("user")
        .annotate(unnoted=ExpressionWrapper(unnoted, BooleanField()))
        .first()
    )
    if token is not None and token.unnoted:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=Now())
    return token


def revoke(user: User, token_id: int) -> ApiToken | None:
    """From the next request on this token of hers opens nothing. None if she has no such token."""
    token = live(user).filter(pk=token_id).first()
    if token is not None:
        ApiToken.objects.filter(pk=token.pk).update(revoked_at=Now())
    return token


def _usable() -> Q:
    return Q(revoked_at__isnull=True) & (Q(expires_at__isnull=True) | Q(expires_at__gt=Now()))


def _digest(raw: str) -> str:
    return hashlib.sha256(raw.encode()).hexdigest()
