"""The five fields about the index that every answer of the code family carries, and the name of what was searched."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from findling import engine
from findling.contracts import index_state
from findling.contracts.code_decisions import ProtocolState, protocol_state
from findling.contracts.refs import LIVE
from findling.contracts.running import active_job
from findling.contracts.workspace import Workspace
from findling.model import errors
from findling.model.types import Coverage, Freshness, Status

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
    ref: str, *, freshness: Freshness, coverage: Coverage, job_active: bool, vectors_wanted: bool
) -> dict[str, Any]:
    """The fields of an answer that the engine gave with this freshness and coverage."""
    state = protocol_state(
        indexed=coverage.files > 0 or freshness == "fresh",
        job_active=job_active or freshness == "syncing",
        changed=freshness == "stale",
        files_pending=coverage.unfinished,
        vectors_missing=vectors_wanted and coverage.missing_vectors > 0,
        unread=coverage.unread > 0,
    )
    found = fields(state, ref)
    if left := index_state.not_searched(coverage, vectors_wanted=vectors_wanted):
        found[index_state.NOT_SEARCHED] = left
    return found


def of_status(workspace: Workspace, status: Status) -> dict[str, Any]:
    """The fields of an answer that tells the index's status."""
    state = protocol_state(
        indexed=status.indexing_status != "not_indexed",
        job_active=active_job(workspace) is not None,
        failed=status.indexing_status == "failed",
        changed=status.freshness == "stale",
        files_pending=status.indexing_status == "indexing",
        vectors_missing=status.coverage.missing_vectors > 0,
        unread=status.coverage.unread > 0,
    )
    return fields(state, workspace.ref_name)


def of_refusals(workspace: Workspace, ref: object) -> dict[str, Any]:
    """The fields of a call that was refused: of the ref that it asked for, of all roots together. Never raises."""
    if isinstance(ref, str) and ref:
        try:
            workspace = workspace.at(ref)
        except errors.FindlingError as error:  # there is none: what is checked out does not stand in for it
            named = isinstance(error, errors.RefNotIndexed | errors.InvalidInput)
            return fields(protocol_state(indexed=False, failed=not named), _shown(ref))
    states = [of_refusal(root) for root in workspace.roots]
    return states[0] if len(states) == 1 else joined(states)


def of_refusal(workspace: Workspace) -> dict[str, Any]:
    """The fields of a call that searched nothing. Never raises; looks at the disk only where that is quick."""
    try:
        engine = workspace.engine
        _ = workspace.config  # a wrong one is why a call may have been refused
        coverage = engine.coverage()
        if coverage.files <= LOOKED_AT:
            return of_status(workspace, engine.status())
    except errors.FindlingError:
        return fields(protocol_state(indexed=False, failed=True), _ref(workspace))
    # As everywhere, what was not looked at does not count as fresh.
    state = protocol_state(
        indexed=True,
        job_active=workspace.job_active,
        changed=True,
        files_pending=coverage.unfinished,
        vectors_missing=coverage.missing_vectors > 0,
    )
    return fields(state, workspace.ref_name)


def project_id(root: str) -> str:
    """The same for a folder as long as it stays where it is."""
    return hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _shown(ref: str) -> str:
    """A name as it was typed, which may be none of a ref."""
    return "".join(char if char.isprintable() else "\ufffd" for char in ref[: engine.MAX_REF_CHARS])


def _ref(workspace: Workspace) -> str:
    try:
        return workspace.ref_name
    except errors.FindlingError:
        return LIVE
