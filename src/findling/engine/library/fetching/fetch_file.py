"""How a file is fetched: it is written piece by piece into a partial file, moved to its place at once, then indexed.

What was there before stays untouched until the new file is whole. If the server supports ranges, the partial file
outlives failures of the network and the end of the process. Any other failure deletes it.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from msgspec.structs import replace

from findling.engine.library.collections import FILES, PARTS, fetched_quota
from findling.engine.library.fetching.fetch_requests import FileRequest
from findling.engine.small_files import failure, make_folder, read_json, write_json
from findling.model.errors import FileAccess, FindlingError, NetworkError
from findling.outbound.fetch import Fetched, Interrupted, Part, fetch

if TYPE_CHECKING:
    from findling.config.options import Fetch
    from findling.engine.jobs import RunningJob
    from findling.engine.library.library import Library
    from findling.model.collection import Collection

NAME: Final = "downloads"
"""The name of the collection that fetched files belong to."""

LOADED: Final = 80
"""The progress in percent once the file is whole; indexing is the rest."""

TRIES: Final = 4
"""How often a server that breaks off is asked again, as long as every answer brings more."""

RETRY_S: Final = 0.5
"""Seconds before it is asked again; twice and three times as long later."""

_LOOK_S: Final = 0.1
_KNOWN_SIZE_STEPS: Final = 1 << 20
"""The number of bytes that counts as half of the download if the server does not announce the size."""


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
    """Fetch, save and index; the job's result. On an error only what the next try can continue from is left behind."""
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
        raise FileAccess(f"{target} is not a file.")
    if overwrite:
        partial.replace(target)
        return
    try:
        os.link(partial, target)
    except FileExistsError as error:
        raise FileAccess(f"{target.name} exists already.") from error


def _indexed(library: Library, job: RunningJob, request: FileRequest, target: Path) -> dict[str, Any]:
    """Bring the collection of downloads up to date; tells how the file was indexed."""
    collection = library.enlist(target.parent, NAME, {"type": "files"})
    name = request.filename

    def change(row: Collection) -> Collection:
        removed = tuple(path for path in row.removed if path != name)
        return replace(row, removed=removed if request.index else (*removed, name))

    library.change(collection.name, change)
    if not request.index:
        return {"indexed": False, "chunks": 0}
    done = library.refresh(collection.name, progress=job.indexing(LOADED))[0]
    if done.report is None:
        raise FindlingError(done.problem)
    chunks = library.chunk_count(collection.name, name)
    facts: dict[str, Any] = {"indexed": chunks > 0, "chunks": chunks}
    if not chunks:
        why = [file.detail or file.reason for file in (*done.report.skipped, *done.report.failed) if file.path == name]
        facts["reason"] = why[0] if why else "there is nothing to index in it"
    return facts


KEPT_S: Final = 86_400.0
"""Partial files are kept for a day."""

KEPT: Final = 8
"""How many partial files of ended jobs are kept; the oldest are deleted first."""

_NOTE_BYTES: Final = 10_000


# --- what has come of a download so far -----------------------------------------------------------------------------


class PartialFile:
    """The part of one job: a context, which ends by keeping the part after a `NetworkError`, and else by taking away
    what has not been moved to its place. ``kept``: bytes that the next try goes on from, known when it has ended.

    ``url`` may hold a token, so only its hash is written down. ``running``: ids of jobs whose parts are theirs.
    Raises OSError from every method.
    """

    def __init__(self, directory: Path, id: str, url: str, name: str, running: Iterable[str]) -> None:
        self._folder = directory / PARTS
        make_folder(self._folder)
        self.path = self._folder / f"{id}.part"
        self._note = self._folder / f"{id}.json"
        self._key = hashlib.sha256(f"{url}\0{name}".encode()).hexdigest()
        self._validator = ""
        self.size = 0
        self.kept = 0
        self._take_over({id, *running})
        self._out: BinaryIO = self.path.open("ab")

    @property
    def have(self) -> Part | None:
        """The part that a server may be told is there; None if the whole file must be requested."""
        return Part(self.size, self._validator) if self.size and self._validator else None

    def begin(self, part: Part) -> None:
        """The next bytes are written after the first ``part.size`` bytes."""
        self._out.truncate(part.size)
        self.size, self._validator = part
        self._write_note()

    def write(self, piece: bytes) -> None:
        self._out.write(piece)
        self.size += len(piece)

    def finish(self) -> None:
        """Write everything to the disk and close the file, so that it can be moved: some systems move no open file."""
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):  # a full disk, which was reported already
            self._out.close()
        if isinstance(exc, NetworkError) and self.have is not None:
            self.kept = self.size
            return
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _write_note(self) -> None:
        if self._validator:
            write_json(self._note, {"key": self._key, "validator": self._validator})
        else:
            self._note.unlink(missing_ok=True)

    def _take_over(self, running: set[str]) -> None:
        """Continue the newest partial file of the same URL; delete those that nobody asked for again."""
        left = [path for path in self._folder.iterdir() if path.suffix == ".part" and path.stem not in running]
        left.sort(key=_changed, reverse=True)
        kept = 0
        for path in left:
            note = path.with_suffix(".json")
            key, validator = _read_note(note)
            if key == self._key and not self.size:
                with suppress(FileNotFoundError):  # another job was quicker
                    path.rename(self.path)
                    self.size, self._validator = self.path.stat().st_size, validator
                    self._write_note()
                note.unlink(missing_ok=True)
            elif key and kept < KEPT and time.time() - _changed(path) < KEPT_S:
                kept += 1
            else:
                path.unlink(missing_ok=True)
                note.unlink(missing_ok=True)


def sweep(directory: Path, running: set[str]) -> None:
    """Delete every partial file except those of the jobs in ``running``. Raises the errors of a folder that cannot be
    written."""
    for path in (directory / PARTS).glob("*"):
        if path.name.partition(".")[0] not in running:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise failure(error, path) from error


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # another job took it


def _read_note(path: Path) -> tuple[str, str]:
    """(key, validator); '' for both if the download cannot be continued."""
    try:
        note = read_json(path, _NOTE_BYTES)
        key, validator = note["key"], note["validator"]
    except (ValueError, TypeError, KeyError):
        return "", ""
    whole = isinstance(key, str) and isinstance(validator, str) and validator.isprintable() and bool(validator)
    return (key, validator) if whole else ("", "")
