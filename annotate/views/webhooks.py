"""The page where a manager makes, tries and removes webhooks, and sees what was sent."""

from http import HTTPStatus

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotate import webhooks
from annotate.access import SignedInRequest, managed_campaign
from annotate.forms.webhooks import WebhookForm
from annotate.models import Campaign, Delivery, Webhook
from annotate.views.setup import bad

ROWS = 50


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_webhooks(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The secret of a new webhook is in the answer to the form and nowhere else.

    Sending the form again makes no second one, because addresses are used once.
    """
    campaign = managed_campaign(request.user, slug)
    if request.method != "POST":
        return _page(request, campaign, WebhookForm())
    form = WebhookForm(request.POST)
    hook = _create(request, campaign, form)
    return _page(request, campaign, form if hook is None else WebhookForm(), hook)


def _create(request: SignedInRequest, campaign: Campaign, form: WebhookForm) -> Webhook | None:
    if not form.is_valid():
        return None
    said = form.cleaned_data
    try:
        return webhooks.create(campaign, request.user, said["url"], said["events"])
    except webhooks.WebhookError as error:
        form.add_error("url", str(error))
        return None


@sensitive_variables("context")
def _page(
    request: SignedInRequest, campaign: Campaign, form: WebhookForm, new: Webhook | None = None
) -> HttpResponseBase:
    log = Delivery.objects.filter(webhook__campaign=campaign).select_related("webhook")
    context = {
        "campaign": campaign,
        "form": form,
        "hooks": [
            (hook, [webhooks.EVENTS[name] for name in hook.events])
            for hook in campaign.webhooks.all()
        ],
        "new": new,
        "page": Paginator(log.order_by("-pk"), ROWS).get_page(request.GET.get("page")),
        "attempts": webhooks.MOST_ATTEMPTS,
        "tab": "settings",
    }
    status = HTTPStatus.CREATED if new else bad(form)
    return render(request, "campaigns/webhooks.html", context, status=status)


@require_POST
def webhook_change(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Remove a webhook, or send it a test."""
    campaign = managed_campaign(request.user, slug)
    hook = get_object_or_404(campaign.webhooks, pk=number)
    action = request.POST.get("action")
    if action == "remove":
        webhooks.remove(hook, request.user)
        messages.success(request, f"{hook.url} is told nothing more.")
    elif action == "test":
        webhooks.send_test(hook)
        messages.success(request, "A test is on its way. The log shows what comes of it.")
    else:
        messages.error(request, f"An action must be remove or test. Got {action!r} instead.")
    return redirect("campaign_webhooks", slug)


@require_POST
def delivery_again(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Send the same message once more."""
    campaign = managed_campaign(request.user, slug)
    ours = Delivery.objects.filter(webhook__campaign=campaign).select_related("webhook__campaign")
    webhooks.send_again(get_object_or_404(ours, pk=number))
    messages.success(request, "The message is on its way again, with the same id.")
    return redirect("campaign_webhooks", slug)
