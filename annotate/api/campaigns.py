"""The campaigns a person has to do with."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import tokens
from annotate.access import judged_campaigns, managed_campaigns
from annotate.api import described, serializers
from annotate.api.authentication import allows, needs, person
from annotate.api.pages import Pages
from annotate.models import Campaign


@described.CAMPAIGNS
@api_view(["GET"])
@permission_classes(needs(tokens.JUDGE, tokens.MANAGE))
def campaigns(request: Request) -> Response:
    pages = Pages()
    page = pages.paginate_queryset(_hers(request), request) or []
    rows = [
        {
            "slug": campaign.slug,
            "name": campaign.name,
            "state": campaign.state,
            "roles": [role for role in ("judge", "manager") if getattr(campaign, f"as_{role}")],
        }
        for campaign in page
    ]
    return pages.get_paginated_response(serializers.CampaignOut(rows, many=True).data)


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
