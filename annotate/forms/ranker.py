"""What a manager may send about the rankers of a campaign."""

from typing import Any, ClassVar

from django import forms

from annotate import rankers
from annotate.forms.campaigns import AGGREGATOR_WORDS
from annotate.models import Campaign
from ranking.aggregation import AGGREGATORS

ROWS = {
    "labels": "One row per pair: its label",
    "use-all": "One row per judgment",
    **{
        name: f"One row per pair: {AGGREGATOR_WORDS.get(name, name).lower()}"
        for name in AGGREGATORS
    },
}


class RankerForm(forms.ModelForm):  # type: ignore[type-arg]
    """How rankers are trained, and when a new one takes over."""

    ranker = forms.ChoiceField(choices=list(rankers.WORDS.items()), label="Ranker")
    training_rows = forms.ChoiceField(choices=list(ROWS.items()), label="Trained on")
    promotion_points = forms.FloatField(
        label="A new ranker may lose … points of NDCG@3",
        min_value=0,
        max_value=100,
        help_text="Against the champion, on the same held-out queries. A point is 0.01.",
    )

    class Meta:
        model = Campaign
        fields: ClassVar = [
            "ranker",
            "training_rows",
            "max_pnoise",
            "min_gold_percent",
            "min_documents",
            "retrain_hours",
            "retrain_judgments",
        ]
        labels: ClassVar = {
            "max_pnoise": "Leave out judges with a pNoise above",
            "min_gold_percent": "Leave out judges with a gold accuracy below, per cent",
            "min_documents": "Leave out queries with fewer documents than",
            "retrain_hours": "Retrain every … hours",
            "retrain_judgments": "Retrain after … new judgments",
        }
        help_texts: ClassVar = {
            "max_pnoise": "0 to 1; a guess has 0.5. Empty means nobody is left out.",
            "min_gold_percent": "Empty means nobody is left out.",
            "min_documents": "A query with one document teaches nothing.",
            "retrain_hours": "0 means never on a schedule.",
            "retrain_judgments": "0 means never by count.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["promotion_points"] = round(100 * self.instance.promotion_tolerance, 6)

    def settings(self) -> dict[str, Any]:
        """The fields of the campaign, as ``campaigns.update`` takes them."""
        fields = dict(self.cleaned_data)
        fields["promotion_tolerance"] = fields.pop("promotion_points") / 100
        return fields


class TrainForm(forms.Form):
    """Train one now, with the campaign's ranker or another."""

    ranker = forms.ChoiceField(
        choices=[("", "The campaign's own"), *rankers.WORDS.items()], required=False
    )
