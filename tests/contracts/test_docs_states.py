"""The docs family when searching by meaning is off, cannot be done, is at odds with the index, or is half done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace, call
from findling.contracts.docs_answer import NO_VECTORS
from findling.store.local import connections, schema

PLAN = "# Plan 4\n\nParcels that cannot be delivered wait in the dead letter queue.\n"
NOTES = "# Notes\n\nA parcel is delivered again after a pause. The queue is looked at by a person.\n"

DISABLED = {
    "error": "semantic_disabled",
    "message": "Semantic search is disabled. Set semantic.enabled: true in config.",
}
DOWN = {
    "error": "ollama_unavailable",
    "message": "Cannot connect to Ollama at http://localhost:11434. Is Ollama running?",
}
PRINTED: dict[str, Any] = {
    "semantic": {
        "enabled": False,
        "ollamaUrl": "http://localhost:11434",
        "model": "nomic-embed-text",
        "modelDim": 768,
        "chunkSize": 2000,
        "chunkOverlap": 200,
        "similarityThreshold": 0.7,
        "autoIndex": True,
        "indexOnStartup": False,
        "timeoutMs": 5000,
        "maxRetries": 3,
    }
}
"""The configuration as the contract of these tools prints it."""

ANSWERS = {
    "semantic_search": {"query": "dead letter queue"},
    "find_similar": {"docPath": "plans/0004-letters/plan.md"},
    "reindex_vectors": {},
    "query_docs": {"query": "where do parcels wait"},
    "search_docs": {"query": "queue"},
}


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {"plans/0004-letters/plan.md": PLAN, "notes.md": NOTES}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path.resolve()


def configure(root: Path, settings: dict[str, Any]) -> None:
    folder = root / ".findling"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")


def ask(root: Path, name: str, **arguments: Any) -> tuple[dict[str, Any], bool]:
    with Workspace(root, root=root) as workspace:
        result = call(name, {**ANSWERS[name], **arguments}, workspace)
    assert result.structured is not None
    return result.structured, result.is_error


def indexed(root: Path) -> None:
    with Workspace(root, root=root) as workspace:
        assert workspace.engine.index().complete


def run_sql(root: Path, sql: str) -> list[Any]:
    database = connections.connect(root / ".findling" / schema.DATABASE)
    try:
        return list(database.execute(sql))
    finally:
        database.close()


def paths(results: list[dict[str, Any]]) -> list[str]:
    return [result.get("docPath") or result.get("path") or result["p"] for result in results]


# --- disabled ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["semantic_search", "find_similar", "reindex_vectors"])
def test_disabled_says_so_and_nothing_else(root: Path, tool: str) -> None:
    """S0-17, S0-28, S1-2, S1-38: with the configuration as the contract prints it."""
    configure(root, PRINTED)
    assert ask(root, tool) == (DISABLED, True)


def test_disabled_answers_by_text(root: Path) -> None:
    """S0-15, S1-21, S1-37."""
    configure(root, PRINTED)
    answer, is_error = ask(root, "query_docs")
    assert not is_error
    assert answer["meta"]["used_semantic"] is False
    assert answer["meta"]["fallback_reason"] == "Semantic search is disabled"
    assert "dead letter queue" in answer["answer"]
    for scope, path in (({"planId": "4"}, "plans/0004-letters/plan.md"), ({"pathPrefix": "notes"}, "notes.md")):
        assert paths(ask(root, "query_docs", query="queue", scope=scope)[0]["sources"]) == [path]


def test_disabled_makes_no_vectors(root: Path) -> None:
    """S1-1: neither of a model that somebody chose nor of the one that is always there."""
    for settings in (PRINTED, {"semantic": {"enabled": False}}):
        configure(root, settings)
        ask(root, "query_docs")
        ask(root, "search_docs")
        indexed(root)
    assert run_sql(root, "SELECT count(*) FROM vectors") == [(0,)]


# --- the provider does not answer --------------------------------------------------------------------------------


@pytest.fixture(params=["nothing indexed", "indexed before"])
def down(root: Path, request: pytest.FixtureRequest) -> Path:
    """Switched on with Ollama, which does not run."""
    if request.param == "indexed before":
        indexed(root)
    configure(root, {"semantic": {**PRINTED["semantic"], "enabled": True}})
    return root


def test_down_gives_the_error_and_what_text_finds(down: Path) -> None:
    """S0-4, S0-5, S0-7, S0-16, S0-29, S1-4, S1-27: the threshold is of similarities, and is not applied; a scope is."""
    answer, is_error = ask(down, "semantic_search", threshold=1)
    assert not is_error
    assert {key: answer[key] for key in DOWN} == DOWN
    assert answer["meta"]["used_semantic"] is False
    assert paths(answer["results"]) == ["plans/0004-letters/plan.md", "notes.md"]
    assert answer["results"][0]["chunkText"] == PLAN.strip()
    assert answer["results"][0]["lineRange"] == [1, 3]
    assert "best_similarity" not in answer["meta"]
    assert answer["meta"]["query_latency_ms"] >= 0
    for scope, path in (({"planId": "4"}, "plans/0004-letters/plan.md"), ({"pathPrefix": "notes"}, "notes.md")):
        assert paths(ask(down, "semantic_search", query="queue", **scope)[0]["results"]) == [path]


def test_down_without_a_hit_is_an_error(down: Path) -> None:
    answer, is_error = ask(down, "semantic_search", query="xylophone")
    assert is_error
    assert answer["results"] == []


def test_down_has_no_similar_documents(down: Path) -> None:
    assert ask(down, "find_similar") == ({**DOWN, "similar": []}, True)


def test_down_reindexes_nothing(down: Path) -> None:
    answer, is_error = ask(down, "reindex_vectors", force=True)
    assert is_error
    assert answer.pop("latency_ms") >= 0
    assert answer == {**DOWN, "indexed": 0, "skipped": 0, "model_mismatch": False, "errors": []}


def test_down_answers_by_text(down: Path) -> None:
    """S0-14."""
    answer, is_error = ask(down, "query_docs")
    assert not is_error
    assert answer["meta"]["fallback_reason"] == "Ollama unavailable"
    assert answer["sources"]


def test_a_local_model_that_is_not_there_is_named(root: Path) -> None:
    configure(root, {"semantic": {"embedding": {"provider": "local", "model": "NomicEmbedTextV15Q"}}})
    answer, _ = ask(root, "semantic_search")
    assert answer["error"] == "embedder_unavailable"
    assert answer["message"].startswith("Cannot load embedding model 'NomicEmbedTextV15Q': ")
    assert answer["results"]


# --- at odds with the index --------------------------------------------------------------------------------------


@pytest.fixture
def mismatch(root: Path) -> Path:
    """An index whose vectors are another model's, and a configuration that names one."""
    indexed(root)
    run_sql(root, "UPDATE models SET fingerprint='local/other-model/0123456789ab', dimensions=1024")
    run_sql(root, "UPDATE meta SET value=value+1 WHERE key='generation'")
    configure(root, {"semantic": {"embedding": {"provider": "local", "model": "bundled"}}})
    return root


