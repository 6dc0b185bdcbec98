"""A judgment travels the whole way: the real programs, a real browser, nothing made up."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.services import free_port

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 90

#: Five queries with two documents each; "right" ones are Perfect, the others Bad. The fourth query
#: is one that the campaign holds out for evaluation.
QUERIES = ("parse json", "sort a list", "copy a file", "compress a file", "current time")


def pairs_file() -> str:
    rows = ["query,url,title,snippet"]
    for number, query in enumerate(QUERIES):
        for kind, text in (("wrong", "about something else"), ("right", f"how to {query}")):
            rows.append(f"{query},https://example.org/{number}/{kind},The {kind} page,{text}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """``manage.py start`` with an empty database: its address and the manager's sign-in link."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-u", "manage.py", "start"],
        cwd=ROOT,
        env={
            **os.environ,
            "DATA_DIR": str(tmp_path / "data"),
            "DATABASE_URL": "",
            "DEMO": "0",
            "PORT": str(port),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = ""
    for line in process.stdout or ():
        said += line
        if "Ctrl-C" in line:
            break
    try:
        yield f"http://127.0.0.1:{port}", re.findall(r"http://\S+/link/\S+", said)[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@pytest.fixture
def sign_in(browser: Browser) -> Callable[[str], Page]:
    def sign_in(link: str) -> Page:
        """A person with a browser of her own."""
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.set_default_timeout(30_000)
        page.goto(link)
        page.get_by_role("button", name="Sign in as").click()
        return page

    return sign_in


def create_campaign(page: Page, site: str) -> str:
    """Everything a manager does before the first judge comes, in the browser alone."""
    page.goto(f"{site}/campaigns/new/")
    page.get_by_label("Name").fill("Python help")
    page.get_by_label("if-good-k").check()
    page.get_by_label("k", exact=True).fill("3")
    page.get_by_role("button", name="Create campaign").click()
    page.wait_for_url("**/campaigns/python-help/**")
    address = f"{site}/campaigns/python-help"
    page.goto(f"{address}/data/")
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "pairs.csv", "mimeType": "text/csv", "buffer": pairs_file().encode()}
    )
    page.get_by_role("button", name="Check file").click()
    page.get_by_role("button", name="Load 10 pairs").click()
    expect(page.get_by_text("Loaded.")).to_be_visible(timeout=30_000)
    return address


def invite(page: Page, address: str, name: str) -> str:
    """Add a judge and copy her link."""
    page.goto(f"{address}/judges/")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add judge").click()
    return page.get_by_role("textbox", name=f"Sign-in link for {name}").input_value()


def judge_all(page: Page, site: str, good: str = "5") -> list[tuple[str, str]]:
    """Judge by keyboard until there is nothing left: what was shown, what was pressed."""
    page.goto(f"{site}/judge/python-help/")
    made: list[tuple[str, str]] = []
    while page.locator("[data-pair]").is_visible():
        token = page.locator("#grade-form [data-token]").input_value()
        query = page.locator("[data-query]").inner_text()
        title = page.get_by_text(re.compile("^The (right|wrong) page$")).first.inner_text()
        key = good if "right" in title else "1"
        page.keyboard.press(key)
        made.append((query, key))
        page.wait_for_function(
            "token => document.querySelector('[data-pair]').hidden"
            " || document.querySelector('#grade-form [data-token]').value !== token",
            arg=token,
        )
        assert len(made) <= 10
    return made


def test_a_judgment_travels_the_whole_way(
    site: tuple[str, str], sign_in: Callable[[str], Page]
) -> None:
    home, manager_link = site
    manager = sign_in(manager_link)
    address = create_campaign(manager, home)
    links = [invite(manager, address, name) for name in ("Alice", "Bob", "Eve")]
    manager.goto(f"{address}/")
    manager.get_by_role("button", name="Open").first.click()

    # The first judge gets all ten pairs, by keyboard.
    first = judge_all(sign_in(links[0]), home)
    assert len(first) == 10
    good = sorted(query for query, key in first if key == "5")
    assert good == sorted(QUERIES)

    # Two more judges are asked exactly for the Good+ ones.
    for link, key in zip(links[1:], "54", strict=True):
        again = judge_all(sign_in(link), home, good=key)
        assert sorted(again) == [(query, key) for query in good]

    # Labels and agreement appear on the dashboard without reload, and a ranker on demand.
    progress = manager.get_by_text("10 of 10 pairs closed")
    expect(progress).to_be_visible(timeout=60_000)
    expect(manager.get_by_text("formula 2.00 at")).to_be_visible(timeout=30_000)
    expect(manager.get_by_text("n = 5 pairs with overlap")).to_be_visible()
    manager.get_by_role("button", name="Train now").click()
    expect(manager.get_by_text("n = 5 held-out queries")).to_be_visible(timeout=60_000)

    judgments = rows_of(manager, f"{address}/export/judgments.csv")
    assert len(judgments) == 20
    assert {row["judge"] for row in judgments if row["grade_name"] == "Bad"} == {"alice"}
    assert {row["judge"] for row in judgments} == {"alice", "bob", "eve"}
    labels = rows_of(manager, f"{address}/export/labels.csv")
    found = [(row["query"], row["url"][-5:], row["grade"], row["n_judgments"]) for row in labels]
    right = [(query, "right", "4", "3") for query in QUERIES]
    wrong = [(query, "wrong", "0", "1") for query in QUERIES]
    assert sorted(found) == sorted(right + wrong)


def rows_of(page: Page, address: str) -> list[dict[str, str]]:
    answer = page.request.get(address)
    assert answer.ok
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text())))
