"""What was promised of Ollama: how long it may take, that it is found by itself, that questions do not wait for it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ollama_process import OllamaProcess
from project import QUESTION, configure, make

from findling.config import Config
from findling.config.options import Embedding, Semantic
from findling.contracts import Workspace, call, workspaces
from findling.embedding import open_embedder
from findling.embedding.providers import ollama
from findling.engine import Engine
from findling.model.errors import EmbedderUnavailable

MODEL = "nomic-embed-text"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path.resolve() / "project")


# --- time --------------------------------------------------------------------------------------------------------


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, float]]]:
    """(texts, seconds that are allowed) of each request that is sent."""
    sent: list[tuple[int, float]] = []
    post = ollama.post_json

    def posting(url: str, value: Any, **options: Any) -> Any:
        sent.append((len(value["input"]), options["timeout_s"]))
        return post(url, value, **options)

    monkeypatch.setattr(ollama, "post_json", posting)
    yield sent


def test_five_seconds_for_a_question_and_thirty_for_a_batch(
    ollama: OllamaProcess, allowed: list[tuple[int, float]]
) -> None:
    """S0-26, S2-53, S4-10, S4-11, D6: unless timeoutMs and batch_size say otherwise."""
    embedder = open_embedder("ollama", MODEL, config=Config(semantic=Semantic(ollama_url=ollama.url)))
    allowed.clear()
    embedder.encode_query("where")
    embedder.encode([f"text {number}" for number in range(40)])
    assert allowed == [(1, 5.0), (32, 30.0), (8, 30.0)]
    config = Config(semantic=Semantic(ollama_url=ollama.url, timeout_ms=200), embedding=Embedding(batch_size=16))
    embedder = open_embedder("ollama", MODEL, config=config)
    allowed.clear()
    embedder.encode_query("where")
    assert allowed == [(1, 0.2)]
    embedder.encode([f"text {number}" for number in range(40)])
    assert [texts for texts, _ in allowed[1:]] == [16, 16, 8]


def test_a_busy_server_gets_growing_pauses(ollama: OllamaProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1-31, S0-27, D5: 100, 200 and 400 ms, and no more than three, or than maxRetries says."""
    pauses: list[float] = []
    for configured, expected in (({}, [0.1, 0.2, 0.4]), ({"max_retries": 1}, [0.1]), ({"max_retries": 0}, [])):
        config = Config(semantic=Semantic(ollama_url=ollama.url, **configured))
        embedder = open_embedder("ollama", MODEL, config=config)
        pauses.clear()
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", pauses.append)
            ollama.behave(statuses=[429, 503, 429, 503][: len(expected) + 1])
            with pytest.raises(EmbedderUnavailable, match="busy"):
                embedder.encode_query("text")
        assert pauses == expected


def test_what_a_question_leaves_is_embedded_behind_it(
    root: Path, ollama: OllamaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D20, S4-29: a question waits two seconds at most; a server goes on, and says what is missing until then."""
    assert workspaces.WAIT_S == 2.0
    monkeypatch.setattr("findling.contracts.repo.WAIT_S", 0.5)
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    with Engine.open(root=root) as engine:
        engine.index(embed=False)
    with Workspace(root, root=root, background=True) as opened:
        _ = opened.engine.fingerprint  # the model is there
        ollama.behave(delays=[1.5])
        first = call("search_semantic", {"query": QUESTION}, opened).structured
        missing = {"result_completeness": "partial", "not_searched": {"chunks_without_vector": 4}}
        assert first == {"available": True, "results": [], **missing}
        opened.finish()
        second = call("search_semantic", {"query": QUESTION}, opened).structured
    assert second is not None
    assert second["results"] and "result_completeness" not in second


# --- finding it --------------------------------------------------------------------------------------------------


def test_an_ollama_that_runs_is_used_where_there_is_no_other_model(
    root: Path, tmp_path: Path, ollama: OllamaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-2, S4-48, D2: nobody switched anything on, and a question that was asked before is not embedded again."""
    monkeypatch.setattr("findling.embedding.bundled.MODEL_DIR", tmp_path / "no-model")
    monkeypatch.setattr("findling.contracts.repo.WAIT_S", 60.0)  # however busy this machine is
    config = Config(semantic=Semantic(ollama_url=ollama.url))
    assert config.semantic.enabled == "auto"
    with Workspace(root, root=root, config=config) as opened:
        found = call("search_semantic", {"query": QUESTION}, opened).structured
        assert found is not None
        assert found["available"] and found["results"]
        assert opened.engine.status().model.startswith(f"ollama/{MODEL}/")
        sent = len(ollama.requests())
        assert call("search_semantic", {"query": QUESTION}, opened).structured == found
        assert len(ollama.requests()) == sent
        assert call("query_docs", {"query": QUESTION}, opened).structured["meta"]["used_semantic"]  # type: ignore[index]


# --- what it made, as plain SQL tables ------------------------------------------------------------------------------


def test_its_vectors_are_there_in_plain_sql(root: Path, ollama: OllamaProcess) -> None:
    """S1-6, S1-14, S1-24, S1-25, S4-7, S4-16, S4-17, D1: with the names and dimensions of the model."""
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    with Engine.open(root=root) as engine:
        engine.index()
        exported = {(row["path"], row["start_line"]): row for row in engine.vectors()}
        engine.export(root / "plain.db")
    with closing(sqlite3.connect(root / "plain.db")) as connection:
        code = connection.execute("SELECT path, start_line, content_hash, embedding, model FROM embeddings").fetchall()
        docs = connection.execute(
            "SELECT doc_path, model_name, model_dim, embedding FROM doc_embeddings d "
            "JOIN vec_documents v ON v.rowid = d.vec_rowid ORDER BY doc_path"
        ).fetchall()
    assert len(code) == len(exported) == 4
    for path, start_line, content_hash, embedding, model in code:
        row = exported[path, start_line]
        assert (content_hash, model) == (row["content_hash"], MODEL)
        assert json.loads(embedding) == pytest.approx(row["embedding"], abs=1e-4)
    assert [row[:3] for row in docs] == [("docs/invoices.md", MODEL, 768), ("docs/network.md", MODEL, 768)]
    assert all(len(json.loads(row[3])) == 768 for row in docs)


def test_a_chunk_has_one_row_whatever_models_were_tried(root: Path, ollama: OllamaProcess) -> None:
    """S1-25, S4-16, D1: (doc_path, chunk_index) and (path, start_line, end_line, model) are unique."""
    with Engine.open(root=root) as engine:
        engine.index()
    configure(root, ollamaUrl=ollama.url, model=MODEL)
    with Engine.open(root=root) as engine:
        engine.index()
        engine.export(root / "plain.db")
    with closing(sqlite3.connect(root / "plain.db")) as connection:
        docs = connection.execute("SELECT doc_path, chunk_index, model_name FROM doc_embeddings").fetchall()
        assert sorted(docs) == [("docs/invoices.md", 0, MODEL), ("docs/network.md", 0, MODEL)], "of the latest model"
        keys = connection.execute("SELECT path, start_line, end_line, model FROM embeddings").fetchall()
    assert len(keys) == len(set(keys)) == 8