MISMATCH = (
    "Config model 'findling-static' (256 dim) doesn't match stored embeddings (1024 dim). "
    "Run reindex_vectors with force: true."
)


def test_mismatch_gives_the_error_and_what_text_finds(mismatch: Path) -> None:
    """S0-30, S1-47."""
    answer, is_error = ask(mismatch, "semantic_search")
    assert not is_error
    assert (answer["error"], answer["message"]) == ("model_mismatch", MISMATCH)
    assert answer["meta"]["used_semantic"] is False
    assert answer["results"]
    similar, is_error = ask(mismatch, "find_similar")
    assert is_error
    assert similar == {"error": "model_mismatch", "message": MISMATCH, "similar": []}
    assert ask(mismatch, "query_docs")[0]["meta"]["fallback_reason"] == "Model mismatch"


def test_reindexing_ends_a_mismatch(mismatch: Path) -> None:
    """S1-19, D7: all are made again, with force or without."""
    answer, is_error = ask(mismatch, "reindex_vectors")
    assert not is_error
    assert answer["model_mismatch"] is True
    assert (answer["indexed"], answer["skipped"], answer["errors"]) == (2, 0, [])
    found, _ = ask(mismatch, "semantic_search", threshold=0)
    assert "error" not in found
    assert found["meta"]["used_semantic"] is True
    again, is_error = ask(mismatch, "reindex_vectors")
    assert not is_error, again
    assert again["model_mismatch"] is False


# --- half done ---------------------------------------------------------------------------------------------------


@pytest.fixture
def half(root: Path) -> Iterator[Workspace]:
    """One of two documents has vectors, and no question may make more."""
    configure(root, {"semantic": {"autoIndex": False}})
    with Workspace(root, root=root) as workspace:
        workspace.engine.index(embed=False)
        workspace.engine.reembed(["notes.md"], anew=False)
        yield workspace


def test_half_embedded_answers_what_is_there_and_says_so(half: Workspace) -> None:
    """S1-22: text finds the document that has no vector yet."""
    found = call("semantic_search", {"query": "dead letter queue", "threshold": 0}, half).structured
    assert found is not None
    assert paths(found["results"]) == ["notes.md"]
    assert found["meta"]["result_completeness"] == "partial"
    answer = call("query_docs", {"query": "where do parcels wait that cannot be delivered"}, half).structured
    assert answer is not None
    assert answer["meta"]["used_semantic"] is True
    assert answer["meta"]["result_completeness"] == "partial"
    assert answer["sources"][0]["path"] == "plans/0004-letters/plan.md"


def test_without_any_vectors_text_answers(root: Path) -> None:
    configure(root, {"semantic": {"autoIndex": False}})
    with Workspace(root, root=root) as workspace:
        workspace.engine.index(embed=False)
        found = call("semantic_search", {"query": "dead letter queue"}, workspace).structured
        answer = call("query_docs", {"query": "dead letter queue"}, workspace).structured
    assert found is not None and answer is not None
    assert found["meta"]["used_semantic"] is False
    assert found["meta"]["result_completeness"] == "partial"
    assert paths(found["results"])[0] == "plans/0004-letters/plan.md"
    assert answer["meta"]["fallback_reason"] == NO_VECTORS


def test_the_order_of_search_docs_knows_no_vectors(root: Path) -> None:
    """S1-50, S1-49: switched off, half done or complete, plans and agents keep their order."""
    for number in (2, 10, 1):
        (root / f"plans/0004-letters/{number:03}_agent.md").write_text("# Agent\n\nThe queue.\n", encoding="utf-8")
    orders = []
    for settings in ({"enabled": False}, {"enabled": True, "autoIndex": True}, {"enabled": "auto"}):
        configure(root, {"semantic": settings})
        orders.append(ask(root, "search_docs")[0])
    with Workspace(root, root=root) as workspace:
        workspace.engine.index()
    orders.append(ask(root, "search_docs")[0])
    assert all(order == orders[0] for order in orders)
    agents = [path for path in paths(orders[0]["results"]) if path.endswith("_agent.md")]
    assert [path.rpartition("/")[2][:3] for path in agents] == ["001", "002", "010"]
