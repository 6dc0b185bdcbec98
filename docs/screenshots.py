"""Takes the pictures of the documentation: ``make screenshots``.

Starts a site of its own with the demo, lets simulated judges work until a ranker is trained, and
photographs the pages in the system's Chromium. ``python -m docs.screenshots FOLDER`` takes every
page whole instead, at three widths, light and dark, to look at them side by side.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.services import chromium, free_port

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images"
CAMPAIGN = "python-standard-library-search"
SIZES = {"desktop": (1440, 900), "tablet": (768, 1024), "phone": (360, 780)}
GROW_SECONDS = 150

#: Every page, by the name of its picture. What stands in braces is filled in.
JUDGE_PAGES = {
    "home": "/judge/",
    "judging": "/judge/{slug}/",
    "recent": "/judge/{slug}/recent/",
    "guide": "/judge/{slug}/guidelines/",
    "keys": "/keys/",
    "password": "/password/",
    "tokens": "/tokens/",
    "not-found": "/nowhere/",
    "forbidden": "/campaigns/",
}
MANAGER_PAGES = {
    "campaigns": "/campaigns/",
    "new": "/campaigns/new/",
    "overview": "/campaigns/{slug}/",
    "agreement": "/campaigns/{slug}/agreement/",
    "judges": "/campaigns/{slug}/judges/figures/",
    "people": "/campaigns/{slug}/judges/",
    "pairs": "/campaigns/{slug}/pairs/",
    "disputed": "/campaigns/{slug}/pairs/?show=disputed",
    "gold": "/campaigns/{slug}/gold/",
    "referrals": "/campaigns/{slug}/referrals/",
    "cost": "/campaigns/{slug}/cost/",
    "ranker": "/campaigns/{slug}/ranker/",
    "lab": "/campaigns/{slug}/lab/",
    "data": "/campaigns/{slug}/data/",
    "exports": "/campaigns/{slug}/export/",
    "guidelines": "/campaigns/{slug}/guidelines/",
    "settings": "/campaigns/{slug}/settings/",
    "history": "/campaigns/{slug}/history/",
    "jobs": "/campaigns/{slug}/jobs/",
    "plan": "/plan/",
    "api": "/api/v1/docs/",
}


@contextmanager
def site() -> Iterator[tuple[str, list[str]]]:
    """A new installation with the demo: its address, and the links it prints."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        environment = {**os.environ, "DATA_DIR": folder, "DATABASE_URL": "", "PORT": str(port)}
        process = subprocess.Popen(
            [sys.executable, "-u", "manage.py", "start"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = ""
        for line in process.stdout or ():
            said += line
            if "Ctrl-C" in line:
                break
        try:
            yield f"http://127.0.0.1:{port}", re.findall(r"http://\S+/link/\S+", said)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def sign_in(browser: Browser, link: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in as").click()
    page.wait_for_load_state()
    return page


def shoot(page: Page, address: str, name: str, size: str, *, dark: bool = False) -> None:
    """One picture of what a person sees without scrolling."""
    see(page, address, size, dark=dark)
    page.screenshot(path=PICTURES / f"{name}.png")
    print(f"{name}.png")


def see(page: Page, address: str, size: str, *, dark: bool = False) -> None:
    """Open a page and wait until nothing on it moves."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)


def take_all(browser: Browser, home: str, links: list[str]) -> None:
    manager, judge = (sign_in(browser, link) for link in links[:2])
    campaign = f"{home}/campaigns/{CAMPAIGN}"
    shoot(judge, f"{home}/judge/{CAMPAIGN}/", "judge", "desktop")
    shoot(judge, f"{home}/judge/{CAMPAIGN}/", "judge-dark", "desktop", dark=True)
    shoot(judge, f"{home}/judge/{CAMPAIGN}/", "judge-phone", "phone")
    shoot(judge, f"{home}/judge/", "judge-home", "desktop")
    judge_pages(judge, home)
    shoot(manager, f"{home}/campaigns/new/", "new-campaign", "desktop")
    shoot(manager, f"{campaign}/data/", "data", "desktop")
    time.sleep(GROW_SECONDS)  # the simulated judges and the ranker need their time
    shoot(manager, f"{campaign}/", "dashboard", "desktop")
    shoot(manager, f"{campaign}/", "dashboard-dark", "desktop", dark=True)
    shoot(manager, f"{campaign}/", "dashboard-phone", "phone")
    figure_pages(manager, campaign)
    shoot(manager, f"{campaign}/jobs/", "jobs", "desktop")
    lab_pages(manager, home)


def judge_pages(page: Page, home: str) -> None:
    """What docs/judging.md shows: some grades, the guidelines, keys, the same in German."""
    desk = f"{home}/judge/{CAMPAIGN}/"
    page.goto(desk)
    for key in "4251":
        page.keyboard.press(key)
        page.wait_for_timeout(400)
    shoot(page, f"{desk}recent/", "judge-recent", "desktop")
    shoot(page, f"{desk}guidelines/", "judge-guidelines", "tablet")
    shoot(page, f"{home}/keys/", "judge-keys", "desktop")
    choose_language(page, "Deutsch")
    shoot(page, desk, "judge-german", "phone", dark=True)
    choose_language(page, "English")


def figure_pages(page: Page, campaign: str) -> None:
    """What docs/dashboard.md shows: every tab, one judge, and a pair that judges dispute."""
    shoot(page, f"{campaign}/agreement/", "agreement", "desktop")
    shoot(page, f"{campaign}/judges/figures/", "judges", "desktop")
    page.locator("#content tbody a").first.click()
    shoot(page, page.url, "judge-figures", "desktop")
    shoot(page, f"{campaign}/cost/", "cost", "desktop")
    shoot(page, f"{campaign}/ranker/", "ranker", "desktop")
    page.goto(f"{campaign}/pairs/?show=disputed")
    page.get_by_role("link", name="Decide them one after the other").click()
    shoot(page, page.url, "adjudication", "desktop")


def lab_pages(page: Page, home: str) -> None:
    """What docs/lab.md shows: a plan, and schemes compared on the judgments there are."""
    shoot(page, f"{home}/plan/", "plan", "desktop")
    lab = f"{home}/campaigns/{CAMPAIGN}/lab/"
    page.goto(lab)
    page.get_by_role("button", name="Start a replay").click()
    page.locator("[data-chart=replay] svg").wait_for(timeout=180_000)
    shoot(page, lab, "lab", "desktop")


def choose_language(page: Page, name: str) -> None:
    page.locator(".menu summary").click()
    page.get_by_role("button", name=name).click()
    page.wait_for_load_state()


# -- Every page -----------------------------------------------------------------------------------


def take_every_page(browser: Browser, home: str, links: list[str], folder: Path) -> None:
    """Whole pages, at every width, light and dark."""
    manager, judge = (sign_in(browser, link) for link in links[:2])
    stranger = browser.new_context().new_page()
    time.sleep(GROW_SECONDS)
    for size in SIZES:
        for dark in (False, True):
            for page, pages in (
                (judge, JUDGE_PAGES),
                (manager, MANAGER_PAGES),
                (stranger, {"sign-in": "/sign-in/", "link-gone": "/link/used/"}),
            ):
                for name, path in pages.items():
                    colours = "dark" if dark else "light"
                    file = folder / f"{name}-{size}-{colours}.png"
                    see(page, home + path.format(slug=CAMPAIGN), size, dark=dark)
                    page.screenshot(path=file, full_page=True)
                    print(file.name)


def main(folder: str | None = None) -> int:
    browser_path = chromium()
    if browser_path is None:
        print("Chromium must be installed.")
        return 1
    target = Path(folder) if folder else PICTURES
    target.mkdir(parents=True, exist_ok=True)
    with site() as (home, links), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        if folder:
            take_every_page(browser, home, links, target)
        else:
            take_all(browser, home, links)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
