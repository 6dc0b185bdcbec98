"""Pages of figures: what they say, who may see them, what a manager does there."""

import csv
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import sync_playwright

from annotate import agreement, costs, crowd, figures, notes, reporting, reports, tokens
from annotate.models import Campaign, Note, Pair, Report, Seat, Standing, User
from annotate.templatetags import reports as tags
from tests.annotate import judged
from tests.conftest import person, signed_in

LIST = ["campaign_agreement", "judge_figures", "campaign_cost"]


def reckon(campaign: Campaign) -> None:
    for kind, data in reports.figures(campaign).items():
        Report.objects.update_or_create(campaign=campaign, kind=kind, defaults={"data": data})


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ")


def shown(client: Client, name: str, *args: Any) -> str:
    response = client.get(reverse(name, args=["library", *args]))
    assert response.status_code == 200
    return text(response.content.decode())


# -- Every page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIST)
def test_page_is_the_managers_alone(
    campaign: Campaign, name: str, alice_client: Client, client: Client, dana_client: Client
) -> None:
    address = reverse(name, args=["library"])
    assert dana_client.get(address).status_code == 200
    assert alice_client.get(address).status_code == 404
    assert client.get(address).status_code == 302
    assert dana_client.post(address).status_code == 405


@pytest.mark.parametrize("name", LIST)
def test_empty_campaign_says_what_will_come(
    campaign: Campaign, name: str, dana_client: Client
) -> None:
    page = shown(dana_client, name)
    assert "Not reckoned yet" in page
    assert "No judgment yet." in page or "No pair has two judgments yet." in page
    reckon(campaign)
    assert "Reckoned" in shown(dana_client, name)


@pytest.mark.parametrize("name", LIST)
def test_live_parts_are_the_same_as_on_the_page(
    campaign: Campaign, name: str, dana_client: Client
) -> None:
    judged.crowd(campaign)
    reckon(campaign)
    address = reverse(name, args=["library"])
    html = dana_client.get(address).content.decode()
    live = dana_client.get(address, headers={"accept": "application/json"}).json()
    for part, fragment in live["fragments"].items():
        assert f'data-fragment="{part}"' in html
        assert text(fragment).strip() in text(html)
    assert set(re.findall(r'data-chart="(\w+)"', html)) <= live["charts"].keys()
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)


@pytest.mark.parametrize("kind", [*reporting.FIGURES, "judge"])
def test_every_figure_says_its_n_and_comes_as_csv(
    campaign: Campaign, kind: str, dana_client: Client
) -> None:
    people = judged.crowd(campaign)
    judged.gold(campaign, 6, people)
    reckon(campaign)
    kind = f"judge-{people[1].pk}" if kind == "judge" else kind
    found = reporting.figures(campaign, kind)
    assert found
    for figure in found:
        address = reverse("figure_csv", args=["library", kind, figure.name])
        body = b"".join(dana_client.get(address)).decode()
        rows = list(csv.reader(body.splitlines()))
        assert rows[0] == [key for column in figure.columns for key in column.keys]
        assert len(rows) == 1 + len(figure.rows)


def test_csv_that_is_not_there_is_not_found(campaign: Campaign, dana_client: Client) -> None:
    for kind, name in (
        ("agreement", "nothing"),
        ("nothing", "couples"),
        ("judge-999", "histogram"),
    ):
        address = reverse("figure_csv", args=["library", kind, name])
        assert dana_client.get(address).status_code == 404


def test_csv_holds_no_formula() -> None:
    figure = figures.Figure(
        "f",
        "F",
        "",
        [figures.Column("a", "A"), figures.Column("b", "B")],
        [{"a": "=1+1", "b": [1, 2]}],
    )
    assert list(figures.lines(figure)) == ["a,b\r\n", "'=1+1,1 2\r\n"]


# -- Agreement ------------------------------------------------------------------------------------


