"""The configurations that existing users have, pasted as they are, and what they mean."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from findling.config import Loaded, choose_provider, load
from findling.config.sources import PROJECT_FILES

DATA = Path(__file__).parent / "data"
EXAMPLES = ("docs.json", "code.toml", "repo.json")


def paste(example: str, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DATA / example, target)
    return target


def read(tmp_path: Path, example: str, name: str) -> Loaded:
    root = tmp_path / "project"
    paste(example, root / name)
    return load(root, environ={"HOME": str(tmp_path / "home")})


def places_for(example: str) -> list[str]:
    return [name for name in PROJECT_FILES if name.endswith(Path(example).suffix)]


def leaves(table: dict[str, Any], section: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in table.items():
        found |= leaves(value, f"{section}{key}.") if isinstance(value, dict) else {f"{section}{key}": value}
    return found


@pytest.mark.parametrize(("example", "name"), [(e, n) for e in EXAMPLES for n in places_for(e)])
def test_an_example_is_accepted_to_the_letter(tmp_path: Path, example: str, name: str) -> None:
    """S0-17 to S0-19, S2-48 to S2-50, S4-38, D2: every key known, no warning, every value as written."""
    loaded = read(tmp_path, example, name)
    assert loaded.warnings == ()
    text = (DATA / example).read_text()
    written = leaves(json.loads(text) if example.endswith(".json") else tomllib.loads(text))
    by_name = {origin.name: origin for origin in loaded.origins.values() if origin.name and not origin.derived}
    assert {key: origin.value for key, origin in by_name.items()} == written
    lines = text.splitlines()
    for key, origin in by_name.items():
        assert key.rpartition(".")[2] in lines[origin.line - 1], key
        assert origin.place == f"{tmp_path / 'project' / name}:{origin.line}"


def test_the_documents_example_is_off_and_means_ollama(tmp_path: Path) -> None:
    """S0-17: off. S0-18 to S0-20, D32: switched on, it is nomic-embed-text with 768 dimensions at Ollama."""
    config = read(tmp_path, "docs.json", ".findling/config.json").config
    assert config.semantic.enabled is False
    assert config.semantic.effective_mode(embedder_works=True) == "off"
    assert choose_provider(config, "bundled/m/1", lambda: True).reason == "disabled"
    on = load(tmp_path / "project", flags={"semantic.enabled": "true"}, environ={"HOME": str(tmp_path / "home")}).config
    choice = choose_provider(on, "bundled/m/1", lambda: pytest.fail("Ollama is chosen, not looked for"))
    assert choice == ("ollama", "nomic-embed-text", 768, "flat_key", False)
    assert on.semantic.ollama_url == "http://localhost:11434"
    semantic = on.semantic
    assert (semantic.chunk_size, semantic.chunk_overlap, semantic.similarity_threshold) == (2000, 200, 0.7)
    assert (semantic.auto_index, semantic.index_on_startup) == (True, False)
    assert (semantic.timeout_ms, semantic.max_retries) == (5000, 3)


def test_the_code_example_is_lexical_with_a_local_model(tmp_path: Path) -> None:
    """S2-42: off, although an embedder works. S2-49, S2-50, D31: its model is a local one, not Ollama's."""
    config = read(tmp_path, "code.toml", "findling.toml").config
    assert config.semantic.effective_mode(embedder_works=True) == "off"
    assert config.semantic.enabled == "auto"
    choice = choose_provider(config, None, lambda: True)
    assert choice == ("local", "NomicEmbedTextV15Q", 768, "named", False)
    assert config.embedding.model_version == "fastembed-1"
    assert not config.semantic.gates_open
    assert not config.embedder_blocked and not config.reranker_blocked
    assert [config.ratio_for(i) for i in ("natural_language", "symbol", "path", "error")] == [0.5, 0.0, 0.0, 0.0]
    assert config.semantic.ratio == 0.3


def test_the_repository_example_is_on_and_means_ollama(tmp_path: Path) -> None:
    """S4-9, S4-38: on; Ollama here with nomic-embed-text; lines and weights as written."""
    config = read(tmp_path, "repo.json", ".repo_search/config.json").config
    assert config.semantic.enabled is True
    assert config.semantic.effective_mode(embedder_works=False) == "hybrid"
    assert choose_provider(config, None, lambda: False) == ("ollama", "nomic-embed-text", 768, "flat_key", False)
    assert (config.semantic.chunk_max_lines, config.semantic.chunk_overlap_lines) == (50, 10)
    weights = config.hybrid
    assert (weights.keyword_weight, weights.symbol_weight, weights.semantic_weight) == (0.4, 0.3, 0.3)


def test_another_model_of_ollama_has_its_own_dimensions(tmp_path: Path) -> None:
    """S4-39: mxbai-embed-large needs no dimensions in the file; 768 is for the nomic models alone."""
    text = (DATA / "repo.json").read_text().replace("nomic-embed-text", "mxbai-embed-large")
    file = tmp_path / ".repo_search" / "config.json"
    file.parent.mkdir()
    file.write_text(text)
    config = load(tmp_path, environ={}).config
    assert choose_provider(config, None, lambda: False) == ("ollama", "mxbai-embed-large", None, "flat_key", False)


def test_the_library_options_are_accepted_under_their_names(tmp_path: Path) -> None:
    """S3-35, S3-36: the five limits and the index options; useGPU is accepted and shown as unused (D12)."""
    library = {
        "chunkSize": 500,
        "overlap": 50,
        "maxFiles": 10,
        "fileTypes": ["md"],
        "includePatterns": ["*.md"],
        "excludePatterns": ["drafts/"],
        "useGPU": True,
        "maxFileProcessingConcurrency": 3,
        "maxDirectoryConcurrency": 2,
        "maxEmbeddingConcurrency": 2,
        "maxRepositoryConcurrency": 5,
        "maxFileWatcherConcurrency": 7,
    }
    file = tmp_path / ".findling" / "config.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"library": library}))
    loaded = load(tmp_path, environ={})
    assert loaded.warnings == ()
    made = loaded.config.library
    assert (made.chunk_size, made.overlap, made.max_files, made.use_gpu) == (500, 50, 10, True)
    assert (made.file_types, made.include_patterns, made.exclude_patterns) == (("md",), ("*.md",), ("drafts/",))
    limits = (made.max_file_processing_concurrency, made.max_directory_concurrency, made.max_embedding_concurrency)
    assert limits == (3, 2, 2)
    assert (made.max_repository_concurrency, made.max_file_watcher_concurrency) == (5, 7)
