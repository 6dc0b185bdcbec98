"""What a person says about a new token."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate import tokens
from annotate.models import User

DAYS = [(7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("One year"))]


class TokenForm(forms.Form):
    """A name, what it may do, how long it lasts."""

    name = forms.CharField(
        label=_("Name"),
        max_length=tokens.LONGEST_NAME,
        help_text=_("What it is for, so that you know which one to revoke."),
    )
    days = forms.TypedChoiceField(label=_("It lasts"), choices=DAYS, coerce=int, initial=30)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = [(name, tokens.SCOPES[name]) for name in tokens.scopes_for(user)]
        self.fields["scopes"] = forms.MultipleChoiceField(
            label=_("It may"),
            choices=scopes,
            widget=forms.CheckboxSelectMultiple,
            initial=[tokens.JUDGE],
            error_messages={"required": _("Choose what the token may do.")},
        )
