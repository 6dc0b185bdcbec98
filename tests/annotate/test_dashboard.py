"""The dashboard: what it says with and without figures, live, and without inline script."""

import hashlib
import re
import uuid
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import sync_playwright

from annotate import (
    agreement,
    campaigns,
    costs,
    crowd,
    jobs,
    labels,
    overview,
    quality,
    reports,
    routing,
)
from annotate.models import Campaign, Job, Label, Pair, Report, Snapshot, TrainingRun, User
from annotate.templatetags import figures
from tests.annotate import judged
from tests.conftest import person, signed_in

PAGE = "/campaigns/library/"
WARNING = {"code": "gold", "value": 1, "expected": 0.8, "n": 9}
VENDOR = django_settings.BASE_DIR / "static" / "vendor"


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def shown(client: Client) -> str:
    return text(client.get(PAGE).content.decode())


def snapshot(campaign: Campaign, minutes_ago: float = 0, **fields: Any) -> Snapshot:
    values: dict[str, Any] = {
        "pairs": 100,
        "judgments": 145,
        "judges": 3,
        "overlapping": 22,
        "alpha": 0.62,
        "alpha_low": 0.571,
        "alpha_high": 0.669,
        "histogram": [60, 35, 20, 18, 12],
        "first_good": 20,
    }
    made = Snapshot.objects.create(campaign=campaign, **values | fields)
    when = timezone.now() - timedelta(minutes=minutes_ago)
    Snapshot.objects.filter(pk=made.pk).update(created_at=when)
    return Snapshot.objects.get(pk=made.pk)


def mean(value: float, n: int = 12) -> dict[str, float | int | None]:
    return {"mean": value, "low": value - 0.05, "high": value + 0.05, "n": n}


def run(campaign: Campaign, number: int, ranker: float, p: float = 0.03) -> TrainingRun:
    at = {"ranker": mean(ranker), "first_stage": mean(0.648), "p": p}
    return TrainingRun.objects.create(
        campaign=campaign,
        number=number,
        state=TrainingRun.State.DONE,
        ranker="lambdamart",
        judgments=100 * number,
        metrics={
            "ndcg": dict.fromkeys(("1", "3", "5", "10"), at),
            "left_out": 1,
            "importance": [["bm25_title", 12.0], ["title_cosine", 3.0]],
        },
    )


def reckon(campaign: Campaign) -> None:
    """As the worker does after a snapshot."""
    for kind, data in reports.figures(campaign).items():
        values = {"data": data}
        Report.objects.update_or_create(campaign=campaign, kind=kind, defaults=values)


def judge(campaign: Campaign, user: User, grade: int) -> None:
    seat = routing.claim(campaign, user)
    assert seat is not None
    assert seat.token is not None
    routing.submit(user, seat.pk, seat.token, routing.Answer(grade, uuid.uuid4()))


# -- Tiles ----------------------------------------------------------------------------------------


def test_fresh_campaign_says_what_will_come(campaign: Campaign, dana_client: Client) -> None:
    page = shown(dana_client)
    assert "0 of 6 pairs closed" in page
    assert "No pair has two judgments yet." in page
    assert "No judgment yet. if-good-3 will show its cost here." in page
    assert "No ranker is trained yet. One is trained every 24 h or after 500 new judgments." in page


def test_tiles_say_value_n_and_interval(campaign: Campaign, dana_client: Client) -> None:
    snapshot(campaign)
    run(campaign, 1, 0.714)
    page = shown(dana_client)
    assert "0.62 95 % interval 0.57–0.67, ordinal n = 22 pairs with overlap" in page
    # r = 20 : 80, so (1 + 3/4) / (1 + 1/4) = 1.40; and 1 - 1.45 / 3 = 52 % saved
    # and Fair- : Good+ = 95 : 50
    assert "1.45 formula 1.40 at r = 0.25 about 52 % below 3-overlap Fair- : Good+ 1.90" in page
    assert "n = 145 for 100 judged" in page
    assert "0.714 above first stage 0.648 (p = 0.03) 95 % interval 0.664–0.764" in page
    assert "n = 12 held-out queries" in page


