"""German for judges: every sentence of their pages, and English where nothing is translated."""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize

from annotate import routing
from annotate.models import Campaign, User

ROOT = Path(str(settings.BASE_DIR))
CATALOGUE = ROOT / "locale" / "de" / "LC_MESSAGES" / "django"

#: What judges read: templates, and the modules that say something to them.
TEMPLATES = [
    *(ROOT / "templates" / "judge").glob("*.html"),
    *(path for path in (ROOT / "templates" / "accounts").glob("*.html") if path.stem != "tokens"),
    *(ROOT / "templates").glob("*.html"),
]
MODULES = [
    *(ROOT / "annotate" / name for name in ("judging.py", "keys.py", "lessons.py", "wording.py")),
    *(ROOT / "annotate" / "forms" / f"{name}.py" for name in ("accounts", "judging")),
    *(ROOT / "annotate" / "views" / f"{name}.py" for name in ("accounts", "judging", "keys")),
    ROOT / "annotate" / "views" / "judging_steps.py",
    *(ROOT / "annotate" / "routing").glob("*.py"),
]
MARKED = {"_", "gettext", "gettext_lazy", "ngettext"}


@pytest.fixture(scope="module")
def german() -> dict[str, str]:
    """What the compiled catalogue has: this alone is there at run time."""
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        found: dict[str | tuple[str, int], str] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {key if isinstance(key, str) else key[0]: text for key, text in found.items()}


def sentences(path: Path) -> Iterator[str]:
    """Every sentence of a file that is marked to be translated."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKED:
                first = node.args[0]
                assert isinstance(first, ast.Constant), f"{path.name}:{node.lineno}"
                yield str(first.value)
    else:
        for call in re.finditer(
            r"\b(?:_|gettext|ngettext)\((u?(['\"]).*?(?<!\\)\2)", templatize(text)
        ):
            yield str(ast.literal_eval(call.group(1)))


def test_every_sentence_of_the_judges_pages_is_german_too(german: dict[str, str]) -> None:
    wanted = {text for path in [*TEMPLATES, *MODULES] for text in sentences(path)}
    assert len(wanted) > 150
    assert sorted(text for text in wanted if not german.get(text)) == []


def test_the_compiled_catalogue_is_that_of_the_written_one(german: dict[str, str]) -> None:
    written = CATALOGUE.with_suffix(".po").read_text(encoding="utf-8")
    pairs = re.findall(r'^msgid "(.+)"\nmsgstr "(.+)"$', written, flags=re.MULTILINE)
    assert len(pairs) > 150
    for text, told in pairs:
        assert german[text.replace('\\"', '"')] == told.replace('\\"', '"')


def test_what_is_filled_in_is_the_same_in_both(german: dict[str, str]) -> None:
    for text, told in german.items():
        places = r"%\(\w+\)[ds]|\{\w+\}"
        if text:
            assert sorted(re.findall(places, text)) == sorted(re.findall(places, told)), text


def test_judge_reads_german_where_her_browser_says_so(
    alice_client: Client, campaign: Campaign
) -> None:
    page = alice_client.get("/judge/library/", headers={"accept-language": "de-AT,de;q=0.9"})
    text = page.content.decode()
    assert '<html lang="de"' in text
    assert "Sehr gut" in text
    assert "Ablehnen" in text
    assert "Noch nicht gespeichert ({n})" in page.context["setup"]["say"]["unsaved"]


def test_language_of_the_menu_stays(alice_client: Client, campaign: Campaign) -> None:
    answer = alice_client.post("/language/", {"language": "de", "next": "/judge/"})
    assert (answer.status_code, answer["Location"]) == (302, "/judge/")
    text = alice_client.get("/judge/").content.decode()
    assert "Meine Urteile" in text
    assert (
        '<button class="menu-item" name="language" value="de" lang="de" aria-pressed="true">'
        in text
    )
    alice_client.post("/language/", {"language": "en", "next": "https://evil.example/"})
    assert "My judging" in alice_client.get("/judge/").content.decode()


def test_menu_leads_to_no_foreign_site(alice_client: Client) -> None:
    answer = alice_client.post("/language/", {"language": "de", "next": "https://evil.example/"})
    assert "evil" not in answer["Location"]


def test_pages_of_managers_and_programs_are_english_throughout(
    dana_client: Client, alice_client: Client, campaign: Campaign
) -> None:
    german = {"accept-language": "de"}
    page = dana_client.get("/campaigns/library/", headers=german).content.decode()
    assert '<html lang="en"' in page
    assert "Abmelden" not in page
    Campaign.objects.update(state="closed")
    claim = alice_client.post(
        "/api/v1/campaigns/library/claim/", {}, "application/json", headers=german
    )
    assert "This campaign is closed." in claim.content.decode()


def test_router_speaks_the_language_of_the_judge(campaign: Campaign, alice: User) -> None:
    Campaign.objects.update(state="closed")
    campaign.refresh_from_db()
    with translation.override("de"):
        assert routing.why_none(campaign, alice).startswith("Diese Kampagne ist geschlossen.")
