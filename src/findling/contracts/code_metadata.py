"""The five fields about the index that every answer of the code family carries, and the name of what was searched."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from findling import engine
from findling.config.roots import LIVE
from findling.contracts import index_state
from findling.contracts.code_decisions import ProtocolState, protocol_state
from findling.model import errors
from findling.model.types import Coverage, Freshness, Status

if TYPE_CHECKING:
    from findling.contracts.workspaces import Root, Workspace
    from findling.engine.jobs import Job


PROTOCOL_VERSION = "1.0"

LOOKED_AT = 8_000
"""The largest tree, in files, that is compared with its index before a refusal; that takes ten milliseconds."""


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
"""For several roots together the first of these states counts that one of them has."""


def joined(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of several roots together: the worst state of any of them."""
    found = dict(states[0])
    for key, order in _WORST:
        found[key] = min((state[key] for state in states), key=order.index)
    refs = {state["ref"] for state in states}
    found["ref"] = refs.pop() if len(refs) == 1 else LIVE
    return found


def of_answer(
    ref: str, *, freshness: Freshness, coverage: Coverage, job_active: bool, vectors_wanted: bool = False
) -> dict[str, Any]:
    """The fields of an answer that the engine gave with this freshness and coverage."""
    state = protocol_state(
        indexed=coverage.files > 0 or freshness == "fresh",
        job_active=job_active or freshness == "syncing",
        changed=freshness == "stale",
        files_pending=coverage.unfinished,
        vectors_missing=vectors_wanted and coverage.missing_vectors > 0,
        partial=coverage.is_partial,
    )
    found = fields(state, ref)
    if left := index_state.not_searched(coverage, vectors_wanted=vectors_wanted):
        found[index_state.NOT_SEARCHED] = left
    return found


def cut(metadata: dict[str, Any]) -> None:
    """Mark an answer as truncated, unless it is already marked as partial, which is worse."""
    if metadata["result_completeness"] == "complete":
        metadata["result_completeness"] = "truncated"


def of_status(root: Root, status: Status) -> dict[str, Any]:
    """The fields for an answer about the status of the index."""
    state = protocol_state(
        indexed=status.indexing_status != "not_indexed",
        job_active=active_job(root) is not None,
        failed=status.indexing_status == "failed",
        changed=status.freshness == "stale",
        files_pending=status.indexing_status == "indexing",
        vectors_missing=status.coverage.missing_vectors > 0,
        partial=status.coverage.is_partial,
    )
    return fields(state, root.ref_name)


def of_refusals(workspace: Workspace, ref: object) -> dict[str, Any]:
    """The fields for a call that was refused: of the ref that it asked for, in all roots together. Never raises."""
    if isinstance(ref, str) and ref:
        try:
            workspace = workspace.at(ref)
        except errors.FindlingError as error:  # no such ref: the branch that is checked out is no substitute
            named = isinstance(error, errors.RefNotIndexed | errors.InvalidInput)
            return fields(protocol_state(indexed=False, failed=not named), _shown(ref))
    states = [of_refusal(root) for root in workspace.roots]
    return states[0] if len(states) == 1 else joined(states)


def of_refusal(root: Root) -> dict[str, Any]:
    """The fields of a call that searched nothing. Never raises; looks at the disk only where that is quick."""
    try:
        engine = root.engine
        _ = root.config  # a wrong ref may be the reason for the refusal
        coverage = engine.coverage()
        if coverage.files <= LOOKED_AT:
            return of_status(root, engine.status())
    except errors.FindlingError:
        return fields(protocol_state(indexed=False, failed=True), _ref(root))
    # An index that was not compared with the disk never counts as fresh.
    state = protocol_state(
        indexed=True,
        job_active=root.jobs.active is not None,
        changed=True,
        files_pending=coverage.unfinished,
        vectors_missing=coverage.missing_vectors > 0,
    )
    return fields(state, root.ref_name)


def project_id(root: str) -> str:
    """The same for a folder as long as it stays where it is."""
    return hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _shown(ref: str) -> str:
    """The name of the ref as it was typed, whether or not such a ref exists."""
    return "".join(char if char.isprintable() else "\ufffd" for char in ref[: engine.MAX_REF_CHARS])


def _ref(root: Root) -> str:
    try:
        return root.ref_name
    except errors.FindlingError:
        return LIVE


# --- jobs ------------------------------------------------------------------------------------------------------------


def job_facts(job: Job) -> dict[str, Any]:
    """A job as answers show it. Its changes and its duration are None while it runs."""
    facts: dict[str, Any] = {
        "job_id": job.id,
        "ref": job.ref or LIVE,
        "mode": job.mode,
        "status": "published" if job.status == "completed" else job.status,
        "created_at": datetime.fromtimestamp(job.started, UTC).isoformat(timespec="seconds"),
        "changed_files": (job.result or {}).get("changed_files"),
        "duration_ms": None if job.is_active else round(job.duration_s() * 1000),
    }
    if job.error:
        facts["error"] = job.error
    return facts


def active_job(root: Root) -> dict[str, Any] | None:
    """The job as it is shown, with its ``stage``, and how many files it has done of how many it looks at in that
    stage, each None while that is unknown."""
    latest = _latest(root)
    if latest is None:
        return None
    shown = root.jobs.active or replace(latest, ref=latest.ref or root.ref_name)
    return {
        **job_facts(shown),
        "stage": latest.stage or None,
        "files_done": latest.done if latest.total else None,
        "files_total": latest.total if latest.total else None,
    }


def _latest(root: Root) -> Job | None:
    """The job with the latest progress: a job of this process may be waiting for one of another process."""
    found = [job for job in (root.jobs.active, root.engine.active_job) if job is not None]
    return max(found, key=lambda job: job.updated, default=None)
