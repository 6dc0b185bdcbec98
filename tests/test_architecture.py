"""Imports follow the arrow, one writer per table: docs/architecture.md, held against the code."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotate", "bench", "config", "ranking")

#: HTTP, Celery and the shell. Nothing below them knows them.
SHELLS = {"admin", "api", "apps", "forms", "management", "middleware", "tasks", "templatetags"}
SHELLS |= {"urls", "views"}

#: The way of a judgment: what each station may import of annotate.
SPINE = {
    "clock": set(),
    "models": set(),
    "prepared": set(),
    "jobs": {"clock", "models", "prepared"},
    "history": {"models"},
    "webhooks": {"addresses", "clock", "history", "jobs", "models"},
    "routing": {"bulk", "clock", "history", "jobs", "models", "prepared"},
    "labels": {"clock", "jobs", "models", "webhooks"},
    "reports": {"jobs", "labels", "models"},
    "training": {"clock", "datasets", "history", "jobs", "models", "webhooks"},
    "figures": {"models"},
    "agreement": {"figures", "models"},
    "costs": {"figures", "models"},
    "exports": {"datasets", "exchange", "models", "parquet", "people", "spreadsheets", "training"},
}

#: Which modules write which table. Where there are several, docs/architecture.md says which
#: columns are whose.
WRITERS = {
    "Adjudication": {"adjudication"},
    "ApiToken": {"tokens"},
    "Artifact": {"training"},
    "Ask": {"routing"},
    "Campaign": {"campaigns"},
    "Closing": {"webhooks"},
    "Delivery": {"webhooks"},
    "Document": {"imports"},
    "Estimate": {"routing"},
    "Event": {"history"},
    "Guideline": {"campaigns"},
    "Job": {"jobs"},
    "Judgment": {"routing"},
    "LabCell": {"lab"},
    "LabRun": {"lab"},
    "Label": {"labels"},
    "Ledger": {"routing"},
    "Membership": {"campaigns"},
    "Note": {"notes"},
    "Pair": {"adjudication", "imports", "labels", "routing"},
    "Query": {"imports"},
    "Refusal": {"routing"},
    "Reply": {"replies"},
    "Report": {"reports"},
    "Seat": {"routing"},
    "SignInLink": {"people"},
    "Snapshot": {"labels"},
    "Standing": {"routing"},
    "TrainingRun": {"training"},
    "Upload": {"imports"},
    "User": {"people"},
    "Webhook": {"webhooks"},
    "Worker": {"jobs"},
}
WRITES = {
    "bulk_create",
    "bulk_update",
    "create",
    "create_user",
    "delete",
    "get_or_create",
    "update",
    "update_or_create",
}

#: Reading such a file can run what somebody put into it.
UNSAFE = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve", "yaml"}


# -- Reading the code -----------------------------------------------------------------------------


def sources(package: str) -> list[Path]:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    return [file for file in files if "migrations" not in file.parts]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module a tree imports, with the name after ``from … import`` added."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "Relative imports hide where they lead."
            yield from (f"{node.module}.{name.name}" for name in node.names)


def room(dotted: str) -> str:
    """``annotate.routing.seats`` is in the room ``routing``."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 else ""


@cache
def doors() -> dict[str, set[str]]:
    """For each room of annotate: the rooms its modules import."""
    graph: dict[str, set[str]] = {}
    for path in sources("annotate"):
        here = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        names = [name for name in imported(parsed(path)) if name.startswith("annotate.")]
        graph.setdefault(here, set()).update(set(map(room, names)) - {here})
    return graph


# -- Arrows ---------------------------------------------------------------------------------------


def test_ranking_knows_nothing_of_the_web_the_queue_or_the_rows() -> None:
    allowed = {"lightgbm", "numpy", "ranking", "scipy", "sklearn", "threadpoolctl"}
    allowed |= sys.stdlib_module_names
    for path in sources("ranking"):
        foreign = {name.split(".")[0] for name in imported(parsed(path))} - allowed
        assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}."


def test_rooms_of_annotate_import_one_another_in_one_direction_only() -> None:
    try:
        TopologicalSorter(doors()).prepare()
    except CycleError as error:
        pytest.fail(f"These import each other in a circle: {' → '.join(error.args[1])}.")


def test_no_rule_knows_a_shell() -> None:
    for name, opened in doors().items():
        if name not in SHELLS:
            assert not opened & SHELLS, f"annotate.{name} imports {opened & SHELLS}."


def test_shells_share_nothing_but_forms() -> None:
    meeting_points = {"forms", "api", "views"}  # the addresses name the views and the API
    for name in SHELLS & set(doors()):
        allowed = meeting_points if name == "urls" else {"forms"}
        others = (doors()[name] & SHELLS) - allowed
        assert not others, f"annotate.{name} imports {others}."


