"""What has come of a download so far: kept where its server lets one go on, so that the next try need not begin anew.

A part lies in a folder of its own under the id of the job that fetches it, with a note of what it is a part of. A part
whose job has ended is taken over by the next job for the same, or swept away after a while. Knows no network.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from findling.engine.jobs.small_files import failure, make_folder, read_json, write_json
from findling.engine.library.place import PARTS
from findling.model.errors import NetworkError
from findling.outbound.fetch import Part

KEPT_S: Final = 86_400.0
"""Whoever wants a file tries again within a day, or begins anew."""

KEPT: Final = 8
"""Parts of jobs that have ended; the oldest go first."""

_NOTE_BYTES: Final = 10_000


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
        """What a server may be told is there; None where all must be asked for."""
        return Part(self.size, self._validator) if self.size and self._validator else None

    def begin(self, part: Part) -> None:
        """What is written next comes after the first ``part.size`` bytes."""
        self._out.truncate(part.size)
        self.size, self._validator = part
        self._write_note()

    def write(self, piece: bytes) -> None:
        self._out.write(piece)
        self.size += len(piece)

    def finish(self) -> None:
        """Everything is on the disk, and can be moved to its place: some systems move no open file."""
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):  # a full disk, which has been told of
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
        """Go on with the newest part of the same file; forget parts that nobody asked for again."""
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
    """Forget every part but those of the jobs in ``running``. Raises the errors of a folder that cannot be written."""
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
    """(key, validator); '' for both where nothing can be gone on with."""
    try:
        note = read_json(path, _NOTE_BYTES)
        key, validator = note["key"], note["validator"]
    except (ValueError, TypeError, KeyError):
        return "", ""
    whole = isinstance(key, str) and isinstance(validator, str) and validator.isprintable() and bool(validator)
    return (key, validator) if whole else ("", "")
