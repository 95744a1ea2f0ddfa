"""The five fields about the index that every answer of the code family carries, and the name of what was searched."""

from __future__ import annotations

from typing import Any

from findling import errors
from findling.tools.code_decisions import ProtocolState, protocol_state
from findling.tools.refs import LIVE, current_ref
from findling.tools.workspace import Workspace
from findling.types import Coverage, Freshness, Status

PROTOCOL_VERSION = "1.0"

LOOKED_AT = 8_000
"""Files of a tree that is compared with its index for the sake of a refusal: some ten milliseconds."""


def fields(state: ProtocolState, ref: str) -> dict[str, Any]:
    return {
        "codecompass_protocol_version": PROTOCOL_VERSION,
        "freshness_status": state.freshness,
        "indexing_status": state.indexing,
        "result_completeness": state.completeness,
        "ref": ref,
    }


def of_answer(
    workspace: Workspace, ref: str, *, freshness: Freshness, coverage: Coverage, vectors_wanted: bool
) -> dict[str, Any]:
    """The fields of an answer that the engine gave with this freshness and coverage."""
    state = protocol_state(
        indexed=coverage.files > 0 or freshness == "fresh",
        job_active=workspace.jobs.active is not None or freshness == "syncing",
        changed=freshness == "stale",
        files_pending=coverage.pending_files > 0,
        vectors_missing=vectors_wanted and coverage.embedded_chunks < coverage.chunks,
    )
    return fields(state, ref)


def of_status(workspace: Workspace, status: Status) -> dict[str, Any]:
    """The fields of an answer that tells the index's status."""
    state = protocol_state(
        indexed=status.indexing_status != "not_indexed",
        job_active=workspace.jobs.active is not None,
        failed=status.indexing_status == "failed",
        changed=status.freshness == "stale",
        files_pending=status.indexing_status == "indexing",
        vectors_missing=bool(status.model) and status.coverage.embedded_chunks < status.coverage.chunks,
    )
    return fields(state, current_ref(workspace.engine.root))


def of_refusal(workspace: Workspace) -> dict[str, Any]:
    """The fields of a call that searched nothing. Never raises; looks at the disk only where that is quick."""
    try:
        engine = workspace.engine
        counts = workspace.view(lambda view: view.counts())
        if counts is None or counts.files <= LOOKED_AT:
            return of_status(workspace, engine.status())
    except errors.FindlingError:
        return fields(protocol_state(indexed=False, failed=True), _ref(workspace))
    # As everywhere, what was not looked at does not count as fresh.
    state = protocol_state(
        indexed=True,
        job_active=workspace.jobs.active is not None,
        changed=True,
        files_pending=counts.pending > 0,
        vectors_missing=counts.embedded < counts.chunks,
    )
    return fields(state, current_ref(engine.root))


def _ref(workspace: Workspace) -> str:
    try:
        return current_ref(workspace.engine.root)
    except errors.FindlingError:
        return LIVE
