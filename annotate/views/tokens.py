"""The page where a person makes and revokes her tokens."""

from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotate import tokens
from annotate.access import SignedInRequest
from annotate.forms.judging import LARGEST_ID
from annotate.forms.tokens import TokenForm


@sensitive_variables("raw")
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: SignedInRequest) -> HttpResponse:
    """A new token is in the answer to the form and nowhere else: a redirect would have to store it.

    Sending the form again makes no second one, because names are used once.
    """
    if request.method != "POST":
        return _page(request, TokenForm(request.user))
    form = TokenForm(request.user, request.POST)
    raw = _create(request, form)
    if raw is None:
        return _page(request, form, status=HTTPStatus.BAD_REQUEST)
    return _page(request, TokenForm(request.user), raw, status=HTTPStatus.CREATED)


@require_POST
def token_revoke(request: SignedInRequest, number: int) -> HttpResponse:
    token = tokens.revoke(request.user, number) if number <= LARGEST_ID else None
    if token is None:
        raise Http404
    messages.success(request, _("The token “%(name)s” no longer works.") % {"name": token.name})
    return redirect("tokens")


@sensitive_variables("raw")
def _create(request: SignedInRequest, form: TokenForm) -> str | None:
    if not form.is_valid():
        return None
    said = form.cleaned_data
    try:
        return tokens.create(request.user, said["name"], said["scopes"], said["days"])
    except tokens.TokenError as error:
        form.add_error("name", str(error))
        return None


@sensitive_variables("raw")
def _page(
    request: SignedInRequest, form: TokenForm, raw: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    found = [
        (token, [tokens.SCOPES[scope] for scope in token.scopes])
        for token in tokens.live(request.user)
    ]
    context = {"form": form, "tokens": found, "raw": raw}
    return render(request, "accounts/tokens.html", context, status=status)
