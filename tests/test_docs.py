"""Whatever can be named can be looked up, and every link between the pages leads somewhere."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

from annotate.exports import EXPORTS
from annotate.formats import FORMATS
from annotate.tasks import WORK
from ranking.aggregation import AGGREGATORS
from ranking.rankers import RANKERS
from ranking.schemes import SCHEMES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def in_code(text: str) -> set[str]:
    """Every word that stands in code quotes."""
    words: set[str] = set()
    for code in re.findall(r"`([^`\n]+)`", text):
        words.update([code, code.split()[0] if code.split() else ""])
    return words


def settings() -> set[str]:
    """The variables that config/settings.py reads."""
    tree = ast.parse((ROOT / "config" / "settings.py").read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("env."):
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                names.add(name.value)
    assert {"DATABASE_URL", "SECRET_KEY"} <= names
    return names


def documented_settings() -> set[str]:
    return set(re.findall(r"^\| `([A-Z_]+)` \|", read("settings.md"), flags=re.MULTILINE))


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    elsewhere = {"HOST", "PORT"}  # read by manage.py start
    tests = {"CHROMIUM", "FORBID_SKIPS", "REAL_DATA"}
    assert documented_settings() == settings() | elsewhere | tests


def commands() -> set[str]:
    return {name for name, app in get_commands().items() if app == "annotate"}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("routing.md", SCHEMES),
        ("aggregation.md", AGGREGATORS),
        ("rankers.md", RANKERS),
        ("formats.md", FORMATS),
        ("formats.md", EXPORTS),
        ("background.md", WORK),
        ("install.md", commands()),
    ],
)
def test_every_name_is_on_its_page(page: str, names: Iterable[str]) -> None:
    assert names
    missing = set(names) - in_code(read(page))
    assert not missing, f"docs/{page} does not name {', '.join(sorted(missing))}."


# -- Links ----------------------------------------------------------------------------------------


def links(text: str) -> Iterator[str]:
    outside_code = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", outside_code)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere."
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), (
                f"{link}: no such heading."
            )


def test_readme_leads_to_every_page() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                waiting.append(target)
    lost = [page.name for page in PAGES if page not in reached]
    assert not lost, f"No link leads to {', '.join(lost)}."
