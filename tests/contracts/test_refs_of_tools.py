"""The tools' ``ref``: every search answers from a branch's objects, by its name; what is on disk stays out of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace
from findling.contracts.registry import call
from findling.engine import freshness, watching
from findling.engine.index_jobs import IndexJobs
from findling.engine.jobs import RunningJob
from findling.sources import discovery, looking
from findling.store.local.lock import WriterLock

DOCUMENT = "# Backoff\n\nA failed request waits longer each time before it is sent again.\n"


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def lay_out(root: Path) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "main.py").write_text("def only_on_main():\n    pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    git(root, "checkout", "-q", "-b", "feature")
    (root / "feature.py").write_text("class Feature:\n    def only_on_feature(self):\n        return 1\n")
    (root / "backoff.md").write_text(DOCUMENT)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "two")
    git(root, "checkout", "-q", "main")
    os.utime(root / "main.py", (0, 0))  # what is read within moments of being written is looked at again
    return root


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Workspace(root=lay_out(tmp_path / "project")) as made:
        made.engine.index()
        yield made


def facts(tool: str, workspace: Workspace, /, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert not result.is_error, result.text_blocks
    assert result.structured is not None
    return result.structured


def test_every_search_takes_a_ref(workspace: Workspace) -> None:
    """S2-6."""
    at = {"ref": "feature"}
    found = facts("search_code", workspace, query="only_on_feature", detail_level="context", **at)
    assert found["results"][0]["path"] == "feature.py"
    assert "return 1" in found["results"][0]["body"]
    assert found["metadata"]["ref"] == "feature"
    assert found["metadata"]["freshness_status"] == "fresh"
    found = facts("locate_symbol", workspace, name="only_on_feature", **at)
    assert [row["path"] for row in found["results"]] == ["feature.py"]
    assert facts("get_file_outline", workspace, path="feature.py", **at)["symbols"][0]["name"] == "Feature"
    assert (
        facts("list_defs_in_file", workspace, path="feature.py", **at)["symbols"][0]["pattern"] == "/^class Feature:$/"
    )
    assert facts("find_symbol", workspace, name="Feature", **at)["symbols"][0]["path"] == "feature.py"
    assert facts("search_keyword", workspace, query="only_on_\\w+", **at)["total_files"] == 2
    hits = facts("hybrid_search", workspace, query="only_on_feature", **at)["results"]
    assert (hits[0]["path"], "only_on_feature" in hits[0]["snippet"]) == ("feature.py", True)
    near = facts("search_semantic", workspace, query="waits before a failed request is sent again", **at)["results"]
    assert (near[0]["path"], "waits longer" in near[0]["snippet"]) == ("backoff.md", True)
    status = facts("index_status", workspace, **at)
    assert (status["ref"], status["file_count"], status["metadata"]["ref"]) == ("feature", 3, "feature")
    for tool in ("search_docs", "query_docs"):
        assert "backoff.md" in str(facts(tool, workspace, query="failed request", **at))
    library = call("search_documents", {"query": "failed request waits", "options": {"minScore": 0}, **at}, workspace)
    assert "waits longer each time" in library.text_blocks[-1]


def test_the_folder_is_not_touched_by_it(workspace: Workspace) -> None:
    assert facts("search_keyword", workspace, query="only_on_\\w+")["total_files"] == 1
    facts("search_keyword", workspace, query="x", ref="feature")
    assert facts("search_keyword", workspace, query="only_on_\\w+")["total_files"] == 1
    assert facts("search_code", workspace, query="only_on_main", ref="main")["metadata"]["ref"] == "main"


def test_what_is_suggested_is_of_the_same_ref(workspace: Workspace) -> None:
    suggested = set()
    for query, at in (("only_on_feature", {"ref": "feature"}), ("zzqq_xyzzy", {"ref": "feature"}), ("zzqq_xyzzy", {})):
        found = facts("search_code", workspace, query=query, confidence_threshold=1, **at)
        for action in found["suggested_next_actions"]:
            assert {key: value for key, value in action["arguments"].items() if key == "ref"} == at
            assert facts(action["tool"], workspace, **action["arguments"])["metadata"]["ref"] == at.get("ref", "main")
            suggested.add(action["tool"])
    assert suggested == {"index_status", "locate_symbol", "get_file_outline"}


def test_a_refusal_tells_the_state_of_the_ref_that_was_asked_for(workspace: Workspace) -> None:
    facts("search_keyword", workspace, query="x", ref="feature")
    (workspace.engine.root / "later.py").write_text("later = 1\n")

    def state(tool: str, **arguments: Any) -> tuple[str, str, str]:
        refused = call(tool, arguments, workspace).as_json()
        assert refused["error"]
        metadata = refused["metadata"]
        return metadata["ref"], metadata["freshness_status"], metadata["indexing_status"]

    assert state("search_code") == ("main", "stale", "ready")
    for tool in ("get_file_outline", "search_code"):
        assert state(tool, path="no/such.py", ref="feature") == ("feature", "fresh", "ready")
        assert state(tool, path="no/such.py", ref="elsewhere") == ("elsewhere", "stale", "not_indexed")
    assert state("get_file_outline", path="feature.py", ref="fea\nture") == ("fea\ufffdture", "stale", "not_indexed")
    health = facts("health_check", workspace, ref="feature")
    assert health["projects"][0]["ref"] == health["metadata"]["ref"] == "feature"


SEARCHES: dict[str, dict[str, Any]] = {
    "search_code": {"query": "only_on_feature"},
    "locate_symbol": {"name": "only_on_feature"},
    "find_symbol": {"name": "only_on_feature"},
    "hybrid_search": {"query": "only_on_feature"},
    "search_semantic": {"query": "only_on_feature"},
}


def test_what_cannot_be_read_is_counted_by_every_search(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    root = workspace.engine.root
    named = ["git", "rev-parse", "feature:feature.py"]
    content = subprocess.run(named, cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    (root / ".git/objects" / content[:2] / content[2:]).unlink()  # as in a partial clone
    for folder in (root / ".git/objects", *(root / ".git/objects").iterdir()):
        os.utime(folder, (0, 0))  # no objects came since it is indexed: else each question would index it once more
    workspace.engine.at("feature").index()
    started: list[str] = []
    monkeypatch.setattr(IndexJobs, "start", lambda *_, **options: started.append(options["ref"]))
    with Workspace(root=root, background=True) as served:
        for tool, arguments in SEARCHES.items():
            found = facts(tool, served, **arguments, ref="feature")
            told = found.get("metadata", found)
            assert told["result_completeness"] == "partial", tool
            assert told["not_searched"] == {"skipped": {"unreadable": 1}}, tool
            if "metadata" in found:
                assert [warning[:27] for warning in told["warnings"]] == ["1 file could not be read an"], tool
        found = facts("search_keyword", served, query="only_on_feature", ref="feature")
        assert (found["skipped"], found["result_completeness"]) == (
            [{"path": "feature.py", "reason": "unreadable"}],
            "partial",
        )
        status = facts("index_status", served, ref="feature")["metadata"]
        assert status["result_completeness"] == "partial"
    assert not started, "no job would find it"


ON_FEATURE: dict[str, dict[str, Any]] = {
    "search_code": {"query": "only_on_feature"},
    "locate_symbol": {"name": "only_on_feature"},
    "search_keyword": {"query": "only_on_feature"},
    "search_docs": {"query": "failed request"},
    "index_status": {},
}


def test_several_roots_at_a_ref(tmp_path: Path) -> None:
    roots = [lay_out(tmp_path / "roots" / name) for name in ("one", "two")]
    with Workspace(roots=roots) as workspace:
        found = facts("search_code", workspace, query="only_on_feature", ref="feature", detail_level="context")
        bodies = {row["path"]: row["body"] for row in found["results"]}
        assert "return 1" in bodies["one/feature.py"] and "return 1" in bodies["two/feature.py"]
        git(roots[1], "branch", "-q", "-D", "feature")
        for tool, arguments in ON_FEATURE.items():  # a root without the ref is named, and has nothing to say
            found = facts(tool, workspace, **arguments, ref="feature")
            shown = json.dumps({key: value for key, value in found.items() if key != "notes"})
            assert "one" in shown and "two" not in shown, tool
            assert [note[:5] for note in found["notes"]] == ["two: "], tool
            assert found.get("metadata", {"ref": "feature"})["ref"] == "feature", tool
        passages = call(
            "search_documents", {"query": "backoff", "options": {"minScore": 0}, "ref": "feature"}, workspace
        )
        assert any(note.startswith("two: ") for note in json.loads(passages.text_blocks[1])["notes"])
        assert facts("get_file_outline", workspace, path="one/feature.py", ref="feature")["symbols"]
        in_two = call("get_file_outline", {"path": "two/feature.py", "ref": "feature"}, workspace)
        assert in_two.as_json()["error"]["code"] == "ref_not_indexed"
        assert in_two.as_json()["metadata"]["ref"] == "feature"
        for prefix in ("two", "tw", "two/docs"):
            in_two = call("search_docs", {"query": "backoff", "pathPrefix": prefix, "ref": "feature"}, workspace)
            assert in_two.as_json()["error"] == "ref_not_indexed", prefix
        refused = call("search_code", {"query": "x", "ref": "elsewhere"}, workspace).as_json()
        assert (refused["error"]["code"], refused["metadata"]["ref"]) == ("ref_not_indexed", "elsewhere")


def test_strict_answers_are_fresh_or_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace.engine.root / "later.py").write_text("def added_later():\n    pass\n")
    monkeypatch.setattr("findling.contracts.code_search.WAIT_S", 2.0)  # without a limit it waits for the other process
    lock = WriterLock(workspace.engine.store_dir, wait_s=0)
    try:
        for policy, refused in (("strict", True), ("balanced", False), ("best_effort", False)):
            result = call("search_code", {"query": "added_later", "freshness_policy": policy}, workspace)
            assert result.is_error is refused
            assert result.structured is not None
            if refused:
                assert result.structured["error"]["code"] == "index_stale"
            else:
                assert result.structured["metadata"]["freshness_status"] == "syncing"
    finally:
        lock.release()
    found = facts("search_code", workspace, query="added_later", freshness_policy="strict")
    assert found["results"][0]["path"] == "later.py"


@pytest.fixture
def huge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tree is too large to be looked at as a whole in any bounded time."""
    check, look_again = discovery.check, looking.look_again

    def hurried(root: Any, known: Any, wanted: Any, budget_s: float | None = None, **begun: Any) -> looking.Changes:
        found = check(root, known, wanted, budget_s, **begun)
        return found if budget_s is None else found._replace(added=[], complete=False, skipped=[])

    def hurried_again(root: Any, known: Any, wanted: Any, tree: Any, budget_s: float | None, **heard: Any) -> Any:
        found = look_again(root, known, wanted, tree, budget_s, **heard)
        return found if found is None or budget_s is None else found._replace(complete=False)

    monkeypatch.setattr(discovery, "check", hurried)
    monkeypatch.setattr(looking, "look_again", hurried_again)
    monkeypatch.setattr(freshness, "CHECK_PAUSE", 1_000_000)
    monkeypatch.setattr("findling.engine.index_jobs.CHECK_PAUSE", 1_000_000)
    monkeypatch.setattr("findling.contracts.code_search.WAIT_S", 2.0)


