"""The documents that a call is about: its arguments to a scope, the index made fresh, the documents opened.

Must not know what is asked of the documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from findling.contracts import index_state
from findling.contracts.model import Arguments, Call
from findling.contracts.refs import check_ref
from findling.contracts.workspace import WAIT_S
from findling.model.errors import EmbedderUnavailable
from findling.search.passages import DocumentScope

if TYPE_CHECKING:
    from findling.engine.documents import OpenDocuments

_Answer = TypeVar("_Answer")


def scope_of(call: Call, given: Arguments) -> DocumentScope:
    """From ``planId``, ``pathPrefix`` and ``tags``, those that are given. Raises `InvalidInput`."""
    return DocumentScope.of(
        plan=given.get("planId"),
        prefix=given.get("pathPrefix"),
        tags=given.get("tags", ()),
        root=str(call.workspace.engine.root) if given.get("pathPrefix", "").startswith("/") else "",
    )


def ask(
    call: Call,
    given: Arguments,
    scope: DocumentScope,
    question: Callable[[OpenDocuments], _Answer],
    *,
    query: str,
    by_meaning: bool,
    code_too: bool = False,
) -> tuple[_Answer | None, dict[str, Any]]:
    """Take in what is new, within the usual budget, and ask the documents of ``scope``: the answer, None without any
    index, and what it is to say of the index (`index_state`).

    The answer is partial where some of the root's files or of the documents' vectors are not there yet, with
    ``code_too`` those of all files. What is left undone goes on in the background where there is one.
    """
    engine = call.workspace.engine
    ref = check_ref(call.workspace, given.get("ref"))
    freshness, _ = engine.refresh(query=query, embed=by_meaning, wait_s=WAIT_S, progress=call.progress)

    def asked(by_meaning: bool) -> tuple[_Answer | None, dict[str, Any]]:
        with engine.documents(scope, by_meaning=by_meaning, code_too=code_too) as found:
            if found is None:
                pending = engine.never_indexed().pending_files
                return None, index_state.state(freshness, partial=True, pending_files=pending)
            lacking = "files_without_vectors" if code_too else "documents_without_vectors"
            state = index_state.state(
                freshness,
                partial=freshness != "fresh" or found.pending > 0 or found.without_vectors > 0,
                pending_files=found.pending,
                **{lacking: found.without_vectors},
            )
            return question(found), state

    try:
        answer, state = asked(by_meaning)
    except EmbedderUnavailable:  # it went away since it was last heard of; words are there
        answer, state = asked(False)
    if state:
        call.workspace.finish_in_background(ref)
    return answer, state