def test_whole_way_from_judgments_to_tiles(
    campaign: Campaign, dana_client: Client, alice: User, bob: User
) -> None:
    for grade in (4, 2, 0):
        judge(campaign, alice, grade)
    for grade in (3, 2):
        judge(campaign, bob, grade)
    while labels.label_batch(campaign):
        pass
    labels.take_snapshot(campaign)
    page = shown(dana_client)
    assert "1 of 6 pairs closed" in page
    assert "n = 2 pairs with overlap" in page
    assert "1.67 formula 2.33 at r = 2.00" in page
    assert Label.objects.count() == 3


def test_cost_has_no_formula_before_a_fair_judgment(campaign: Campaign) -> None:
    cost = costs.cost(campaign, snapshot(campaign, first_good=100), costs.progress(campaign))
    assert cost is not None
    assert (cost.r, cost.formula) == (None, None)


def test_saving_counts_what_open_pairs_still_want(campaign: Campaign) -> None:
    early = snapshot(campaign, judgments=100)
    for still_open, final in ((1, 1.4), (0, 1.0)):
        progress = costs.Progress(open=still_open, closed=99, referred=0, queries=2)
        cost = costs.cost(campaign, early, progress)
        assert cost is not None
        assert cost.per_pair == 1.0
        assert cost.saving == pytest.approx(1 - final / 3)


def test_more_than_three_is_said_to_be_more(campaign: Campaign, dana_client: Client) -> None:
    snapshot(campaign, judgments=450)
    assert "about 50 % above 3-overlap" in shown(dana_client)


@pytest.mark.parametrize(
    ("value", "written"), [(0.784, "78 %"), (0.999, "99 %"), (1.0, "100 %"), (None, "–")]
)
def test_percent_is_100_only_when_all_is_done(value: float | None, written: str) -> None:
    assert figures.percent(value).replace("\u00a0", " ") == written


def test_time_left_follows_the_pace_of_the_last_hour(campaign: Campaign) -> None:
    snapshot(campaign, minutes_ago=600, judgments=5, pairs=4, first_good=1)
    snapshot(campaign, minutes_ago=30, judgments=100)
    now = snapshot(campaign, judgments=145)
    progress = costs.Progress(open=100, closed=100, referred=0, queries=2)
    # 45 judgments in 30 minutes; 200 pairs at 1.45 are 290, so 145 more at 40 s each
    left = costs.time_left(campaign, now, progress)
    assert left is not None
    assert left.total_seconds() == pytest.approx(145 * 30 * 60 / 45, rel=0.01)
    assert overview.in_words(left) == "about 2 h"


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(0.1, "about 1 min"), (40, "about 40 min"), (600, "about 10 h"), (4000, "about 3 days")],
)
def test_durations_in_words(minutes: float, words: str) -> None:
    assert overview.in_words(timedelta(minutes=minutes)) == words


def test_gold_and_dropped_pairs_are_no_progress(campaign: Campaign) -> None:
    first, second, third = Pair.objects.filter(campaign=campaign)[:3]
    Pair.objects.filter(pk=first.pk).update(state=Pair.State.GOLD, gold=3)
    Pair.objects.filter(pk=second.pk).update(state=Pair.State.DROPPED)
    Pair.objects.filter(pk=third.pk).update(state=Pair.State.REFERRED)
    progress = costs.progress(campaign)
    assert (progress.pairs, progress.open, progress.referred) == (4, 3, 1)


# -- Charts and tables ----------------------------------------------------------------------------


def test_every_chart_has_its_figures_in_a_table(campaign: Campaign, dana_client: Client) -> None:
    snapshot(campaign)
    run(campaign, 1, 0.7)
    run(campaign, 2, 0.714)
    response = dana_client.get(PAGE)
    html = response.content.decode()
    assert set(re.findall(r'data-chart="(\w+)"', html)) == set(response.context["charts"])
    for name in response.context["charts"]:
        assert f'data-fragment="{name}-table"' in html
        assert f'data-empty="{name}"' in html
    page = text(html)
    assert "Perfect 12 8 %" in page
    assert "0.714 0.66–0.76 0.648 – – 0.03 12" in page


