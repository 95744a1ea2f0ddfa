"""Questions by meaning, over the invented project."""

from __future__ import annotations

from pathlib import Path

from findling.contracts import Workspace, call


def test_a_concept_leads_to_its_code(project: Path) -> None:
    """S4-41: its own example; no file of the project holds the three words together, and most of its files are about
    something else."""
    query = {"query": "authentication error handling", "top_k": 5}
    with Workspace(project, root=project) as workspace:
        found = call("search_semantic", query, workspace).structured
    assert found is not None
    paths = [result["path"] for result in found["results"]]
    assert all("auth" in path for path in paths) and "skerry/auth/tokens.py" in paths, paths
    text = "".join(path.read_text() for path in project.rglob("*.py"))
    assert "authentication error handling" not in text
