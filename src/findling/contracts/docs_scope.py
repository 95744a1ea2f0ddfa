"""The documents that a call is about: its arguments to a scope, the index made fresh, the documents opened.

Must not know what is asked of the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct

from findling import engine
from findling.config import choose_provider
from findling.contracts import index_state
from findling.contracts.model import Arguments, Call
from findling.contracts.workspaces import WAIT_S, Root, Workspace
from findling.embedding import BUNDLED
from findling.engine.freshness import Question
from findling.model.errors import FindlingError
from findling.model.languages import language_of
from findling.model.types import Absent
from findling.outbound import events
from findling.search.nearest import nearest_paths, with_folders
from findling.search.passages import DocumentScope
from findling.search.scope import lies_in

if TYPE_CHECKING:
    from findling.engine.documents import OpenDocuments


_Answer = TypeVar("_Answer")


def scope_of(workspace: Workspace, given: Arguments) -> DocumentScope:
    """From ``planId``, ``pathPrefix`` and ``tags``, those that are given. Raises `InvalidInput`."""
    prefix = given.get("pathPrefix")
    root = str(workspace.engine.root) if prefix and prefix.startswith("/") else ""  # else of a root's name
    return DocumentScope.of(plan=given.get("planId"), prefix=prefix, tags=given.get("tags", ()), root=root)


def ask(
    call: Call,
    given: Arguments,
    scope: DocumentScope,
    question: Callable[[OpenDocuments], _Answer],
    *,
    query: str = "",
    files: Sequence[str] = (),
    line: int | None = None,
    by_meaning: bool,
    code_too: bool = False,
) -> tuple[_Answer | None, dict[str, Any], tuple[Absent, ...]]:
    """Take in what is new, within the usual budget, and ask the documents of ``scope`` a ``query``, or about ``files``
    or the first one's ``line``: the answer, None where there is nothing to ask, what it is to say of the index
    (`index_state`), and what of the query occurs in no file.

    The answer is partial where some of the root's files or of the documents' vectors are not there yet, with
    ``code_too`` those of all files. What is left undone goes on in the background where there is one.
    """
    engine = call.workspace.asked
    within = partial(_may_be_asked, engine.scope, scope, code_too)
    found, freshness, absent = engine.ask_documents(
        Question(query, embed=by_meaning, within=within, files=files, line=line),
        scope,
        lambda opened: (question(opened), opened, _no_document(opened, scope)),
        by_meaning=by_meaning,
        code_too=code_too,
        wait_s=WAIT_S,
        progress=call.progress,
    )
    if found is None:
        answer, notes = None, dict[str, Any]()
        left = {"pending_files": engine.never_indexed().pending_files}
    else:
        answer, opened, notes = found
        left = {
            "pending_files": opened.pending,
            "files_only_scanned": opened.only_scanned,
            "files_without_vectors" if code_too else "documents_without_vectors": opened.without_vectors,
        }
    is_partial = found is None or freshness != "fresh" or any(left.values())
    state = index_state.state(freshness, partial=is_partial, **left)
    if state:
        call.workspace.finish_in_background()
    return answer, state | notes, absent


def _no_document(found: OpenDocuments, scope: DocumentScope) -> dict[str, Any]:
    """The note that no document's path begins with the prefix, with similar paths; nothing where one does, or where not
    all files are known."""
    if not scope.prefix or found.files or (files := found.listing()) is None:
        return {}
    known = [file.path for file in files if file.kind == "docs"]
    if any(path.startswith(scope.prefix) for path in known):
        return {}
    near = ", ".join(path for _, path in nearest_paths(scope.prefix, with_folders(known)))
    return {"notes": [f"No document lies in {scope.prefix}{near and f'; nearest: {near}'}."]}


def _may_be_asked(folder: str, scope: DocumentScope, code_too: bool, path: str) -> bool:
    """Whether a file can be in an answer, judged by its path alone."""
    is_document = language_of(path).kind == "docs"
    return code_too or (is_document and scope.allows_path(path) and lies_in(path, folder))


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