def test_overview_holds_the_busiest_judges_against_each_other(campaign: Campaign) -> None:
    people = judged.crowd(campaign, judges=15, queries=40)
    reckon(campaign)
    here = {figure.name: figure for figure in overview.figures(campaign)}["couples"]
    everywhere = {figure.name: figure for figure in agreement.figures(campaign)}["couples"]
    shared: Counter[int] = Counter()
    for row in everywhere.rows:
        shared.update({row["one_id"]: row["pairs"], row["other_id"]: row["pairs"]})
    seen = {row[key] for row in here.rows for key in ("one_id", "other_id")}
    assert len(seen) == overview.COUPLED < len(people)
    unseen = {person.pk for person in people} - seen
    assert min(shared[judge] for judge in seen) >= max(shared[judge] for judge in unseen)
    assert "The 12 busiest of 15 judges." in here.about
    assert "busiest" not in everywhere.about


def test_charts_draw_what_the_rows_say(campaign: Campaign) -> None:
    shot = snapshot(campaign)
    run(campaign, 2, 0.714)
    run(campaign, 1, 0.7)
    charts = {figure.name: figure.rows for figure in overview.figures(campaign)}
    assert [row["run"] for row in charts["ranker"]] == [1, 2]
    latest = charts["ranker"][1]
    assert (latest["mean"], latest["first_stage"], latest["n"]) == (0.714, 0.648, 12)
    assert (latest["low"], latest["high"]) == (pytest.approx(0.664), pytest.approx(0.764))
    assert (latest["judgments"], latest["ceiling"], latest["champion"]) == (200, None, "")
    perfect = {"grade": 4, "name": "Perfect", "count": 12, "share": 12 / 145}
    assert charts["grades"][0] == perfect
    assert charts["agreement"] == [
        {
            "at": shot.created_at.isoformat(),
            "judgments": 145,
            "alpha": 0.62,
            "low": 0.571,
            "high": 0.669,
            "overlapping": 22,
        }
    ]


def test_champion_and_ceiling_stand_on_the_tile(campaign: Campaign, dana_client: Client) -> None:
    best = run(campaign, 1, 0.714)
    run(campaign, 2, 0.7)
    metrics = best.metrics | {"ceiling": {"3": {"value": 0.842, "n": 12, "pairs": 30}}}
    TrainingRun.objects.filter(pk=best.pk).update(is_champion=True, metrics=metrics)
    page = shown(dana_client)
    assert "Champion, NDCG@3 0.714" in page
    assert "ceiling 0.842" in page


def test_budget_stands_on_the_tile(campaign: Campaign, dana_client: Client, alice: User) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(budget=10)
    campaign.refresh_from_db()
    judge(campaign, alice, 4)
    assert "budget: 1 of 10 judgments used" in shown(dana_client)


def test_run_without_a_defined_ndcg_is_left_out(campaign: Campaign) -> None:
    run(campaign, 1, 0.7)
    undefined = {"mean": None, "low": None, "high": None, "n": 0}
    at = {"ranker": undefined, "first_stage": undefined, "p": None}
    TrainingRun.objects.create(
        campaign=campaign,
        number=2,
        state=TrainingRun.State.DONE,
        ranker="lambdamart",
        judgments=1,
        metrics={"ndcg": {"3": at}},
    )
    assert [found.number for found in quality.runs(campaign)] == [1]


def test_long_history_is_thinned_but_keeps_its_ends(campaign: Campaign) -> None:
    made = [snapshot(campaign, judgments=n).pk for n in range(1, 301)]
    kept = [shot.pk for shot in agreement.history(campaign)]
    assert len(kept) == agreement.HISTORY
    assert (kept[0], kept[-1]) == (made[0], made[-1])