def test_a_passage_of_a_commit_is_as_old_as_the_commit(workspace: Workspace) -> None:
    asked = {"query": "backoff", "options": {"minScore": 0}, "ref": "feature"}
    found = json.loads(call("search_documents", asked, workspace).text_blocks[1])
    seconds = subprocess.run(
        ["git", "log", "-1", "--format=%ct", "feature"], cwd=workspace.engine.root, check=True, capture_output=True
    )
    modified = [datetime.fromisoformat(row["metadata"]["lastModified"]).timestamp() for row in found["results"]]
    assert modified and set(modified) == {float(seconds.stdout)}


@pytest.mark.usefixtures("huge")
def test_strict_looks_at_all_files(workspace: Workspace) -> None:
    balanced = facts("search_code", workspace, query="only_on_main")
    assert balanced["metadata"]["freshness_status"] == "stale"
    strict = facts("search_code", workspace, query="only_on_main", freshness_policy="strict")
    assert strict["metadata"]["freshness_status"] == "fresh"


@pytest.mark.usefixtures("huge")
def test_what_was_not_looked_at_starts_one_job_in_a_while(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    run = IndexJobs._run

    def noted(self: IndexJobs, job: RunningJob, *options: bool) -> None:
        started.append(job.job.mode)
        run(self, job, *options)

    monkeypatch.setattr(IndexJobs, "_run", noted)
    with Workspace(root=workspace.engine.root, background=True) as served:
        for query in ("only_on_main", "backoff", "return"):
            assert facts("search_code", served, query=query)["metadata"]["freshness_status"] != "fresh"
            served.jobs.wait()
        assert (started, served.jobs.recent()) == (["incremental"], []), "it found nothing to do"


def test_what_is_not_searched_is_counted(workspace: Workspace) -> None:
    (workspace.engine.root / "big.txt").write_text("x" * 2_000_000)
    (workspace.engine.root / ".env").write_text("TOKEN=hunter2hunter2\n")
    for tool, arguments in SEARCHES.items():
        found = facts(tool, workspace, **arguments)
        told = found.get("metadata", found)
        assert told["not_searched"]["skipped"]["too_large"] == 1, tool
        assert told.get("result_completeness", "complete") == "complete", tool


def test_a_server_watches_unless_it_is_told_not_to(workspace: Workspace) -> None:
    """D13, S0-24."""
    assert workspace.root.watched is None
    workspace.watch()
    assert isinstance(workspace.root.watched, watching.Watch)
    assert facts("index_status", workspace)["watching"]["state"] in ("waiting", "standby", "watching")
    for option in ("watch", "autoIndex"):
        (workspace.engine.root / "findling.toml").write_text(f"[semantic]\n{option} = false\n")
        with Workspace(root=workspace.engine.root) as other:
            other.watch()
            assert other.root.watched is None


def test_several_roots_open_the_library_once_for_every_ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Workspace(roots=[lay_out(tmp_path / "one"), lay_out(tmp_path / "two")]) as several:
        at = several.at("feature")
        assert at is not several
        assert at.library is several.at("feature").library is several.library
