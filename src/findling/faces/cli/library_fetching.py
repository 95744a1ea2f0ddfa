"""`findling library fetch`, `jobs` and `cancel`: starts a job and follows it, as `library_commands` does the rest."""

from __future__ import annotations

import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from findling.engine.library.fetching.fetch_requests import (
    DEFAULT_FILE_MB,
    INCLUDED,
    FileRequest,
    RepoRequest,
    filename_for,
)
from findling.engine.library.results import job_facts
from findling.model.errors import Cancelled, FindlingError, InvalidInput
from findling.model.types import Progress

if TYPE_CHECKING:
    from findling.engine.jobs import Job
    from findling.engine.library import Library
    from findling.faces.cli.session import Session

POLL_S: Final = 0.1

_HOSTS: Final = frozenset(("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"))
"""Where ``owner/name`` is a repository."""

Rows = list[tuple[str, str]]


def fetch(library: Library, args: Namespace, session: Session) -> tuple[list[Rows], dict[str, Any]]:
    """Fetch and wait. Raises what the job failed with; Ctrl-C cancels it."""
    if not args.subject:
        raise InvalidInput("What to fetch is missing.", remedy="findling library fetch URL")
    job = library.fetch(request_of(args))
    with session.progress() as progress:
        job = _followed(library, job, progress)
    if job.status == "failed":
        plain = "." not in args.subject.rpartition("/")[2]
        hint = "If it is a git repository, say --branch." if job.mode == "fetch_file" and plain else ""
        raise FindlingError(f"{job.mode} failed ({job.error})", remedy=hint)
    result = dict(job.result or {})
    rows = [(name, str(result[key])) for key, name in _ROWS.items() if result.get(key) not in (None, "")]
    return [rows], {"job": job_facts(job)}


def jobs(library: Library) -> tuple[list[Rows], dict[str, Any]]:
    found = library.jobs.all()
    rows = [(job.id, f"{job.mode}, {_state(job)}, {job.duration_s():.1f}s") for job in found]
    return [rows] if rows else [], {"jobs": [job_facts(job) for job in found]}


def cancel(library: Library, args: Namespace) -> tuple[list[Rows], dict[str, Any]]:
    if not args.subject:
        raise InvalidInput("Which job to cancel is missing.", remedy="`findling library jobs` lists them.")
    job = library.jobs.cancel(args.subject)
    said = "asked to stop" if job.status == "running" else f"it has {job.status} already"
    return [[(job.id, said)]], {"job": job_facts(job)}


def request_of(args: Namespace) -> FileRequest | RepoRequest:
    """A repository where the URL looks like one or something is said that only holds for one, else a file. Raises
    `InvalidInput` for what only holds for the one beside what only holds for the other."""
    url: str = args.subject
    said = args.branch or args.include or args.exclude or args.remove_comments
    repository = said or (args.name is None and _is_repo(url))
    if repository and (args.name is not None or args.max_mb is not None):
        raise InvalidInput(
            "--name and --max-mb are for a file; --branch, --include, --exclude, --remove-comments for a repository.",
            remedy="Leave out the ones or the others.",
        )
    if repository:
        return RepoRequest(
            url, args.branch or "", tuple(args.include or INCLUDED), tuple(args.exclude or ()), args.remove_comments
        )
    name = args.name or filename_for(url)
    return FileRequest(url, name, max_bytes=(args.max_mb or DEFAULT_FILE_MB) << 20)


def _is_repo(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False  # whoever fetches it says what is wrong with it
    path = parts.path.rstrip("/")
    return path.endswith(".git") or (host in _HOSTS and path.count("/") == 2)


def _followed(library: Library, job: Job, progress: Any) -> Job:
    try:
        while job.status == "running":
            if progress is not None:
                progress(Progress("fetching", job.progress, 100))
            time.sleep(POLL_S)
            job = library.jobs.get(job.id)
    except (KeyboardInterrupt, Cancelled):
        library.jobs.cancel(job.id)
        raise
    return job


def _state(job: Job) -> str:
    if job.status == "running":
        return f"running, {job.progress}%"
    return f"failed: {job.error}" if job.status == "failed" else job.status


_ROWS: Final = {
    "collection": "collection",
    "repoName": "repository",
    "branch": "branch",
    "commit": "commit",
    "filename": "file",
    "filePath": "path",
    "path": "path",
    "bundlePath": "bundle",
    "filesProcessed": "files",
    "filesChanged": "changed",
    "leftOut": "left out",
    "chunks": "passages",
    "reason": "not indexed",
}
