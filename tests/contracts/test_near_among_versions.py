"""Chunks near a text, where the index holds earlier versions of the files, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from findling import Engine
from findling.contracts import Workspace, call
from findling.search import fusion

FILES, VERSIONS = 6, 7


def test_earlier_versions_do_not_crowd_the_files_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "NEAR_LEAST", FILES)
    monkeypatch.setattr(fusion, "NEAR_FACTOR", 1)
    with Engine.open(root=tmp_path) as engine:
        for version in range(VERSIONS):
            for number in range(FILES):
                # later versions say less and less of what is asked, so that all earlier ones are nearer
                said = "retry the network request after a timeout. " * (VERSIONS - version)
                (tmp_path / f"note{number}.md").write_text(f"# Note {number}\n\n{said} Version {version} of it.\n")
            engine.index()
        coverage = engine.status().coverage
        assert coverage.chunks == coverage.embedded_chunks == FILES
    with Workspace(tmp_path) as workspace:
        asked = {"query": "retry the network request after a timeout", "top_k": FILES}
        near = call("search_semantic", asked, workspace).as_json()["results"]
        assert {chunk["path"] for chunk in near} == {f"note{number}.md" for number in range(FILES)}
