"""How far a run is that goes on, as index_status tells it, whoever runs; what is pending of what was never indexed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace, call
from findling.engine import Engine, freshness, index_jobs, indexer, runs
from findling.engine import jobs as records
from findling.model.errors import Cancelled
from findling.model.types import Progress
from findling.store.local.lock import WriterLock
from tests.contracts.conftest import FILES
from tests.contracts.test_refs_of_tools import lay_out

FILES_OF_FEATURE = 3

QUESTIONS = {
    "search_code": {"query": "Feature"},
    "locate_symbol": {"name": "Feature"},
    "search_keyword": {"query": "Feature"},
    "find_symbol": {"name": "Feature"},
    "hybrid_search": {"query": "Feature"},
    "query_docs": {"query": "how long does a failed request wait"},
}


def facts(tool: str, workspace: Workspace, /, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert not result.is_error, result.text_blocks
    assert result.structured is not None
    return result.structured


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of a run is told, not one each second."""
    monkeypatch.setattr(records, "TOLD_EVERY_S", 0.0)


def test_a_run_is_told_of_while_it_lasts_whoever_runs(
    project: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "_TASK_FILES", 2)
    monkeypatch.setattr(runs, "_made_at_once", lambda _: None)  # vectors come after the files, as most models make them
    seen: list[dict[str, Any]] = []
    with Workspace(project, root=project) as workspace, Engine.open(root=project) as other:

        def look(_: Progress) -> None:
            told = other.active_job  # each step is told after the caller heard of it
            seen.append(facts("index_status", workspace))
            assert (seen[-1]["active_job"] is None) == (told is None)
            if told is not None:
                assert workspace.engine.never_indexed().pending_files == told.pending
                assert facts("health_check", workspace)["status"] == "indexing"

        other.index(progress=look)
        while_it_ran = [status for status in seen if status["active_job"]]
        jobs = [status["active_job"] for status in while_it_ran]
        assert {status["index_status"] for status in while_it_ran} == {"indexing"}
        assert {status["metadata"]["freshness_status"] for status in while_it_ran} == {"syncing"}
        assert len({job["job_id"] for job in jobs}) == 1
        assert (jobs[0]["stage"], jobs[0]["files_done"], jobs[0]["files_total"]) == ("listing", None, None)
        at_work = [status for status in while_it_ran if status["active_job"]["stage"] == "indexing"]
        done = [status["active_job"]["files_done"] for status in at_work]
        assert len(done) > 1 and done == sorted(set(done)), "it moves"
        assert [status["pending_count"] for status in at_work] == [len(FILES) - count for count in done]
        assert {status["active_job"]["files_total"] for status in at_work} == {len(FILES)}
        assert "embedding" in {job["stage"] for job in jobs}
        after = facts("index_status", workspace)
        assert (after["active_job"], after["pending_count"], after["index_status"]) == (None, 0, "ready")
        assert list((other.store_dir / records.JOBS).iterdir()) == []


def test_of_a_job_that_waits_for_another_run_that_one_is_told(
    project: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), threading.Event()

    def waiting(_: Engine, *, progress: Any, **__: Any) -> Any:
        progress(Progress("indexing", 3, 10))
        begun.set()
        assert go_on.wait(30)
        raise NotImplementedError

    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        monkeypatch.setattr(Engine, "index", waiting)
        started = facts("index_repo", workspace)
        assert begun.wait(30)
        status = facts("index_status", workspace)
        job = status["active_job"]
        assert (job["job_id"], job["files_done"], job["files_total"]) == (started["job_id"], 3, 10)
        assert status["pending_count"] == 7
        with index_jobs.running_job(workspace.engine._store, None, whole=True) as run:
            run(Progress("embedding", 4, 5))
            status = facts("index_status", workspace)
            job = status["active_job"]
            assert (job["job_id"], job["stage"], job["files_done"]) == (started["job_id"], "embedding", 4)
            assert status["pending_count"] == 0
        go_on.set()
        workspace.finish()


