"""People and how they come in. The only place where users and sign-in links are written.

Registration is closed: a manager or a command makes a person, and a link lets her in once.
"""

import hashlib
import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import UserManager
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.text import slugify

from annotate import keys
from annotate.clock import now_plus
from annotate.models import SignInLink, User

TOKEN_BYTES = 32


class PeopleError(Exception):
    """What is said when a person cannot be made."""


def create_person(name: str, email: str = "", role: str = User.Role.JUDGE) -> User:
    """A new person without a password. She signs in by e-mail address, or by name without one."""
    name, email = name.strip(), UserManager.normalize_email(email.strip())
    if not name:
        raise PeopleError("A person must have a name. Got an empty one instead.")
    with transaction.atomic():
        if email and find(email) is not None:
            raise PeopleError(f"Each person must have her own address. {email} is known already.")
        user = User(
            username=email.lower() or _free_username(name),
            first_name=name,
            email=email,
            role=User.Role(role),
        )
        user.set_unusable_password()
        user.save()
    return user


def find_or_create(name: str, email: str) -> tuple[User, bool]:
    """The person with this address, or a new one, and whether she is new."""
    user = find(email) if email else None
    if user is not None:
        return user, False
    try:
        return create_person(name or email.partition("@")[0], email), True
    except IntegrityError:  # somebody made the same person just now
        user = find(email) if email else None
        if user is None:
            raise
        return user, False


def stand_in(name: str, place: str) -> User:
    """Somebody who judged elsewhere and is known here by the files of one campaign only.

    Nobody can sign in as such a person. The same name and place are the same person.
    """
    known = {"first_name": name, "is_active": False, "password": make_password(None)}
    user, _ = User.objects.get_or_create(username=stand_in_name(name, place), defaults=known)
    return user


def stand_in_name(name: str, place: str) -> str:
    return f"{name} ({place})"


def find(email: str) -> User | None:
    """The person with this address, however it is spelt."""
    return User.objects.filter(email__iexact=email.strip()).first()


def _free_username(name: str) -> str:
    base = slugify(name, allow_unicode=True)[:140] or "person"
    taken = set(User.objects.filter(username__startswith=base).values_list("username", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (base, *numbered) if name not in taken)


def set_keys(user: User, wanted: Any) -> None:
    """The keys of her judging page. Raises KeysError if they cannot be told apart."""
    user.keys = keys.checked(wanted)
    user.save(update_fields=["keys"])


def set_password(user: User, password: str) -> None:
    user.set_password(password)
    user.save(update_fields=["password"])


# -- Sign-in links --------------------------------------------------------------------------------


def sign_in_link(user: User) -> str:
    """A token that signs this person in once. It is shown now and never again: we keep a digest."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    SignInLink.objects.create(
        user=user,
        digest=_digest(token),
        expires_at=now_plus(days=settings.SIGN_IN_LINK_DAYS),
    )
    return token


def whose(token: str) -> User | None:
    """Whom the token would sign in. Changes nothing: mail programs open links on their own."""
    link = SignInLink.objects.filter(_usable(token)).select_related("user").first()
    return link.user if link else None


def redeem(token: str) -> User | None:
    """Use the token up. Two people with the same link: only the first one gets in."""
    with transaction.atomic():
        user = whose(token)
        used = SignInLink.objects.filter(_usable(token)).update(used_at=Now())
    return user if used else None


def _usable(token: str) -> Q:
    return Q(
        digest=_digest(token), used_at__isnull=True, expires_at__gt=Now(), user__is_active=True
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
