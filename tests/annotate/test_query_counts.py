"""Pages of large campaigns: what they ask of the database does not grow with the campaign."""

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate import labels, reports
from annotate.models import Campaign, Event, Job, Membership, Pair, Report, Seat, User
from tests.annotate import judged
from tests.annotate.test_dashboard import run

#: Every page of a campaign that has no number in its address.
PAGES = (
    *("dashboard", "campaign_live", "campaign_agreement", "judge_figures", "campaign_judges"),
    *("campaign_pairs", "campaign_referrals", "campaign_gold", "campaign_cost", "campaign_ranker"),
    *("campaign_data", "campaign_exports", "campaign_guidelines", "campaign_settings"),
    *("campaign_history", "campaign_jobs"),
)


def asked(client: Client, address: str) -> int:
    client.get(address)  # what a first visit alone needs
    with CaptureQueriesContext(connection) as context:
        assert client.get(address).status_code == 200
    return len(context)


def reckon(campaign: Campaign) -> None:
    labels.take_snapshot(campaign)
    for kind, data in reports.figures(campaign).items():
        Report.objects.update_or_create(campaign=campaign, kind=kind, defaults={"data": data})


def made(slug: str, manager: User, judges: int) -> Campaign:
    """Judged and gold pairs, runs and a past, all the more the more judges there are."""
    campaign = Campaign.objects.create(
        slug=slug, name=slug, created_by=manager, state=Campaign.State.OPEN
    )
    Membership.objects.create(campaign=campaign, user=manager, role=Membership.Role.MANAGER)
    people = judged.crowd(campaign, judges=judges, queries=2 * judges, called=slug)
    judged.gold(campaign, judges, people)
    for number in range(judges):
        run(campaign, number + 1, 0.7)
        Event.objects.create(campaign=campaign, actor=manager, sentence=f"Decision {number}.")
        Job.objects.create(
            kind="aggregate",
            key=f"{slug} {number}",
            campaign=campaign,
            state=Job.State.DONE,
            due_at=timezone.now(),
        )
    refused = Pair.objects.filter(campaign=campaign, state=Pair.State.OPEN)[:judges]
    Pair.objects.filter(pk__in=[pair.pk for pair in refused]).update(state=Pair.State.REFERRED)
    reckon(campaign)
    return campaign


def test_no_page_of_a_campaign_asks_more_of_a_larger_one(dana: User, dana_client: Client) -> None:
    small, large = made("small", dana, 6), made("large", dana, 9)
    counts = {
        name: [asked(dana_client, reverse(name, args=[slug])) for slug in (small.slug, large.slug)]
        for name in PAGES
    }
    assert {name: (few, many) for name, (few, many) in counts.items() if many > few} == {}
    assert max(many for _, many in counts.values()) <= 30


def test_pages_of_a_judge_and_a_pair_ask_no_more_in_a_larger_campaign(
    dana: User, dana_client: Client
) -> None:
    counts = []
    for slug, judges in (("small", 4), ("large", 9)):
        campaign = made(slug, dana, judges)
        seat = Seat.objects.filter(campaign=campaign, state=Seat.State.DONE).order_by("id")[0]
        addresses = (
            reverse("judge_page", args=[slug, seat.judge_id]),
            reverse("pair", args=[slug, seat.pair_id]),
        )
        counts.append([asked(dana_client, address) for address in addresses])
    assert counts[1] <= counts[0]


def test_list_of_campaigns_asks_no_more_for_more_campaigns(dana: User, dana_client: Client) -> None:
    made("small", dana, 4)
    few = asked(dana_client, reverse("campaigns"))
    made("large", dana, 5)
    assert asked(dana_client, reverse("campaigns")) == few <= 6
