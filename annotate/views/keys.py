"""The keys of a judge: hers alone, to see and to change."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate import keys, people
from annotate.access import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def judge_keys(request: SignedInRequest) -> HttpResponse:
    shown, error = keys.chosen(request.user.keys), ""
    if request.method == "POST":
        wanted = {} if "reset" in request.POST else _wanted(request)
        try:
            people.set_keys(request.user, wanted)
        except keys.KeysError as wrong:
            shown, error = shown | wanted, str(wrong)
        else:
            messages.success(request, _("Your keys are saved."))
            return redirect("judge_keys")
    rows = [(name, step.words, shown[name].upper()) for name, step in keys.STEPS.items()]
    context = {"rows": rows, "error": error, "own": bool(request.user.keys)}
    return render(request, "judge/keys.html", context, status=422 if error else 200)


def _wanted(request: SignedInRequest) -> dict[str, str]:
    """Only the steps there are; what else was sent is nobody's business."""
    return {name: request.POST[name] for name in keys.STEPS if name in request.POST}
