"""Searching by meaning as it is configured: off, with other weights, by a model that is there or by none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from indexes import make, rows, write

from findling import Engine
from findling.config import Config
from findling.config.options import Embedding, Hybrid, Overrides, Rerank, Semantic
from findling.contracts import Workspace, call
from findling.model.errors import EmbedderUnavailable
from findling.store.local import checksums

QUESTION = "how are failed requests sent again"
OFF = Config(semantic=Semantic(enabled=False))


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


def vectors(engine: Engine) -> int:
    return int(rows(engine, "SELECT count(*) FROM vectors")[0][0])


def metadata(root: Path, config: Config | None = None, **arguments: Any) -> dict[str, Any]:
    with Workspace(root=root, config=config) as workspace:
        result = call("search_code", {"query": QUESTION, **arguments}, workspace)
        assert not result.is_error, result.text_blocks
        assert result.structured is not None
        found: dict[str, Any] = result.structured["metadata"]
        return found


# --- off -------------------------------------------------------------------------------------------------------


def test_switched_off_no_vector_is_made_and_every_answer_says_so(root: Path) -> None:
    write(root, "findling.toml", "[semantic]\nenabled = false\n")
    with Engine.open(root=root) as engine:
        report = engine.index()
        assert report.complete
        assert report.embedded == vectors(engine) == 0
        assert any("semantic.enabled is false" in note for note in report.notes)
        for mode in ("auto", "hybrid"):
            found = engine.search(QUESTION, mode=mode, explain=True)
            assert found.hits[0].path in ("src/retry.py", "docs/guide.md")
            assert all("semantic" not in hit.sources for hit in found.hits)
            assert found.notes == (
                "Searching by meaning is off: semantic.enabled is false. Only text and names were searched.",
            )
            assert (found.completeness, found.coverage.vectors_wanted) == ("complete", False)
        assert engine.search(QUESTION, mode="keyword", explain=True).notes == ()
        by_meaning = engine.search(QUESTION, mode="semantic")
        assert not by_meaning.hits
        assert by_meaning.notes == ("Searching by meaning is off: semantic.enabled is false.",)
        with pytest.raises(EmbedderUnavailable, match=r"semantic.enabled is false"):
            engine.similar("src/retry.py")
        status = engine.status()
        assert (status.model, status.coverage.vectors_wanted) == ("", False)
        assert any("semantic.enabled is false" in note for note in status.notes)
        assert vectors(engine) == 0


def test_switched_on_again_the_vectors_come_with_the_next_question(root: Path) -> None:
    with Engine.open(root=root, config=OFF) as engine:
        engine.index()
    with Engine.open(root=root) as engine:
        found = engine.search(QUESTION, explain=True)
        assert found.coverage.embedded_chunks == found.coverage.chunks > 0
        assert found.notes == ()
        with_meaning = engine.search(QUESTION, mode="semantic").hits
        assert with_meaning
    with Engine.open(root=root, config=OFF) as engine:  # there are vectors, and they are not asked
        assert not engine.search(QUESTION, mode="semantic").hits


def test_switched_off_the_tools_do_without(root: Path) -> None:
    with Workspace(root=root, config=OFF) as workspace:
        found = call("search_semantic", {"query": "retry"}, workspace).structured
        why = "Searching by meaning is off: semantic.enabled is false."
        assert found == {"available": False, "results": [], "error": why}
        hybrid = call("hybrid_search", {"query": "RetryPolicy"}, workspace).structured
        assert hybrid is not None
        assert {source for result in hybrid["results"] for source in result["sources"]} == {"keyword", "symbol"}
    told = metadata(root, OFF)
    assert (told["semantic_mode"], told["semantic_enabled"]) == ("off", False)
    assert told["semantic_skipped_reason"] == "semantic_disabled"
    assert (told["freshness_status"], told["result_completeness"]) == ("fresh", "complete")
    # enabled = false is stronger than any mode
    assert metadata(root, Config(semantic=Semantic(enabled=False, mode="hybrid")))["semantic_mode"] == "off"


# --- what search_code decides by -------------------------------------------------------------------------------


def test_what_search_code_decides_by_is_configured(root: Path) -> None:
    usual = metadata(root)
    assert usual["semantic_mode"] == "hybrid"
    assert usual["semantic_triggered"] is True
    assert 0 < usual["semantic_ratio_used"] <= Overrides().natural_language
    assert usual["confidence_threshold"] == Semantic().confidence_threshold

    write(root, "findling.toml", "[semantic]\nratio = 0.1\nconfidence_threshold = 1.0\n")
    told = metadata(root)
    assert 0 < told["semantic_ratio_used"] <= 0.1  # the ratio stands for the one of questions that nobody wrote
    assert (told["low_confidence"], told["confidence_threshold"]) == (True, 1.0)
    assert metadata(root, semantic_ratio=0.2)["semantic_ratio_used"] > 0.1

    write(root, "findling.toml", "[semantic.overrides]\nnatural_language = { ratio = 0.0 }\n")
    assert metadata(root)["semantic_skipped_reason"] == "semantic_ratio_zero"
    write(root, "findling.toml", "[semantic]\nlexical_short_circuit_threshold = 0.01\n")
    assert metadata(root)["semantic_skipped_reason"] == "lexical_high_confidence"
    write(root, "findling.toml", '[semantic]\nmode = "rerank_only"\n')
    told = metadata(root)
    assert (told["semantic_mode"], told["rerank_provider"]) == ("rerank_only", "local")
    write(root, "findling.toml", '[semantic]\nmode = "off"\n')
    assert metadata(root)["semantic_mode"] == "off"


def test_the_mode_is_that_of_search_code_alone(root: Path) -> None:
    config = Config(semantic=Semantic(mode="off"))
    with Engine.open(root=root, config=config) as engine:
        assert engine.search(QUESTION, mode="semantic", wait_s=None).hits
    with Workspace(root=root, config=config) as workspace:
        found = call("search_semantic", {"query": QUESTION}, workspace).structured
        assert found is not None and found["available"] and found["results"]


def test_the_weights_of_hybrid_search(root: Path) -> None:
    def sources(hybrid: Hybrid) -> tuple[set[str], list[float]]:
        with Workspace(root=root, config=Config(hybrid=hybrid)) as workspace:
            found = call("hybrid_search", {"query": "RetryPolicy backoff"}, workspace).structured
        assert found is not None
        scored = [result for result in found["results"] if result["score"] > 0]
        return set(scored[0]["sources"]), [result["score"] for result in scored]

    first, scores = sources(Hybrid(keyword_weight=0, symbol_weight=1, semantic_weight=0))
    assert "symbol" in first
    assert set(scores) <= {1.0, 0.8, 0.5}
    assert scores != sources(Hybrid())[1]


# --- another model ---------------------------------------------------------------------------------------------

UNAVAILABLE = {
    "ollama": "[semantic]\nollama_url = 'http://127.0.0.1:9'\nmodel = 'nomic-embed-text'\n",
    "ollama, named": "[semantic]\nollama_url = 'http://127.0.0.1:9'\nembedding = {provider = 'ollama'}\n",
    "local": "[semantic.embedding]\nmodel = 'NomicEmbedTextV15Q'\n",
    "profile": "[semantic.embedding]\nprofile = 'code_quality'\n",
    "dimensions": "[semantic.embedding]\nmodel = 'bundled'\ndimensions = 768\n",
}
SAID = {
    "ollama": "Start it with: ollama serve.",
    "ollama, named": "Cannot connect to Ollama at http://127.0.0.1:9. Is Ollama running?",
    "local": "'NomicEmbedTextV15Q'",
    "profile": "'JinaEmbeddingsV2BaseCode'",
    "dimensions": "Leave semantic.embedding.dimensions out",
}


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_a_model_that_cannot_be_used_is_told_and_text_goes_on(name: str, root: Path) -> None:
    """S2-48, S2-50, D31: a model that is named, or that a profile means, is the one that is used, or none."""
    write(root, "findling.toml", UNAVAILABLE[name])
    with Engine.open(root=root) as engine:
        found = engine.search(QUESTION, wait_s=None, explain=True)
        assert found.hits
        assert all("semantic" not in hit.sources for hit in found.hits)
        (note,) = found.notes
        assert note.endswith("Only text and names were searched.")
        assert SAID[name] in note
        assert vectors(engine) == 0  # never by another model
        assert engine.status().model == ""
        with pytest.raises(EmbedderUnavailable):
            engine.similar("src/retry.py")
    told = metadata(root)
    assert (told["semantic_mode"], told["semantic_fallback"]) == ("hybrid", True)
    assert told["semantic_skipped_reason"] == "semantic_backend_unavailable"
    assert told["embedding_model_version"] is None


def test_wanted_and_not_working_is_a_fallback(root: Path) -> None:
    config = Config(semantic=Semantic(enabled=True), embedding=Embedding(provider="ollama"))
    with Engine.open(root=root) as engine:
        engine.index()
    told = metadata(root, config)
    assert (told["semantic_mode"], told["semantic_triggered"]) == ("hybrid", False)
    assert told["semantic_skipped_reason"] in ("semantic_not_indexed", "semantic_backend_unavailable")


def test_an_external_model_behind_a_closed_gate_gives_way_to_the_local_one(root: Path) -> None:
    config = Config(embedding=Embedding(provider="voyage"), rerank=Rerank(provider="cohere"))
    with Engine.open(root=root, config=config) as engine:
        assert engine.search(QUESTION, mode="semantic", wait_s=None).hits
        assert engine.status().model.startswith("bundled/")
    told = metadata(root, config)
    assert told["external_provider_blocked"] is True
    assert told["rerank_fallback_reason"] == "external_provider_blocked"
    opened = Config(
        embedding=Embedding(provider="voyage"),
        semantic=Semantic(external_provider_enabled=True, allow_code_payload_to_external=True),
    )
    with Engine.open(root=root, config=opened) as engine:
        (note,) = engine.search(QUESTION, explain=True).notes
        assert "CODECOMPASS_EMBEDDING_API_KEY" in note


def test_an_index_keeps_its_model_when_the_configuration_goes(root: Path) -> None:
    with Engine.open(root=root) as engine:
        engine.index()
        connection = apsw.Connection(str(engine.store_dir / "index.db"), vfs=checksums.way())
        connection.execute("UPDATE models SET fingerprint='ollama/nomic-embed-text/0123456789ab'")
        connection.close()
    with Engine.open(root=root) as engine:
        found = engine.search(QUESTION, explain=True)
        assert found.hits
        assert "Is Ollama running?" in found.notes[0]
    with Workspace(root=root) as workspace:
        told = call("search_semantic", {"query": "retry"}, workspace).structured
        assert told is not None and not told["available"] and "Is Ollama running?" in told["error"]
    with Engine.open(root=root, config=Config(embedding=Embedding(provider="local"))) as engine:
        found = engine.search(QUESTION, mode="semantic", wait_s=None)
        assert not found.hits and "doesn't match stored embeddings" in found.notes[0]
        assert engine.embed().chunks
        assert engine.search(QUESTION, mode="semantic", wait_s=None).hits
