"""The code family: the contract's fields and their types, decisions on real answers, states of the index."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from findling.config import Config
from findling.config.options import Rerank, Semantic
from findling.contracts import Workspace, budget, call
from findling.contracts.model import ToolResult
from findling.engine import Engine
from findling.model.types import Gate, Query
from findling.search import lines_of

OPTIONAL_TEXT = (str, type(None))

BASIC = {
    "codecompass_protocol_version": str,
    "freshness_status": str,
    "indexing_status": str,
    "result_completeness": str,
    "ref": str,
}
METADATA = BASIC | {
    "semantic_mode": str,
    "semantic_enabled": bool,
    "semantic_ratio_used": float,
    "semantic_triggered": bool,
    "semantic_skipped_reason": OPTIONAL_TEXT,
    "semantic_fallback": bool,
    "external_provider_blocked": bool,
    "embedding_model_version": OPTIONAL_TEXT,
    "rerank_provider": str,
    "rerank_fallback": bool,
    "low_confidence": bool,
    "suggested_action": OPTIONAL_TEXT,
    "confidence_threshold": float,
    "top_score": float,
    "score_margin": float,
    "channel_agreement": float,
    "query_intent_confidence": float,
    "intent_escalation_hint": OPTIONAL_TEXT,
}
RESULT = {
    "path": str,
    "line_start": int,
    "line_end": int,
    "kind": str,
    "name": str,
    "qualified_name": str,
    "language": str,
    "score": float,
    "snippet": str,
    "provenance": str,
    "result_type": str,
}


def facts(result: ToolResult) -> dict[str, Any]:
    assert not result.is_error, result.text_blocks
    assert result.structured is not None
    assert json.loads(result.text_blocks[0]) == result.structured
    return result.structured


def has(values: dict[str, Any], shape: dict[str, Any]) -> None:
    for name, kind in shape.items():
        assert name in values, name
        assert isinstance(values[name], kind), (name, values[name])
        assert isinstance(values[name], bool) == (kind is bool), name


def search(workspace: Workspace, query: str, **more: Any) -> dict[str, Any]:
    return facts(call("search_code", {"query": query, **more}, workspace))


# --- search_code -----------------------------------------------------------------------------------------------


def test_names_that_only_contain_the_question_decide_nothing(workspace: Workspace) -> None:
    named = workspace.engine.search("retry", mode="symbol", explain=True).hits
    assert {"alike"} <= {reason.signal for hit in named for reason in hit.reasons} <= {"alike", "file", "stem"}
    answer = workspace.engine.ask(Query("retry", gate=Gate({})))
    for hit, grounds in answer.places:
        assert "symbol" not in hit.sources and "symbol" not in grounds.ranks
        assert not {"named", "alike"} & {name for name, value in grounds.signals.items() if value}


def test_search_code_has_every_field(workspace: Workspace) -> None:
    """S2-2, S2-11, S2-13: names and types of the contract."""
    found = search(workspace, "how is a failed request sent again")
    has(found, {"results": list, "query_intent": str, "total_candidates": int, "suggested_next_actions": list})
    has(found["metadata"], METADATA)
    for result in found["results"]:
        has(result, RESULT)
        assert len(result["snippet"]) <= 200
    assert found["results"][0]["path"] in ("src/http/client.py", "docs/guide.md")
    assert found["metadata"]["ref"] == "main"
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len({*scores}) > 1


def test_every_field_of_a_result_is_of_its_definition(workspace: Workspace) -> None:
    """S2-11."""
    result = search(workspace, "retry_failed")["results"][0]
    assert {name: result[name] for name in RESULT if name not in ("score", "snippet")} == {
        "path": "src/http/client.py",
        "line_start": 9,
        "line_end": 16,
        "kind": "method",
        "name": "retry_failed",
        "qualified_name": "Client.retry_failed",
        "language": "python",
        "provenance": "lexical",
        "result_type": "symbol",
    }
    assert "def retry_failed(self, request, attempts=3):" in result["snippet"]


def test_a_question_is_asked_by_meaning_too(workspace: Workspace) -> None:
    """S2-16 to S2-18, S2-21, S2-33."""
    metadata = search(workspace, "how is a failed request sent again")["metadata"]
    assert metadata["semantic_mode"] == "hybrid"
    assert metadata["semantic_triggered"] is True
    assert metadata["semantic_skipped_reason"] is None
    assert 0 < metadata["semantic_ratio_used"] <= 0.5
    assert metadata["embedding_model_version"] == workspace.engine.fingerprint.version  # type: ignore[union-attr]
    assert metadata["embedding_coverage"] == 1.0


@pytest.mark.parametrize(
    ("query", "intent"),
    [("retry_failed", "symbol"), ("src/http/client.py", "path"), ('"gave up after all attempts"', "error")],
)
def test_names_paths_and_messages_are_not(workspace: Workspace, query: str, intent: str) -> None:
    """S2-5, S2-13, S2-34."""
    found = search(workspace, query)
    metadata = found["metadata"]
    assert found["query_intent"] == intent
    assert found["results"][0]["path"] == "src/http/client.py"
    assert (metadata["semantic_triggered"], metadata["semantic_skipped_reason"]) == (False, "intent_not_nl")
    assert metadata["semantic_ratio_used"] == 0
    assert {result["provenance"] for result in found["results"]} == {"lexical"}


def test_a_path_is_answered_with_the_file_and_not_with_what_stands_in_it(workspace: Workspace) -> None:
    first = search(workspace, "src/http/client.py")["results"][0]
    assert (first["result_type"], first["kind"], first["line_start"]) == ("file", "file", 1)
    assert (first["name"], first["qualified_name"]) == ("client.py", "src/http/client.py")


def test_a_definition_is_the_first_result_for_its_name(workspace: Workspace) -> None:
    first = search(workspace, "Client.retry_failed")["results"][0]
    assert (first["kind"], first["name"], first["qualified_name"]) == ("method", "retry_failed", "Client.retry_failed")
    assert first["result_type"] == "symbol"
    assert first["symbol_id"].startswith("src/http/client.py#")
    assert first["signature"].startswith("def retry_failed(")


def test_the_request_caps_the_ratio(workspace: Workspace) -> None:
    """S2-9, D26: below the override of 0.5 and above it."""
    query = "how is a failed request sent again"
    none = search(workspace, query, semantic_ratio=0)["metadata"]
    assert (none["semantic_skipped_reason"], none["semantic_triggered"]) == ("semantic_ratio_zero", False)
    assert search(workspace, query, semantic_ratio=0.2)["metadata"]["semantic_ratio_used"] == pytest.approx(0.2)
    by_meaning = search(workspace, query, semantic_ratio=1.0)
    assert by_meaning["metadata"]["semantic_ratio_used"] == pytest.approx(1.0)


def test_sure_text_needs_no_meaning(indexed: Path) -> None:
    """S2-44: above the threshold semantics is skipped."""
    config = Config(semantic=Semantic(lexical_short_circuit_threshold=0.01))
    with Workspace(indexed, root=indexed, config=config) as workspace:
        metadata = search(workspace, "how is a failed request sent again")["metadata"]
        assert metadata["semantic_skipped_reason"] == "lexical_high_confidence"
        assert metadata["semantic_ratio_used"] == 0


def test_modes(indexed: Path) -> None:
    """S2-15, S2-16, S2-22, S2-35, D28."""
    seen = {}
    for mode in ("off", "rerank_only"):
        config = Config(semantic=Semantic(mode=mode))  # type: ignore[arg-type]
        with Workspace(indexed, root=indexed, config=config) as workspace:
            metadata = search(workspace, "how is a failed request sent again")["metadata"]
            seen[mode] = (
                metadata["semantic_enabled"],
                metadata["semantic_skipped_reason"],
                metadata["rerank_provider"],
                metadata["embedding_model_version"],
                metadata["result_completeness"],
            )
    assert seen == {
        "off": (False, "semantic_disabled", "none", None, "complete"),
        "rerank_only": (True, "mode_rerank_only", "local", None, "complete"),
    }


def test_rerank_only_really_reranks(indexed: Path) -> None:
    """S2-35: for every intent, by the words that a candidate shares with the query."""
    with Workspace(indexed, root=indexed, config=Config(semantic=Semantic(mode="rerank_only"))) as workspace:
        found = search(workspace, "again before")
        plain = search(workspace, "invoice tax", limit=1)
    assert found["results"][0]["path"] == "docs/guide.md"
    assert plain["results"][0]["path"] == "src/billing/invoice.py"


def test_a_closed_gate_is_told(indexed: Path) -> None:
    """S2-20, S2-23, S2-47: configured but not allowed: blocked, and the local rule instead."""
    closed = Config(rerank=Rerank(provider="cohere"), semantic=Semantic(external_provider_enabled=True))
    with Workspace(indexed, root=indexed, config=closed) as workspace:
        metadata = search(workspace, "how is a failed request sent again")["metadata"]
    assert metadata["external_provider_blocked"] is True
    assert (metadata["rerank_provider"], metadata["rerank_fallback"]) == ("local", True)
    assert metadata["rerank_fallback_reason"] == "external_provider_blocked"


def test_without_an_embedder_text_answers(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2-41, S2-16: none at all is as disabled."""
    from findling import embedding
    from findling.model import errors

    def none(*_: object, **__: object) -> Any:
        raise errors.EmbedderUnavailable("The model's files are not there.")

    monkeypatch.setattr(embedding, "open_embedder", none)
    query = "how is a failed request sent again"
    with Workspace(indexed, root=indexed) as workspace:
        found = search(workspace, query)
        assert found["results"]
        assert found["metadata"]["semantic_skipped_reason"] == "semantic_disabled"
        assert found["metadata"]["semantic_mode"] == "off"


