"""reindex_vectors: vectors of documents made again on demand, and what became of each."""

from __future__ import annotations

import time
from typing import Any

from findling.contracts.docs_scope import scope_of
from findling.contracts.docs_state import report, semantic_state
from findling.contracts.model import Arguments, Call, Reply
from findling.model.languages import language_of
from findling.outbound import events


def reindex_vectors(call: Call, given: Arguments) -> Reply:
    """The handler. Waits until all is done. Raises `InvalidInput` and `IndexBusy`."""
    started = time.monotonic()
    workspace = call.workspace
    scope = scope_of(call, given)
    state = semantic_state(workspace)
    report("reindex_vectors", state)
    if state.state == "disabled":
        return Reply(state.error, is_error=True)
    if state.state == "unavailable":
        nothing: dict[str, Any] = {"indexed": 0, "skipped": 0, "model_mismatch": False, "errors": []}
        return Reply({**state.error, **nothing, "latency_ms": events.since(started)}, is_error=True)
    mismatch = state.state == "mismatch"
    engine = workspace.engine
    with engine.job(call.progress) as job:
        taken_in = engine.index(embed=False, progress=job)
        paths = engine.document_paths(scope)
        done = engine.reembed(paths, anew=given["force"] or mismatch, progress=job)
    not_read = [*taken_in.failed, *(file for file in taken_in.skipped if file.reason == "unreadable")]
    unread = [file for file in not_read if scope.allows_path(file.path) and language_of(file.path).kind == "docs"]
    errors = [
        {"path": file.path, "error": file.detail or file.reason}
        for file in sorted((*done.failed, *unread), key=lambda file: file.path)
    ]
    latency = events.since(started)
    events.semantic_reindex(
        total_docs=len(paths),
        indexed=len(done.embedded),
        skipped=len(done.skipped),
        errors=len(errors),
        latency_ms=latency,
    )
    facts = {
        "indexed": len(done.embedded),
        "skipped": len(done.skipped),
        "model_mismatch": mismatch,
        "errors": errors,
        "latency_ms": latency,
    }
    if done.problem is not None:  # it went away on the way; what was made stays
        gone = semantic_state(workspace)
        said = gone.error if gone.code else {"error": done.problem.code, "message": str(done.problem)}
        return Reply(said | facts, "errors", is_error=True)
    return Reply(facts, "errors")
