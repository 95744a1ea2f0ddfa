"""The documents that a call is about: its arguments to a scope, the index made fresh, the documents opened.

Must not know what is asked of the documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from findling.errors import EmbedderUnavailable
from findling.search.documents import DocumentScope
from findling.search.scope import lies_in
from findling.tools import index_state
from findling.tools.docs_text import DocumentTexts
from findling.tools.model import Arguments, Call
from findling.tools.refs import check_ref
from findling.tools.workspace import WAIT_S

if TYPE_CHECKING:
    from findling.search.semantic import SemanticChannel
    from findling.store.reader import IndexReader
    from findling.store.rows import FileRow
    from findling.tools.index_view import IndexView

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Opened:
    """Documents within one snapshot of the index. ``channel`` is None where nothing can be asked by meaning."""

    reader: IndexReader
    files: list[FileRow]
    texts: DocumentTexts
    channel: SemanticChannel | None


def scope_of(call: Call, given: Arguments) -> DocumentScope:
    """From ``planId``, ``pathPrefix`` and ``tags``, those that are given. Raises `InvalidInput`."""
    return DocumentScope.of(
        plan=given.get("planId"),
        prefix=given.get("pathPrefix"),
        tags=given.get("tags", ()),
        root=str(call.workspace.engine.root) if given.get("pathPrefix") else "",
    )


def ask(
    call: Call,
    given: Arguments,
    scope: DocumentScope,
    question: Callable[[Opened], _Answer],
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
    workspace = call.workspace
    engine = workspace.engine
    ref = check_ref(engine.root, given.get("ref"))
    freshness, _ = engine.refresh(query=query, embed=by_meaning, wait_s=WAIT_S, progress=call.progress)
    folder, searched, max_bytes = engine.scope, engine.new_files(), workspace.config.index.max_file_bytes

    def open_and_ask(view: IndexView) -> tuple[_Answer | None, dict[str, Any] | None]:
        reader = view.reader
        if reader is None:
            return None, None
        channel = view.of_documents.channel if by_meaning else None
        with reader.snapshot():
            if reader.manifest is None:
                return None, None
            texts = DocumentTexts(searched, reader, max_bytes)
            try:
                files = scope.of_files(documents_below(reader, folder), texts.tags)
                pending = reader.manifest.pending
                without = _without_vectors(view, reader, None if code_too else files) if by_meaning else 0
                state = index_state.state(
                    freshness,
                    partial=freshness != "fresh" or pending > 0 or without > 0,
                    pending_files=pending,
                    **{"files_without_vectors" if code_too else "documents_without_vectors": without},
                )
                return question(Opened(reader, files, texts, channel)), state
            finally:
                texts.close()

    try:
        answer, state = workspace.view(open_and_ask)
    except EmbedderUnavailable:  # it went away since it was last heard of; words are there
        by_meaning = False
        answer, state = workspace.view(open_and_ask)
    if state is None:  # nothing is indexed yet
        state = index_state.state(freshness, partial=True, pending_files=engine.never_indexed().pending_files)
    if state:
        workspace.finish_in_background(ref)
    return answer, state


def documents_below(reader: IndexReader, folder: str) -> list[FileRow]:
    return [file for file in reader.listing() if file.kind == "docs" and lies_in(file.path, folder)]


def _without_vectors(view: IndexView, reader: IndexReader, files: list[FileRow] | None) -> int:
    """How many of these documents (None: of all files) should have vectors and have none."""
    fingerprint = view.of_documents.fingerprint
    model_id = reader.model_id(fingerprint.id) if fingerprint else None
    if model_id is None:
        return len(reader.listing() if files is None else files)
    unembedded = reader.count_unembedded(model_id)
    if not unembedded or files is None:
        return unembedded
    known = reader.vectors((file.entry_id for file in files), model_id)
    return sum(1 for file in files if file.entry_id not in known and reader.chunks(file.blob_id))
