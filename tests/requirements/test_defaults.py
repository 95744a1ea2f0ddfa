"""Defaults that the requirements state, literally."""

from __future__ import annotations

from findling.config import Config


def test_defaults_of_the_documents_side() -> None:
    """S0-18, S0-22, S0-23, S0-27."""
    semantic = Config().semantic
    assert semantic.enabled == "auto"
    assert semantic.ollama_url == "http://localhost:11434"
    assert (semantic.chunk_size, semantic.chunk_overlap, semantic.similarity_threshold) == (2000, 200, 0.7)
    assert (semantic.auto_index, semantic.index_on_startup) == (True, False)
    assert (semantic.timeout_ms, semantic.max_retries) == (5000, 3)


def test_defaults_of_search_code() -> None:
    """S2-42, S2-43, S2-45, S2-53 to S2-55."""
    config = Config()
    assert config.semantic.effective_mode(embedder_works=True) == "hybrid"
    assert config.semantic.effective_mode(embedder_works=False) == "off"
    assert (config.semantic.ratio, config.semantic.lexical_short_circuit_threshold) == (0.3, 0.85)
    assert (config.semantic.confidence_threshold, config.semantic.profile_advisor_mode) == (0.5, "off")
    assert not config.semantic.external_provider_enabled
    assert not config.semantic.allow_code_payload_to_external
    assert (config.embedding.profile, config.embedding.batch_size) == ("fast_local", 32)
    assert (config.rerank.provider, config.rerank.timeout_ms) == ("none", 5000)
    assert [config.ratio_for(intent) for intent in ("natural_language", "symbol", "path", "error")] == [0.5, 0, 0, 0]


def test_defaults_of_repository_search() -> None:
    """S4-23, S4-38."""
    config = Config()
    weights = config.hybrid
    assert (weights.keyword_weight, weights.symbol_weight, weights.semantic_weight) == (0.4, 0.3, 0.3)
    assert (config.semantic.chunk_max_lines, config.semantic.chunk_overlap_lines) == (50, 10)
