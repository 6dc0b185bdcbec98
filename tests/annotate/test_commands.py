"""Commands: what they say, as sentences and as JSON, how far they are, how they fail."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.db import connections

from annotate.management import reporting
from annotate.management.commands import start
from annotate.models import Campaign, Judgment, Pair, User
from tests.annotate.rankers import fits_here, letor

__all__ = ["fits_here"]

pytestmark = pytest.mark.django_db

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command as the shell runs it: its exit code, standard output and standard error."""
    monkeypatch.setattr(connections, "close_all", lambda: None)

    def called(name: str, *arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code: Any = 0
        try:
            load_command_class("annotate", name).run_from_argv(["manage.py", name, *arguments])
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return called


def ours() -> list[str]:
    return sorted(name for name, app in get_commands().items() if app == "annotate")


@pytest.fixture
def true_grades(campaign: Campaign) -> Campaign:
    Pair.objects.update(truth=1)
    return campaign


# -- All of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ours())
def test_every_command_speaks_json(name: str, run: Run) -> None:
    code, out, _ = run(name, "--help")
    assert code == 0
    assert "--json" in out


@pytest.mark.parametrize("name", ours())
def test_an_option_that_there_is_not_is_wrong_usage(name: str, run: Run) -> None:
    code, out, err = run(name, "--no-such-option")
    assert (code, out) == (2, "")
    assert "usage:" in err


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("export", ["nowhere", "labels.csv"]),
        ("load", ["nowhere", "file.csv"]),
        ("rank", ["nowhere", "file.csv"]),
        ("simulate", ["nowhere"]),
        ("train", ["nowhere"]),
    ],
)
def test_what_cannot_be_done_is_1_with_a_sentence_and_an_object(
    name: str, arguments: list[str], run: Run
) -> None:
    assert run(name, *arguments) == (1, "", "There is no campaign nowhere.\n")
    code, out, err = run(name, *arguments, "--json")
    assert json.loads(out) == {"error": "There is no campaign nowhere."}
    assert (code, err) == (1, "There is no campaign nowhere.\n")


def test_all_commands_are_tried() -> None:
    assert {"demo", "export", "load", "rank", "simulate", "start", "train"} <= set(ours())


# -- One by one -----------------------------------------------------------------------------------


def test_demo(run: Run) -> None:
    code, out, _ = run("demo", "--json")
    campaign = Campaign.objects.get()
    assert code == 0
    assert json.loads(out) == {
        "campaign": campaign.slug,
        "name": campaign.name,
        "pairs": campaign.pairs.count(),
    }
    assert run("demo")[0] == 1


def test_export(run: Run, campaign: Campaign, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    code, out, _ = run("export", "library", "judgments.csv", "-o", str(target), "--json")
    assert code == 0
    size = target.stat().st_size
    assert json.loads(out) == {"export": "judgments.csv", "file": str(target), "bytes": size}
    code, out, _ = run("export", "library", "judgments.csv", "-o", str(target))
    assert out == f"judgments.csv written to {target}, {size} bytes.\n"
    assert run("export", "library", "judgments.csv", "--json")[0] == 2
    assert run("export", "library", "judgments.xls")[0] == 2
    nowhere = tmp_path / "no" / "such" / "folder.csv"
    code, out, _ = run("export", "library", "judgments.csv", "-o", str(nowhere), "--json")
    assert code == 1
    assert json.loads(out)["error"] == f"{nowhere} cannot be written: No such file or directory."


def test_load(run: Run, dana: User, tmp_path: Path) -> None:
    Campaign.objects.create(slug="draft", name="Draft", created_by=dana)
    path = tmp_path / "pairs.csv"
    path.write_text("query,url\nrain,https://example.org/1\n")
    code, out, _ = run("load", "draft", str(path), "--json")
    facts = json.loads(out)
    assert (code, facts["state"], facts["pairs"]) == (0, "loaded", 1)
    path.write_text("query,url\nrain,javascript:alert(1)\n")
    code, out, err = run("load", "draft", str(path), "--json")
    assert (code, json.loads(out)["state"]) == (1, "refused")
    assert f"{path}:2: " in err
    path.write_text("query,url,grade\nrain,https://example.org/1,3\n")
    code, out, _ = run("load", "draft", str(path), "--json")
    assert (code, json.loads(out)["state"]) == (2, "refused")  # its scale is asked for
    assert run("load", "draft", str(path), "--scale", "five")[0] == 2
    assert run("load", "draft", str(tmp_path / "none.csv"))[0] == 1


def test_simulate(run: Run, true_grades: Campaign) -> None:
    code, out, _ = run("simulate", "library", "--judges", "3", "--json")
    assert code == 0
    made = Judgment.objects.count()
    assert json.loads(out) == {"judgments": made, "judges": 3, "skill": "expert"}
    assert run("simulate", "library", "--judges", "0")[0] == 2
    Pair.objects.update(truth=None)
    assert run("simulate", "library")[0] == 1


@pytest.mark.usefixtures("fits_here")
def test_train_and_rank(run: Run, dana: User, tmp_path: Path) -> None:
    letor(dana)
    code, out, _ = run("train", "letor", "--now", "--json")
    facts = json.loads(
        out.splitlines()[-1]
    )  # fitting here and not in a process of its own, it talks
    assert (code, facts["run"], facts["state"], facts["champion"]) == (0, 1, "done", True)
    assert facts["ndcg"]["mean"] > 0.5
    code, out, _ = run("train", "letor", "--json")
    assert json.loads(out) == {"run": 2, "state": "waiting", "ranker": "lambdamart"}
    file = tmp_path / "candidates.csv"
    file.write_text("id,feature_1,feature_2\nlow,0.1,0.5\nhigh,3.9,0.5\n")
    code, out, _ = run("rank", "letor", str(file), "--json")
    facts = json.loads(out)
    assert (code, facts["run"], facts["ranker"]) == (0, 1, "lambdamart")
    assert [(one["place"], one["id"]) for one in facts["ranked"]] == [(1, "high"), (2, "low")]
    assert run("train", "letor")[0] == 1  # one waits already


def test_start_says_where_it_runs(
    run: Run, dana: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", "none")
    code, out, _ = run("start", "--json")
    wrong = "PORT must be a number from 1 to 65535. Got 'none' instead."
    assert (code, json.loads(out)) == (2, {"error": wrong})
    command = start.Command()
    command.quiet = True
    command.welcome("http://localhost:8000")
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert facts["address"] == "http://localhost:8000/"
    assert facts["sign_in"]["manager"] in err
    assert set(facts["sign_in"]) == {"manager"}


# -- Progress -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(
    true_grades: Campaign, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    call_command("simulate", "library", "--json")
    assert "100%|" in terminal.getvalue()
    assert "judgments" in terminal.getvalue()
    json.loads(capsys.readouterr().out)


def test_a_log_gets_lines(
    true_grades: Campaign, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reporting, "LINE_SECONDS", 0.0)
    code, out, err = run("simulate", "library", "--json")
    assert code == 0
    json.loads(out)
    assert err.splitlines()[0] == "0%: 1 judgments"
    assert "\r" not in err
    target = tmp_path / "pairs.csv"
    _, _, err = run("export", "library", "judgments.csv", "-o", str(target))
    assert err.splitlines()[-1] == f"{target.stat().st_size:,} so far"


def test_a_log_is_not_flooded(true_grades: Campaign, run: Run) -> None:
    _, _, err = run("simulate", "library")
    assert err == ""
