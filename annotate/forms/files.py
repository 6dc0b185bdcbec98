"""What a manager may say about a file."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotate.exports import LABELS
from annotate.exports import Options as ExportOptions
from annotate.formats import FORMATS, scales
from annotate.imports import Options
from annotate.models import Upload

FORMAT_CHOICES = [(name, kind.words) for name, kind in FORMATS.items()]
GRADES_CHOICES = [
    ("judgments", "Judgments: people gave them"),
    ("truth", "Known grades: only simulated judges use them"),
]


class UploadForm(forms.Form):
    """One file, and what it is, if its sender knows better than we would."""

    file = forms.FileField(label="File", max_length=None)
    format = forms.ChoiceField(
        label="Format", choices=[("", "Find out"), *FORMAT_CHOICES], required=False
    )

    def clean_file(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.UPLOAD_MAX_BYTES:
            most, got = settings.UPLOAD_MAX_BYTES / 2**20, (file.size or 0) / 2**20
            raise forms.ValidationError(
                f"A file must have at most {most:.0f} MB. Got {got:.0f} MB instead."
            )
        return file

    def options(self) -> Options:
        return Options(format=self.cleaned_data["format"])


class ReadingForm(forms.Form):
    """How a file is to be read: what was found out, to be confirmed or changed."""

    format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES)
    grades = forms.ChoiceField(label="Its grades are", choices=GRADES_CHOICES, required=False)
    judge = forms.CharField(
        label="Whose grades they are",
        max_length=80,
        required=False,
        help_text="Where the file names nobody. Empty: a person named after the file.",
    )

    def __init__(self, upload: Upload, data: Any = None) -> None:
        initial = {
            "format": upload.format,
            "grades": upload.grades or ("truth" if FORMATS[upload.format].truth else "judgments"),
            "scale": upload.scale,
            "judge": upload.judge,
        }
        super().__init__(data, initial=initial)
        choices = [("", "Choose a scale"), *scale_choices(upload)]
        self.fields["scale"] = forms.ChoiceField(
            label="Scale of its grades",
            choices=choices,
            required=False,
            help_text="From worst to best.",
        )
        if upload.low is None and upload.grades != "truth" and not FORMATS[upload.format].truth:
            for name in ("grades", "scale", "judge"):
                del self.fields[name]

    def options(self) -> Options:
        return Options(**self.cleaned_data)


def scale_choices(upload: Upload) -> list[tuple[str, str]]:
    """The scales that hold the grades of the file, with what their numbers come to."""
    found = scales.holding(upload.low or 0, upload.high or 0, upload.fractions)
    known = scales.parse(upload.scale) if upload.scale else None
    if known and known not in found:
        found.insert(0, known)
    return [(str(scale), f"{scale.low} to {scale.high}: {scale.words()}") for scale in found]


class ExportForm(forms.Form):
    """How an export is to be written."""

    judges = forms.ChoiceField(
        label="Judges",
        choices=[("names", "By name"), ("pseudonyms", "By a pseudonym of this campaign")],
        required=False,
    )
    labels = forms.ChoiceField(
        label="Labels",
        choices=[("", "As the campaign makes them"), *((name, name) for name in LABELS)],
        required=False,
        help_text="For training files, another way from judgments to labels.",
    )

    def options(self) -> ExportOptions:
        return ExportOptions(
            pseudonyms=self.cleaned_data["judges"] == "pseudonyms",
            labels=self.cleaned_data["labels"],
        )
