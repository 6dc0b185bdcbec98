"""Campaigns: the list, a new one, settings, and open, pause, close."""

from decimal import Decimal
from http import HTTPStatus
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from rest_framework import serializers as drf
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import campaigns as rules
from annotate import costs, tokens
from annotate.access import judged_campaigns, managed_campaigns
from annotate.api import described, pages, serializers
from annotate.api.authentication import allows, needs, person, require_manager
from annotate.api.campaign_settings import NewCampaignIn, SettingsIn, SettingsOut, settled
from annotate.api.fields import OneOfField
from annotate.api.once import once
from annotate.api.operations import reads, writes
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import TIME, checked, managed
from annotate.models import Campaign

TAG = "Campaigns"
SETTINGS: Fields = dict(SettingsOut(Campaign(name="Library", price=Decimal("0.05"))).data)
CAMPAIGN: Fields = {
    "slug": "library",
    "state": "draft",
    "created_at": TIME,
    "scheme_label": "if-good-3",
    "steps": ["open"],
    "queries": 0,
    "pairs": 0,
    "closed": 0,
    "judges": 0,
    "judges_needed": 3,
    "settings": SETTINGS,
}


class CampaignDetailOut(drf.Serializer[Any]):
    slug = drf.CharField()
    state = drf.ChoiceField(choices=Campaign.State.choices)
    created_at = drf.DateTimeField()
    scheme_label = drf.CharField(help_text="The scheme with its number.")
    steps = drf.ListField(
        child=drf.ChoiceField(choices=list(rules.STEPS)), help_text="What can be done now."
    )
    queries = drf.IntegerField()
    pairs = drf.IntegerField(help_text="Pairs to be judged.")
    closed = drf.IntegerField(help_text="Those that need no more judgments.")
    judges = drf.IntegerField()
    judges_needed = drf.IntegerField(help_text="Different judges that a pair can need.")
    settings = SettingsOut()


class StateIn(Incoming):
    step = OneOfField(choices=list(rules.STEPS))


def _said(campaign: Campaign) -> Fields:
    progress = costs.progress(campaign)
    said = {
        "slug": campaign.slug,
        "state": campaign.state,
        "created_at": campaign.created_at,
        "scheme_label": campaign.scheme_label,
        "steps": rules.steps_from(campaign),
        "queries": progress.queries,
        "pairs": progress.pairs,
        "closed": progress.closed,
        "judges": rules.judges(campaign),
        "judges_needed": rules.judges_needed(campaign),
        "settings": campaign,
    }
    return dict(CampaignDetailOut(said).data)


# -- All ------------------------------------------------------------------------------------------


@described.CAMPAIGNS
@writes(
    "campaign_new",
    "Make a campaign",
    "A draft that you manage. Only the name is needed; every other setting has a default.",
    tag=TAG,
    takes=NewCampaignIn,
    gives=CampaignDetailOut,
    sent={"name": "Library", "scheme": "if-good-k", "k": 3},
    answer=CAMPAIGN,
    status=201,
    place=(),
)
@api_view(["GET", "POST"])
@permission_classes(needs(tokens.JUDGE, tokens.MANAGE))
def campaigns(request: Request) -> Response:
    if request.method == "POST":
        return _new(request)
    return pages.numbered(request, _hers(request), serializers.CampaignOut, _row)


def _row(campaign: Any) -> Fields:
    return {
        "slug": campaign.slug,
        "name": campaign.name,
        "state": campaign.state,
        "roles": [role for role in ("judge", "manager") if getattr(campaign, f"as_{role}")],
    }


def _hers(request: Request) -> QuerySet[Campaign]:
    """As far as the token goes: who judges does not see drafts, as on the pages."""
    user, none = person(request), Campaign.objects.none()
    judged = judged_campaigns(user).exclude(state=Campaign.State.DRAFT)
    managed = managed_campaigns(user)
    as_judge = Q(pk__in=(judged if allows(request, tokens.JUDGE) else none).values("pk"))
    as_manager = Q(pk__in=(managed if allows(request, tokens.MANAGE) else none).values("pk"))
    return Campaign.objects.filter(as_judge | as_manager).annotate(
        as_judge=ExpressionWrapper(as_judge, BooleanField()),
        as_manager=ExpressionWrapper(as_manager, BooleanField()),
    )


@once
def _new(request: Request) -> Response:
    user = require_manager(request)
    fields = settled(checked(NewCampaignIn, request))
    campaign = rules.create(user, fields)
    return Response(_said(campaign), status=HTTPStatus.CREATED)


# -- One ------------------------------------------------------------------------------------------


@reads(
    "campaign",
    "Read a campaign",
    "Its state, how far it is, and every setting.",
    tag=TAG,
    gives=CampaignDetailOut,
    answer=CAMPAIGN,
)
@writes(
    "campaign_change",
    "Change settings",
    "Those that are sent; the others stay. A new scheme or a new way to labels goes over all "
    "pairs in the background, and nothing that was judged is thrown away.",
    tag=TAG,
    method="PATCH",
    takes=SettingsIn,
    gives=CampaignDetailOut,
    sent={"scheme": "k-overlap", "k": 2},
    answer=CAMPAIGN,
    keyed=False,
)
@api_view(["GET", "PATCH"])
@permission_classes(needs(tokens.MANAGE))
def campaign(request: Request, slug: str) -> Response:
    found = managed(request, slug)
    if request.method == "PATCH":
        asked = SettingsIn(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        if fields := settled(asked.validated_data, found):
            rules.update(found, fields, person(request))
    return Response(_said(found))


@writes(
    "campaign_state",
    "Open, pause or close a campaign",
    "Open campaigns give pairs to judges; closed ones take no more judgments. A campaign that is "
    "so already stays so.",
    tag=TAG,
    takes=StateIn,
    gives=CampaignDetailOut,
    sent={"step": "open"},
    answer=CAMPAIGN | {"state": "open", "steps": ["pause", "close"]},
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def state(request: Request, slug: str) -> Response:
    return _step(request, managed(request, slug))


@once
def _step(request: Request, found: Campaign) -> Response:
    rules.change_state(found, checked(StateIn, request)["step"], person(request))
    return Response(_said(found))
