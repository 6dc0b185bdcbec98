"""The planner: a budget before it is spent."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotate import planner, planner_figures
from annotate.access import SignedInRequest, managed_campaigns, managers_only
from annotate.figures import lines
from annotate.forms.planning import PlanForm
from annotate.planner import Plan, PlanError

#: What the page works out before anybody has asked: a small pilot.
EXAMPLE = {
    "amount": "5000",
    "unit": "judgments",
    "price": "0.05",
    "currency": "EUR",
    "queries": "200",
    "documents": "50",
    "grades": "web",
    "judges": "crowd",
    "k": "3",
    "halving": "2",
    "shallowing": "1",
}


@managers_only
@require_safe
def plan_page(request: SignedInRequest) -> HttpResponseBase:
    """The form, and under it the plan. The address holds all of it, so that it can be shared."""
    form, plan = _worked_out(request)
    context: dict[str, Any] = {"form": form, "plan": plan, "asked": bool(request.GET)}
    if plan:
        found = planner_figures.figures(plan)
        context |= {
            "figures": {figure.name: figure for figure in found},
            "charts": {figure.name: figure.chart for figure in found},
            "address": urlencode(form.data),
            "new": f"{reverse('campaign_new')}?{urlencode(planner.settings(plan))}",
            "rows": [planner_figures.as_row(plan.ask, option) for option in plan.alternatives],
        }
    return render(request, "plan/plan.html", context, status=200 if plan else 422)


@managers_only
@require_safe
def plan_csv(request: SignedInRequest, name: str) -> HttpResponseBase:
    """The numbers of one figure of a plan."""
    _, plan = _worked_out(request)
    for figure in planner_figures.figures(plan) if plan else []:
        if figure.name == name:
            file = f'attachment; filename="plan-{name}.csv"'
            return StreamingHttpResponse(
                lines(figure),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": file},
            )
    raise Http404("There is no such figure.")


def _worked_out(request: SignedInRequest) -> tuple[PlanForm, Plan | None]:
    """What is missing in the address is as in the example."""
    sent = QueryDict(mutable=True)
    sent.update(EXAMPLE)
    for name in PlanForm.base_fields:
        if name in request.GET:
            sent[name] = request.GET[name]
    form = PlanForm(list(managed_campaigns(request.user)), sent)
    if not form.is_valid():
        return form, None
    try:
        return form, planner.work_out(form.cleaned_data["ask"])
    except PlanError as error:
        form.add_error("amount", str(error))
        return form, None
