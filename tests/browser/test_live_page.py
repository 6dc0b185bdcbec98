"""The live page in a real browser: a hostile page in the frame reaches nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect

from annotate.models import Campaign, Document, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EVIL = "http://evil.example"

#: Everything a page in a frame may try. What it manages is written into its title.
HOSTILE = """<!doctype html><title></title><input id="field"><p>Evil</p>
<form id="form" target="_top" action="http://evil.example/taken"></form><script>
const done = (what) => { document.title += what + " "; };
const attempt = (what, deed) => { try { if (deed() !== false) done(what); } catch { } };
attempt("cookie", () => document.cookie.length > 0);
attempt("storage", () => localStorage.length >= 0);
attempt("parent", () => parent.document.body !== null);
attempt("popup", () => window.open("http://evil.example/popup") !== null);
attempt("top", () => { top.location = "http://evil.example/top"; return false; });
attempt("form", () => { document.getElementById("form").submit(); return false; });
for (let n = 0; n < 50; n += 1) alert("evil");
attempt("confirm", () => confirm("evil"));
addEventListener("keydown", (event) => done(`key${event.key}`));
addEventListener("beforeunload", (event) => event.preventDefault());
STEAL
</script>"""

ONCE = "document.getElementById('field').focus();"
ALWAYS = "setInterval(() => { window.focus(); document.getElementById('field').focus(); }, 30);"


@pytest.fixture
def asked(context: BrowserContext) -> list[dict[str, str]]:
    """The hostile site: what it was asked for, with the headers."""
    seen: list[dict[str, str]] = []

    def answer(route: Route) -> None:
        seen.append({"url": route.request.url, **route.request.all_headers()})
        steal = ALWAYS if "always" in route.request.url else ONCE
        route.fulfill(body=HOSTILE.replace("STEAL", steal), content_type="text/html")

    context.route(f"{EVIL}/**", answer)
    return seen


@pytest.fixture
def judging(
    sign_in: Callable[[User], Page],
    live_server: Any,
    asked: list[dict[str, str]],
    campaign: Campaign,
    alice: User,
) -> Page:
    """The judging page of a campaign that shows live pages."""
    Campaign.objects.update(live_page=True)
    Document.objects.update(url=f"{EVIL}/page")
    page = sign_in(alice)
    page.goto(f"{live_server.url}/judge/{campaign.slug}/")
    return page


def evil_frame(page: Page) -> Frame:
    """The frame, when the page in it has tried everything."""
    page.wait_for_function("document.querySelector('.live-frame iframe')")
    handle = page.locator(".live-frame iframe").element_handle()
    frame = handle and handle.content_frame()
    assert frame
    frame.wait_for_selector("#field")
    return frame


def test_nothing_is_loaded_before_it_is_asked_for(judging: Page, asked: list[Any]) -> None:
    judging.wait_for_load_state("networkidle")
    assert asked == []
    assert judging.locator("iframe").count() == 0


def test_hostile_page_is_contained(
    judging: Page, asked: list[dict[str, str]], context: BrowserContext, alice: User
) -> None:
    ours = judging.url
    dialogs: list[str] = []
    judging.on("dialog", lambda dialog: dialogs.append(dialog.message))
    judging.keyboard.press("l")
    frame = evil_frame(judging)
    judging.wait_for_timeout(300)
    assert frame.title() == ""
    assert judging.url == ours
    assert len(context.pages) == 1
    assert dialogs == []
    assert [request["url"] for request in asked] == [f"{EVIL}/page"]
    assert "referer" not in asked[0]
    assert "cookie" not in asked[0]
    # Keys still reach us, the title and the snippet are beside it, and it goes on.
    expect(judging.locator("[data-title]")).to_be_visible()
    expect(judging.locator("[data-snippet]")).to_be_visible()
    judging.keyboard.press("4")
    expect(judging.locator("[data-save-state]")).to_have_text("Saved: Excellent")
    assert alice.judgments.get().grade == 3
    expect(judging.locator("[data-title]")).to_have_text("Title 1.2")
    assert "key" not in evil_frame(judging).title()


def test_page_that_keeps_taking_the_keys_is_closed(judging: Page, alice: User) -> None:
    Document.objects.update(url=f"{EVIL}/always")
    judging.reload()
    judging.keyboard.press("l")
    expect(judging.locator("[data-live-line]")).to_have_text(
        "The live page kept taking the keys, so it was closed."
    )
    expect(judging.locator("iframe")).to_have_count(0)
    judging.keyboard.press("2")
    expect(judging.locator("[data-save-state]")).to_have_text("Saved: Fair")


def test_keys_inside_the_page_do_not_grade_and_are_taken_back(judging: Page, alice: User) -> None:
    judging.keyboard.press("l")
    evil_frame(judging)
    box = judging.locator(".live-frame iframe").bounding_box()
    assert box
    # A hand's pointer is announced to us; the driver's is announced to the frame alone.
    judging.locator(".live-frame iframe").dispatch_event("pointerenter")
    judging.mouse.click(box["x"] + 40, box["y"] + 15)
    expect(judging.get_by_text("Keys go to the live page now")).to_be_visible()
    judging.keyboard.press("5")
    judging.get_by_role("button", name="Take the keys back").click()
    expect(judging.get_by_text("Keys go to the live page now")).to_be_hidden()
    assert not alice.judgments.exists()
    judging.keyboard.press("1")
    expect(judging.locator("[data-save-state]")).to_have_text("Saved: Bad")


def test_escape_closes_it_and_tab_never_leads_in(judging: Page) -> None:
    judging.keyboard.press("l")
    evil_frame(judging)
    for _ in range(40):
        judging.keyboard.press("Tab")
        assert judging.evaluate("document.activeElement.tagName") != "IFRAME"
    judging.keyboard.press("Escape")
    expect(judging.locator("iframe")).to_have_count(0)
    expect(judging.get_by_role("button", name="Text", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_page_that_may_not_be_framed_says_so(judging: Page, live_server: Any) -> None:
    Document.objects.update(url=f"{live_server.url}/judge/")
    judging.reload()
    judging.get_by_role("button", name="Live page").click()
    expect(judging.get_by_text("This page cannot be shown here.")).to_be_visible()
    assert judging.locator("iframe").count() == 0


@pytest.mark.parametrize("width", [1280, 360])
def test_grade_bar_does_not_move_for_the_live_page(judging: Page, width: int) -> None:
    judging.set_viewport_size({"width": width, "height": 800})
    bar = judging.locator(".grade-bar")
    before = bar.bounding_box()
    judging.locator("[data-view=live]").click()
    evil_frame(judging)
    assert bar.bounding_box() == before
    assert judging.evaluate("document.documentElement.scrollWidth") <= width