@pytest.mark.parametrize("name", sorted(SPINE))
def test_the_way_of_a_judgment_goes_one_way(name: str) -> None:
    assert doors()[name] <= SPINE[name]


def test_config_is_wiring_only() -> None:
    for path in sources("config"):
        ours = [n for n in imported(parsed(path)) if n.startswith(("annotate", "ranking"))]
        views = [name for name in ours if name.startswith("annotate.views.")]
        assert ours == (views if path.name == "urls.py" else []), f"{path.name} imports {ours}."


def test_no_import_hides_in_a_function() -> None:
    for package in PACKAGES[:1] + PACKAGES[2:]:
        for path in sources(package):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    hidden = list(imported(node))
                    assert not hidden, f"{path.relative_to(ROOT)}, {node.name}: {hidden}."


# -- What is installed ----------------------------------------------------------------------------


def declared(extra: str | None = None) -> set[str]:
    """The packages that pyproject.toml asks for, as pip spells them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return {_spelt(re.split(r"[\[<>=]", requirement)[0]) for requirement in wanted}


def _spelt(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(packages: Iterable[str]) -> set[str]:
    """The packages that the code of these folders imports."""
    known = packages_distributions()
    files = [file for package in packages for file in sources(package)]
    modules = {name.split(".")[0] for file in files for name in imported(parsed(file))}
    modules -= {*PACKAGES, "tests"}
    return {_spelt(known[module][0]) for module in modules & known.keys()}


def test_everything_that_is_imported_is_declared() -> None:
    assert needed(["annotate", "config", "ranking"]) - declared() == set()
    assert needed(["bench", "docs", "tests"]) - declared() - declared("test") == set()


def test_everything_that_is_declared_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {_spelt(line.partition("==")[0]) for line in lines}
    assert (declared() | declared("test")) - pinned == set()


# -- Writers --------------------------------------------------------------------------------------


def models() -> list[str]:
    return [model.__name__ for model in apps.get_app_config("annotate").get_models()]


@cache
def managers() -> dict[str, str]:
    """``campaign.seats`` are rows of Seat: every reverse name and the model it leads to."""
    found = {}
    for model in apps.get_app_config("annotate").get_models():
        for relation in model._meta.related_objects:
            if name := relation.get_accessor_name():
                found[name] = relation.related_model.__name__
    return found


def written(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Models whose rows a module writes by their manager, with the line."""
    for node in ast.walk(tree):
        method = node.func if isinstance(node, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in WRITES:
            model = _model_of(method.value)
            if model:
                yield model, method.lineno


def _model_of(expression: ast.expr) -> str | None:
    """Whose rows a chain of calls is about: ``Seat.objects.filter(…)``, ``campaign.seats``."""
    while isinstance(expression, ast.Call | ast.Attribute):
        if isinstance(expression, ast.Attribute):
            owner = expression.value
            if expression.attr == "objects" and isinstance(owner, ast.Name):
                return owner.id if owner.id in WRITERS else None
            if expression.attr in managers():
                return managers()[expression.attr]
            expression = owner
        else:
            expression = expression.func
    return None


def test_every_table_has_its_writer() -> None:
    assert sorted(WRITERS) == sorted(set(models()))


def test_only_its_writer_writes_a_table() -> None:
    seen = set()
    for path in sources("annotate"):
        here = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for model, line in written(parsed(path)):
            seen.add(model)
            where = f"{path.relative_to(ROOT)}:{line}"
            assert here in WRITERS[model], f"{where} writes {model}, which {WRITERS[model]} do."
    assert {"Judgment", "Job", "Label", "Pair", "Seat", "TrainingRun"} <= seen


def test_the_documentation_names_the_same_writers() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", text, flags=re.MULTILINE)
    documented = {model: set(re.findall(r"`(\w+)`", cell)) for model, cell in rows}
    assert documented == WRITERS


# -- Files that run -------------------------------------------------------------------------------


def test_nothing_is_unpickled_or_evaluated() -> None:
    for package in PACKAGES:
        for path in sources(package):
            where = path.relative_to(ROOT)
            unsafe = {name.split(".")[0] for name in imported(parsed(path))} & UNSAFE
            assert not unsafe, f"{where} imports {unsafe}."
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.Call):
                    called = ast.unparse(node.func)
                    assert called not in {"eval", "exec"}, f"{where}:{node.lineno}."
                    if called == "np.load":
                        assert "allow_pickle=False" in ast.unparse(node), f"{where}:{node.lineno}."
