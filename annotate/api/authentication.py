"""Who asks, and what her token allows."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request

from annotate import tokens
from annotate.models import ApiToken, User

SCHEME = "Bearer"


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer so_…``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, _, raw = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != SCHEME.lower():
            return None
        token = tokens.find(raw.strip())
        if token is None:
            raise AuthenticationFailed("This token does not work: wrong, expired or revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes it."""

    target_class = BearerAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token from the page “API tokens”, with the scope an operation names.",
        }


def person(request: Request) -> User:
    """Who asks."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def allows(request: Request, scope: str) -> bool:
    """A token allows its scopes; a person signed in on the site has them all."""
    token = request.auth
    return not isinstance(token, ApiToken) or scope in token.scopes


def require_manager(request: Request) -> User:
    """Who asks, where only managers may, whatever campaign it is about."""
    user = person(request)
    if not allows(request, tokens.MANAGE):
        raise PermissionDenied(_needed(tokens.MANAGE))
    if not user.manages:
        raise PermissionDenied("This is for managers.")
    return user


def _needed(*scopes: str) -> str:
    return f"This needs a token with the scope {' or '.join(scopes)}."


def needs(*scopes: str) -> list[type[BasePermission]]:
    """The permissions of a view: signed in, and one of these scopes."""
    sentence = _needed(*scopes)

    class Scoped(BasePermission):
        message = sentence

        def has_permission(self, request: Request, view: Any) -> bool:
            return any(allows(request, scope) for scope in scopes)

    return [IsAuthenticated, Scoped]
