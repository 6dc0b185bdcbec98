"""What a manager says about a new webhook."""

from django import forms

from annotate import webhooks
from annotate.webhooks.checking import LONGEST_URL


class WebhookForm(forms.Form):
    """An address, and what it wants to be told. The rules are in ``webhooks``."""

    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        help_text="Messages are posted there, as JSON.",
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )
    events = forms.MultipleChoiceField(
        label="It is told",
        choices=list(webhooks.EVENTS.items()),
        widget=forms.CheckboxSelectMultiple,
        initial=list(webhooks.EVENTS),
        error_messages={"required": "Choose what it is told."},
    )
