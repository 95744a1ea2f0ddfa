"""What is imported when, what is installed with findling, and under which licences."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import findling
from findling.model.front_door import _compiled_imports, _imports

SOURCE = Path(findling.__file__).parent.parent

HEAVY = (
    *("numpy", "mcp", "pydantic", "rich", "tantivy", "tree_sitter"),
    *("apsw", "simsimd", "regex", "pypdfium2", "selectolax", "h11", "ssl", "jinja2", "pygments", "starlette"),
)

# A licence that leaves the choice to the user, in words that no classifier has.
CHECKED_BY_HAND = {"apsw": "any-OSI"}
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|ISC|Zlib|PSF|Python Software Foundation|CNRI-Python|CC0|Unlicense|MPL|"
    r"Mozilla Public License)",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"\b[AL]?GPL|General Public License", re.IGNORECASE)


def imported_by(code: str) -> set[str]:
    """The top-level modules that are loaded in a new process after ``code``."""
    script = (
        f"{code}\nimport json, sys\nsys.stderr.write(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["search", "--help"], ["grep", "--help"]])
def test_the_start_of_the_command_line_is_light(arguments: list[str]) -> None:
    loaded = imported_by(f"from findling.faces.cli.main import main\nassert main({arguments!r}) == 0")
    assert loaded.isdisjoint(HEAVY)
    assert "findling" in loaded


@pytest.mark.parametrize(
    "module",
    [
        "findling",
        "findling.model.types",
        "findling.model.errors",
        "findling.config.roots",
        "findling.faces.cli.commands",
    ],
)
def test_light_modules_stay_light(module: str) -> None:
    assert imported_by(f"import {module}").isdisjoint(HEAVY)


def test_a_sync_that_finds_nothing_changed_loads_neither_a_model_nor_a_parser(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("".join(f"def number_{n}():\n    return {n}\n\n" for n in range(1600)))
    sync = f"from findling import Engine\nwith Engine.open(root={str(tmp_path)!r}) as engine: engine.sync()"
    first = imported_by(sync)
    assert {"apsw", "tantivy"} <= first
    assert first.isdisjoint({"numpy", "tree_sitter"})  # workers have them
    again = imported_by(sync)
    assert again.isdisjoint({"numpy", "simsimd", "tree_sitter", "semble_grammars", "logging"})
    assert {"apsw", "findling"} <= again


@pytest.mark.parametrize(("mode", "asked"), [("keyword", "boiling"), ("symbol", "boil_water"), ("exact", "boil_water")])
def test_a_question_without_vectors_loads_no_numpy(mode: str, asked: str, tmp_path: Path) -> None:
    (tmp_path / "tea.py").write_text("def boil_water():\n    return 'boiling'\n")
    ask = f"from findling import Engine\nwith Engine.open(root={str(tmp_path)!r}) as engine: "
    imported_by(f"{ask}engine.index()")
    loaded = imported_by(f"{ask}assert engine.search({asked!r}, mode={mode!r}).hits")
    assert loaded.isdisjoint({"numpy", "tree_sitter"})


def test_a_question_of_an_index_that_is_there_loads_nothing_of_the_network(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nWater boils at a hundred degrees.\n")
    ask = f"from findling import Engine\nwith Engine.open(root={str(tmp_path)!r}) as engine: "
    imported_by(f"{ask}engine.index()")
    loaded = imported_by(f"{ask}assert engine.search('how hot is boiling water').hits")
    assert loaded.isdisjoint({"h11", "ssl", "http"})
    assert "apsw" in loaded


DOORS = sorted(
    ".".join(path.relative_to(SOURCE).parent.parts)
    for path in (SOURCE / "findling").rglob("__init__.py")
    if "front_door(" in path.read_text("utf-8")
)


def names_of(package: str) -> dict[str, str]:
    """The names of a front door by the module that each comes from, as type checkers read them."""
    tree = ast.parse((SOURCE.joinpath(*package.split(".")) / "__init__.py").read_text("utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.name: f"{package}.{alias.name}" if node.module == package else str(node.module)
        for node in imports
        for alias in node.names
    }


@pytest.mark.parametrize("package", DOORS)
def test_a_front_door_gives_what_type_checkers_see_there_and_loads_nothing_before(package: str) -> None:
    door = import_module(package)
    for name, module in names_of(package).items():
        behind = import_module(module)
        itself = module == f"{package}.{name}"
        assert itself or find_spec(f"{package}.{name}") is None  # a module of that name would hide it
        assert getattr(door, name) is (behind if itself else getattr(behind, name))
    compiled = _compiled_imports(door.__spec__.loader.get_code(package))
    assert {name: compiled[name] for name in names_of(package)} == _imports(package)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        door.nothing_of_this_name  # noqa: B018
    script = f"import sys, {package}; print(*[m for m in sys.modules if m.startswith('findling.')])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    inside = {package.rsplit(".", up)[0] for up in range(package.count("."))}
    assert set(ran.stdout.split()) <= {"findling.model", "findling.model.front_door", *inside}


def test_plain_output_does_without_rich() -> None:
    assert "rich" not in imported_by("from findling.faces.cli.terminal import plain, json, progress")


def closure(name: str) -> set[str]:
    """``name`` and all that it needs here at run time, extras left out."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = canonicalize_name(waiting.pop())
        if current in seen:
            continue
        seen.add(current)
        for text in distribution(current).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return seen


def licence(name: str) -> str:
    fields = metadata(name)
    classifiers = [text for text in fields.get_all("Classifier") or () if text.startswith("License ::")]
    return "; ".join(filter(None, [fields.get("License-Expression"), fields.get("License", "")[:200], *classifiers]))


def test_everything_installed_with_findling_has_a_permissive_licence() -> None:
    packages = closure("findling")
    assert {"findling", "numpy", "rich", "markdown-it-py"} <= packages
    licences = {name: licence(name) for name in packages}
    copyleft = {name: text for name, text in licences.items() if COPYLEFT.search(text)}
    assert copyleft == {}
    unknown = {name: text for name, text in licences.items() if not PERMISSIVE.search(text)}
    assert unknown == {name: text for name, text in CHECKED_BY_HAND.items() if name in packages}


def test_a_copyleft_licence_would_be_seen() -> None:
    for text in ("AGPL-3.0-only", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)", "LGPL-2.1"):
        assert COPYLEFT.search(text)
    with pytest.raises(PackageNotFoundError):
        closure("a-package-that-is-not-installed")
