"""Webhooks for programs: make and remove them, try them, see what was sent."""

from http import HTTPStatus
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import tokens, webhooks
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG
from annotate.api.errors import ConflictError
from annotate.api.fields import OneOfField, TextField
from annotate.api.once import once
from annotate.api.operations import BY_NUMBER, BY_ROW, number, reads, writes
from annotate.api.pages import counted, following, numbered, ongoing, walked
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import TIME, NothingIn, checked, managed
from annotate.models import Delivery, Webhook
from annotate.webhooks.checking import LONGEST_URL

TAG = "Webhooks"
ADDRESS = r"^https?://[!-?A-~]+$"
PLACE = (SLUG, number("webhook_id", "The webhook."))


# -- Shapes ---------------------------------------------------------------------------------------


@extend_schema_field({"type": "string", "pattern": ADDRESS, "maxLength": LONGEST_URL})
class AddressField(TextField):
    """Where messages go; the module says which may."""


class WebhookIn(Incoming):
    url = AddressField(max_length=LONGEST_URL, help_text="Messages are posted there, as JSON.")
    events = serializers.ListField(
        child=OneOfField(choices=list(webhooks.EVENTS)),
        allow_empty=False,
        max_length=len(webhooks.EVENTS),
        help_text="What it is told.",
    )


class WebhookOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()
    failures = serializers.IntegerField(help_text="How often in a row it could not be reached.")
    retry_at = serializers.DateTimeField(allow_null=True, help_text="Nothing is sent before.")


class NewWebhookOut(WebhookOut):
    secret = serializers.CharField(help_text="Shown now and never again.")


class DeliveryOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    event = serializers.CharField()
    event_id = serializers.UUIDField(help_text="The `webhook-id` of the message.")
    state = serializers.CharField(help_text="waiting, sent or failed.")
    attempts = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True, help_text="The last answer's, of HTTP.")
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True)


HOOK = {
    "id": 5,
    "url": "https://example.org/labels",
    "events": ["pair.closed", "labels.ready"],
    "created_at": TIME,
    "failures": 0,
    "retry_at": None,
}
SENT = {
    "id": 81,
    "event": "test",
    "event_id": "6f0d8c7e-53a8-4c8e-8a7e-0d6d1c3b9f55",
    "state": "waiting",
    "attempts": 0,
    "status": None,
    "error": "",
    "created_at": TIME,
    "due_at": TIME,
    "sent_at": None,
}


# -- Views ----------------------------------------------------------------------------------------


@reads(
    "webhooks",
    "List the webhooks of a campaign",
    "The oldest first, without their secrets.",
    tag=TAG,
    gives=counted(WebhookOut, "Webhook"),
    answer={"count": 1, "next": None, "previous": None, "results": [HOOK]},
    pages=BY_NUMBER,
)
@writes(
    "webhook_new",
    "Make a webhook",
    "The answer has the secret that its messages are signed with. An address is used once.",
    tag=TAG,
    takes=WebhookIn,
    sent={"url": HOOK["url"], "events": HOOK["events"]},
    gives=NewWebhookOut,
    answer=HOOK | {"secret": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
    status=201,
)
@api_view(["GET", "POST"])
@permission_classes(needs(tokens.MANAGE))
def hooks(request: Request, slug: str) -> Response:
    if request.method == "POST":
        return _create(request, slug)
    return numbered(request, managed(request, slug).webhooks.order_by("pk"), WebhookOut, _itself)


def _itself(row: Webhook) -> Webhook:
    return row


@once
def _create(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    asked = checked(WebhookIn, request)
    try:
        hook = webhooks.create(campaign, person(request), asked["url"], asked["events"])
    except webhooks.WebhookError as error:
        raise ConflictError(str(error)) from None
    hook.refresh_from_db()
    return Response(NewWebhookOut(hook).data, status=HTTPStatus.CREATED)


@reads(
    "webhook",
    "See a webhook",
    "Without its secret.",
    tag=TAG,
    place=PLACE,
    gives=WebhookOut,
    answer=HOOK,
)
@writes(
    "webhook_remove",
    "Remove a webhook",
    "It is told nothing more, and its log goes with it.",
    tag=TAG,
    method="DELETE",
    place=PLACE,
    gives=None,
    status=204,
    keyed=False,
)
@api_view(["GET", "DELETE"])
@permission_classes(needs(tokens.MANAGE))
def hook(request: Request, slug: str, webhook_id: int) -> Response:
    found = _hook(request, slug, webhook_id)
    if request.method == "DELETE":
        webhooks.remove(found, person(request))
        return Response(status=HTTPStatus.NO_CONTENT)
    return Response(WebhookOut(found).data)


@writes(
    "webhook_test",
    "Send a test",
    "A message of the type `test`, at once. The log shows what comes of it.",
    tag=TAG,
    takes=NothingIn,
    sent={},
    place=PLACE,
    gives=DeliveryOut,
    answer=SENT,
    status=202,
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
@once
def test(request: Request, slug: str, webhook_id: int) -> Response:
    found = _hook(request, slug, webhook_id)
    checked(NothingIn, request)
    return Response(_said(webhooks.send_test(found)), status=HTTPStatus.ACCEPTED)


@reads(
    "deliveries",
    "See what was sent to a webhook",
    "The latest first.",
    tag=TAG,
    place=PLACE,
    gives=ongoing(DeliveryOut, "Delivery"),
    answer={"next": None, "results": [SENT | {"state": "sent", "attempts": 1, "status": 204}]},
    pages=BY_ROW,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def deliveries(request: Request, slug: str, webhook_id: int) -> Response:
    found = _hook(request, slug, webhook_id).deliveries.all()
    return walked(DeliveryOut, *following(request, found, newest_first=True))


@writes(
    "delivery_again",
    "Send a message again",
    "The same message with the same id, at once; also one that was given up or has arrived.",
    tag=TAG,
    takes=NothingIn,
    sent={},
    place=(*PLACE, number("delivery_id", "The delivery.")),
    gives=DeliveryOut,
    answer=SENT,
    status=202,
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
@once
def again(request: Request, slug: str, webhook_id: int, delivery_id: int) -> Response:
    found = get_object_or_404(_hook(request, slug, webhook_id).deliveries, pk=delivery_id)
    checked(NothingIn, request)
    webhooks.send_again(found)
    found.refresh_from_db()
    return Response(_said(found), status=HTTPStatus.ACCEPTED)


def _hook(request: Request, slug: str, webhook_id: int) -> Webhook:
    return get_object_or_404(managed(request, slug).webhooks, pk=webhook_id)


def _said(delivery: Delivery) -> Fields:
    return dict(DeliveryOut(delivery).data)
