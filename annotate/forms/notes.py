"""A message to a judge."""

from django import forms

LONGEST = 1000


class NoteForm(forms.Form):
    """Plain text, shown on her pages until she has read it."""

    text = forms.CharField(
        label="Message",
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="She sees it where she judges, until she says that she has read it.",
    )
