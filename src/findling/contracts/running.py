"""Jobs over a root's index as index_status tells them: those that ended, and the one that goes on just now, whoever
runs it: this server, a question, the watcher or another process. Must not know any tool.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findling.contracts.workspace import Workspace
    from findling.engine.jobs import Job
    from findling.model.types import Coverage


def job_facts(job: Job) -> dict[str, Any]:
    """A job as it is shown. What it changed and how long it took is None while it runs."""
    facts: dict[str, Any] = {
        "job_id": job.id,
        "ref": job.ref,
        "mode": job.mode,
        "status": "published" if job.status == "completed" else job.status,
        "created_at": datetime.fromtimestamp(job.started, UTC).isoformat(timespec="seconds"),
        "changed_files": (job.result or {}).get("changed_files"),
        "duration_ms": None if job.is_active else round(job.duration_s() * 1000),
    }
    if job.error:
        facts["error"] = job.error
    return facts


def active_job(workspace: Workspace) -> dict[str, Any] | None:
    """The job as it is shown, with its ``stage``, and how many files it has done of how many it looks at in that
    stage, each None while that is unknown. ``workspace``: of one root."""
    latest = _latest(workspace)
    if latest is None:
        return None
    shown = workspace.jobs.active or replace(latest, ref=latest.ref or workspace.ref_name)
    return {
        **job_facts(shown),
        "stage": latest.stage or None,
        "files_done": latest.done if latest.total else None,
        "files_total": latest.total if latest.total else None,
    }


def _latest(workspace: Workspace) -> Job | None:
    """The job that last got on: where one of this process waits for another's run, that is the other one."""
    found = [job for job in (workspace.jobs.active, workspace.engine.active_job) if job is not None]
    return max(found, key=lambda job: job.updated, default=None)


def pending_files(workspace: Workspace, coverage: Coverage) -> int:
    """Files that are not taken in yet: as the run that goes on has got, else as the index knew when it was written."""
    latest = _latest(workspace)
    return latest.pending if latest is not None and latest.stage == "indexing" else coverage.pending_files
