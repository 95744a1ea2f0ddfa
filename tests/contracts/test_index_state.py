"""What answers say of an index that is not whole, or not as the files are now; and what they wait for."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import Workspace, call
from findling.engine import indexer
from findling.engine.configuration import Configuration
from findling.model.types import Progress
from findling.search.passages import DocumentScope
from tests.contracts.conftest import FILES, YESTERDAY, write_files

LATER = 20
"""Files that the question that begins the index has no time for, besides the project's."""

FIRST = 5
"""Files that are in it: some by name, and one that the question had time for."""

NAMED = ("src/http/client.py", "docs/guide.md", "src/http/retry_policy.py", "src/main.py")

PENDING = LATER + len(FILES) - FIRST

AS_IT_IS = Config(semantic=Semantic(auto_index=False))
"""No question takes anything in."""

STATE = ("freshness_status", "result_completeness", "not_searched")


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an index of some files, as a question without time leaves it; the documents and a file of code
    have vectors."""
    root = write_files(tmp_path_factory.mktemp("part").resolve())
    lay_later(root)
    words_only = Config(semantic=Semantic(enabled=False))
    with Workspace(root, root=root, config=words_only) as workspace, pytest.MonkeyPatch.context() as patch:
        workspace.engine.sync(NAMED)
        cut_short(patch)
        freshness, _ = workspace.engine.refresh(embed=False, wait_s=0.001)
        assert freshness == "stale"
    with Workspace(root, root=root) as workspace:
        documents = workspace.engine.document_paths(DocumentScope())
        workspace.engine.reembed([*documents, "src/http/client.py"], anew=False)
    return root


def lay_later(root: Path) -> None:
    (root / "later").mkdir()
    for number in range(LATER):
        path = root / "later" / f"m{number}.py"
        path.write_text(f"def later_{number}():\n    return {number}\n")
        os.utime(path, (YESTERDAY, YESTERDAY))


def cut_short(patch: pytest.MonkeyPatch) -> None:
    """A question without time takes in one file, the first."""
    patch.setattr(Configuration, "workers", 1)
    patch.setattr(indexer, "_TASK_FILES", 1)
    patch.setattr(indexer, "_FIRST_BATCH_S", 60.0)


@pytest.fixture
def partly(part: Path) -> Iterator[Workspace]:
    with Workspace(part, root=part, config=AS_IT_IS) as workspace:
        yield workspace


def facts(workspace: Workspace, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert not result.is_error, result.text_blocks
    assert result.structured is not None
    assert [json.loads(block) for block in result.text_blocks] == [result.structured], "the text says the same"
    return result.structured


def state_of(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in STATE if key in found}


PARTIAL = {
    "freshness_status": "stale",
    "result_completeness": "partial",
    "not_searched": {"pending_files": PENDING},
}

QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "search_keyword": {"query": "later_7"},
    "find_symbol": {"name": "later_7"},
    "search_semantic": {"query": "sending a request again"},
    "hybrid_search": {"query": "later_7"},
    "search_docs": {"query": "program gives up"},
    "find_similar": {"docPath": "docs/guide.md"},
    "semantic_search": {"query": "when the network is down", "threshold": 0.1},
    "query_docs": {"query": "when the network is down"},
}


FROM_THE_INDEX = [tool for tool in QUESTIONS if tool != "search_keyword"]


def test_text_is_searched_in_all_files_whatever_is_indexed(partly: Workspace) -> None:
    found = facts(partly, "search_keyword", query="def later_")
    assert state_of(found) == {} and found["total_files"] == LATER


@pytest.mark.parametrize("tool", FROM_THE_INDEX)
def test_an_answer_from_a_part_of_the_files_says_so(tool: str, partly: Workspace) -> None:
    found = facts(partly, tool, **QUESTIONS[tool])
    told = state_of(found.get("meta", found))
    without = told["not_searched"].pop("chunks_without_vector", 0)
    assert told == PARTIAL
    assert (without > 0) == (tool in ("search_semantic", "hybrid_search"))
    assert state_of(found) == ({} if "meta" in found else told)


def test_what_is_missing_of_the_code_family_is_in_its_metadata(partly: Workspace) -> None:
    for tool, arguments in {"locate_symbol": {"name": "later_7"}, "get_file_outline": {"path": "src/main.py"}}.items():
        assert state_of(facts(partly, tool, **arguments)["metadata"]) == PARTIAL, tool


def test_nothing_is_said_of_a_whole_index(workspace: Workspace) -> None:
    for tool, arguments in QUESTIONS.items():
        found = facts(workspace, tool, **arguments)
        assert (state_of(found), state_of(found.get("meta", {}))) == ({}, {}), tool


def test_what_is_like_a_source_file_is_looked_for_in_code_too(partly: Workspace) -> None:
    told = state_of(facts(partly, "find_similar", docPath="src/http/client.py:9"))
    assert told == {**PARTIAL, "not_searched": {"pending_files": PENDING, "files_without_vectors": 2}}


def test_named_files_alone_are_a_part_too(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        workspace.engine.sync(["docs/guide.md"])
    with Workspace(project, root=project, config=AS_IT_IS) as workspace:
        told = state_of(facts(workspace, "search_keyword", query="invoice"))
        assert told == {}
        metadata = facts(workspace, "locate_symbol", name="Client")["metadata"]
        assert (metadata["indexing_status"], metadata["result_completeness"]) == ("indexing", "partial")


def test_a_file_that_is_whole_in_the_index_is_answered_whole(partly: Workspace) -> None:
    assert state_of(facts(partly, "list_defs_in_file", path="src/http/client.py")) == {}


def test_what_is_not_indexed_yet_is_no_file_that_is_left_out(partly: Workspace) -> None:
    for tool in ("list_defs_in_file", "get_file_outline"):
        said = call(tool, {"path": "later/m3.py"}, partly).text_blocks[0]
        assert "file is not indexed (yet: semantic.auto_index is false; sync_repo takes it in): later/m3.py" in said
    said = call("find_similar", {"docPath": "later/m3.py"}, partly).as_json()["message"]
    assert said == "later/m3.py is not in the index yet: not all files are indexed. Ask again in a moment."


def test_why_a_file_is_not_indexed(project: Path) -> None:
    (project / "image.py").write_bytes(bytes(range(256)) * 20)
    with Workspace(project, root=project) as workspace:
        (said,) = call("list_defs_in_file", {"path": "image.py"}, workspace).text_blocks
        assert said.startswith("file is not indexed (") and said.endswith("): image.py")
        assert "yet" not in said
        similar = call("find_similar", {"docPath": "no/such.md"}, workspace).as_json()
        assert similar["message"] == "no/such.md is not in the index."


def test_what_changed_and_is_not_taken_in_is_stale(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
    (project / "src/main.py").write_text("def run_otherwise():\n    pass\n")
    with Workspace(project, root=project, config=AS_IT_IS) as workspace:
        assert facts(workspace, "search_keyword", query="run_otherwise")["total_files"] == 1
        for tool in ("find_symbol", "search_semantic", "hybrid_search"):
            told = state_of(facts(workspace, tool, **QUESTIONS[tool]))
            assert told == {"freshness_status": "stale"}, tool
        told = state_of(facts(workspace, "search_docs", query="program"))
        assert told == {"freshness_status": "stale", "result_completeness": "partial"}
        assert state_of(facts(workspace, "list_defs_in_file", path="src/main.py")) == {"freshness_status": "stale"}
        assert state_of(facts(workspace, "list_defs_in_file", path="src/http/client.py")) == {}


def test_of_several_roots_one_that_is_not_whole_makes_the_answer_partial(indexed: Path, part: Path) -> None:
    with Workspace(roots=[indexed, part], config=AS_IT_IS) as workspace:
        for tool in FROM_THE_INDEX:
            if tool == "find_similar":
                continue  # of one root
            arguments = QUESTIONS[tool]
            found = facts(workspace, tool, **arguments)
            told = state_of(found.get("meta", found))
            told["not_searched"].pop("chunks_without_vector", 0)
            assert told == PARTIAL, tool
        assert state_of(facts(workspace, "search_docs", query="program", pathPrefix=f"{indexed.name}/")) == {}


@pytest.mark.parametrize(
    ("tool", "module", "arguments"),
    [
        ("search_keyword", "repo", {"query": "def later_"}),
        ("find_symbol", "repo", {"name": "later_7"}),
        ("list_defs_in_file", "symbols", {"path": "later/m7.py"}),
        ("locate_symbol", "code", {"name": "later_7"}),
        ("search_docs", "docs_scope", {"query": "program"}),
    ],
)
def test_what_a_question_has_no_time_for_goes_on_after_it(
    tool: str, module: str, arguments: dict[str, Any], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_later(project)
    cut_short(monkeypatch)
    monkeypatch.setattr(f"findling.contracts.{module}.WAIT_S", 0.001)
    with Workspace(project, root=project, config=Config(semantic=Semantic(enabled=False)), background=True) as served:
        first = call(tool, arguments, served).as_json()
        told = state_of(first.get("metadata", first))
        whole = tool in ("search_keyword", "list_defs_in_file")  # the files themselves are read
        assert told.get("freshness_status") == (None if whole else "syncing")
        if tool in ("find_symbol", "locate_symbol"):
            assert "later/m7.py" in json.dumps(first), "it is answered all the same"
        served.finish()
        again = call(tool, arguments, served).as_json()
        assert "partial" not in json.dumps(again) and "stale" not in json.dumps(again)
        if tool == "search_keyword":
            assert again["total_matches"] == LATER


def test_a_question_of_text_does_not_wait_for_vectors(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def embed(*_: object, on_progress: Any, **__: object) -> int:
        on_progress(Progress("embedding", 0, 1))
        assert release.wait(60)
        return 0

    monkeypatch.setattr("findling.engine.embedding_pass.embed", embed)
    monkeypatch.setattr("findling.contracts.repo.WAIT_S", 60.0)
    with Workspace(project, root=project, background=True) as served:
        assert served.jobs.start("full", force=False, ref="main") is not None
        try:
            found = facts(served, "search_keyword", query="VAT_RATE")
            assert served.jobs.active is not None
            assert (found["total_matches"], state_of(found)) == (2, {})
        finally:
            release.set()


def test_what_no_question_takes_in_is_told_with_what_does(project: Path) -> None:
    with Workspace(project, root=project, config=AS_IT_IS) as workspace:
        workspace.engine.index()
        (project / "new.py").write_text("def brand_new():\n    pass\n")
        (project / "five.txt").unlink()
        outline = call("get_file_outline", {"path": "new.py"}, workspace)
        assert "semantic.auto_index is false; sync_repo takes it in" in outline.text_blocks[0]
        gone = call("get_file", {"path": "five.txt"}, workspace)
        assert gone.is_error and "Did you mean five.txt" not in gone.text_blocks[0]
