"""Whether the document tools can search by meaning just now, and what they say when they cannot.

Decided from the configuration, the index's stored vectors and the embedder that opened; opens no other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from findling.config import choose_provider
from findling.embedding import BUNDLED
from findling.outbound import events

if TYPE_CHECKING:
    from findling.config import ProviderChoice
    from findling.contracts.workspace import Workspace
    from findling.embedding import Fingerprint

State = Literal["ready", "disabled", "unavailable", "mismatch"]


@dataclass(frozen=True, slots=True)
class SemanticState:
    """``code`` and ``message`` are an answer's error, ``fallback_reason`` the same in a few words; '' when ready."""

    state: State
    code: str = ""
    message: str = ""
    fallback_reason: str = ""

    @property
    def error(self) -> dict[str, Any]:
        return {"error": self.code, "message": self.message}


READY = SemanticState("ready")
DISABLED = SemanticState(
    "disabled",
    "semantic_disabled",
    "Semantic search is disabled. Set semantic.enabled: true in config.",
    "Semantic search is disabled",
)


def semantic_state(workspace: Workspace, query: str = "") -> SemanticState:
    """The state of one root, for a question that will be asked by meaning. Raises `ConfigError`."""
    config = workspace.config
    if config.semantic.enabled is False:
        return DISABLED
    seen = workspace.engine.document_model(query)
    url = config.semantic.ollama_url
    choice = choose_provider(
        config,
        seen.stored[0] if seen.stored else None,
        lambda: seen.fingerprint is not None and seen.fingerprint.provider == "ollama",
        bundled_works=seen.fingerprint is not None and seen.fingerprint.provider == BUNDLED,
        documents=True,
    )
    works = seen.fingerprint is not None and seen.fingerprint.provider == choice.provider
    if not works and (choice.provider is None or (choice.provider == "ollama" and seen.connection)):
        return _ollama_unavailable(url)
    if seen.fingerprint is None:
        return _embedder_unavailable(choice, seen.problem)
    if choice.named and seen.stored is not None and seen.stored[0] != seen.fingerprint.id:
        return _mismatch(choice, seen.fingerprint, seen.stored[1])
    return READY


def report(operation: str, state: SemanticState) -> None:
    """Log what keeps a tool from searching by meaning; being switched off is no error."""
    if state.state in ("unavailable", "mismatch"):
        events.semantic_error(operation=operation, error_type=state.code, message=state.message)


def _ollama_unavailable(url: str) -> SemanticState:
    return SemanticState(
        "unavailable",
        "ollama_unavailable",
        f"Cannot connect to Ollama at {url}. Is Ollama running?",
        "Ollama unavailable",
    )


def _embedder_unavailable(choice: ProviderChoice, problem: str) -> SemanticState:
    model = choice.model or choice.provider or ""
    return SemanticState(
        "unavailable",
        "embedder_unavailable",
        f"Cannot load embedding model '{model}': {problem or 'it is not installed.'}",
        "Embedding model unavailable",
    )


def _mismatch(choice: ProviderChoice, fingerprint: Fingerprint, stored_dimensions: int) -> SemanticState:
    return SemanticState(
        "mismatch",
        "model_mismatch",
        f"Config model '{choice.model or fingerprint.model}' ({fingerprint.dimensions} dim) doesn't match stored "
        f"embeddings ({stored_dimensions} dim). Run reindex_vectors with force: true.",
        "Model mismatch",
    )