def test_judges_table_shows_what_was_reckoned(
    campaign: Campaign, dana_client: Client, alice: User
) -> None:
    for grade in (4, 0, 0):
        judge(campaign, alice, grade)
    reckon(campaign)
    campaigns.remove_judge(campaign, alice)
    first, second = crowd.judges(campaign)
    assert (first.name, first.judgments, first.row["histogram"]) == ("alice", 3, [2, 0, 0, 0, 1])
    assert (first.takes_part, second.takes_part) == (False, True)
    html = dana_client.get(PAGE).content.decode()
    assert "1 Perfect, 0 Excellent, 0 Good, 0 Fair, 2 Bad" in html
    assert '<rect class="g0" x="0.000" y="0" width="66.667" height="8"/>' in html
    assert "removed" in shown(dana_client)


# -- Needs you ------------------------------------------------------------------------------------


def needs(campaign: Campaign) -> list[str]:
    return [need.text for need in overview.overview(campaign).needs]


def test_nothing_needs_the_manager_when_all_runs(
    campaign: Campaign, dana_client: Client, alice: User
) -> None:
    campaigns.add_judge(campaign, person("eve"))
    assert needs(campaign) == []
    assert "Nothing. Everything runs by itself." in shown(dana_client)


def test_too_few_judges_for_the_scheme_need_her(campaign: Campaign) -> None:
    (need,) = needs(campaign)
    assert need == "if-good-3 asks up to 3 different people per pair, but there are 2 judges."


def test_work_without_a_worker_needs_her(campaign: Campaign) -> None:
    jobs.enqueue("train", campaign)
    assert "No background worker is running, and 1 job waits for one." in needs(campaign)
    jobs.worker_seen("worker")
    assert not any("worker" in need for need in needs(campaign))


def test_failed_work_needs_her_and_cancelled_work_does_not(campaign: Campaign) -> None:
    job = jobs.enqueue("train", campaign)
    assert job is not None
    jobs.cancel(job)
    assert not any("failed" in need for need in needs(campaign))
    Job.objects.filter(pk=job.pk).update(message="Boom.")
    assert "1 background job failed." in needs(campaign)


def test_low_agreement_needs_her_when_enough_pairs_say_so(campaign: Campaign) -> None:
    snapshot(campaign, alpha=0.2, overlapping=29)
    assert not any("hardly agree" in need for need in needs(campaign))
    snapshot(campaign, alpha=0.2, overlapping=30)
    assert "Judges hardly agree (α 0.20). Clearer guidelines may help." in needs(campaign)


def test_referred_pairs_need_her(campaign: Campaign) -> None:
    pair = Pair.objects.filter(campaign=campaign).first()
    assert pair is not None
    Pair.objects.filter(pk=pair.pk).update(state=Pair.State.REFERRED)
    assert "1 pair could not be judged by several people." in needs(campaign)


def test_finished_and_paused_campaigns_need_her(campaign: Campaign, dana_client: Client) -> None:
    Pair.objects.filter(campaign=campaign).update(state=Pair.State.CLOSED)
    assert "Every pair has the judgments it needs." in needs(campaign)
    campaigns.change_state(campaign, "pause")
    assert "The campaign is paused: judges get no new pairs." in needs(campaign)


def test_ranker_news_need_her(campaign: Campaign) -> None:
    snapshot(campaign)
    assert "No ranker is trained yet." in needs(campaign)
    run(campaign, 1, 0.714, p=0.5)
    assert not any("anker" in need for need in needs(campaign))
    run(campaign, 2, 0.714, p=0.03)
    assert (
        "The latest ranker beats the first stage by 6.6 points of NDCG@3 (p = 0.03, n = 12)."
        in needs(campaign)
    )
    failed = {"number": 3, "state": TrainingRun.State.FAILED, "message": "Too few labels."}
    TrainingRun.objects.create(campaign=campaign, ranker="lambdamart", judgments=1, **failed)
    assert "Training run 3 failed: Too few labels." in needs(campaign)