def test_agreement_page_shows_every_measure(campaign: Campaign, dana_client: Client) -> None:
    judged.crowd(campaign)
    reckon(campaign)
    page = shown(dana_client, "campaign_agreement")
    data, _ = figures.stored(campaign, "agreement")
    for name, words in agreement.WORDS.items():
        row = data["coefficients"][name]
        low, high = row["low"], row["high"]
        assert f"{words[0]} {row['value']:.3f} {tags.interval(low, high)} 100 300" in page
    assert "n = 100 pairs with two judgments or more" in page


def test_disputed_pairs_and_queries_lead_to_the_pairs(
    campaign: Campaign, dana_client: Client
) -> None:
    judged.if_good_3(campaign)
    reckon(campaign)
    html = dana_client.get(reverse("campaign_agreement", args=["library"])).content.decode()
    pair = Pair.objects.filter(campaign=campaign).order_by("id").last()
    assert pair is not None
    assert reverse("pair", args=["library", pair.pk]) in html
    assert f"{reverse('campaign_pairs', args=['library'])}?query=query+2" in html


def test_hostile_names_are_only_text(campaign: Campaign, dana: User) -> None:
    judged.if_good_3(campaign)
    reckon(campaign)
    User.objects.filter(username="judge00").update(first_name="</script><b>")
    campaign.queries.update(text="<script>alert(1)</script>")
    for name in LIST:
        html = signed_in(dana).get(reverse(name, args=["library"])).content.decode()
        assert "<script>alert(1)" not in html
        assert "</script><b>" not in html


# -- Judges ---------------------------------------------------------------------------------------


def test_judges_page_names_who_stands_out_and_why(campaign: Campaign, dana_client: Client) -> None:
    judged.crowd(campaign, queries=40)
    reckon(campaign)
    page = shown(dana_client, "judge_figures")
    assert "random?" in page
    assert "Not begun yet: alice , bob ." in page
    assert "Most Perfect" in page


@pytest.mark.parametrize(
    ("warning", "words"),
    [
        (
            {"code": "random", "value": 0.09, "expected": 0.5, "n": 96},
            "Grades like chance: correlation 0.09 with the others over 96 pairs, where 0.50 is "
            "usual.",
        ),
        (
            {"code": "constant", "value": 1.0, "expected": 0.2, "n": 40, "grade": 3},
            "Says Excellent to 100 % of 40 pairs; others say it to 20 % of them.",
        ),
        (
            {"code": "copier", "value": 0.98, "expected": 0.5, "n": 41, "other": 7},
            "Gives the same grade as Eve on 98 % of 41 shared pairs, where 50 % is to be expected.",
        ),
        (
            {"code": "gold", "value": 5, "expected": 0.8, "n": 10},
            "5 of 10 gold pairs right, where 80 % is usual.",
        ),
        (
            {"code": "lean", "value": -0.62, "n": 30},
            "Grades 0.6 grades lower than the others, over 30 pairs.",
        ),
        (
            {"code": "fast", "value": 3.0, "expected": 14.0, "n": 30},
            "Takes 3 s for a pair, where 14 s is usual, n = 30.",
        ),
    ],
)
def test_warnings_name_their_reason(warning: dict[str, Any], words: str) -> None:
    assert crowd.sentence(warning, {7: "Eve"}) == words


def test_every_warning_has_words() -> None:
    numbers = {"value": 0.5, "expected": 0.5, "n": 30, "grade": 1, "other": 7}
    for code in crowd.SHORT:
        assert crowd.sentence({"code": code, **numbers}, {7: "Eve"}).endswith(".")


def test_judge_page_shows_her_grades_beside_the_others(
    campaign: Campaign, dana_client: Client
) -> None:
    people = judged.crowd(campaign)
    reckon(campaign)
    one = crowd.judge(campaign, people[1].pk)
    assert one is not None
    page = shown(dana_client, "judge_page", people[1].pk)
    assert f"n = {one.row['kappa']['pairs']} pairs" in page
    found = one.row["consensus"]
    assert f"χ² = {found['statistic']:.1f}, {found['dof']} degrees of freedom" in page


