"""Filters that no file passes are told in every face, with what is nearest to what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findling import Engine
from findling.contracts import Workspace, call
from findling.faces.cli import main as cli
from findling.model.types import Query

FILES = {
    ".gitignore": "build/\n",
    "build/made.py": "alpha = 1\n",
    "docs/notes.md": "# alpha\n",
    "src/a.py": "alpha = 1\n",
    "src/deep/worker.py": "alpha\n",
    "web/picture.png": "\x89PNG\0\0",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("unmatched").resolve()
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".git").mkdir()
    with Engine.open(root, root=root) as engine:
        engine.index(embed=False)
    return root


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace(roots=[str(root)]) as opened:
        yield opened


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"path_globs": ("src/dep/**",)}, "No indexed file matches src/dep/**; nearest: src/deep."),
        ({"path_globs": ("wroker.py",)}, "No indexed file matches wroker.py; nearest: src/deep/worker.py."),
        ({"path_globs": ("nowhere/**",)}, "No indexed file matches nowhere/**; folders here: docs, src."),
        ({"path_globs": ("sr*/*.md", "!a*")}, "No indexed file matches sr*/*.md or !a*; nearest: src."),
        ({"path_globs": ("*.png",)}, "No indexed file matches *.png; left out: web/picture.png, binary"),
        ({"path_globs": ("*/*/worker.md",)}, "No indexed file matches */*/worker.md; folders here: docs, src."),
        ({"language": "go"}, "No indexed file is go; most are python and markdown."),
        ({"kind": "tests"}, "No indexed file counts as tests."),
        ({"language": "python", "kind": "docs"}, "No indexed file is python and counts as docs"),
    ],
)
def test_the_filters_that_no_file_passes_are_named(root: Path, filters: dict[str, Any], said: str) -> None:
    with Engine.open(root, root=root) as engine:
        answer = engine.ask(Query("alpha", wait_s=0.0, **filters))
    assert not answer.result.hits
    assert answer.no_file.startswith(said) and answer.no_file in answer.result.notes


def test_a_star_that_stays_in_one_folder_is_told_of_the_deeper_ones(root: Path) -> None:
    with Engine.open(root, root=root) as engine:
        assert engine.ask(Query("alpha", path_globs=("docs/*", "!docs/*.md"), wait_s=0.0)).no_file
        nothing = engine.ask(Query("alpha", language="python", path_globs=("*/src/*",), wait_s=0.0))
        assert "folders here" in nothing.no_file
        assert not engine.ask(Query("alpha", path_globs=("src/*",), wait_s=0.0)).no_file


def test_what_no_file_has_is_no_matter_of_filters(root: Path) -> None:
    with Engine.open(root, root=root) as engine:
        assert not engine.ask(Query("qzjxkw", path_globs=("src/**",), wait_s=0.0)).no_file


def test_an_ignored_folder_is_told_with_its_rule(root: Path) -> None:
    with Engine.open(root / "build", root=root) as engine:
        said = engine.search("alpha", wait_s=0.0).notes
        assert [note for note in said if note.startswith("No indexed file lies in build; left out: build")]
        assert "build/" in said[-1]


@pytest.mark.parametrize(
    ("tool", "arguments", "where"),
    [
        ("search_code", {"query": "alpha", "path": "src/dep/**"}, ("metadata", "warnings")),
        ("hybrid_search", {"query": "alpha", "path": "src/dep/**"}, ("notes",)),
        ("search_keyword", {"query": "alpha", "path": "src/dep/**"}, ("notes",)),
        ("search_docs", {"query": "alpha", "pathPrefix": "dcos/"}, ("notes",)),
    ],
)
def test_every_family_tells(workspace: Workspace, tool: str, arguments: dict[str, Any], where: tuple[str, ...]) -> None:
    facts: Any = call(tool, arguments, workspace).structured
    assert facts is not None and facts["results"] == []
    for key in where:
        facts = facts[key]
    assert any("; nearest: " in note for note in facts)


def test_a_file_that_is_none_is_told_with_the_one_that_was_meant(workspace: Workspace) -> None:
    for tool, path in (("get_file", "src/deep/wroker.py"), ("get_file_outline", "src/deep/workr.py")):
        result = call(tool, {"path": path}, workspace)
        assert result.is_error
        assert f"file not found: {path}. Did you mean src/deep/worker.py?" in " ".join(result.text_blocks)
    assert call("get_file", {"path": "qq"}, workspace).text_blocks == ["file not found: qq"]


def test_the_command_tells(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert cli.main(("search", "alpha", "--no-sync", "--path", "src/dep/**")) == 1
    assert capsys.readouterr().err.splitlines()[:2] == [
        "note: nothing found",
        "note: No indexed file matches src/dep/**; nearest: src/deep.",
    ]
    assert cli.main(("symbol", "alpha", "--language", "go")) == 1
    assert "No indexed file is go" in capsys.readouterr().err
