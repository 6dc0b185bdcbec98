"""Who may see which campaign. What is not yours does not exist."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from annotate.models import Campaign, Membership, User
from annotate.prepared import Prepared, as_object, columns

P = ParamSpec("P")


class SignedInRequest(HttpRequest):
    """A request behind the log-in: its user is a person."""

    user: User


View = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]


def judged_campaigns(user: User | int) -> QuerySet[Campaign]:
    """The campaigns this person judges in; she is a judge of each once."""
    return Campaign.objects.filter(memberships__user=user, memberships__role=Membership.Role.JUDGE)


def managed_campaigns(user: User) -> QuerySet[Campaign]:
    """An administrator manages all, a manager her own, a judge none."""
    if user.is_administrator:
        return Campaign.objects.all()
    if not user.manages:
        return Campaign.objects.none()
    return Campaign.objects.filter(
        memberships__user=user, memberships__role=Membership.Role.MANAGER
    )


def judged_campaign(user: User, slug: str) -> Campaign:
    """The campaign, or 404 for everybody who does not judge in it."""
    row = _JUDGED.first(slug, user.pk)
    if row is None:
        raise Http404
    return as_object(Campaign, row)


_JUDGED = Prepared(
    lambda slug, user: (
        judged_campaigns(user).order_by().filter(slug=slug).values_list(*columns(Campaign))
    ),
    str,
    int,
)


def managed_campaign(user: User, slug: str) -> Campaign:
    """The campaign, or 404 for everybody who does not manage it."""
    return get_object_or_404(managed_campaigns(user), slug=slug)


def managers_only(view: View[P]) -> View[P]:
    """A page for managers and administrators; others are told so."""

    @wraps(view)
    def guarded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.manages:
            raise PermissionDenied("This page is for managers.")
        return view(request, *args, **kwargs)

    return guarded
