"""What a manager may ask the Lab."""

from typing import Any

from django import forms

from annotate import lab, rankers
from annotate.forms.campaigns import AGGREGATOR_WORDS
from ranking.aggregation import AGGREGATORS

#: What is offered to tick; others can be written.
OFFERED = (
    "single",
    "if-good-2",
    "if-good-3",
    "if-good-4",
    "good-till-bad-11",
    "2-overlap",
    "3-overlap",
    "if-it-pays-0.002",
)
TICKED = ("single", "if-good-2", "if-good-3", "3-overlap", "if-it-pays-0.002")
SHUFFLED, AS_MADE = "shuffled", "as-made"


class LabForm(forms.Form):
    """Schemes × ways to make labels, how often, and whether a ranker is trained on each."""

    routers = forms.MultipleChoiceField(
        label="Schemes",
        choices=[(name, name) for name in OFFERED],
        widget=forms.CheckboxSelectMultiple,
        initial=TICKED,
        required=False,
    )
    others = forms.CharField(
        label="Other schemes",
        required=False,
        max_length=200,
        help_text="Separated by commas: if-good-5, 4-overlap, good-till-bad-6, if-it-pays-0.001.",
    )
    aggregators = forms.MultipleChoiceField(
        label="Labels by",
        choices=[(name, name) for name in AGGREGATOR_WORDS if name in AGGREGATORS],
        widget=forms.CheckboxSelectMultiple,
        initial=("mean", "ordinal"),
    )
    draws = forms.IntegerField(
        label="Draws",
        min_value=1,
        max_value=lab.MOST_DRAWS,
        initial=20,
        help_text="How often the judgments of each pair are put in a new random order.",
    )
    order = forms.ChoiceField(
        label="Order of judgments",
        choices=[(SHUFFLED, "Drawn at random"), (AS_MADE, "As they were made, one draw")],
        initial=SHUFFLED,
    )
    ranker = forms.ChoiceField(
        label="Train a ranker on each",
        choices=[("", "No, measure the labels only"), *rankers.WORDS.items()],
        required=False,
        help_text="Five folds for every scheme, way and draw: this takes long.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2**31 - 1, initial=1, help_text="The same again."
    )

    def recipe(self) -> dict[str, Any]:
        """As the Lab takes it. Raises LabError."""
        data = self.cleaned_data
        written = [part for part in data["others"].split(",") if part.strip()]
        return lab.recipe(
            [*data["routers"], *written],
            data["aggregators"],
            draws=data["draws"],
            seed=data["seed"],
            ranker=data["ranker"],
            shuffle=data["order"] == SHUFFLED,
        )
