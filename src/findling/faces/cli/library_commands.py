"""`findling library`: what each of its actions does, as `commands` does for the others.

Removing a collection forgets it and deletes its index, and what was fetched, never what was added.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from findling.config import Root
from findling.config.option import in_camel_case
from findling.engine.jobs import Job
from findling.engine.library import CollectionStatus, Indexed, Library, LibraryStatistics, Removed
from findling.engine.library.fetching.fetch_requests import (
    DEFAULT_FILE_MB,
    INCLUDED,
    FileRequest,
    RepoRequest,
    filename_for,
)
from findling.engine.library.results import indexing_result, job_facts
from findling.faces.cli.outcome import ERROR, Answer, Rows, status_of
from findling.faces.cli.terminal import words
from findling.faces.cli.terminal.json import to_json
from findling.model.errors import Cancelled, FindlingError, InvalidInput
from findling.model.types import IndexReport, Progress

if TYPE_CHECKING:
    from findling.faces.cli.session import Session


PASSAGES: Final = 5
LEAST_SIMILARITY: Final = 0.3


def run(args: Namespace, session: Session) -> int:
    """One action. Raises what the library raises."""
    action = _ACTIONS[args.action]
    if args.name is not None and args.action not in ("add", "fetch"):
        raise InvalidInput(
            "--name is for `findling library add` and `fetch`.", remedy="Give the name after the action."
        )
    for option in ("branch", "include", "exclude", "max_mb", "remove_comments"):
        if getattr(args, option) and args.action != "fetch":
            raise InvalidInput(f"--{option.replace('_', '-')} is for `findling library fetch`.")
    if args.limit is not None and args.action != "search":
        raise InvalidInput("--limit is for `findling library search`.")
    with Library.open() as library:
        answer = action(library, args, session)
        if isinstance(answer, int):
            return answer
        value = {"library": os.fspath(library.directory), **answer.value}
        session.show(Root(library.directory, ""), lambda view: view.records(answer.blocks, value), answer.notes)
    return answer.status


def _add(library: Library, args: Namespace, session: Session) -> Answer:
    from pathlib import Path

    if not args.subject:
        raise InvalidInput("Missing PATH.", remedy="Usage: findling library add PATH")
    with session.progress() as progress:
        return _indexed([library.add(Path(args.subject), name=args.name, progress=progress)])


def _refresh(library: Library, args: Namespace, session: Session) -> Answer:
    with session.progress() as progress:
        return _indexed(library.refresh(args.subject, progress=progress))


def _search(library: Library, args: Namespace, session: Session) -> int:
    """The passages nearest to a question, best first."""
    if not args.subject:
        raise InvalidInput("Missing QUERY.", remedy="Usage: findling library search QUERY")
    with session.progress() as progress:
        found = library.search(
            args.subject, limit=args.limit or PASSAGES, min_score=LEAST_SIMILARITY, progress=progress
        )
    nothing = [words.NOTHING_FOUND] if library.collections() else _EMPTY
    notes = [*([] if found.passages else nothing), *found.notes]
    root = Root(library.directory, "")
    return session.show(root, lambda view: view.passages(found), notes, found=found.passages)


def _list(library: Library, args: Namespace, session: Session) -> Answer:
    if args.subject is not None:
        raise InvalidInput(f"Unexpected argument {args.subject!r}.", remedy="`findling library status NAME` shows one.")
    found = library.collections()
    blocks = [[(c.name, c.path if c.exists else f"{c.path} (missing)")] for c in found]
    value = [
        {"name": c.name, "path": c.path, "kind": c.kind, "added_at": c.added_at, "exists": c.exists} for c in found
    ]
    rows = [row for block in blocks for row in block]
    return Answer([rows] if rows else [], {"collections": value}, _EMPTY if not found else (), status_of(found))


def _status(library: Library, args: Namespace, session: Session) -> Answer:
    found = library.status(args.subject)
    total = library.statistics(found)
    blocks = [_status_rows(row) for row in found]
    if len(found) > 1:
        blocks.append(_total_rows(total, len(found)))
    value = {
        "collections": to_json(found),
        "statistics": {in_camel_case(name): number for name, number in to_json(total).items()},
    }
    return Answer(blocks, value, _EMPTY if not found else (), status_of(found))


def _remove(library: Library, args: Namespace, session: Session) -> Answer:
    if not args.subject:
        raise InvalidInput("Missing NAME.", remedy="Usage: findling library remove NAME")
    removed: Removed = library.remove(args.subject)
    files = "what was fetched is deleted" if removed.fetched else "the files are untouched"
    what = f"{words.count(removed.files, 'file')}, {words.count(removed.chunks, 'passage')}; {files}"
    return Answer([[("removed", removed.names[0]), ("forgotten", what)]], {"removed": to_json(removed)})


_EMPTY: Final = ("the library is empty; 'findling library add PATH' puts a folder or a file into it",)


# --- rows ------------------------------------------------------------------------------------------------------


def _indexed(found: Sequence[Indexed]) -> Answer:
    blocks: list[Rows] = []
    notes: list[str] = []
    values = []
    for item in found:
        rows = [("collection", item.collection.name), ("path", item.collection.path)]
        if item.report is not None:
            rows.append(("indexed", words.report_line(item.report)))
            notes += _report_notes(item.collection.name, item.report)
        else:
            rows.append(("failed", item.problem))
        blocks.append(rows)
        value = {**to_json(item), "collection": item.collection.name, "path": item.collection.path}
        if item.report is not None:
            value["indexing"] = indexing_result(item.report)
        values.append(value)
    failed = any(item.report is None for item in found)
    return Answer(blocks, {"collections": values}, notes if found else _EMPTY, ERROR if failed else status_of(found))


def _report_notes(name: str, report: IndexReport) -> list[str]:
    notes = [*report.notes, *(f"failed: {words.skipped_line(file, str)}" for file in report.failed)]
    if not report.files:
        notes.append("there is nothing to index in it")
    if report.skipped:
        notes.append(f"left out: {words.by_reason(Counter(file.reason for file in report.skipped))}")
    return [f"{name}: {note}" for note in notes]


def _status_rows(row: CollectionStatus) -> Rows:
    fresh = ", fresh" if row.fresh else ", files changed" if row.state == "ready" else ""
    rows = (
        ("collection", row.name),
        ("path", row.path),
        ("state", f"{row.state}{fresh}"),
        ("files", f"{row.files:,}"),
        ("passages", f"{row.chunks:,}"),
        ("vectors", f"{row.embedded_chunks:,}{f' by {row.model}' if row.model else ''}"),
        ("tokens", f"about {row.tokens:,}"),
        ("on disk", words.size(row.bytes_on_disk)),
        ("updated", row.last_indexed_at),
        ("left out", words.by_reason(row.skipped)),
        ("taken out", words.count(row.removed, "file") if row.removed else ""),
    )
    return [(key, value) for key, value in rows if value] + [("note", note) for note in row.notes]


def _total_rows(total: LibraryStatistics, collections: int) -> Rows:
    return [
        ("total", words.count(collections, "collection")),
        ("files", f"{total.total_files:,}"),
        ("passages", f"{total.total_chunks:,}"),
        ("tokens", f"about {total.total_tokens:,}"),
        ("on disk", words.size(total.db_size)),
    ]


# --- fetching: a job is started and followed -------------------------------------------------------------------------


POLL_S: Final = 0.1

_HOSTS: Final = frozenset(("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"))
"""Servers on which ``owner/name`` is a repository."""


def _fetch(library: Library, args: Namespace, session: Session) -> Answer:
    """Fetch and wait. Raises what the job failed with; Ctrl-C cancels it."""
    if not args.subject:
        raise InvalidInput("Missing URL.", remedy="Usage: findling library fetch URL")
    job = library.fetch(request_of(args))
    with session.progress() as progress:
        job = _followed(library, job, progress)
    if job.status == "failed":
        plain = "." not in args.subject.rpartition("/")[2]
        hint = "If it is a git repository, add --branch." if job.mode == "fetch_file" and plain else ""
        raise FindlingError(f"{job.mode} failed ({job.error})", remedy=hint)
    result = dict(job.result or {})
    rows = [(name, str(result[key])) for key, name in _ROWS.items() if result.get(key) not in (None, "")]
    return Answer([rows], {"job": job_facts(job)})


def _jobs(library: Library, args: Namespace, session: Session) -> Answer:
    found = library.jobs.all()
    rows = [(job.id, f"{job.mode}, {_state(job)}, {job.duration_s():.1f}s") for job in found]
    notes = () if found else ("nothing has been fetched yet",)
    return Answer([rows] if rows else [], {"jobs": [job_facts(job) for job in found]}, notes, status_of(found))


def _cancel(library: Library, args: Namespace, session: Session) -> Answer:
    if not args.subject:
        raise InvalidInput("Missing JOB.", remedy="`findling library jobs` lists them.")
    job = library.jobs.cancel(args.subject)
    said = "asked to stop" if job.status == "running" else f"already {job.status}"
    return Answer([[(job.id, said)]], {"job": job_facts(job)})


def request_of(args: Namespace) -> FileRequest | RepoRequest:
    """What to fetch: a repository if the URL looks like one or an option for repositories is given, else a file. Raises
    `InvalidInput` where options for files and options for repositories are mixed."""
    url: str = args.subject
    said = args.branch or args.include or args.exclude or args.remove_comments
    repository = said or (args.name is None and _is_repo(url))
    if repository and (args.name is not None or args.max_mb is not None):
        raise InvalidInput(
            "--name and --max-mb are for a file; --branch, --include, --exclude, --remove-comments for a repository.",
            remedy="Use one group or the other.",
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
        return False  # fetching it reports what is wrong with the URL
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


_ACTIONS: Final[dict[str, Callable[[Library, Namespace, Session], Answer | int]]] = {
    "search": _search,
    "add": _add,
    "list": _list,
    "status": _status,
    "refresh": _refresh,
    "remove": _remove,
    "fetch": _fetch,
    "jobs": _jobs,
    "cancel": _cancel,
}
