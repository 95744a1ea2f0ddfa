"""The recipe of fetching a file: into a temporary name, piece by piece, then to its place at once, then indexed.

What was there before stays untouched until the new file is whole.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from findling.errors import FileAccess, FindlingError
from findling.library.fetch_requests import FileRequest
from findling.library.records import failure, make_folder

if TYPE_CHECKING:
    from findling.library.collections import Collection
    from findling.library.jobs import RunningJob
    from findling.library.library import Library

FILES: Final = "files"
"""The folder of what was downloaded, in the data folder."""

NAME: Final = "downloads"
"""The collection that it is."""

LOADED: Final = 80
"""Percent when the file is whole; indexing takes the rest."""

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


def run(library: Library, job: RunningJob, request: FileRequest, allowed_hosts: tuple[str, ...]) -> dict[str, Any]:
    """Fetch, save and index; the job's result. Raises what goes wrong, and leaves nothing half done."""
    from findling.outbound_fetch import fetch

    folder = library.directory / FILES
    make_folder(folder)
    _sweep(library, folder)
    already_there(library.directory, request)
    target = folder / request.filename
    partial = folder / f".{job.job.id}.part"
    size = 0
    try:
        with partial.open("xb") as out:

            def take(piece: bytes, announced: int | None) -> None:
                nonlocal size
                out.write(piece)
                size += len(piece)
                whole = announced if announced is not None else size + _KNOWN_SIZE_STEPS
                job.progress(LOADED * size // max(1, whole))

            fetched = fetch(
                request.url,
                allowed_hosts=allowed_hosts,
                max_bytes=request.max_bytes,
                take=take,
                check=job.check,
            )
            out.flush()
            os.fsync(out.fileno())
        job.check()
        _place(partial, target, overwrite=request.overwrite)
    except OSError as error:
        raise failure(error, target) from error
    finally:
        partial.unlink(missing_ok=True)
    job.progress(LOADED)
    result: dict[str, Any] = {
        "filename": request.filename,
        "filePath": os.fspath(target),
        "sizeBytes": fetched.size,
        "source": fetched.target.shown,
    }
    return {**result, **_indexed(library, job, request, target)}


def _sweep(library: Library, folder: Path) -> None:
    """Take away what jobs left behind whose process was ended."""
    running = {f".{job.id}.part" for job in library.jobs.active()}
    for path in folder.glob(".*.part"):
        if path.name not in running:
            path.unlink(missing_ok=True)


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
    from findling.library.fetched import collection_of, indexing_progress

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
