"""What a manager may send about a campaign."""

from typing import Any, ClassVar

from django import forms

from annotate.models import Campaign
from ranking.aggregation import AGGREGATORS
from ranking.schemes import SCHEMES

#: The schemes in words, the recommended one first.
SCHEME_WORDS = {
    "if-good-k": "k judgments where the first is Good or better, one otherwise. Recommended.",
    "k-overlap": "k judgments for every pair.",
    "good-till-bad": "Ask on while every judgment is Good or better, up to a cap.",
    "if-it-pays": "One judgment, then more where that may change the first three of a query.",
    "single": "One judgment for every pair.",
    "if-good-x": "One judgment; Good or better weighs θ times as much in training.",
}
#: The ways to a label in words. The first five look at one pair at a time, so that a label is
#: right at once; the models weigh the judges by all that they did, once a minute.
AGGREGATOR_WORDS = {
    "majority": "Majority vote, ties to the middle",
    "mean": "Mean, rounded",
    "median": "Median",
    "highest": "Highest grade",
    "first": "First judgment",
    "ordinal": "Model of the judges, for graded scales",
    "dawid-skene": "Model of the judges by Dawid and Skene, for many judgments a pair",
    "one-coin": "Model of the judges, one skill each",
}
GUIDELINES_MAX = 50_000


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a campaign. The modules decide what they mean."""

    scheme_name = forms.ChoiceField(
        label="Scheme",
        choices=[(name, SCHEME_WORDS.get(name, name)) for name in SCHEME_WORDS | SCHEMES],
        widget=forms.RadioSelect,
        initial="if-good-k",
    )
    aggregator = forms.ChoiceField(
        label="Labels are made by",
        choices=[
            (name, AGGREGATOR_WORDS.get(name, name)) for name in AGGREGATOR_WORDS | AGGREGATORS
        ],
        help_text=(
            "How the judgments of a pair become its label. A change makes all labels anew. "
            "With a model, a pair that was just judged has its majority for up to a minute."
        ),
        initial="majority",
    )

    class Meta:
        model = Campaign
        fields: ClassVar = [
            "name",
            "scheme_name",
            "k",
            "cap",
            "theta",
            "per_pair",
            "least_value",
            "aggregator",
            "budget",
            "price",
            "currency",
            "retrain_hours",
            "retrain_judgments",
            "lease_minutes",
            "live_page",
            "gold_percent",
            "qualification_size",
            "qualification_percent",
            "gold_in_labels",
        ]
        labels: ClassVar = {
            "k": "k",
            "cap": "Cap",
            "theta": "θ",
            "per_pair": "Judgments per pair, on average",
            "least_value": "Least value of a judgment",
            "budget": "Budget, in judgments",
            "price": "Price of a judgment",
            "retrain_hours": "Retrain every … hours",
            "retrain_judgments": "Retrain after … new judgments",
            "lease_minutes": "A judge holds a pair for … minutes",
            "live_page": "Judges may look at the live page",
            "gold_percent": "Gold pairs among all, per cent",
            "qualification_size": "Gold pairs to qualify",
            "qualification_percent": "Pass mark, per cent",
            "gold_in_labels": "Label gold pairs too",
        }
        help_texts: ClassVar = {
            "name": "Judges see it at the top of their page.",
            "k": "The most judgments a pair gets (k-overlap, if-good-k).",
            "cap": "The most judgments a pair gets (good-till-bad, if-it-pays).",
            "theta": "How much more a Good+ label weighs (if-good-x).",
            "per_pair": "Spent where worth most (if-it-pays). Empty: the least value counts.",
            "least_value": (
                "The gain in NDCG@3 below which no further judgment is asked (if-it-pays without "
                "judgments per pair)."
            ),
            "budget": "Empty means no limit.",
            "lease_minutes": "After that an unfinished pair goes to somebody else.",
            "gold_percent": "How often a judge who may judge gets one. 0 means never.",
            "qualification_size": "Judged before real work begins. 0 means nobody has to qualify.",
            "qualification_percent": "So many of them must be right.",
            "gold_in_labels": "From their judgments, as other pairs.",
        }

    def clean_name(self) -> str:
        name = " ".join(str(self.cleaned_data["name"]).split())
        if not name:
            raise forms.ValidationError("A campaign must have a name.")
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        per_pair, cap = data.get("per_pair"), data.get("cap")
        if data.get("scheme_name") == "if-it-pays" and per_pair and cap and per_pair > cap:
            text = f"Judgments per pair must not be more than the cap, {cap}."
            self.add_error("per_pair", f"{text} Got {per_pair:g} instead.")
        return data


class JudgeForm(forms.Form):
    """A person who is to judge: known by her address, or new."""

    name = forms.CharField(max_length=120, required=False)
    email = forms.EmailField(label="E-mail", max_length=254, required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not data.get("name") and not data.get("email"):
            raise forms.ValidationError("A judge must have a name or an e-mail address.")
        return data


class GuidelinesForm(forms.Form):
    """What judges are asked to do, in Markdown."""

    text = forms.CharField(
        label="Guidelines", max_length=GUIDELINES_MAX, widget=forms.Textarea(attrs={"rows": 24})
    )