def test_judges_who_do_not_judge_need_her(campaign: Campaign, dana_client: Client) -> None:
    people = judged.crowd(campaign, queries=40)
    reckon(campaign)
    found = [need for need in overview.overview(campaign).needs if need.number == people[0].pk]
    assert [need.level for need in found] == ["bad"]
    assert found[0].text.startswith("judge00: Grades like chance: correlation ")
    assert (
        reverse("judge_page", args=["library", people[0].pk])
        in dana_client.get(PAGE).content.decode()
    )
    routing.exclude(campaign, people[0], campaign.created_by)
    assert all(need.number != people[0].pk for need in overview.overview(campaign).needs)


def test_many_judges_with_trouble_are_summed_up(campaign: Campaign) -> None:
    row = {"judgments": 30, "histogram": [30, 0, 0, 0, 0], "kappa": None, "warnings": [WARNING]}
    people = judged.judges_of(campaign, 8)
    rows = [row | {"judge": user.pk} for user in people]
    Report.objects.create(campaign=campaign, kind="judges", data={"judges": rows})
    found = [text for text in needs(campaign) if "gold" in text or "more judges" in text]
    assert len(found) == 6
    assert found[-1] == "3 more judges should be looked at."


def test_falling_agreement_needs_her(campaign: Campaign) -> None:
    snapshot(campaign, alpha=0.6, overlapping=200)
    recent = {"falls": True, "now": {"value": 0.41, "pairs": 40}, "before": {"value": 0.68}}
    Report.objects.create(campaign=campaign, kind="agreement", data={"recent": recent})
    assert "Agreement falls: α 0.41 over the latest 40 pairs, 0.68 before." in needs(campaign)


# -- Live -----------------------------------------------------------------------------------------


def test_live_parts_are_the_same_as_on_the_page(campaign: Campaign, dana_client: Client) -> None:
    snapshot(campaign)
    run(campaign, 1, 0.714)
    html = dana_client.get(PAGE).content.decode()
    live = dana_client.get(reverse("campaign_live", args=["library"])).json()
    assert live["state"] == "open"
    for name, part in live["fragments"].items():
        assert f'data-fragment="{name}"' in html
        assert text(part).strip() in text(html)
    assert live["charts"]["ranker"]["rows"][0]["mean"] == 0.714


def test_page_has_no_inline_script_or_style(campaign: Campaign, dana_client: Client) -> None:
    snapshot(campaign)
    html = dana_client.get(PAGE).content.decode()
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)
    for script in re.findall(r"<script[^>]*>", html):
        assert "src=" in script or 'type="application/json"' in script


def test_hostile_names_are_only_text(campaign: Campaign, dana: User) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(name="<script>alert(1)</script>")
    User.objects.filter(username="alice").update(first_name="</script><b>")
    html = signed_in(dana).get(PAGE).content.decode()
    assert "<script>alert(1)" not in html
    assert "</script><b>" not in html


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_page_draws_charts_and_follows_judging_without_reload(
    campaign: Campaign, dana_client: Client, live_server: Any, chromium: str
) -> None:
    snapshot(campaign, minutes_ago=5, judgments=100, alpha=0.6)
    snapshot(campaign)
    run(campaign, 1, 0.7)
    session = dana_client.cookies["sessionid"].value
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(live_server.url + PAGE)
        for name in ("ranker", "grades", "agreement"):
            page.wait_for_selector(f"[data-chart={name}] svg")
        page.evaluate("window.samePage = true")
        snapshot(campaign, alpha=0.71)
        page.wait_for_selector(".tile .value:has-text('0.71')")
        assert page.evaluate("window.samePage")
        browser.close()
    assert complaints == []


# -- Vendored files -------------------------------------------------------------------------------


def test_vendored_files_are_as_published() -> None:
    table = re.findall(
        r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.M
    )
    scripts = {str(path.relative_to(VENDOR)) for path in Path(VENDOR).rglob("*.js")}
    assert {name for name, _ in table} == scripts
    for name, digest in table:
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
