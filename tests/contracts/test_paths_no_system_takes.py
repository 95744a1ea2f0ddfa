"""Paths of files that cannot be: every tool that takes one says what is wrong with it, and none fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace, call

NAME = "x" * 300
TOO_LONG = (NAME, f"{NAME}/client.py", f"src/{NAME}", f"{NAME}.pdf")
OF_ONE_FILE = ("get_file", "get_file_outline", "list_defs_in_file")


def said(name: str, arguments: dict[str, Any], workspace: Workspace) -> str:
    """What a tool of any family says is wrong."""
    result = call(name, arguments, workspace)
    assert result.is_error, result.text_blocks
    if result.structured is None:
        return result.text_blocks[0]
    error = result.structured["error"]
    code, message = (error["code"], error["message"]) if isinstance(error, dict) else (error, "")
    assert code in ("file_not_found", "not_found", "invalid_input")
    return message or result.structured["message"]


@pytest.mark.parametrize("name", OF_ONE_FILE)
@pytest.mark.parametrize("path", TOO_LONG)
def test_a_name_that_is_too_long(name: str, path: str, workspace: Workspace) -> None:
    assert said(name, {"path": path}, workspace) == f"file cannot be read: {path} (File name too long)"


@pytest.mark.parametrize("name", OF_ONE_FILE)
def test_what_is_no_file(name: str, project: Path, workspace: Workspace) -> None:
    assert (
        said(name, {"path": "src/main.py/x"}, workspace) == "file not found: src/main.py/x. Did you mean src/main.py?"
    )
    assert said(name, {"path": "none.pdf"}, workspace) == "file not found: none.pdf"
    assert said(name, {"path": "src"}, workspace) == "path is a directory: src"
    assert "NUL" in said(name, {"path": "a\0b"}, workspace)
    (project / "circle.py").symlink_to("circle.py")
    with Workspace(project, root=project) as other:
        assert "circle.py (Too many levels of symbolic links)" in said(name, {"path": "circle.py"}, other)


@pytest.mark.parametrize("name", OF_ONE_FILE)
def test_of_several_roots_too(name: str, project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere") / "other"
    other.mkdir()
    (other / "a.py").write_text("A = 1\n")
    with Workspace(None, roots=[project, other]) as both:
        assert said(name, {"path": f"other/{NAME}"}, both) == f"file cannot be read: other/{NAME} (File name too long)"


def test_others_that_take_a_path(workspace: Workspace) -> None:
    assert said("find_similar", {"docPath": NAME}, workspace) == f"{NAME} is not in the index."
    assert "does not exist" in said("get_file_details", {"filePath": f"/{NAME}"}, workspace)
    for name in ("semantic_search", "search_docs"):
        found = call(name, {"query": "retry", "pathPrefix": NAME}, workspace)
        assert not found.is_error and json.loads(found.text_blocks[0])["results"] == []
