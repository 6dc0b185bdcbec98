"""One browser per module, and people who are signed in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from annotate import people
from annotate.models import User

PATIENCE_MS = 15_000


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser says: broken policy, broken script, dialogs."""
    return []


def listen(page: Page, complaints: list[str]) -> None:
    """Write down everything a page that is well never does."""

    def dialog_seen(dialog: Any) -> None:
        complaints.append(f"dialog {dialog.type}: {dialog.message}")
        dialog.dismiss()

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("dialog", dialog_seen)


@pytest.fixture
def sign_in(
    browser: Browser, context: BrowserContext, live_server: Any, complaints: list[str]
) -> Callable[[User], Page]:
    """A page of somebody who is signed in, in the test's own browser window."""

    def sign_in(user: User) -> Page:
        page = context.new_page()
        listen(page, complaints)
        page.goto(f"{live_server.url}/link/{people.sign_in_link(user)}/")
        page.get_by_role("button", name="Sign in as").click()
        page.wait_for_load_state()
        return page

    return sign_in