def test_nobody_believes_what_no_run_tells(indexed: Path, at_once: None) -> None:
    with Engine.open(root=indexed) as engine, index_jobs.running_job(engine._store, None, whole=True) as run:
        run(Progress("indexing", 1, 4))
        kept = index_jobs.records_of(engine.store_dir)
        file = kept.path(run.job.id, "json")
        sound = json.loads(file.read_text())
        assert engine.active_job is not None and engine.active_job.pending == 3
        for wrong in (
            {"place": "/elsewhere"},
            {"id": "0" * 12},
            {"done": -1},
            {"total": True},
            {"mode": "odd"},
            {"kind": ["index"]},
            {"state": "done"},
            {"stage": 3},
            {"started": 1e300},
            {"result": 7},
            {"more": 1},
        ):
            file.write_text(json.dumps(sound | wrong))
            assert engine.active_job is None, wrong
        for text in ("", "[]", "[" * 9_000, json.dumps(sound | {"stage": "x" * 6_000}), " " * 200_000 + "{}"):
            file.write_text(text)
            assert engine.active_job is None, text[:20]
        file.write_text(json.dumps(sound))
        assert engine.active_job is not None
        left = json.dumps(sound | {"id": "0" * 12})  # as one who was killed leaves it
        kept.path("0" * 12, "json").write_text(left)
        kept.path("0" * 12, "lock").touch()
        assert engine.active_job.id == run.job.id
        assert (kept.get("0" * 12).state, kept.get("0" * 12).error) == ("failed", records.ENDED)
        assert "0" * 12 in [job.id for job in kept.recent()]
        kept.forget("0" * 12)
        for name in ("dir", "link", "pipe"):
            stray = kept.path(name[0].encode().hex() * 6, "json")
            if name == "dir":
                stray.mkdir()
            elif name == "link":
                stray.symlink_to(file)
            else:
                os.mkfifo(stray)
        assert [job.id for job in kept.active()] == [run.job.id]
        assert not {"646464646464", "6c6c6c6c6c6c", "707070707070"} & {job.id for job in kept.all()}


def test_reindexing_vectors_is_one_job_that_embeds(indexed: Path, at_once: None) -> None:
    seen: dict[str, set[str]] = {}

    with Workspace(indexed, root=indexed) as workspace, Engine.open(root=indexed) as other:

        def look(_: Progress) -> None:
            if (job := other.active_job) is not None:
                assert job.kind == "embed"
                seen.setdefault(job.id, set()).add(job.stage)

        result = call("reindex_vectors", {"force": True}, workspace, progress=look)
        assert not result.is_error, result.text_blocks
        (stages,) = seen.values()
        assert stages == {"listing", "embedding"}, "over both of its runs"
        assert other.active_job is None


def test_a_run_of_another_engine_is_cancelled_by_its_id(project: Path, at_once: None) -> None:
    with Engine.open(root=project) as engine, Engine.open(root=project) as other:

        def cancel(progress: Progress) -> None:
            if (job := other.active_job) is not None and progress.stage == "indexing":
                index_jobs.records_of(other.store_dir).cancel(job.id)

        with pytest.raises(Cancelled):
            engine.index(progress=cancel)
        assert other.active_job is None
        assert engine.index().complete


def test_what_is_pending_of_a_ref_that_was_never_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "writer_wait_s", lambda *_: 0.0)
    root = lay_out(tmp_path / "project")
    with Workspace(root=root) as workspace:
        workspace.engine.index()
        assert facts("index_status", workspace, ref="feature")["pending_count"] == FILES_OF_FEATURE
        lock = WriterLock(workspace.engine.store_dir, wait_s=0.0)
        try:
            assert facts("search_keyword", workspace, ref="feature", **QUESTIONS["search_keyword"])["total_files"]
            for tool, asked in QUESTIONS.items():
                if tool == "search_keyword":
                    continue  # it needs no index
                found = facts(tool, workspace, ref="feature", **asked)
                found = found.get("metadata", found.get("meta", found))
                state = found["freshness_status"], found["result_completeness"], found["not_searched"]
                assert state == ("syncing", "partial", {"pending_files": FILES_OF_FEATURE}), tool
        finally:
            lock.release()
        found = facts("search_code", workspace, ref="feature", query="Feature")
        assert found["metadata"]["result_completeness"] == "complete" and "not_searched" not in found["metadata"]
