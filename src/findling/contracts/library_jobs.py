"""The library family's tools about its jobs: what runs, and what became of what ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.contracts import budget, parameters
from findling.contracts.model import Arguments, Call, Refusal, Reply, Tool, object_schema
from findling.engine.library.results import job_facts
from findling.model.errors import NotFound

if TYPE_CHECKING:
    from findling.engine.jobs import Job, JobStatistics

MAX_ID = 100
"""Characters of an id that is looked for."""


def _get_job_status(call: Call, given: Arguments) -> Reply:
    try:
        job = call.workspace.library.jobs.get(given["jobId"])
    except NotFound as error:
        raise Refusal("job_not_found", error.message) from error
    return Reply(None, text=[status_text(job), budget.dumps(job_facts(job))])


def _list_active_jobs(call: Call, given: Arguments) -> Reply:
    jobs = call.workspace.library.jobs
    active = jobs.active()
    return Reply(None, text=[list_text(active, jobs.statistics()), budget.dumps([job_facts(job) for job in active])])


def status_text(job: Job) -> str:
    lines = [
        f"Job Status: {job.id}",
        f"Type: {job.mode}",
        f"Status: {job.status}",
        f"Progress: {job.progress}%",
        f"Duration: {job.duration_s():.1f}s",
    ]
    if job.status == "completed":
        lines.append("Job completed successfully!")
    elif job.status == "failed":
        lines.append(f"Error: {job.error}")
    return "\n".join(lines)


def list_text(active: list[Job], statistics: JobStatistics) -> str:
    first = f"Active Jobs ({len(active)}):" if active else "No active jobs running."
    return "\n".join(
        (
            first,
            *(f"{job.id}: {job.mode} ({job.progress}%, {job.duration_s():.1f}s)" for job in active),
            "",
            "Statistics:",
            f"Total: {statistics.total}",
            f"Running: {statistics.running}",
            f"Completed: {statistics.completed}",
            f"Failed: {statistics.failed}",
            f"Avg Duration: {statistics.average_duration_ms / 1000:.1f}s",
        )
    )


JOB_TOOLS: tuple[Tool, ...] = (
    Tool(
        "get_job_status",
        "library",
        "Tell how far a job of the library is, and what came of it when it has ended.",
        object_schema({"jobId": parameters.text("The id that the job was given.", MAX_ID)}, ("jobId",)),
        _get_job_status,
        text_only=True,
    ),
    Tool(
        "list_active_jobs",
        "library",
        "List the jobs of the library that are running, with statistics of all.",
        object_schema({}),
        _list_active_jobs,
        text_only=True,
    ),
)
