"""The five fields about the index that every answer of the code family carries, and the name of what was searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


_WORST: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("freshness_status", ("stale", "syncing", "fresh")),
    ("indexing_status", ("failed", "indexing", "not_indexed", "ready")),
    ("result_completeness", ("partial", "truncated", "complete")),
)
"""Of several roots the state that comes first here is the state of all."""


def joined(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of several roots together: never better than the worst of them."""
    found = dict(states[0])
    for key, order in _WORST:
        found[key] = min((state[key] for state in states), key=order.index)
    refs = {state["ref"] for state in states}
    found["ref"] = refs.pop() if len(refs) == 1 else LIVE
    return found


def of_answer(
    workspace: Workspace, ref: str, *, freshness: Freshness, coverage: Coverage, vectors_wanted: bool
) -> dict[str, Any]:
    """The fields of an answer that the engine gave with this freshness and coverage."""
    state = protocol_state(
        indexed=coverage.files > 0 or freshness == "fresh",
        job_active=workspace.jobs.active is not None or freshness == "syncing",
        changed=freshness == "stale",
        files_pending=coverage.pending_files > 0 or not coverage.complete,
        vectors_missing=vectors_wanted and coverage.missing_vectors > 0,
    )
    found = fields(state, ref)
    if left := not_searched(coverage, vectors_wanted=vectors_wanted):
        found["not_searched"] = left
    return found


def not_searched(coverage: Coverage, *, vectors_wanted: bool) -> dict[str, Any]:
    """How many files were left out and why, how many are not taken in yet, and how many chunks have no vector yet."""
    left: dict[str, Any] = {}
    if coverage.skipped:
        left["skipped"] = dict(coverage.skipped)
    if coverage.pending_files:
        left["pending_files"] = coverage.pending_files
    if vectors_wanted and coverage.missing_vectors:
        left["chunks_without_vector"] = coverage.missing_vectors
    return left


def of_status(workspace: Workspace, status: Status) -> dict[str, Any]:
    """The fields of an answer that tells the index's status."""
    state = protocol_state(
        indexed=status.indexing_status != "not_indexed",
        job_active=workspace.jobs.active is not None,
        failed=status.indexing_status == "failed",
        changed=status.freshness == "stale",
        files_pending=status.indexing_status == "indexing",
        vectors_missing=status.coverage.missing_vectors > 0,
    )
    return fields(state, workspace.ref_name)


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
        files_pending=counts.pending > 0 or not counts.complete,
        vectors_missing=workspace.config.semantic.enabled is not False and counts.embedded < counts.chunks,
    )
    return fields(state, current_ref(engine.root))


def _ref(workspace: Workspace) -> str:
    try:
        return current_ref(workspace.engine.root)
    except errors.FindlingError:
        return LIVE
