"""The library family's tools that fetch, and those about their jobs: what runs, and what became of what ran.

Fetching starts a job, says which, and returns at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from findling.contracts import budget
from findling.contracts.model import Arguments, Call, Refusal, Reply
from findling.contracts.untrusted import UntrustedText
from findling.engine.library.fetching.fetch_requests import DEFAULT_FILE_MB, INCLUDED, FileRequest, RepoRequest
from findling.engine.library.results import job_facts
from findling.model.errors import ConfigError, FetchRefused, NotFound, RootError

if TYPE_CHECKING:
    from findling.engine.jobs import Job, JobStatistics


def fetch_repo(call: Call, given: Arguments) -> Reply:
    _require_allowed(call)
    options = given.get("options", {})
    request = RepoRequest(
        url=given["repoUrl"],
        branch=given.get("branch", ""),
        include=tuple(options.get("includePatterns", INCLUDED)),
        exclude=tuple(options.get("excludePatterns", ())),
        remove_comments=options.get("removeComments", False),
        line_numbers=options.get("showLineNumbers", True),
    )
    job = call.workspace.library.fetch(request)
    return _started(f"Started async repository fetch: {request.name}", job, {"repoName": request.name})


def fetch_file(call: Call, given: Arguments) -> Reply:
    _require_allowed(call)
    options = given.get("options", {})
    request = FileRequest(
        url=given["url"],
        filename=given["filename"],
        overwrite=options.get("overwrite", True),
        max_bytes=int(options.get("maxFileSizeMB", DEFAULT_FILE_MB) * (1 << 20)),
        index=options.get("indexAfterSave", True),
    )
    job = call.workspace.library.fetch(request)
    return _started(f"Started async file download: {request.filename}", job, {"filename": request.filename})


def _require_allowed(call: Call) -> None:
    """A project may switch fetching off; nothing else of its configuration counts here. Raises `FetchRefused`."""
    try:
        enabled = call.workspace.config.fetch.enabled
    except (ConfigError, RootError):
        return  # the root says so itself where it is asked for; the user's own configuration is obeyed anyway
    if not enabled:
        raise FetchRefused("Fetching is switched off here.", remedy="fetch.enabled is false in the configuration.")


def _started(line: str, job: Job, facts: dict[str, Any]) -> Reply:
    text = f"{line}\nJob ID: {job.id}\nUse get_job_status to poll for completion."
    return Reply(None, text=[text, budget.dumps({"jobId": job.id, **facts})])


def get_job_status(call: Call, given: Arguments) -> Reply:
    try:
        job = call.workspace.library.jobs.get(given["jobId"])
    except NotFound as error:
        raise Refusal("job_not_found", error.message) from error
    return Reply(None, text=[UntrustedText(status_text(job)), UntrustedText(budget.dumps(job_facts(job)))])


def list_active_jobs(call: Call, given: Arguments) -> Reply:
    jobs = call.workspace.library.jobs
    active = jobs.active()
    facts = budget.dumps([job_facts(job) for job in active])
    return Reply(None, text=[list_text(active, jobs.statistics()), UntrustedText(facts)])


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
