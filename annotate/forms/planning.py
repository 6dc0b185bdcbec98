"""What a manager may ask the planner."""

from decimal import Decimal
from typing import Any

from django import forms

from annotate import planner
from annotate.models import Campaign
from annotate.planner import Ask, Grades, Judges, PlanError

JUDGMENTS, MONEY = "judgments", "money"
OWN = "own"
#: Beside the names of presets: a campaign by its slug.
FROM = "campaign:"


class PlanForm(forms.Form):
    """Bounded, so that a plan is worked out at once."""

    amount = forms.DecimalField(
        label="Budget", min_value=1, max_value=planner.MOST_JUDGMENTS, decimal_places=2
    )
    unit = forms.ChoiceField(
        label="in", choices=[(JUDGMENTS, "judgments"), (MONEY, "money")], initial=JUDGMENTS
    )
    price = forms.DecimalField(
        label="Price",
        min_value=Decimal("0.0001"),
        max_value=100_000,
        decimal_places=4,
        required=False,
        help_text="Of a judgment.",
    )
    currency = forms.CharField(label="Currency", max_length=8, required=False, initial="EUR")
    queries = forms.IntegerField(label="Queries", min_value=1, max_value=planner.MOST_QUERIES)
    documents = forms.IntegerField(
        label="Documents",
        min_value=1,
        max_value=planner.MOST_DOCUMENTS,
        help_text="Found for each.",
    )
    grades = forms.ChoiceField(label="Grades to expect")
    shares = forms.CharField(
        label="Your own shares",
        required=False,
        max_length=80,
        help_text="Five numbers, Bad to Perfect, such as 55 30 12 2 1.",
    )
    judges = forms.ChoiceField(label="Judges")
    k = forms.TypedChoiceField(
        label="Measured by",
        choices=[(k, f"NDCG@{k}") for k in planner.DEPTHS],
        coerce=int,
        initial=planner.DEPTHS[0],
    )
    halving = forms.FloatField(
        label="Half of the queries is worth",
        min_value=0,
        max_value=50,
        initial=2,
        help_text="Points of NDCG; a point is 0.01. Two to three in our own runs.",
    )
    shallowing = forms.FloatField(
        label="Half of the documents is worth",
        min_value=0,
        max_value=50,
        initial=1,
        help_text="Points of NDCG. None in the study with 2,000 queries, two to three in our runs.",
    )

    def __init__(self, campaigns: list[Campaign], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaigns = {f"{FROM}{one.slug}": one for one in campaigns}
        own = [(key, f"As measured in {one.name}") for key, one in self.campaigns.items()]
        presets = [(name, words) for name, (words, _) in planner.GRADES.items()]
        self.fields["grades"].choices = [*presets, *own, (OWN, "Your own shares")]  # type: ignore[attr-defined]
        self.fields["judges"].choices = [*planner.JUDGES.items(), *own]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Everything together is an ``Ask``, under ``ask``."""
        data = super().clean() or {}
        if self.errors:
            return data
        try:
            data["ask"] = Ask(
                budget=self._budget(data),
                queries=data["queries"],
                documents=data["documents"],
                grades=self._grades(data),
                judges=self._judges(data),
                k=data["k"],
                halving=data["halving"] / 100,
                shallowing=data["shallowing"] / 100,
                price=data["price"],
                currency=data["currency"] or "EUR",
            )
        except PlanError as error:
            raise forms.ValidationError(str(error)) from None
        return data

    def _budget(self, data: dict[str, Any]) -> int:
        if data["unit"] == JUDGMENTS:
            return int(data["amount"])
        if data["price"] is None:
            raise PlanError("A budget in money needs the price of a judgment.")
        bought = int(data["amount"] / data["price"])
        if not 1 <= bought <= planner.MOST_JUDGMENTS:
            raise PlanError(
                f"The budget must buy between 1 and {planner.MOST_JUDGMENTS:,} judgments. "
                f"It buys {bought:,}."
            )
        return bought

    def _grades(self, data: dict[str, Any]) -> Grades:
        if data["grades"] in self.campaigns:
            return planner.pilot(self.campaigns[data["grades"]])[0]
        return _own(data["shares"]) if data["grades"] == OWN else planner.grades(data["grades"])

    def _judges(self, data: dict[str, Any]) -> Judges:
        if data["judges"] in self.campaigns:
            return planner.pilot(self.campaigns[data["judges"]])[1]
        return planner.judges(data["judges"])


def _own(text: str) -> Grades:
    try:
        shares = [float(part) for part in text.replace(",", " ").replace("%", " ").split()]
    except ValueError:
        raise PlanError(f"Shares must be five numbers. Got {text} instead.") from None
    return planner.own_grades(shares)
