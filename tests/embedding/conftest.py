"""A fake Ollama of their own for the tests that want one, and nothing of the user's configuration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ollama_process import OllamaProcess

from findling.embedding.providers.ollama import forget


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
    for name in ("CODECOMPASS_EMBEDDING_API_KEY", "CODECOMPASS_RERANK_API_KEY", "FINDLING_OLLAMA_URL"):
        monkeypatch.delenv(name, raising=False)
    # A proxy that is not there: nothing may ask it for this machine.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaProcess]:
    forget()
    process = OllamaProcess()
    yield process
    process.stop()
    forget()
