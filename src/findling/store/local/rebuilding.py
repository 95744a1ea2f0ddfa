"""A store that is built beside the one in use, and takes its place when it is whole.

So questions are answered by the old one meanwhile, and whoever is interrupted, or killed, still has it. One that an
earlier version wrote answers nothing; it lies aside until the new one is whole. Knows nothing of how a store is filled.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from findling.model import errors
from findling.store.local import layout, schema
from findling.store.local.layout import DATABASE, LOCK, WATCHER
from findling.store.local.lock import WriterLock

_FOLDER = "findling-anew-"
"""What the names of such folders begin with; they lie in the store that they are to replace, on the same disk."""

_OLD = "old"
"""The folder in one that takes the old store up, so that the moment without one does not grow with its size."""

_MOMENT_S = 1.0
_LOOK_AGAIN_S = 0.002
"""How long taking a place may take (it is renaming a few files), and how often it is looked whether it is over."""

_OLDER = "findling-older"
"""The folder that an index of an earlier version lies in until the new one is whole."""

_ROLE = "anew.lock"
"""Held in the store for as long as somebody builds beside it: one at a time, and nobody clears up under it."""


@contextmanager
def beside(directory: Path, *, wait_s: float) -> Iterator[Path]:
    """An empty folder for a new store, gone when the block ends with what `take_place` has not taken.

    Raises `IndexBusy` when somebody else writes, or builds beside it, for longer than ``wait_s``, `StorageFull` and
    `IndexUnavailable`.
    """
    WriterLock(directory, wait_s=wait_s).release()  # who writes for longer would be waited for in vain at the end
    role = WriterLock(directory, wait_s=wait_s, name=_ROLE)
    try:
        _clear(directory)
        try:
            folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=directory))
        except OSError as error:
            raise schema.map_os_error(error, directory) from error
        try:
            yield folder
        finally:
            layout.discard(folder)
    finally:
        role.release()


def take_place(directory: Path, folder: Path, *, wait_s: float) -> None:
    """Put what was built in ``folder`` (`beside`) in the place of what is in ``directory``; nobody may have it open.

    Who comes in the moment between waits for the writer role. Who is killed in it loses the work, and a run does it
    again. Raises `IndexBusy` when another process writes for longer than ``wait_s``, and `IndexUnavailable`; then
    the old one is where it was.
    """
    built = _files(folder)
    if folder / DATABASE not in built:
        raise errors.IndexUnavailable(f"What was built in {folder} has been taken away.", remedy="Try again.")
    old = folder / _OLD
    lock = WriterLock(directory, wait_s=wait_s)
    moved: list[tuple[Path, Path]] = []
    try:
        old.mkdir()
        # of the old one the tables go first, of the new one they come last: without them the rest is nobody's
        steps = [(path, old / path.name) for path in reversed(_files(directory))]
        steps += [(path, directory / path.name) for path in built]
        for source, target in steps:
            source.rename(target)
            moved.append((source, target))
    except OSError as error:
        for source, target in reversed(moved):
            target.rename(source)
        raise schema.map_os_error(error, directory) from error
    finally:
        lock.release()


def set_aside(directory: Path) -> None:
    """Make room for a new store where an earlier version's stands, which is kept until `forget_older`. The caller has
    the writer role. Raises `IndexUnavailable` and `StorageFull`."""
    older = directory / _OLDER
    try:
        layout.discard(older)
        older.mkdir()
        for path in reversed(_files(directory)):  # the tables first: without them the rest is nobody's
            path.rename(older / path.name)
    except OSError as error:
        raise schema.map_os_error(error, directory) from error


def forget_older(directory: Path) -> None:
    """Delete what `set_aside` has kept: the new store is whole."""
    layout.discard(directory / _OLDER)


def _files(directory: Path) -> list[Path]:
    """A store's files and folders without those of roles, the tables last."""
    own = [path for path in directory.iterdir() if layout.is_own(path) and not path.name.startswith((LOCK, WATCHER))]
    return sorted(own, key=lambda path: (path.name.startswith(DATABASE), path.name == DATABASE))


def comes(directory: Path) -> bool:
    """Whether a store stands in a folder where none stood just now: one may be taking another's place."""
    until = time.monotonic() + _MOMENT_S
    while any(directory.glob(f"{_FOLDER}*/{_OLD}")) and time.monotonic() < until:
        if (directory / DATABASE).exists():
            return True
        time.sleep(_LOOK_AGAIN_S)
    return (directory / DATABASE).exists()


def clear_left(directory: Path) -> None:
    """Remove what somebody has left who was killed while he built; nothing while somebody builds."""
    if not any(directory.glob(f"{_FOLDER}*")):
        return
    try:
        role = WriterLock(directory, wait_s=0.0, name=_ROLE)
    except errors.FindlingError:  # it is in use, or cannot be written: then nothing can be removed either
        return
    try:
        _clear(directory)
    finally:
        role.release()


def _clear(directory: Path) -> None:
    for folder in directory.glob(f"{_FOLDER}*"):
        if not layout.not_a_folder(folder):
            layout.discard(folder)
