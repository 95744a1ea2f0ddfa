"""Definitions of a name, listed: what a folder or a kind leaves is found however many others are like it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findling import Engine
from findling.reading import syntax
from findling.search import names, symbol
from findling.store.local import reader as store_reader


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("names")
    for number in range(6):
        (root / "a").mkdir(exist_ok=True)
        (root / f"a/m{number}.py").write_text("".join(f"def aget{number}_{i}(): pass\n" for i in range(5)))
    (root / "z").mkdir()
    (root / "z/late.py").write_text("def zget_late(): pass\n\n\nclass LateGetter:\n    pass\n")
    (root / "z/late.go").write_text("package z\n\nfunc goget() {}\n")
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
    return root


@pytest.fixture
def engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(names, "_MOST_DEFINITIONS", 20)
    with Engine.open(root=root) as engine:
        yield engine


def test_a_folder_or_a_filter_is_obeyed_before_the_limit(engine: Engine, root: Path) -> None:
    def found(asked: Engine = engine, **only: Any) -> set[str]:
        result = asked.symbols("get", wait_s=0.0, **only)
        assert result.total_definitions == len(result.definitions) and not result.notes and not result.truncated
        return {hit.name for hit in result.definitions}

    assert found(kind="class") == {"LateGetter"}
    assert found(language="go") == {"goget"}
    with Engine.open(root / "z") as below:
        assert found(below) == {"zget_late", "LateGetter", "goget"}
        assert found(below, kind="fn") == {"zget_late", "goget"}
    with Engine.open(root / "z/late.go") as one:
        assert found(one) == {"goget"}


def test_more_than_are_looked_at_is_said(engine: Engine) -> None:
    result = engine.symbols("get", wait_s=0.0, limit=1000)
    assert result.truncated and len(result.definitions) == result.total_definitions < 33
    assert "there are more" in " ".join(result.notes)


@pytest.mark.parametrize(
    ("bound", "note"),
    [
        ("FILE_S", "u/one.py and 1 more file took too long to parse: not all uses in it were found."),
        ("REFERENCES_S", "Not all files were read within 0 s: there may be more uses."),
    ],
)
def test_uses_that_there_was_no_time_for_are_told_of(
    bound: str, note: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "u").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"u/{name}.py").write_text("thing()\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        whole = engine.symbols("thing", references=True)
        assert (whole.total_references, whole.truncated, whole.notes) == (2, False, ())
        monkeypatch.setattr(names, bound, 0.0)
        found = engine.symbols("thing", references=True)
        assert (found.truncated, list(found.notes)) == (True, [note])


def test_what_is_remembered_of_definitions_is_bounded(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_reader, "_CONTENTS", 3)
    monkeypatch.setattr(store_reader, "_CHUNK_LISTS", 3)
    monkeypatch.setattr(store_reader, "_AT_ONCE", 1)
    copy = shutil.copytree(root, tmp_path / "p", ignore=shutil.ignore_patterns(".findling"))
    with Engine.open(root=copy) as engine:
        engine.index(embed=False)
        reader = engine._store.reader
        for word in ("get", "late", "aget"):
            assert engine.symbols(word, wait_s=0.0).total_definitions
            assert max(map(len, (reader._terms, reader._names, reader._symbols))) <= 4
        with reader.snapshot():
            for file in reader.all_files():
                reader.chunks(file.blob_id)
                assert len(reader._chunks) <= 4


def test_searching_by_name_in_a_folder_is_not_crowded_out_either(
    engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbol, "_MAX_ALIKE", 5)
    with Engine.open(root / "z") as below:
        hits = below.search("get", mode="symbol", wait_s=0.0).hits
        assert {hit.path for hit in hits} == {"z/late.py", "z/late.go"}
    assert {hit.language for hit in engine.search("get", mode="symbol", language="go", wait_s=0.0).hits} == {"go"}


PAGE = "<p>thing is used below</p>\n<script>\nfunction go() { return thing(1); }\n</script>\n"
CELL = {"cell_type": "code", "metadata": {}, "source": ["x = 1\n", "def use():\n", "    thing(x)\n"], "outputs": []}
PROSE = {"cell_type": "markdown", "metadata": {}, "source": ["Here thing() is explained. " * 20]}


def test_uses_in_notebooks_and_in_scripts_of_pages_are_found_and_prose_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.py").write_text("thing()\n")
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "guide.md").write_text("Call `thing()`.\n")
    (tmp_path / "data.json").write_text('{"call": "thing"}\n')
    notebook = {"cells": [PROSE, CELL], "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    (tmp_path / "wide.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "tall.ipynb").write_text(json.dumps(notebook, indent=1))
    parsed: list[str] = []
    uses_of = syntax.references

    def recorded(text: bytes, language: str, name: str, deadline_s: float) -> Any:
        parsed.append(language)
        return uses_of(text, language, name, deadline_s)

    monkeypatch.setattr(syntax, "references", recorded)
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        found = engine.symbols("thing", references=True).references
        only = {id: engine.symbols("thing", references=True, language=id) for id in ("html", "notebook", "markdown")}
    places = {(use.path, use.line, use.enclosing) for use in found}
    assert {place for place in places if not place[0].endswith(".ipynb")} == {("one.py", 1, ""), ("page.html", 3, "go")}
    assert {(path, enclosing) for path, _, enclosing in places if path.endswith(".ipynb")} == {
        ("wide.ipynb", "use"),
        ("tall.ipynb", "use"),
    }
    assert all("thing(" in use.text and len(use.text) <= 200 for use in found)
    assert {id: [use.path for use in result.references] for id, result in only.items()} == {
        "html": ["page.html"],
        "notebook": ["tall.ipynb", "wide.ipynb"],
        "markdown": [],
    }
    assert set(parsed) == {"python", "html", "notebook"}


@pytest.mark.parametrize("mode", ["auto", "symbol"])
def test_a_text_of_more_names_than_one_statement_takes(tmp_path: Path, mode: str) -> None:
    """Above 400 files names have a table of their own, which is asked for all names of a question at once."""
    for number in range(401):
        (tmp_path / f"part_{number}.py").write_text(f"def load_part_{number}():\n    return {number}\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index(embed=False)
        names = " ".join(f"name_{number:x}" for number in range(9_000))
        found = engine.search(f"load_part_7 {names}", mode=mode, wait_s=0)
    assert "part_7.py" in {hit.path for hit in found.hits}


@pytest.mark.parametrize(
    ("before", "after", "assigned"),
    [
        ("    jq->", " = f(jq->top, 1);", True),
        ("    jq->top = f(jq->", ", 1);", False),
        ("x = parent.", "", False),
        ("Context(cli, ", "=names)", False),
        ("def f(a, ", ": int = 1):", False),
        ("    ", "=3,", False),
        ("return other(top=1) if self.", " == 3 else None", False),
        ("    self.", ": bool = False", True),
        ("case ", ": x = 3", False),
        ("a.", ", b = 1, 2", True),
        ("n->", "++;", True),
        ("while ((", " = f()) > 0)", True),
        ("f(this.", " = 1)", True),
        ("", " := 1", True),
        ("", " <<= 1", True),
        ("", " >= 1", False),
        ('d["', '"] = 1', True),
    ],
)
def test_a_use_writes_where_it_is_assigned_to_itself(before: str, after: str, assigned: bool) -> None:
    assert names.writes(before, after) is assigned


def test_lines_that_a_file_does_not_have_are_said_and_not_moved(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    with Engine.open(root=tmp_path) as engine:
        (found,) = engine.symbols_of(["a.py:9-12"], body_chars=1_000)
        assert not found.definitions and found.notes[-1] == "a.py has 2 lines; it has no line 9-12."
        (there,) = engine.symbols_of(["a.py:2-12"], body_chars=1_000)
        assert there.definitions[0].body == "2      return 1"
