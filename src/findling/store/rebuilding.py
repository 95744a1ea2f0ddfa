"""A store that is built beside the one in use, and takes its place when it is whole.

So questions are answered by the old one meanwhile, and whoever is interrupted, or killed, still has it. Knows nothing
of how a store is filled.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from findling import errors
from findling.store import layout, soundness
from findling.store.layout import DATABASE, LOCK, WATCHER
from findling.store.lock import WriterLock

_FOLDER = "anew-"
"""What the names of such folders begin with; they lie in the store that they are to replace, on the same disk."""

_IN_USE = "anew.lock"
"""Held in one for as long as somebody builds there."""


@contextmanager
def beside(directory: Path) -> Iterator[Path]:
    """An empty folder for a new store. It is gone when the block ends, with what `take_place` has not taken."""
    clear_left(directory)
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=directory))
    try:
        lock = WriterLock(folder, wait_s=0.0, name=_IN_USE)
        try:
            yield folder
        finally:
            lock.release()
    finally:
        layout.discard(folder)


def take_place(directory: Path, folder: Path, *, wait_s: float) -> None:
    """Put what was built in ``folder`` in the place of what is in ``directory``; nobody may have the new one open.

    Who asks in the moment between finds no index. A crash then costs the work, and a run builds it again. Raises
    `IndexBusy` when another process writes for longer than ``wait_s``.
    """
    lock = WriterLock(directory, wait_s=wait_s)
    try:
        soundness.discard(directory)
        built = [path for path in folder.iterdir() if layout.is_own(path) and not path.name.startswith((LOCK, WATCHER))]
        # the tables last: what stands there without them is nobody's
        for path in sorted(built, key=lambda path: path.name == DATABASE):
            path.rename(directory / path.name)
    except OSError as error:
        raise errors.IndexUnavailable(
            f"The index at {directory} cannot be replaced: {error.strerror}.", remedy="Check the folder's permissions."
        ) from error
    finally:
        lock.release()


def clear_left(directory: Path) -> None:
    """Remove what somebody has left who was killed while he built."""
    for folder in directory.glob(f"{_FOLDER}*"):
        if layout.not_a_folder(folder):
            continue
        try:
            WriterLock(folder, wait_s=0.0, name=_IN_USE).release()
        except errors.IndexBusy:
            continue
        layout.discard(folder)
