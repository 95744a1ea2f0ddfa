"""The recipe of fetching a file: into a part, piece by piece, then to its place at once, then indexed.

What was there before stays untouched until the new file is whole. A part whose server lets one go on outlives failures
of the network and the end of the process; every other failure leaves nothing.
"""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from findling.engine.jobs.small_files import failure, make_folder
from findling.engine.library.disk import fetched_quota
from findling.engine.library.fetching.fetch_requests import FileRequest
from findling.engine.library.fetching.fetched import collection_of, indexing_progress
from findling.engine.library.fetching.parts import PartialFile
from findling.engine.library.place import FILES
from findling.model.errors import FileAccess, FindlingError, NetworkError
from findling.outbound.fetch import Fetched, Interrupted, fetch

if TYPE_CHECKING:
    from findling.config.options import Fetch
    from findling.engine.jobs import RunningJob
    from findling.engine.library.collections import Collection
    from findling.engine.library.library import Library

NAME: Final = "downloads"
"""The collection that it is."""

LOADED: Final = 80
"""Percent when the file is whole; indexing takes the rest."""

TRIES: Final = 4
"""How often a server that breaks off in the middle is asked, as long as each time more has come."""

RETRY_S: Final = 0.5
"""Before it is asked again; twice and three times as long the next times."""

_LOOK_S: Final = 0.1
_KNOWN_SIZE_STEPS: Final = 1 << 20
"""Bytes that are half of the way where the server does not say how many there are."""


def already_there(directory: Path, request: FileRequest) -> None:
    """Raises `FileAccess` for a file that may not be replaced, or that other systems cannot tell from another one."""
    folder = directory / FILES
    try:
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise failure(error, folder) from error
    if request.filename in names:
        if not request.overwrite:
            raise FileAccess(f"{request.filename} exists already.", remedy="Set options.overwrite, or choose a name.")
        return
    for name in names:
        if name.casefold() == request.filename.casefold():
            raise FileAccess(f"{name} exists already, which differs from {request.filename} in case only.")


def run(library: Library, job: RunningJob, request: FileRequest, fetching: Fetch) -> dict[str, Any]:
    """Fetch, save and index; the job's result. Raises what goes wrong, and leaves nothing half done but what the next
    try can go on from."""
    folder = library.directory / FILES
    make_folder(folder)
    already_there(library.directory, request)
    target = folder / request.filename
    running = [each.id for each in library.jobs.active()]
    try:
        with PartialFile(library.directory, job.job.id, request.url, request.filename, running) as part:
            fetched = _downloaded(part, job, request, fetching, library.directory)
            part.finish()
            job.check()
            _place(part.path, target, overwrite=request.overwrite)
    except NetworkError as error:
        if part.kept:
            error.remedy = f"{part.kept:,} bytes of it are kept for a day: fetching it again goes on from there."
        raise
    except OSError as error:
        raise failure(error, target) from error
    job.progress(LOADED)
    result: dict[str, Any] = {
        "filename": request.filename,
        "filePath": os.fspath(target),
        "sizeBytes": fetched.size,
        "source": fetched.target.shown,
    }
    return {**result, **_indexed(library, job, request, target)}


def _downloaded(part: PartialFile, job: RunningJob, request: FileRequest, fetching: Fetch, directory: Path) -> Fetched:
    """Bring the whole file into ``part``; a server that breaks off in the middle is asked for the rest."""
    quota = fetched_quota(directory, fetching)

    def take(piece: bytes, announced: int | None) -> None:
        quota.take(len(piece))
        part.write(piece)
        whole = announced if announced is not None else part.size + _KNOWN_SIZE_STEPS
        job.progress(LOADED * part.size // max(1, whole))

    for attempt in itertools.count(1):
        begun = part.size
        try:
            return fetch(
                request.url,
                allowed_hosts=fetching.allowed_hosts,
                max_bytes=request.max_bytes,
                take=take,
                begin=part.begin,
                have=part.have,
                check=job.check,
            )
        except Interrupted:
            if attempt == TRIES or part.have is None or part.size <= begun:
                raise
            _pause(job, RETRY_S * attempt)
    raise AssertionError("it counts without end")


def _pause(job: RunningJob, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job.check()
        time.sleep(_LOOK_S)


def _place(partial: Path, target: Path, *, overwrite: bool) -> None:
    if target.is_symlink() or target.is_dir():
        raise FileAccess(f"{target} is no file.")
    if overwrite:
        partial.replace(target)
        return
    try:
        os.link(partial, target)
    except FileExistsError as error:
        raise FileAccess(f"{target.name} exists already.") from error


def _indexed(library: Library, job: RunningJob, request: FileRequest, target: Path) -> dict[str, Any]:
    """Bring the collection of downloads up to date; what became of the file in it."""
    collection = collection_of(library, target.parent, NAME, {"type": "files"})
    name = request.filename

    def change(row: Collection) -> Collection:
        removed = tuple(path for path in row.removed if path != name)
        return replace(row, removed=removed if request.index else (*removed, name))

    library.change(collection.name, change)
    if not request.index:
        return {"indexed": False, "chunks": 0}
    done = library.refresh(collection.name, progress=indexing_progress(job, LOADED))[0]
    if done.report is None:
        raise FindlingError(done.problem)
    chunks = library.chunk_count(collection.name, name)
    facts: dict[str, Any] = {"indexed": chunks > 0, "chunks": chunks}
    if not chunks:
        why = [file.detail or file.reason for file in (*done.report.skipped, *done.report.failed) if file.path == name]
        facts["reason"] = why[0] if why else "there is nothing to index in it"
    return facts