def test_confidence_is_neither_always_nor_never_low(workspace: Workspace) -> None:
    """S2-24, S2-25, S2-26, S2-36, S2-38."""
    sure = search(workspace, "retry_failed")["metadata"]
    unsure = search(workspace, "quantum entanglement of teapots", confidence_threshold=0.6)["metadata"]
    assert (sure["low_confidence"], sure["suggested_action"]) == (False, None)
    assert unsure["low_confidence"] is True
    assert unsure["suggested_action"] == "Try locate_symbol with 'quantum'"
    assert unsure["confidence_threshold"] == 0.6
    named = search(workspace, "class Client", confidence_threshold=1.0)
    assert named["results"] and named["metadata"]["low_confidence"] is True
    action = "Try search_code with natural language: 'where is Client defined'"
    assert named["metadata"]["suggested_action"] == action
    first = named["suggested_next_actions"][0]
    assert facts(call(first["tool"], first["arguments"], workspace))["results"][0]["name"] == "Client"
    assert search(workspace, "quantum entanglement", confidence_threshold=0)["metadata"]["low_confidence"] is False


def test_where_it_is_not_sure_more_can_be_asked_for(workspace: Workspace) -> None:
    """A word of a sentence is no name to look up; a name is."""

    def first_call(query: str, **asked: Any) -> dict[str, Any]:
        found = search(workspace, query, confidence_threshold=1.0, **asked)
        return cast("dict[str, Any]", found["suggested_next_actions"][0])

    more = first_call("how is a failed request sent again", limit=1, language="python")
    assert more["tool"] == "search_code"
    assert more["arguments"]["language"] == "python"
    followed = facts(call(more["tool"], more["arguments"], workspace))
    assert len(followed["results"]) > 1
    assert first_call("how is a failure handled, e.g. a retry", limit=1)["tool"] == "search_code"
    assert first_call("where does RetryPolicy wait for a moment")["tool"] == "locate_symbol"
    assert first_call("how is a failed request sent again", limit=20)["tool"] == "get_file_outline"


