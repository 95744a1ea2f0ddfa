"""The run over a root's index that goes on just now: a job of this server's, a question's, the watcher's, or another
process'. Must not know any tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from findling.tools.jobs import Job

if TYPE_CHECKING:
    from findling.engine.running import Running
    from findling.tools.workspace import Workspace
    from findling.types import Coverage, Progress


def active_job(workspace: Workspace) -> dict[str, Any] | None:
    """The run as a job is shown, with its ``stage``, and how many files it has done of how many it looks at in that
    stage, each None while that is unknown. ``workspace``: of one root."""
    job, run = workspace.jobs.active, workspace.engine.running
    if job is None:
        if run is None:
            return None
        job = Job(run.run_id, workspace.ref_name, run.mode, "running", run.created_at)
    step = _step(workspace)
    return {
        **job.facts(),
        "stage": step.stage if step else None,
        "files_done": step.done if step and step.total else None,
        "files_total": step.total if step and step.total else None,
    }


def _step(workspace: Workspace) -> Progress | Running | None:
    """How far it is: as the job says, which is newer, unless that one waits for another run."""
    run, said = workspace.engine.running, workspace.jobs.progress
    return run if run is not None and (said is None or said.stage != run.stage) else said


def pending_files(workspace: Workspace, coverage: Coverage) -> int:
    """Files that are not taken in yet: as the run that goes on has got, else as the index knew when it was written."""
    step = _step(workspace)
    if step is not None and step.stage == "indexing":
        return max(0, step.total - step.done)
    return coverage.pending_files
