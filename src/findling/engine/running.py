"""How far a run over an index is, told beside the index while it lasts: for other threads, and for other processes.

What is told is for people to read; nothing is decided by it. Must not know what is run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from findling import errors
from findling.types import Progress

if TYPE_CHECKING:
    from findling.engine.store import OpenStore
    from findling.store.lock import WriterLock

TOLD = "running.json"
ROLE = "running.lock"
"""Held by who tells of a run, so that nobody believes what a killed process told. Of several runs one is told of."""

TOLD_EVERY_S = 1.0
"""Between two tellings, and before the first: most runs are over by then, and write nothing."""

_TOLD_BYTES = 10_000
"""What is larger was not written here."""

_TEXT_CHARS = 5_000
"""Of a word in it: the longest is the path of a root."""

_NUMBERS = frozenset(("done", "total"))


@dataclass(frozen=True, slots=True)
class Running:
    """A run. ``mode``: over everything, or over named files. ``root`` and ``ref``: as `OpenStore.manifest_key`.
    ``stage``, ``done`` and ``total`` as in `Progress`."""

    run_id: str
    mode: Literal["full", "incremental"]
    root: str
    ref: str
    created_at: str
    stage: str
    done: int
    total: int

    @property
    def pending(self) -> int:
        """Files that it has still to take in, as far as that is known by now."""
        return max(0, self.total - self.done) if self.stage == "indexing" else 0


class Telling:
    """Takes a run's progress, passes it on, and tells it beside the index; for the thread of the run."""

    def __init__(self, store: OpenStore, progress: Callable[[Progress], None] | None, *, whole: bool) -> None:
        self._store = store
        self._progress = progress
        self._mode: Literal["full", "incremental"] = "full" if whole else "incremental"
        self._run_id = os.urandom(6).hex()
        self._created_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._next_at = time.monotonic() + TOLD_EVERY_S
        self._role: WriterLock | None = None
        self._path: Path | None = None

    def __call__(self, progress: Progress) -> None:
        if self._progress is not None:
            self._progress(progress)
        now = time.monotonic()
        ends = self._role is not None and progress.done >= progress.total > 0  # what comes after a stage may take long
        if now >= self._next_at or ends:
            self._next_at = now + TOLD_EVERY_S
            with suppress(OSError, errors.FindlingError):  # the run itself says what is wrong with the folder
                self._tell(progress)

    def _tell(self, progress: Progress) -> None:
        from findling.store.lock import WriterLock

        if self._role is None:
            directory = self._store.directory
            self._role = WriterLock(directory, wait_s=0.0, name=ROLE)
            self._path = directory / TOLD
        if self._path is None:
            return
        root, ref = self._store.manifest_key
        told = Running(
            self._run_id, self._mode, root, ref, self._created_at, progress.stage, progress.done, progress.total
        )
        partial = self._path.with_suffix(f".{os.getpid()}.tmp")
        partial.unlink(missing_ok=True)
        with partial.open("x", encoding="utf-8") as file:  # never through a link that somebody has put there
            json.dump(asdict(told), file)
        partial.replace(self._path)

    def pause(self) -> None:
        """Nothing is told until the run gets on: others may write meanwhile, and tell of it."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        if self._role is not None:
            self._role.release()
        self._role = self._path = None


@contextmanager
def telling(store: OpenStore, progress: Callable[[Progress], None] | None, *, whole: bool) -> Iterator[Telling]:
    """What a run calls instead of ``progress``; one within another run is told of by that one."""
    if isinstance(progress, Telling):
        yield progress
        return
    told = Telling(store, progress, whole=whole)
    try:
        yield told
    finally:
        told.pause()


def running(store: OpenStore) -> Running | None:
    """The run that goes on over what the store shows, None where none is told of. Changes nothing."""
    told = _read(store.directory / TOLD)
    if told is None or (told.root, told.ref) != store.manifest_key or not _taken(store.directory):
        return None
    return told


def _read(path: Path) -> Running | None:
    from findling.store import layout

    try:
        if layout.not_a_file(path):
            return None
        with path.open("rb") as file:
            row = json.loads(file.read(_TOLD_BYTES))
    except (OSError, ValueError, RecursionError):
        return None  # there is none, or it was not written by this version
    return Running(**row) if _is_sound(row) else None


def _is_sound(row: Any) -> bool:
    if not isinstance(row, dict) or row.keys() != {field.name for field in fields(Running)}:
        return False
    numbers, texts = [row[name] for name in _NUMBERS], [row[name] for name in row.keys() - _NUMBERS]
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(text, str) and len(text) <= _TEXT_CHARS for text in texts)
        and row["mode"] in ("full", "incremental")
    )


def _taken(directory: Path) -> bool:
    """Whether somebody tells of a run just now."""
    from findling.store.lock import WriterLock

    try:
        WriterLock(directory, wait_s=0.0, name=ROLE).release()
    except errors.IndexBusy:
        return True
    except errors.FindlingError:
        return False  # who may not take a role cannot ask whether it is taken
    return False
