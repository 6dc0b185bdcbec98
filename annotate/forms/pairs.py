"""What a manager may send about a pair."""

from django import forms

from annotate.models.choices import GRADE_CHOICES

NOTE_MAX = 2000
GOLD_FILE_MAX = 2**20


class GradeForm(forms.Form):
    """A grade that a manager knows or decides, and why."""

    grade = forms.TypedChoiceField(
        choices=GRADE_CHOICES,
        coerce=int,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a grade.",
            "invalid_choice": "A grade must be 0 to 4. Got %(value)s instead.",
        },
    )
    note = forms.CharField(
        required=False, max_length=NOTE_MAX, widget=forms.Textarea(attrs={"rows": 2})
    )


class GoldFileForm(forms.Form):
    """A file of known grades."""

    file = forms.FileField(
        label="File", widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"})
    )

    def clean_file(self) -> bytes:
        file = self.cleaned_data["file"]
        if file.size > GOLD_FILE_MAX:
            raise forms.ValidationError(
                f"A file must have at most {GOLD_FILE_MAX:,} bytes. Got {file.size:,} instead."
            )
        content: bytes = file.read()
        return content
