"""reindex_vectors on real documents, and the events that these tools log."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace, call
from findling.model.types import Progress
from findling.outbound import events

DOCUMENTS = {
    "docs/a.md": "# Soup\n\nBoil the carrots with salt.\n",
    "docs/b.md": "# Bread\n\nKnead the dough for ten minutes.\n\n# Cake\n\nBeat the eggs.\n",
    "plans/0001-oven/plan.md": "# Oven\n\nHeat the oven.\n",
    "src/kitchen.py": "def cook(meal):\n    return meal\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    for path, text in DOCUMENTS.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Workspace(tmp_path, root=tmp_path) as opened:
        yield opened


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    found: list[tuple[str, dict[str, Any]]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append((record.getMessage(), dict(record.__dict__["fields"])))

    logger, handler = logging.getLogger(events.LOGGER), Keep()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(level)


def reindex(workspace: Workspace, **arguments: Any) -> dict[str, Any]:
    result = call("reindex_vectors", arguments, workspace)
    assert not result.is_error, result.structured
    assert result.structured is not None
    assert result.structured["latency_ms"] >= 0
    return result.structured


def test_documents_are_counted_and_unchanged_ones_skipped(workspace: Workspace) -> None:
    """S0-9, S0-11, S1-15, S1-55."""
    first = reindex(workspace)
    assert (first["indexed"], first["skipped"], first["model_mismatch"], first["errors"]) == (3, 0, False, [])
    again = reindex(workspace)
    assert (again["indexed"], again["skipped"]) == (0, 3)
    forced = reindex(workspace, force=True)
    assert (forced["indexed"], forced["skipped"]) == (3, 0)


def test_a_prefix_narrows_it(workspace: Workspace) -> None:
    """S0-10."""
    assert reindex(workspace, pathPrefix="docs/")["indexed"] == 2
    assert reindex(workspace)["indexed"] == 1
    assert reindex(workspace, pathPrefix="plans", force=True)["indexed"] == 1
    assert reindex(workspace, pathPrefix="nowhere") | {"latency_ms": 0} == {
        "indexed": 0,
        "skipped": 0,
        "model_mismatch": False,
        "errors": [],
        "latency_ms": 0,
    }


def test_what_changed_is_taken_in_first(workspace: Workspace, tmp_path: Path) -> None:
    reindex(workspace)
    (tmp_path / "docs" / "a.md").write_text("# Soup\n\nStir in the walrus.\n", encoding="utf-8")
    (tmp_path / "docs" / "b.md").unlink()
    (tmp_path / "docs" / "c.md").write_text("# Tea\n\nSteep.\n", encoding="utf-8")
    answer = reindex(workspace)
    assert (answer["indexed"], answer["skipped"]) == (2, 1)


def test_force_makes_vectors_anew_and_the_others_takes_them_over(
    workspace: Workspace, tmp_path: Path, logged: list[tuple[str, dict[str, Any]]]
) -> None:
    """S1-33: an event for each file of a usual run; of a changed document only the changed section is embedded, with
    force all of it."""
    workspace.engine.index()
    told = {fields["doc_path"]: fields for name, fields in logged if name == "semantic.index"}
    assert told.keys() == DOCUMENTS.keys()
    assert (told["docs/b.md"]["chunk_count"], told["docs/b.md"]["skipped_unchanged"]) == (2, 0)
    logged.clear()
    path = tmp_path / "docs" / "b.md"
    path.write_text(path.read_text(encoding="utf-8").replace("eggs", "butter"), encoding="utf-8")
    reindex(workspace)
    (event,) = [fields for name, fields in logged if name == "semantic.index"]
    assert event.pop("latency_ms") >= 0
    assert event == {"doc_path": "docs/b.md", "chunk_count": 2, "skipped_unchanged": 1}
    logged.clear()
    reindex(workspace, force=True, pathPrefix="docs/b.md")
    (event,) = [fields for name, fields in logged if name == "semantic.index"]
    assert event["skipped_unchanged"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
def test_a_document_that_cannot_be_read_costs_itself_only(workspace: Workspace, tmp_path: Path) -> None:
    """A file that vanished between being indexed and being embedded is told by its path."""
    workspace.engine.index(embed=False)
    (tmp_path / "docs" / "a.md").unlink()
    report = workspace.engine.reembed(["docs/a.md", "docs/b.md"], anew=True)
    assert report.embedded == ("docs/b.md",)
    assert [(file.path, bool(file.detail)) for file in report.failed] == [("docs/a.md", True)]


def test_it_tells_how_far_it_is(workspace: Workspace) -> None:
    told: list[Progress] = []
    call("reindex_vectors", {"force": True}, workspace, progress=told.append)
    assert (told[-1].stage, told[-1].done, told[-1].total) == ("embedding", 3, 3)


def test_events_have_their_fields_and_no_query(workspace: Workspace, logged: list[tuple[str, dict[str, Any]]]) -> None:
    """S1-18, S1-32, S1-34: of every tool that searches by meaning."""
    reindex(workspace)
    assert next(fields for name, fields in logged if name == "semantic.reindex") == {
        "total_docs": 3,
        "indexed": 3,
        "skipped": 0,
        "errors": 0,
        "latency_ms": pytest.approx(0, abs=60_000),
    }
    logged.clear()
    reindex(workspace)
    assert next(fields for name, fields in logged if name == "semantic.reindex")["skipped"] == 3
    logged.clear()
    query = "knead the sourdough"
    tools = ("semantic_search", "query_docs", "search_semantic", "hybrid_search", "search_code", "search_documents")
    for tool in tools:
        call(tool, {"query": query}, workspace)
    searches = [fields for name, fields in logged if name == "semantic.search"]
    assert len(searches) == len(tools)
    for fields in searches:
        assert set(fields) == {"query_length", "result_count", "latency_ms", "used_semantic"}
        assert fields["query_length"] == len(query)
        assert fields["used_semantic"] is True
    assert "sourdough" not in repr(logged)


def test_what_cannot_be_done_is_an_event(
    workspace: Workspace, tmp_path: Path, logged: list[tuple[str, dict[str, Any]]]
) -> None:
    """S1-35."""
    (tmp_path / "findling.toml").write_text('[semantic]\nollamaUrl = "http://localhost:11434"\n', encoding="utf-8")
    call("semantic_search", {"query": "dough"}, workspace)
    assert ("semantic.error", "semantic_search", "ollama_unavailable") in [
        (name, fields.get("operation"), fields.get("error_type")) for name, fields in logged
    ]


PROGRAM = """
import logging, sys
from findling.outbound import events
events.to_stderr("info")
events.semantic_search(query="secret words", result_count=2, latency_ms=1.5, used_semantic=True)
logging.getLogger("findling.contracts").warning("plain")
logging.getLogger("elsewhere").debug("not ours")
print("stdout is somebody else's")
"""


def test_events_are_json_lines_on_stderr() -> None:
    """S1-36."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "stdout is somebody else's\n"
    first, second = map(json.loads, ran.stderr.splitlines())
    assert {key: first[key] for key in ("event", "level", "query_length", "result_count", "used_semantic")} == {
        "event": "semantic.search",
        "level": "info",
        "query_length": 12,
        "result_count": 2,
        "used_semantic": True,
    }
    assert (second["logger"], second["message"], second["level"]) == ("findling.contracts", "plain", "warning")
    assert "secret" not in ran.stderr


def test_events_below_the_level_are_not_shown() -> None:
    program = PROGRAM.replace('"info"', '"warning"')
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert [json.loads(line)["message"] for line in ran.stderr.splitlines()] == ["plain"]
