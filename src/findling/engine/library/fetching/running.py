"""Fetching as jobs: each in a process of its own, which goes on when the one that asked for it ends.

`start` hands a request to such a process (`process`). What is fetched and how is the recipes' affair
(`fetch_file`, `fetch_repo`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from findling.engine.jobs import PROCESS, Job, RunningJob, start_process
from findling.engine.library.collections import TURNS, fetch_configuration
from findling.engine.library.fetching import fetch_file, fetch_repo
from findling.engine.library.fetching.fetch_requests import FileRequest, Request, checked
from findling.engine.small_files import Turns
from findling.model.errors import CAUSES, FindlingError, IndexBusy
from findling.reading.worker_process import environment

if TYPE_CHECKING:
    from findling.engine.library.library import Library

ERRORS: Final = "errors"
"""Of a job's files: what its process says that is no result, such as a defect."""

MAX_JOBS: Final = 20
"""Running at once; they wait for each other anyway."""


def start(library: Library, request: Request) -> Job:
    """A job for ``request``, already on its way. Raises `FetchRefused`, `InvalidInput` and `FileAccess` for what cannot
    be fetched, before anything is asked of a server."""
    request = checked(request, fetch_configuration())
    if isinstance(request, FileRequest):
        fetch_file.already_there(library.directory, request)
    if len(library.jobs.active()) >= MAX_JOBS:
        raise IndexBusy(f"{MAX_JOBS} jobs are running already.", remedy="Ask again when one has ended.")
    job = library.jobs.queue("fetch", request.type, request.name)
    try:
        with library.jobs.path(job.id, ERRORS).open("wb") as errors:
            process = start_process(
                "findling.engine.library.fetching.process",
                os.fspath(library.directory),
                job.id,
                cwd=library.directory,
                stdin=subprocess.PIPE,
                stderr=errors,
                env=environment(),
                number_in=library.jobs.path(job.id, PROCESS),
            )
    except OSError as error:
        return library.jobs.take(job.id).end(
            "failed", error=f"Its process could not be started: {error.strerror or error}."
        )
    assert process.stdin is not None
    with suppress(OSError), process.stdin as told:  # one that is gone, or is not told, has not taken its job
        told.write(msgspec.json.encode(request))  # not by a file: there may be a token in its URL
    return job


def run_here(library: Library, request: Request, job: RunningJob) -> Mapping[str, Any]:
    """Do a job in this process; its result, which is also recorded. Raises what went wrong, recorded too."""
    return job.carry_out(lambda: _result(library, checked(request, fetch_configuration()), job), _words)


def _result(library: Library, request: Request, job: RunningJob) -> dict[str, Any]:
    config = fetch_configuration()
    if isinstance(request, FileRequest):
        return fetch_file.run(library, job, request, config.fetch)
    turns = Turns(library.directory / TURNS / "repositories", config.library.max_repository_concurrency)
    return fetch_repo.run(library, job, request, config.fetch, turns)


def _words(error: BaseException) -> str:
    """What a job says of its failure: the four kinds are told by the library's errors."""
    if isinstance(error, FindlingError):
        return f"{CAUSES.get(error.code, 'processing')}: {error}"
    return f"processing: unexpected {type(error).__name__}"
