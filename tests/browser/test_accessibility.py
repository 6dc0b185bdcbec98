"""Every page, for everybody: axe finds nothing, nothing is cut off, and Tab comes through."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from annotate import judging, people, routing
from annotate.models import Campaign, Document, Query, User
from tests.browser import pages
from tests.browser.world import World, furnish
from tests.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Level A and AA of WCAG 2.0, 2.1 and 2.2.
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]

RUN = f"""() => axe.run({{ runOnly: {LEVELS}, resultTypes: ["violations"] }}).then((result) =>
  result.violations.map((v) => `${{v.id}}: ${{v.nodes.map((n) => n.html).join(" | ")}}`))"""

OVERFLOW = """() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return wide > 0 ? `${wide} px too wide` : null;
}"""

#: The three ways to look at a page: width, height, colours.
LOOKS = {"light": (1280, 800, "light"), "dark": (1280, 800, "dark"), "narrow": (320, 640, "light")}


@pytest.fixture
def world(campaign: Campaign, alice: User, dana: User) -> World:
    return furnish(campaign, alice, dana)


@cache
def axe() -> str:
    return str(AXE_SCRIPT)


def violations(page: Page) -> Iterator[str]:
    """What is wrong with the page as it stands, in each of the three looks."""
    page.evaluate(axe())
    for name, (width, height, colours) in LOOKS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
        where = f"{page.url} {name}"
        yield from (f"{where}: {found}" for found in page.evaluate(RUN))
        if wide := page.evaluate(OVERFLOW):
            yield f"{where}: {wide}"


def visit(page: Page, home: str, addresses: dict[str, list[str]]) -> list[str]:
    wrong: list[str] = []
    for address in chain.from_iterable(addresses.values()):
        page.goto(home + address)
        wrong += violations(page)
    return wrong


def test_no_page_of_a_judge_breaks_the_guidelines(
    sign_in: Callable[[User], Page], live_server: Any, world: World, complaints: list[str]
) -> None:
    found = pages.found(signed_in(world.judge), world.slugs, world.numbers)
    assert found.keys() >= pages.JUDGE_PAGES
    assert visit(sign_in(world.judge), live_server.url, found) == []
    assert complaints == []


def test_no_page_of_a_manager_breaks_the_guidelines(
    sign_in: Callable[[User], Page], live_server: Any, world: World, complaints: list[str]
) -> None:
    found = pages.found(signed_in(world.manager), world.slugs, world.numbers)
    assert found.keys() >= pages.MANAGER_PAGES
    assert visit(sign_in(world.manager), live_server.url, found) == []
    assert complaints == []


def test_no_page_before_signing_in_and_no_error_breaks_the_guidelines(
    browser: Browser, live_server: Any, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with browser.new_context(locale="en-GB") as context:
        page = context.new_page()
        wrong: list[str] = []
        link = f"{live_server.url}/link/{people.sign_in_link(alice)}/"
        for address in (f"{live_server.url}/sign-in/", f"{live_server.url}/link/gone/", link):
            page.goto(address)
            wrong += violations(page)
        page.get_by_role("button", name="Sign in as").click()
        page.goto(f"{live_server.url}/nowhere/")
        expect(page.get_by_role("heading", name="There is no such page.")).to_be_visible()
        wrong += violations(page)
        monkeypatch.setattr(judging, "desks", lambda judge: 1 / 0)
        page.goto(f"{live_server.url}/judge/")
        expect(page.get_by_role("heading", name="Something went wrong here.")).to_be_visible()
        wrong += violations(page)
        context.clear_cookies()
        page.goto(f"{live_server.url}/sign-in/")
        context.clear_cookies()
        page.get_by_role("button", name="Sign in").click()
        page.locator("form").evaluate("form => form.submit()")
        expect(page.get_by_role("heading", name="Please try again.")).to_be_visible()
        wrong += violations(page)
    assert wrong == []


@pytest.fixture
def judging_page(
    sign_in: Callable[[User], Page], live_server: Any, campaign: Campaign, alice: User
) -> Page:
    page = sign_in(alice)
    page.goto(f"{live_server.url}/judge/{campaign.slug}/")
    return page


@pytest.mark.parametrize("key", ["g", "?", "s", "c"])
def test_no_panel_of_the_judging_page_breaks_the_guidelines(judging_page: Page, key: str) -> None:
    judging_page.keyboard.press(key)
    expect(judging_page.locator("dialog[open], details[open]")).to_be_visible()
    assert list(violations(judging_page)) == []


def test_training_is_explained_by_keyboard_alone_and_breaks_no_guideline(
    judging_page: Page, campaign: Campaign, alice: User, dana: User
) -> None:
    for pair in campaign.pairs.order_by("position")[1:3]:
        routing.give_gold(dana, pair.pk, 3, "It answers the query whole.")
    Campaign.objects.update(qualification_size=2, qualification_percent=50)
    judging_page.get_by_role("button", name="Finish").click()
    judging_page.goto(f"{judging_page.url}library/")
    expect(judging_page.get_by_text("Training · 0 of 2")).to_be_visible()
    for key, title in (("1", "Expected another grade"), ("4", "As expected")):
        judging_page.keyboard.press(key)
        lesson = judging_page.get_by_role("dialog", name=title)
        expect(lesson).to_contain_text("It answers the query whole.")
        judging_page.keyboard.press("5")
        assert list(violations(judging_page)) == []
        judging_page.keyboard.press("Enter")
    expect(judging_page.get_by_role("heading", name="You have qualified.")).to_be_visible()
    assert list(violations(judging_page)) == []
    assert list(alice.judgments.order_by("pk").values_list("grade", flat=True)) == [0, 3]


# -- Keyboard -------------------------------------------------------------------------------------

#: Where the focus is: what it is called, whether it can be seen, and whether something covers it.
FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  element.scrollIntoView({ block: "nearest" });
  const { left, top, width, height } = element.getBoundingClientRect();
  const over = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20));
  return {
    name: element.outerHTML.slice(0, 120),
    seen: element.checkVisibility() && width > 0 && height > 0,
    covered: !over || !(element.contains(over) || over.contains(element)),
  };
}"""


