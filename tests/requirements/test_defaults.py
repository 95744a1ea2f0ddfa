"""Defaults that the requirements state, literally."""

from __future__ import annotations

from typing import Any

from findling.config import Config, choose_provider
from findling.config.options import OPTIONS, Embedding
from findling.contracts.tools import TOOLS
from findling.embedding.providers.local import IDS
from findling.engine.library.fetching.fetch_requests import EXCLUDED, FileRequest, RepoRequest
from findling.reading.limits import DOCS, DocLimits


def test_defaults_of_the_documents_side() -> None:
    """S0-17, S0-18, S0-21 to S0-27, S4-9, D8."""
    semantic = Config().semantic
    assert semantic.enabled == "auto"
    assert semantic.ollama_url == "http://localhost:11434"
    assert (semantic.chunk_size, semantic.chunk_overlap, semantic.similarity_threshold) == (2000, 200, 0.7)
    assert (semantic.auto_index, semantic.index_on_startup) == (True, False)
    assert (semantic.timeout_ms, semantic.max_retries) == (5000, 3)
    assert DocLimits(semantic.chunk_size, semantic.chunk_overlap) == DOCS  # where nothing is configured


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


def test_bounds_of_options() -> None:
    """S0-20, S0-21, S0-23, S2-9, S2-43 to S2-45, S2-52, S3-36."""
    bounds = {
        "library.chunk_size": (100, 2000),
        "library.overlap": (0, 500),
        "semantic.chunk_size": (100, 20_000),
        "semantic.embedding.dimensions": (1, 8192),
        "semantic.similarity_threshold": (0, 1),
        "semantic.ratio": (0, 1),
        "semantic.lexical_short_circuit_threshold": (0, 1),
        "semantic.confidence_threshold": (0, 1),
    }
    assert {key: OPTIONS[key].bounds for key in bounds} == bounds


def test_the_nomic_model_of_this_machine_has_its_name_and_its_dimensions() -> None:
    """S2-50, S2-52, D31."""
    named = Config(embedding=Embedding(provider="local", model="NomicEmbedTextV15Q"))
    assert choose_provider(named, None, lambda: False)[:3] == ("local", "NomicEmbedTextV15Q", 768)
    assert IDS["NomicEmbedTextV15Q"] == "nomic-ai/nomic-embed-text-v1.5-Q"


def test_defaults_of_fetching() -> None:
    """S3-16 to S3-21, S3-24 to S3-26, D23: as published, and as they are obeyed."""

    def published(tool: str) -> dict[str, Any]:
        options = TOOLS[tool].schema["properties"]["options"]["properties"]
        return {name: schema["default"] for name, schema in options.items() if "default" in schema}

    assert published("fetch_repo") == {"outputStyle": "markdown", "removeComments": False, "showLineNumbers": True}
    assert TOOLS["fetch_repo"].schema["properties"]["options"]["properties"]["outputStyle"]["enum"] == ["markdown"]
    repo = RepoRequest("https://example.org/a")
    assert repo.include == ("*.md", "*.txt", "*.json", "*.rst")
    assert {".git", "node_modules", "dist"} <= set(EXCLUDED)
    assert (repo.remove_comments, repo.line_numbers) == (False, True)
    assert published("fetch_file") == {"overwrite": True, "maxFileSizeMB": 10, "indexAfterSave": True}
    file = FileRequest("https://example.org/a", "a")
    assert (file.overwrite, file.max_bytes, file.index) == (True, 10 * 1024 * 1024, True)
