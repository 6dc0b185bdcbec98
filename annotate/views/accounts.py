"""Coming in, going out, passwords."""

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from annotate import people
from annotate.access import SignedInRequest
from annotate.forms.accounts import SignInForm

BACKEND = "django.contrib.auth.backends.ModelBackend"

sign_in = LoginView.as_view(
    template_name="accounts/sign_in.html",
    authentication_form=SignInForm,
    redirect_authenticated_user=True,
)
sign_out = LogoutView.as_view()


@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    return redirect("campaigns" if request.user.manages else "judge_home")


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """GET only shows whose link it is: programs that open every link must not use it up."""
    person = people.redeem(token) if request.method == "POST" else people.whose(token)
    if person is None:
        return render(request, "accounts/link_gone.html", status=410)
    if request.method != "POST":
        return render(request, "accounts/link.html", {"person": person})
    login(request, person, backend=BACKEND)
    if not person.has_usable_password():
        messages.info(request, _("You are signed in. Set a password to come back without a link."))
    return redirect("home")


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def set_password(request: SignedInRequest) -> HttpResponse:
    """Who has a password must know it to change it; who came by a link sets the first one."""
    kind = PasswordChangeForm if request.user.has_usable_password() else SetPasswordForm
    form = kind(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        people.set_password(request.user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, request.user)
        messages.success(request, _("Your password is set."))
        return redirect("home")
    return render(request, "accounts/password.html", {"form": form})
