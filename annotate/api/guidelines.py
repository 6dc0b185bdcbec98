"""What judges are asked to do: the text there is, and its versions."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import campaigns, guidelines, tokens
from annotate.access import judged_campaigns, managed_campaigns
from annotate.api.authentication import allows, needs, person, require_manager
from annotate.api.described import SLUG
from annotate.api.fields import WordsField
from annotate.api.operations import number, reads, writes
from annotate.api.parsing import LongParser
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import TIME, checked, managed
from annotate.forms.campaigns import GUIDELINES_MAX
from annotate.models import Campaign, Guideline

TAG = "Guidelines"
EITHER = f"{tokens.JUDGE} or {tokens.MANAGE}"


class GuidelineOut(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="0 is the text that every campaign starts with.")
    text = serializers.CharField(help_text="Markdown.")
    created_at = serializers.DateTimeField(allow_null=True)
    versions = serializers.ListField(
        child=serializers.IntegerField(), help_text="All that were written here, the latest first."
    )


class GuidelineIn(Incoming):
    text = WordsField(max_length=GUIDELINES_MAX, help_text="Markdown.", trim_whitespace=False)


ANSWER = {"version": 1, "text": "Grade what helps.\n", "created_at": TIME, "versions": [1]}


def _said(campaign: Campaign, one: Guideline) -> Fields:
    versions = campaign.guidelines.order_by("-version").values_list("version", flat=True)
    said = {
        "version": one.version,
        "text": one.text,
        "created_at": one.created_at if one.pk else None,
        "versions": list(versions),
    }
    return dict(GuidelineOut(said).data)


@reads(
    "guidelines",
    "Read the guidelines",
    "The version that judges read now. Judges and managers may.",
    tag=TAG,
    scope=EITHER,
    gives=GuidelineOut,
    answer=ANSWER,
)
@writes(
    "guidelines_new",
    "Write the guidelines",
    "A changed text is a new version; the same text is the version it already is. Managers may.",
    tag=TAG,
    takes=GuidelineIn,
    sent={"text": "Grade what helps."},
    gives=GuidelineOut,
    answer=ANSWER,
    keyed=False,
)
@api_view(["GET", "POST"])
@parser_classes([LongParser])
@permission_classes(needs(tokens.JUDGE, tokens.MANAGE))
def current(request: Request, slug: str) -> Response:
    if request.method != "POST":
        campaign = _readable(request, slug)
        return Response(_said(campaign, guidelines.current(campaign)))
    require_manager(request)
    campaign = managed(request, slug)
    saved = campaigns.save_guidelines(campaign, checked(GuidelineIn, request)["text"])
    if saved.pk:
        saved.refresh_from_db()
    return Response(_said(campaign, saved))


@reads(
    "guidelines_version",
    "Read a version of the guidelines",
    "As it was; version 0 is the text that every campaign starts with.",
    tag=TAG,
    place=(SLUG, number("version", "Its number.")),
    gives=GuidelineOut,
    answer=ANSWER,
)
@api_view(["GET"])
@permission_classes(needs(tokens.MANAGE))
def version(request: Request, slug: str, version: int) -> Response:
    campaign = managed(request, slug)
    found = campaign.guidelines.filter(version=version).first()
    if found is None and version:
        raise Http404
    return Response(_said(campaign, found or Guideline(version=0, text=guidelines.default_text())))


def _readable(request: Request, slug: str) -> Campaign:
    """Judges read what they are asked to do, managers what they wrote."""
    user = person(request)
    hers = judged_campaigns(user).exclude(state=Campaign.State.DRAFT)
    sets = [hers] if allows(request, tokens.JUDGE) else []
    sets += [managed_campaigns(user)] if allows(request, tokens.MANAGE) else []
    found = next((one for rows in sets if (one := rows.filter(slug=slug).first())), None)
    if found is None:
        raise Http404
    return found
