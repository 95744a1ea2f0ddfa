"""The documents that a call is about, and whether they can be searched by meaning. Knows no tool."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from findling import engine
from findling.config import choose_provider
from findling.contracts import index_state
from findling.contracts.model import Arguments, Call
from findling.contracts.workspaces import WAIT_S, Root, Workspace
from findling.embedding import BUNDLED
from findling.model.errors import FindlingError
from findling.outbound import events
from findling.search.documents import DocumentAnswer, DocumentQuery
from findling.search.passages import DocumentScope


def scope_of(workspace: Workspace, given: Arguments) -> DocumentScope:
    """From ``planId``, ``pathPrefix`` and ``tags``, those that are given. Raises `InvalidInput`."""
    prefix = given.get("pathPrefix")
    root = str(workspace.engine.root) if prefix and prefix.startswith("/") else ""  # else of a root's name
    return DocumentScope.of(plan=given.get("planId"), prefix=prefix, tags=given.get("tags", ()), root=root)


def ask(call: Call, query: DocumentQuery) -> DocumentAnswer:
    """The answer, after taking in what is new within the usual budget. What is left undone goes on in the background
    where there is one."""
    answer = call.workspace.asked.ask_documents(query, wait_s=WAIT_S, progress=call.progress)
    if index_state.of_documents(replace(answer, notes=())):
        call.workspace.finish_in_background()
    return answer


# --- whether they can be searched by meaning, and what is said when they cannot --------------------------------------


State = Literal["ready", "disabled", "unavailable", "mismatch"]


class SemanticState(Struct, frozen=True):
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
    """The state of what is searched, for a question that will be asked by meaning: of several roots one is enough that
    is ready. Raises `ConfigError`, and the index's errors where no root can be asked."""
    failed: dict[str, FindlingError] = {}  # the question will meet these errors too, and report them
    states = list(engine.of_each(workspace.opened, lambda root: _state(root, query), failed).values())
    return next((found for found in states if found.state == "ready"), states[0])


def _state(root: Root, query: str) -> SemanticState:
    """The state of one root."""
    config = root.config
    if config.semantic.enabled is False:
        return DISABLED
    seen = root.engine.document_model(query)
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
        message = seen.problem if seen.late else f"Cannot connect to Ollama at {url}. Is Ollama running?"
        return SemanticState("unavailable", "ollama_unavailable", message, "Ollama unavailable")
    if seen.fingerprint is None:
        model = choice.model or choice.provider or ""
        message = f"Cannot load embedding model '{model}': {seen.problem or 'it is not installed.'}"
        return SemanticState("unavailable", "embedder_unavailable", message, "Embedding model unavailable")
    if choice.named and seen.stored is not None and seen.stored[0] != seen.fingerprint.id:
        message = (
            f"Config model '{choice.model or seen.fingerprint.model}' ({seen.fingerprint.dimensions} dim) doesn't "
            f"match stored embeddings ({seen.stored[1]} dim). Run reindex_vectors with force: true."
        )
        return SemanticState("mismatch", "model_mismatch", message, "Model mismatch")
    return READY


def report(operation: str, state: SemanticState) -> None:
    """Log what keeps a tool from searching by meaning; being switched off is no error."""
    if state.state in ("unavailable", "mismatch"):
        events.semantic_error(operation=operation, error_type=state.code, message=state.message)