def test_nothing_found(workspace: Workspace) -> None:
    """S2-37."""
    found = search(workspace, "zzqq_xyzzy", language="sql")
    assert found["results"] == []
    assert found["total_candidates"] == 0
    assert found["metadata"]["top_score"] == 0
    assert found["metadata"]["suggested_action"] == "Try search_code with broader query: 'zzqq_xyzzy'"
    assert found["suggested_next_actions"][0]["tool"] == "index_status"


def test_language(workspace: Workspace) -> None:
    """S2-7: an id or an alias; anything else is refused."""
    assert {result["language"] for result in search(workspace, "retry request", language="py")["results"]} == {"python"}
    refused = call("search_code", {"query": "x", "language": "pythn"}, workspace)
    assert refused.structured is not None
    assert refused.structured["error"]["code"] == "invalid_input"
    assert "python" in refused.structured["error"]["message"]


def test_detail_levels(workspace: Workspace) -> None:
    keys = {}
    for level in ("location", "signature", "context", "auto"):
        keys[level] = set(search(workspace, "retry_failed", detail_level=level)["results"][0])
    assert keys["location"] == {"path", "line_start", "line_end", "kind", "name", "score", "provenance"}
    assert keys["signature"] > keys["location"]
    assert keys["context"] - keys["signature"] == {"body"}
    assert keys["auto"] - keys["context"] == {"related"}
    assert all("body" in result for result in search(workspace, "retry", detail_level="context")["results"])
    first = search(workspace, "retry_failed")["results"][0]
    lines = (workspace.engine.root / first["path"]).read_text().split("\n")
    body = dict(lines_of(first["body"]))
    assert set(range(first["line_start"], first["line_end"] + 1)) <= set(body)
    assert all(lines[number - 1] == line for number, line in body.items() if number)


