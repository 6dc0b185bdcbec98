"""Hostile text in every field, on every page: it stays text, and nothing of it runs."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest
from playwright.sync_api import Page

from annotate import campaigns, routing
from annotate.models import (
    ApiToken,
    Campaign,
    Document,
    Guideline,
    Job,
    Membership,
    Pair,
    Query,
    Refusal,
    TrainingRun,
    Upload,
    User,
)
from tests.browser import pages
from tests.browser.corpus import CORPUS
from tests.browser.world import World, furnish, preview_row
from tests.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Every element and attribute that could run something or lead somewhere it should not.
DANGEROUS = """() => {
  const found = [];
  const never = "iframe, frame, object, embed, base, img, style, meta[http-equiv], [srcdoc], "
    + "script:not([src]):not([type='application/json'])";
  const addresses = ["href", "src", "action", "formaction", "data", "xlink:href", "ping", "poster"];
  const leads = (value) => {
    try {
      const url = new URL(value, location.href);
      return /^https?:$/.test(url.protocol) && !url.username;
    } catch {
      return false;
    }
  };
  for (const element of document.querySelectorAll("*")) {
    if (element.matches(never)) found.push(element.outerHTML.slice(0, 200));
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) found.push(`${name}=${value}`);
      if (addresses.includes(name) && !leads(value)) found.push(`${name}=${value}`);
    }
  }
  return found;
}"""

SAVED = "text => document.querySelector('[data-pace]').textContent.startsWith(text)"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_the_corpus_has_150_strings() -> None:
    assert len(set(CORPUS)) >= 150


def test_the_check_finds_what_is_dangerous(
    sign_in: Callable[[User], Page], alice: User, complaints: list[str]
) -> None:
    page = sign_in(alice)
    page.evaluate("document.body.innerHTML += '<a href=javascript:x>x</a><b onclick=x></b>'")
    assert page.evaluate(DANGEROUS) == ["href=javascript:x", "onclick=x"]
    page.evaluate("document.body.innerHTML += '<img src=x onerror=alert(1)>'")
    page.wait_for_timeout(100)
    assert any("Content Security Policy" in text for text in complaints)


@pytest.fixture
def foreign(context: Any, live_server: Any) -> list[str]:
    """What the browser asked of anybody else."""
    asked: list[str] = []

    def note(request: Any) -> None:
        if not request.url.startswith((live_server.url, "data:")):
            asked.append(request.url)

    context.on("request", note)
    return asked


# -- A world of hostile text ----------------------------------------------------------------------


def fill_pairs(campaign: Campaign) -> None:
    """One pair per string, which stands in every field of it."""
    for number, text in enumerate(CORPUS):
        query = Query.objects.create(
            campaign=campaign, key=f"x{number}", text=text, intent=text, locale=text[:20]
        )
        document = Document.objects.create(
            campaign=campaign, key=f"x{number}", url=text, title=text, snippet=text, text=text
        )
        Pair.objects.create(
            campaign=campaign, query=query, document=document, rank=1, position=number + 100
        )
    routing.open_seats(campaign)


def fill_people(campaign: Campaign) -> None:
    for number, text in enumerate(CORPUS):
        user = User.objects.create(username=f"x{number}", first_name=text[:150])
        campaigns.add_judge(campaign, user)
        pair = campaign.pairs.filter(query__key=f"x{number}").get()
        Refusal.objects.create(pair=pair, judge=user, reason=Refusal.Reason.OTHER, text=text)
        pair.state = Pair.State.REFERRED if number % 2 else pair.state
        pair.save(update_fields=["state"])


def fill_campaigns(judge: User, manager: User) -> None:
    for number, text in enumerate(CORPUS):
        campaign = Campaign.objects.create(
            slug=f"x{number}", name=text[:120], state="open", created_by=manager
        )
        campaigns.add_judge(campaign, judge)
        Membership.objects.create(campaign=campaign, user=manager, role="manager")


def fill_work(world: World) -> None:
    """Files, runs, jobs and tokens."""
    whole = "\n\n".join(CORPUS)
    rows = [preview_row(line, text) for line, text in enumerate(CORPUS)]
    errors = [{"line": line, "reason": text} for line, text in enumerate(CORPUS)]
    Upload.objects.update(name=CORPUS[0], preview=rows, errors=errors, message=whole)
    Job.objects.update(message=CORPUS[1], error=whole)
    TrainingRun.objects.update(message=whole, decision=CORPUS[2])
    ApiToken.objects.update(name=CORPUS[3])
    campaigns.save_guidelines(world.campaign, whole)
    world.manager.first_name = world.judge.first_name = CORPUS[4]
    world.manager.save()
    world.judge.save()


@pytest.fixture
def world(campaign: Campaign, alice: User, dana: User) -> World:
    return furnish(campaign, alice, dana)


@pytest.fixture
def hostile(world: World) -> World:
    fill_pairs(world.campaign)
    fill_people(world.campaign)
    fill_campaigns(world.judge, world.manager)
    fill_work(world)
    Campaign.objects.filter(pk=world.campaign.pk).update(name=CORPUS[5])
    return world


@pytest.mark.parametrize("who", ["judge", "manager"])
def test_hostile_text_runs_on_no_page(
    sign_in: Callable[[User], Page],
    live_server: Any,
    hostile: World,
    complaints: list[str],
    foreign: list[str],
    who: str,
) -> None:
    user = getattr(hostile, who)
    found = pages.found(signed_in(user), hostile.slugs, hostile.numbers)
    assert found.keys() >= (pages.JUDGE_PAGES if who == "judge" else pages.MANAGER_PAGES)
    page = sign_in(user)
    for address in chain.from_iterable(found.values()):
        page.goto(live_server.url + address)
        assert page.evaluate(DANGEROUS) == [], address
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(WIDE) <= 0, f"{address} at {width} px"
        assert complaints == [], address
    assert foreign == []


def test_hostile_text_runs_in_no_pair_that_is_judged(
    sign_in: Callable[[User], Page],
    live_server: Any,
    campaign: Campaign,
    alice: User,
    complaints: list[str],
    foreign: list[str],
) -> None:
    campaign.pairs.all().delete()
    fill_pairs(campaign)
    page = sign_in(alice)
    for start in range(0, len(CORPUS), 20):
        page.goto(f"{live_server.url}/judge/{campaign.slug}/")
        for number, text in enumerate(CORPUS[start : start + 20], start + 1):
            shown = page.locator("[data-title], [data-query], [data-snippet]").all_text_contents()
            assert [said.strip() for said in shown] == [text.strip()] * 3
            assert page.evaluate(DANGEROUS) == [], text
            page.evaluate("text => { document.getElementById('comment').value = text }", text)
            page.keyboard.press("1")
            page.wait_for_function(SAVED, arg=f"Today {number} ")
        page.goto(f"{live_server.url}/judge/{campaign.slug}/recent/")
        assert page.evaluate(DANGEROUS) == []
    comments = list(alice.judgments.order_by("pk").values_list("comment", flat=True))
    assert [said.strip() for said in comments] == [text.strip() for text in CORPUS]
    assert complaints == foreign == []


def test_hostile_names_and_guidelines_stay_text(
    sign_in: Callable[[User], Page],
    live_server: Any,
    campaign: Campaign,
    alice: User,
    complaints: list[str],
    foreign: list[str],
) -> None:
    page = sign_in(alice)
    Guideline.objects.create(campaign=campaign, version=1, text="x")
    for text in CORPUS:
        User.objects.filter(pk=alice.pk).update(first_name=text[:150])
        Campaign.objects.update(name=text[:120])
        Guideline.objects.update(text=text)
        page.goto(f"{live_server.url}/judge/{campaign.slug}/guidelines/")
        assert page.locator(".menu-name").inner_text().split() == text[:150].split()
        assert page.locator(".subject").inner_text().split() == text[:120].split()
        assert page.evaluate(DANGEROUS) == [], text
    assert complaints == foreign == []
