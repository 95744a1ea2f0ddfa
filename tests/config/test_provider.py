"""Which embedder is chosen: the first rule that applies, and nothing is opened that need not be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from findling.config import Config, ProviderChoice, choose_provider, load

GATES = "[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n"
VOYAGE = '[semantic.embedding]\nprovider = "voyage"\nmodel = "voyage-code-3"\ndimensions = 1024\n'
STORED_OLLAMA = "ollama/library/mxbai/0123456789ab"
STORED_LOCAL = "local/org/model/0123456789ab"
STORED_BUNDLED = "bundled/lead/0123456789ab"


def never() -> bool:
    raise AssertionError("nothing may be looked for")


def choose(
    config: Config,
    stored: str | None = None,
    detected: Callable[[], bool] = never,
    *,
    bundled_works: bool = True,
    documents: bool = False,
) -> ProviderChoice:
    return choose_provider(config, stored, detected, bundled_works=bundled_works, documents=documents)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Config]:
    """The configuration of a user's file (and a project's)."""

    def make(user: str = "", project: str = "", **environ: str) -> Config:
        (tmp_path / "root").mkdir(exist_ok=True)
        (tmp_path / ".config" / "findling").mkdir(parents=True, exist_ok=True)
        (tmp_path / ".config" / "findling" / "config.toml").write_text(user)
        (tmp_path / "root" / "findling.toml").write_text(project)
        return load(tmp_path / "root", environ={"HOME": str(tmp_path), **environ}).config

    return make


def test_the_rules_in_their_order(written: Callable[..., Config]) -> None:
    """D31, D32, S0-19: named, flat key, stored, bundled, detected, none; each where those before it do not apply."""
    flat = '[semantic]\nmodel = "mxbai-embed-large"\n'
    named = flat + '[semantic.embedding]\nprovider = "local"\nmodel = "NomicEmbedTextV15Q"\n'
    assert choose(written(named), STORED_OLLAMA)[:4] == ("local", "NomicEmbedTextV15Q", 768, "named")
    assert choose(written(flat), STORED_BUNDLED) == ("ollama", "mxbai-embed-large", None, "flat_key", False)
    at_url = written('[semantic]\nollamaUrl = "http://localhost:11434"\n')
    assert choose(at_url, STORED_BUNDLED) == ("ollama", "nomic-embed-text", 768, "flat_key", False)
    assert choose(Config(), STORED_OLLAMA) == ("ollama", "library/mxbai", None, "stored", False)
    assert choose(Config(), STORED_LOCAL) == ("local", "org/model", None, "stored", False)
    assert choose(Config(), STORED_BUNDLED) == ("bundled", "", None, "stored", False)
    assert choose(Config()) == ("bundled", "", None, "bundled", False)
    assert choose(Config(), None, lambda: True, bundled_works=False)[:4] == (
        "ollama",
        "nomic-embed-text",
        768,
        "detected",
    )
    assert choose(Config(), None, lambda: False, bundled_works=False) == (None, "", None, "none", False)


@pytest.mark.parametrize("flat", ['ollamaUrl = "http://localhost:11434"', 'ollama_url = "http://127.0.0.1:1"'])
def test_a_url_alone_means_ollama(written: Callable[..., Config], flat: str) -> None:
    assert choose(written(f"[semantic]\n{flat}\n"))[:4] == ("ollama", "nomic-embed-text", 768, "flat_key")


def test_an_ollama_that_comes_or_goes_changes_nothing() -> None:
    for stored in (None, STORED_BUNDLED, STORED_LOCAL, STORED_OLLAMA):
        assert choose(Config(), stored, lambda: True) == choose(Config(), stored, lambda: False)


def test_false_is_off_whatever_is_named(written: Callable[..., Config]) -> None:
    """D2."""
    config = written(f"{GATES}enabled = false\n{VOYAGE}")
    assert choose(config, STORED_OLLAMA) == (None, "", None, "disabled", False)


def test_a_local_name_without_a_provider_is_local(written: Callable[..., Config]) -> None:
    """D32."""
    config = written('[semantic.embedding]\nmodel = "NomicEmbedTextV15Q"\n')
    assert choose(config, STORED_BUNDLED)[:3] == ("local", "NomicEmbedTextV15Q", 768)


def test_local_without_a_model_is_the_bundled_one(written: Callable[..., Config]) -> None:
    assert choose(written('[semantic.embedding]\nprovider = "local"\n'), STORED_OLLAMA)[:2] == ("bundled", "")


@pytest.mark.parametrize("profile", ["code_quality", "high_quality"])
def test_a_profile_names_a_local_model(written: Callable[..., Config], profile: str) -> None:
    assert choose(written(f'[semantic.embedding]\nprofile = "{profile}"\n'), STORED_BUNDLED)[:2] == ("local", "")


def test_a_file_that_chooses_ollama_is_stronger_than_a_weaker_file_that_names(written: Callable[..., Config]) -> None:
    config = written('[semantic.embedding]\nprovider = "local"\n', '[semantic]\nmodel = "nomic-embed-text"\n')
    assert choose(config)[:4] == ("ollama", "nomic-embed-text", 768, "flat_key")


def test_a_variable_for_the_model_keeps_the_provider_of_a_file(written: Callable[..., Config]) -> None:
    config = written('[semantic.embedding]\nprovider = "local"\n', FINDLING_EMBED_MODEL="NomicEmbedTextV15Q")
    assert choose(config)[:3] == ("local", "NomicEmbedTextV15Q", 768)
    assert choose(written(FINDLING_EMBED_MODEL="all-minilm"))[:2] == ("ollama", "all-minilm")
    assert choose(written(FINDLING_OLLAMA_URL="http://localhost:5"))[:2] == ("ollama", "nomic-embed-text")


def test_an_external_service_needs_both_gates(written: Callable[..., Config]) -> None:
    """D11: else a model without a socket, and blocked is said."""
    assert choose(written(GATES + VOYAGE)) == ("voyage", "voyage-code-3", 1024, "named", False)
    for gates in ("", *(f"[semantic]\n{line}\n" for line in GATES.splitlines()[1:])):
        config = written(gates + VOYAGE)
        assert choose(config) == ("bundled", "", None, "blocked", True)
        assert choose(config, STORED_OLLAMA) == ("bundled", "", None, "blocked", True)
        assert choose(config, STORED_LOCAL) == ("local", "org/model", None, "blocked", True)
        assert choose(config, bundled_works=False) == (None, "", None, "none", True)


def test_the_profile_external_is_blocked_as_a_service_is(written: Callable[..., Config]) -> None:
    """S2-48, D11."""
    external = '[semantic.embedding]\nprofile = "external"\n'
    assert choose(written(external)) == ("bundled", "", None, "blocked", True)
    assert choose(written(GATES + external))[:2] == ("bundled", "")


def test_documents_are_never_sent(written: Callable[..., Config]) -> None:
    """S1-51, D11."""
    assert choose(written(GATES + VOYAGE), documents=True) == ("bundled", "", None, "blocked", False)


def test_an_index_does_not_choose_an_external_service(written: Callable[..., Config]) -> None:
    assert choose(written(GATES), "voyage/voyage-code-3/0123456789ab")[:2] == ("bundled", "")


def test_what_a_project_asks_for_is_blocked(written: Callable[..., Config]) -> None:
    assert choose(written(GATES, VOYAGE)) == ("bundled", "", None, "blocked", True)


@pytest.mark.parametrize("stored", ["", "nonsense", "ollama/", "ollama//x", "local/x"])
def test_an_id_that_names_no_model_is_no_choice(stored: str) -> None:
    assert choose(Config(), stored).reason == "bundled"