def test_a_small_budget_gives_the_best_place(workspace: Workspace) -> None:
    (only,) = search(workspace, "retry_failed", max_tokens=200)["results"]
    assert only["path"] == search(workspace, "retry_failed")["results"][0]["path"]
    assert len(budget.dumps(only)) <= 200 * 4
    assert len(search(workspace, "retry_failed", max_tokens=1)["results"]) == 1


def test_another_ref(workspace: Workspace) -> None:
    """S2-6."""
    refused = call("search_code", {"query": "x", "ref": "feature"}, workspace)
    assert refused.structured is not None
    assert refused.structured["error"]["code"] == "ref_not_indexed"
    assert search(workspace, "retry", ref="live")["metadata"]["ref"] == "main"


def test_long_answers_say_that_they_were_cut(workspace: Workspace) -> None:
    found = search(workspace, "request", detail_level="context", max_tokens=700)
    assert found["metadata"]["result_completeness"] == "truncated"
    assert "left out" in found["metadata"]["warnings"][-1].lower()


# --- states ----------------------------------------------------------------------------------------------------


def states(found: dict[str, Any]) -> tuple[str, str, str]:
    metadata = found["metadata"]
    return metadata["freshness_status"], metadata["indexing_status"], metadata["result_completeness"]


def test_a_folder_that_was_never_indexed(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        status = facts(call("index_status", {}, workspace))
        assert states(status) == ("stale", "not_indexed", "partial")
        assert (status["index_status"], status["schema_status"]) == ("not_indexed", "not_indexed")
        assert "current_schema_version" not in status
        assert facts(call("health_check", {}, workspace))["status"] == "warming"
        # A question indexes by itself.
        found = search(workspace, "retry_failed")
        assert states(found) == ("fresh", "ready", "complete")
        assert found["results"][0]["path"] == "src/http/client.py"


def test_changes_are_taken_in_before_the_answer(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        (project / "new.py").write_text("def brand_new_name():\n    return 1\n")
        assert states(facts(call("index_status", {}, workspace))) == ("stale", "ready", "complete")
        assert search(workspace, "brand_new_name")["results"][0]["path"] == "new.py"


def test_a_job_is_seen_while_it_runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1-48, D24: one that has ended well is called published."""
    go_on, begun = threading.Event(), threading.Event()
    index = Engine.index

    def waiting(self: Engine, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return index(self, **options)

    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        monkeypatch.setattr(Engine, "index", waiting)
        started = facts(call("index_repo", {}, workspace))
        assert begun.wait(30)
        assert (started["status"], started["mode"], started["file_count"]) == ("running", "full", None)
        status = facts(call("index_status", {}, workspace))
        assert states(status) == ("syncing", "indexing", "partial")
        assert status["active_job"]["job_id"] == started["job_id"]
        assert states(search(workspace, "retry_failed")) == ("syncing", "indexing", "partial")
        for tool, code in (("index_repo", "index_in_progress"), ("sync_repo", "sync_in_progress")):
            again = call(tool, {}, workspace)
            assert again.structured is not None
            assert (again.is_error, again.structured["error"]["code"]) == (True, code)
        go_on.set()
        workspace.finish()
        done = facts(call("index_status", {}, workspace))
        assert states(done) == ("fresh", "ready", "complete")
        assert done["active_job"] is None
        job = done["recent_jobs"][0]
        has(
            job,
            {"job_id": str, "ref": str, "mode": str, "status": str, "changed_files": int, "duration_ms": int}
            | {"created_at": str},
        )
        assert (job["job_id"], job["status"]) == (started["job_id"], "published")
    with Workspace(project, root=project) as later:
        assert facts(call("index_status", {}, later))["recent_jobs"][0]["job_id"] == started["job_id"]


def test_an_index_of_a_later_version(project: Path) -> None:
    import sqlite3

    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        database = workspace.engine.store_dir / "index.db"
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version=999")
    connection.commit()
    connection.close()
    with Workspace(project, root=project) as workspace:
        refused = call("search_code", {"query": "retry"}, workspace)
        assert refused.structured is not None
        assert refused.structured["error"]["code"] == "index_incompatible"
        assert states(refused.structured) == ("stale", "failed", "partial")
        status = facts(call("index_status", {}, workspace))
        assert status["schema_status"] == "reindex_required"
        health = facts(call("health_check", {}, workspace))
        assert (health["status"], health["sqlite_ok"]) == ("error", False)


def test_an_index_of_an_earlier_version(project: Path) -> None:
    import sqlite3

    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        database = workspace.engine.store_dir / "index.db"
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version=1")
    connection.commit()
    connection.close()
    with Workspace(project, root=project) as workspace:
        assert facts(call("index_status", {}, workspace))["schema_status"] == "reindex_required"
        assert facts(call("health_check", {}, workspace))["sqlite_ok"] is False


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with Workspace(tmp_path / "missing") as workspace:
        refused = call("search_code", {"query": "retry"}, workspace)
        assert refused.structured is not None
        assert refused.structured["error"]["code"] == "project_not_found"
        assert call("find_symbol", {"name": "retry"}, workspace).is_error


# --- the other tools -------------------------------------------------------------------------------------------


def test_locate_symbol(workspace: Workspace) -> None:
    """S2-57."""
    found = facts(call("locate_symbol", {"name": "Client", "include_references": True}, workspace))
    has(found, {"results": list, "total_candidates": int, "metadata": dict})
    has(found["metadata"], BASIC)
    first = found["results"][0]
    assert (first["path"], first["kind"], first["name"], first["score"]) == (
        "src/http/client.py",
        "class",
        "Client",
        1.0,
    )
    assert not {"snippet", "provenance"} & set(first)
    assert [result["path"] for result in found["results"] if result["kind"] == "reference"] == ["src/main.py"] * 2
    spelled = facts(call("locate_symbol", {"name": "RetryDelay"}, workspace))["results"][0]
    assert (spelled["name"], spelled["score"]) == ("retry_delay", 0.9)
    only = facts(call("locate_symbol", {"name": "Client", "include_references": True, "limit": 1}, workspace))
    assert len(only["results"]) == 1
    assert only["total_candidates"] == found["total_candidates"]


def test_get_file_outline(workspace: Workspace) -> None:
    found = facts(call("get_file_outline", {"path": "src/http/client.py"}, workspace))
    assert (found["file_path"], found["language"]) == ("src/http/client.py", "python")
    (client,) = found["symbols"]
    assert (client["name"], client["kind"], client["line_start"], client["line_end"]) == ("Client", "class", 6, 19)
    assert [child["name"] for child in client["children"]] == ["retry_failed", "send"]
    top = facts(call("get_file_outline", {"path": "src/http/client.py", "depth": "top"}, workspace))
    assert "children" not in top["symbols"][0]
    missing = call("get_file_outline", {"path": "src/nothing.py"}, workspace)
    assert missing.structured is not None
    assert missing.structured["error"]["code"] == "file_not_found"


def test_index_status(workspace: Workspace) -> None:
    found = facts(call("index_status", {}, workspace))
    has(
        found,
        {
            "project_id": str,
            "repo_root": str,
            "index_status": str,
            "schema_status": str,
            "current_schema_version": int,
            "required_schema_version": int,
            "last_indexed_at": str,
            "ref": str,
            "file_count": int,
            "symbol_count": int,
            "chunk_count": int,
            "embedded_count": int,
            "recent_jobs": list,
            "metadata": dict,
        },
    )
    assert found["file_count"] == 7
    assert found["embedded_count"] == found["chunk_count"] > 0
    assert "advisor" not in found


def test_advice_only_where_it_was_asked_for(indexed: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2-46: a recommendation, once there is a time to judge by."""
    config = Config(semantic=Semantic(profile_advisor_mode="suggest"))
    with Workspace(indexed, root=indexed, config=config) as workspace:
        assert "advisor" not in facts(call("index_status", {}, workspace))
        search(workspace, "retry")
        assert (workspace.latency_ms() or 0) > 0
        monkeypatch.setattr(workspace, "latency_ms", lambda: 5.0)  # whatever this machine took
        advisor = facts(call("index_status", {}, workspace))["advisor"]
        assert (advisor["profile"], advisor["repo_size_bucket"]) == ("fast_local", "<10k")
        assert advisor["reason_codes"]
    with Workspace(roots=[indexed, project], config=config) as workspace:
        monkeypatch.setattr(workspace, "latency_ms", lambda: 5.0)
        told = facts(call("index_status", {}, workspace))
        assert "advisor" in told and not any("advisor" in each for each in told["projects"]), "not once for all"


def test_health_check(workspace: Workspace) -> None:
    found = facts(call("health_check", {}, workspace))
    assert (found["status"], found["sqlite_ok"], found["fts_ok"]) == ("ready", True, True)
    assert "python" in found["grammars"]["available"]
    assert found["embedder"]["dimensions"] == 256
    assert found["projects"][0]["repo_root"] == str(workspace.engine.root)


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    root = tmp_path / "gone"
    root.mkdir()
    with Workspace(root, root=root) as workspace:
        _ = workspace.engine
        root.rmdir()
        found = facts(call("health_check", {}, workspace))
        assert (found["status"], "no folder" in found["problem"]) == ("error", True)
        refused = call("index_status", {}, workspace).structured
        assert refused is not None and refused["error"]["code"] == "project_not_found"


def test_health_check_sees_a_lost_text_index(project: Path) -> None:
    import shutil

    with Workspace(project, root=project) as workspace:
        workspace.engine.index()
        store = workspace.engine.store_dir
    shutil.rmtree(next(path for path in store.iterdir() if path.is_dir() and "text" in path.name))
    with Workspace(project, root=project) as workspace:
        found = facts(call("health_check", {}, workspace))
    assert (found["status"], found["sqlite_ok"], found["fts_ok"]) == ("error", True, False)


# --- what does not occur ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "kind", "nearest", "action"),
    [
        ("retry_dellay", "symbol", "retry_delay", "Try search_code with broader query: 'retry_dellay'"),
        ("zz_no_such_name", "symbol", None, "Try search_code with broader query: 'zz_no_such_name'"),
        (
            "src/http/clientt.py",
            "path",
            "src/http/client.py",
            "Check file path spelling or try search_code with filename",
        ),
        (
            "ConnectionError: gave up before all attempts",
            "message",
            "gave up after all attempts",
            "No results found. Try broader search terms or check index status.",
        ),
    ],
)
def test_what_does_not_occur_has_no_results(
    workspace: Workspace, query: str, kind: str, nearest: str | None, action: str
) -> None:
    """S2-24, S2-37, S2-39, S2-40: the nearest stands in a field of its own."""
    found = search(workspace, query, confidence_threshold=0)
    assert found["results"] == []
    assert found["total_candidates"] == 0
    (absent,) = found["absent"]
    assert absent["kind"] == kind
    assert absent["files_searched"] > 5
    assert [near["name"] for near in found["nearest"]][:1] == ([nearest] if nearest else [])
    assert found["metadata"]["low_confidence"] is True
    assert found["metadata"]["suggested_action"] == action
    assert found["metadata"]["top_score"] == 0
    first = found["suggested_next_actions"][0]
    assert first["tool"] == ("search_code" if nearest else "index_status")
    if nearest:
        assert facts(call(first["tool"], first["arguments"], workspace))["results"]


def test_every_tool_that_looks_for_a_name_says_that_there_is_none(workspace: Workspace) -> None:
    for tool, argument, results in (
        ("locate_symbol", "name", "results"),
        ("find_symbol", "name", "symbols"),
        ("hybrid_search", "query", "results"),
        ("search_keyword", "query", "results"),
    ):
        found = facts(call(tool, {argument: "retry_dellay"}, workspace))
        assert found[results] == []
        assert found["absent"][0]["text"] == "retry_dellay"
        assert found["nearest"][0] == {"name": "retry_delay", "path": "src/http/retry_policy.py", "line": 6}
        assert "absent" not in facts(call(tool, {argument: "retry_delay"}, workspace))


def test_a_question_in_words_keeps_its_results(workspace: Workspace) -> None:
    found = search(workspace, "how does FooBarManager send a request again")
    assert found["results"]
    assert [absent["text"] for absent in found["absent"]] == ["FooBarManager"]


def test_results_tell_their_group_where_code_and_documents_may_be_meant(workspace: Workspace) -> None:
    results = search(workspace, "the program gives up after all attempts")["results"]
    assert {result["group"] for result in results} == {"code", "docs"}
    assert all((result["group"] == "docs") == result["path"].endswith((".md", ".txt")) for result in results)
    named = search(workspace, "retry_delay")["results"]
    assert named
    assert not any("group" in result for result in named)


def test_a_pasted_text_says_which_part_led_where(workspace: Workspace) -> None:
    text = (
        "It fails\n\nSince today.\n\n```\nsrc/http/client.py:14: in retry_failed\nE   ConnectionError: gave up\n```\n"
    )
    first = search(workspace, text)["results"][0]
    assert first["path"] == "src/http/client.py"
    assert first["line_start"] <= 14 <= first["line_end"]
    assert "trace at line 14" in first["led_by"]
    assert "led_by" not in search(workspace, "retry_failed")["results"][0]
    for tool in ("hybrid_search", "search_semantic", "search_docs", "query_docs", "semantic_search"):
        assert not call(tool, {"query": text * 50}, workspace).is_error
