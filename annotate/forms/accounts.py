"""How people sign in."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.utils.translation import gettext_lazy as _


class SignInForm(AuthenticationForm):
    """Django's own, in our words."""

    error_messages = {
        "invalid_login": _("This name and password do not go together. Both mind capital letters."),
        "inactive": _("This account is closed."),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = _("E-mail address or name")
        self.fields["username"].widget = forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        )
        self.fields["password"].label = _("Password")

    def clean_username(self) -> str:
        """Addresses are the same person however they are spelt."""
        name: str = self.cleaned_data["username"].strip()
        return name.lower() if "@" in name else name
