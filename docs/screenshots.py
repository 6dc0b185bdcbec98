"""Takes the pictures of the documentation: ``make screenshots``.

Starts a site of its own with the demo, lets simulated judges work until a ranker is trained, and
photographs the pages in the system's Chromium.
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
GROW_SECONDS = 100


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
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)
    page.screenshot(path=PICTURES / f"{name}.png")
    print(f"{name}.png")


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


def main() -> int:
    browser_path = chromium()
    if browser_path is None:
        print("Chromium must be installed.")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with site() as (home, links), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        take_all(browser, home, links)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