def test_judge_page_lists_every_disagreement_in_pages(
    campaign: Campaign, dana_client: Client
) -> None:
    people = judged.crowd(campaign)
    campaign.pairs.update(spread=1)
    mine = Seat.objects.filter(judge=people[0], state=Seat.State.DONE)
    address = reverse("judge_page", args=["library", people[0].pk])
    reckon(campaign)
    seen: list[int] = []
    for number in range(1, 1 + -(-mine.count() // 25)):
        context = dana_client.get(address, {"page": number}).context
        for seat, said in context["disagreements"]:
            seen.append(seat.pk)
            assert len(said) == 2
    assert sorted(seen) == sorted(mine.values_list("pk", flat=True))


def test_judge_page_of_somebody_else_is_not_found(
    campaign: Campaign, dana_client: Client, charlie: User
) -> None:
    assert dana_client.get(reverse("judge_page", args=["library", charlie.pk])).status_code == 404
    action = reverse("judge_action", args=["library", charlie.pk])
    assert dana_client.post(action, {"action": "pause"}).status_code == 404


def act(client: Client, judge: User, **fields: str) -> None:
    address = reverse("judge_action", args=["library", judge.pk])
    assert client.post(address, fields).status_code == 302


def test_message_is_shown_to_the_judge_until_she_has_read_it(
    campaign: Campaign, dana_client: Client, alice: User, alice_client: Client, bob: User
) -> None:
    act(dana_client, alice, action="note", text="Please slow <b>down</b>.")
    (note,) = notes.unread(alice)
    for address in (reverse("judge_home"), reverse("judge", args=["library"])):
        assert "Please slow &lt;b&gt;down" in alice_client.get(address).content.decode()
        assert "Please slow" not in signed_in(bob).get(address).content.decode()
    read = reverse("note_read", args=[note.pk])
    signed_in(bob).post(read)
    assert notes.unread(alice).exists()
    alice_client.post(read)
    assert not notes.unread(alice).exists()
    assert "Please slow" not in alice_client.get(reverse("judge_home")).content.decode()
    assert "read" in shown(dana_client, "judge_page", alice.pk)


def test_empty_message_is_not_sent(campaign: Campaign, dana_client: Client, alice: User) -> None:
    act(dana_client, alice, action="note", text="  ")
    act(dana_client, alice, action="nonsense")
    assert not Note.objects.exists()


def test_manager_pauses_and_readmits(campaign: Campaign, dana_client: Client, alice: User) -> None:
    act(dana_client, alice, action="pause")
    assert Standing.objects.get(judge=alice).excluded_at is not None
    assert "Let her judge again" in shown(dana_client, "judge_page", alice.pk)
    act(dana_client, alice, action="readmit")
    assert Standing.objects.get(judge=alice).excluded_at is None


def test_manager_excludes_and_asks_others(campaign: Campaign, dana_client: Client) -> None:
    people = judged.if_good_3(campaign)
    act(dana_client, people[0], action="exclude")
    assert Standing.objects.get(judge=people[0]).excluded_at is not None
    assert not Seat.objects.filter(judge=people[0], state=Seat.State.DONE).exists()


def test_strangers_do_nothing_to_judges(
    campaign: Campaign, alice: User, bob_client: Client
) -> None:
    address = reverse("judge_action", args=["library", alice.pk])
    assert bob_client.post(address, {"action": "pause"}).status_code == 404
    assert bob_client.get(address).status_code == 405


def test_aggregate_against_best_judge_needs_gold(campaign: Campaign, dana_client: Client) -> None:
    assert "It needs gold pairs that several people judged." in shown(dana_client, "judge_figures")
    people = judged.judges_of(campaign, 4)
    judged.gold(campaign, 6, people)
    reckon(campaign)
    assert "the best single judge (judge00, n = 6 gold pairs)" in shown(
        dana_client, "judge_figures"
    )


# -- Cost -----------------------------------------------------------------------------------------


def test_cost_page_written_out(campaign: Campaign, dana_client: Client) -> None:
    judged.if_good_3(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(price="0.125", currency="EUR")
    reckon(campaign)
    page = shown(dana_client, "campaign_cost")
    assert "Labelling overhead 2.00 judgments per judged pair, n = 6" in page
    assert "formula of if-good-3: 2.00" in page
    assert "Fair- : Good+ 0.71" in page
    assert "Money 1.50 EUR" in page
    assert "0.125 EUR a judgment" in page
    # 3-overlap had 12 of the 18 judgments it wants; three pairs are short of two each.
    assert "3-overlap at least 2.00 3.00 +0 % 2.00 0.71 1.50 3 6" in page


def test_cost_without_a_price_is_in_judgments(campaign: Campaign, dana_client: Client) -> None:
    judged.if_good_3(campaign)
    reckon(campaign)
    assert "No price is set." in shown(dana_client, "campaign_cost")
    bill = costs.bill(campaign)
    assert (bill.money, bill.money_expected, bill.used) == (None, None, None)


def test_bill_expects_what_open_pairs_still_want(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    reckon(campaign)
    Pair.objects.filter(campaign=campaign).update(state=Pair.State.CLOSED)
    assert costs.bill(campaign).expected == 12
    Campaign.objects.filter(pk=campaign.pk).update(budget=24, training_rows="use-all")
    campaign.refresh_from_db()
    judged.more_pairs(campaign, 4)
    assert costs.bill(campaign).expected == 20
    assert costs.bill(campaign).training == 2.0


@pytest.mark.parametrize(
    ("value", "written"), [(0.12, "0.12"), (0.5, "0.50"), (0.1255, "0.1255"), (3, "3.00")]
)
def test_prices_keep_two_decimals_at_least(value: float, written: str) -> None:
    assert tags.price(value) == written  # type: ignore[arg-type]


# -- The API --------------------------------------------------------------------------------------


def key(user: User, scope: str = tokens.MANAGE) -> dict[str, str]:
    raw = tokens.create(user, f"test {user} {scope}", [scope], 1)
    return {"authorization": f"Bearer {raw}"}


@pytest.mark.parametrize("kind", reporting.FIGURES)
def test_every_chart_is_in_the_api(campaign: Campaign, dana: User, kind: str) -> None:
    judged.crowd(campaign)
    reckon(campaign)
    address = reverse("api_report", args=["library", kind])
    answer = Client().get(address, headers=key(dana)).json()
    page = reporting.figures(campaign, kind)
    assert page is not None
    assert [figure["name"] for figure in answer["figures"]] == [figure.name for figure in page]
    for ours, figure in zip(answer["figures"], page, strict=True):
        assert ours["rows"] == figure.rows
        assert ours["about"] == figure.about


def test_api_shows_figures_to_managers_only(campaign: Campaign, dana: User) -> None:
    address = reverse("api_report", args=["library", "cost"])
    assert Client().get(address).status_code == 401
    assert Client().get(address, headers=key(dana, tokens.JUDGE)).status_code == 403
    unknown = reverse("api_report", args=["library", "nothing"])
    other = person("eve", User.Role.MANAGER)
    assert Client().get(address, headers=key(other)).status_code == 404
    assert Client().get(unknown, headers=key(dana)).status_code == 404


# -- In a browser ---------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_charts_are_drawn_and_walked_through_with_keys(
    campaign: Campaign, dana_client: Client, live_server: Any, chromium: str
) -> None:
    people = judged.crowd(campaign)
    judged.gold(campaign, 6, people)
    reckon(campaign)
    session = dana_client.cookies["sessionid"].value
    complaints: list[str] = []
    addresses = [reverse(name, args=["library"]) for name in LIST]
    addresses.append(reverse("judge_page", args=["library", people[1].pk]))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for address in addresses:
            page.goto(live_server.url + address)
            for place in page.query_selector_all("[data-chart]"):
                name = place.get_attribute("data-chart")
                page.wait_for_selector(f"[data-chart={name}] svg")
                place.focus()
                page.keyboard.press("ArrowRight")
                page.keyboard.press("ArrowRight")
                said = page.text_content(f"[data-said={name}]") or ""
                assert said.startswith("2 of ")
        browser.close()
    assert complaints == []
