"""Small files that several processes write: whole or absent, one writer at a time, never larger than a bound.

By locks on such files processes also take turns. Knows nothing of what is in them.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from findling.model.errors import FindlingError, IndexBusy, IndexUnavailable, StorageFull
from findling.store import local as store
from findling.store.local.layout import LOCK

LOCK_WAIT_S = 10.0
"""Others hold the lock for as long as it takes to write a small file."""

_NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def only_writer(directory: Path, *, wait_s: float = LOCK_WAIT_S, number: int = 0) -> Iterator[None]:
    """Nobody else is in such a block for this folder, which is made if need be; with other numbers others may be.

    Raises `IndexBusy` when that takes longer than ``wait_s``, and `IndexUnavailable` for a folder that cannot be
    written. The system ends the role with its process.
    """
    make_folder(directory)
    try:
        lock = store.WriterLock(directory, wait_s=wait_s, name=f"{LOCK}-{number}" if number else LOCK)
    except IndexBusy as error:
        raise IndexBusy(f"Another process is writing to {directory}.", remedy="Try again when it has ended.") from error
    try:
        yield
    finally:
        lock.release()


def make_folder(directory: Path) -> None:
    """Private to the user: it repeats words of files that others may not be allowed to read."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise failure(error, directory) from error


def read_json(path: Path, most_bytes: int) -> Any:
    """What a file holds; None when there is none. Raises ValueError for what is no JSON of that size."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(error, path) from error
    if len(data) > most_bytes:
        raise ValueError(f"it is larger than {most_bytes:,} bytes")
    return json.loads(data)


def write_json(path: Path, value: Any) -> None:
    """Replace a file as a whole: a reader, or the next start after a loss of power, sees the old one or the new."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=True, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise failure(error, path) from error


def failure(error: OSError, path: Path) -> FindlingError:
    """A failure of the file system in the library's own folder as one of ours."""
    if error.errno in _NO_ROOM:
        return StorageFull(f"No room for {path}.", remedy="Free some space.")
    return IndexUnavailable(
        f"{path} cannot be used: {error.strerror or error}.",
        remedy="Check its permissions, or set FINDLING_DATA_DIR to another folder.",
    )


_LOOK_AGAIN_S: Final = 0.1


class Turns(Struct, frozen=True):
    """``folder`` is shared by all that count together; the system gives a place back with its process."""

    folder: Path
    at_once: int

    @contextmanager
    def taken(self, wait: Callable[[], bool]) -> Iterator[bool]:
        """Be among ``at_once`` at the most. ``wait`` is asked again and again whether to wait on, and may raise; when
        it says no, the block is entered without a place, and is given False."""
        with ExitStack() as role:
            while not (mine := self._take(role)) and wait():
                time.sleep(_LOOK_AGAIN_S)
            yield mine

    def _take(self, role: ExitStack) -> bool:
        for number in range(self.at_once):
            try:
                role.enter_context(only_writer(self.folder, wait_s=0.0, number=number))
            except IndexBusy:
                continue
            return True
        return False