def tab_through(page: Page) -> list[dict[str, Any]]:
    """Press Tab until the focus leaves the page; more than 200 times is a trap."""
    stops: list[dict[str, Any]] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            return stops
        stops.append(stop)
    pytest.fail(f"Tab does not leave the page: {stops[-1]['name']}.")


@pytest.mark.parametrize("width", [1280, 360])
def test_tab_comes_through_the_judging_page_and_what_has_the_focus_is_seen(
    judging_page: Page, width: int
) -> None:
    judging_page.set_viewport_size({"width": width, "height": 800})
    stops = tab_through(judging_page)
    assert [stop["name"] for stop in stops if not stop["seen"] or stop["covered"]] == []
    assert any('role="radio"' in stop["name"] for stop in stops)
    assert any("Finish" in stop["name"] or 'class="tool"' in stop["name"] for stop in stops)


def test_tab_stays_in_an_open_dialog_and_escape_leaves_it(judging_page: Page) -> None:
    judging_page.keyboard.press("g")
    dialog = judging_page.get_by_role("dialog", name="Guidelines")
    expect(dialog).to_be_visible()
    for _ in range(12):
        judging_page.keyboard.press("Tab")
        inside = "() => document.activeElement.closest('dialog, body').tagName"
        assert judging_page.evaluate(inside) in ("DIALOG", "BODY")
    judging_page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_tab_comes_through_the_managers_pages(
    sign_in: Callable[[User], Page], live_server: Any, world: World
) -> None:
    page = sign_in(world.manager)
    for address in ("", "settings/", "guidelines/", "judges/"):
        page.goto(f"{live_server.url}/campaigns/library/{address}")
        hidden = [stop["name"] for stop in tab_through(page) if not stop["seen"]]
        assert hidden == []


# -- Layout ---------------------------------------------------------------------------------------

RIGHT_TO_LEFT = "كيف أقرأ ملف JSON في بايثون؟ " * 3
LONG_ADDRESS = "https://example.org/" + "a1%2Fb-" * 283


@pytest.mark.parametrize("size", [(1280, 800), (640, 400), (320, 640)])
def test_right_to_left_query_and_long_address_do_not_break_the_layout(
    judging_page: Page, size: tuple[int, int]
) -> None:
    assert len(LONG_ADDRESS) > 2000
    Query.objects.update(text=RIGHT_TO_LEFT, intent=RIGHT_TO_LEFT, locale="ar")
    Document.objects.update(url=LONG_ADDRESS, title="W" * 900, snippet="w" * 3000)
    judging_page.set_viewport_size({"width": size[0], "height": size[1]})
    judging_page.reload()
    assert judging_page.evaluate(OVERFLOW) is None
    direction = judging_page.locator("[data-query]").evaluate("q => getComputedStyle(q).direction")
    assert direction == "rtl"
    grade = judging_page.get_by_role("radio", name="Perfect")
    box = grade.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]
    judging_page.keyboard.press("4")
    expect(judging_page.locator("[data-save-state]")).to_have_text(re.compile("Excellent"))
    judging_page.goto(f"{judging_page.url}recent/")
    assert judging_page.evaluate(OVERFLOW) is None


def test_nothing_moves_for_people_who_asked_for_that(judging_page: Page) -> None:
    moving = judging_page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((element) => {
          const style = getComputedStyle(element);
          return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


def test_the_checker_finds_what_is_wrong(judging_page: Page) -> None:
    judging_page.evaluate("document.querySelector('[data-query]').style.color = '#ddd'")
    judging_page.evaluate("document.querySelector('[data-help]').replaceChildren()")
    judging_page.evaluate("document.body.style.minWidth = '400px'")
    found = "\n".join(violations(judging_page))
    assert "light: color-contrast" in found
    assert "light: button-name" in found
    assert "narrow: 80 px too wide" in found
