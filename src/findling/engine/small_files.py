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
    """A block that one process at a time can be in, for each folder and ``number``. The folder is made if need be.

    Raises `IndexBusy` when that takes longer than ``wait_s``, and `IndexUnavailable` for a folder that cannot be
    written. The system frees the lock when its process ends.
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
    """Make a folder that only the user can read, as it repeats words of files that others may not read."""
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
    """The error to raise for a failure of the file system in a folder of findling's own."""
    if error.errno in _NO_ROOM:
        return StorageFull(f"No room for {path}.", remedy="Free some space.")
    return IndexUnavailable(
        f"{path} cannot be used: {error.strerror or error}.",
        remedy="Check its permissions, or set FINDLING_DATA_DIR to another folder.",
    )


_LOOK_AGAIN_S: Final = 0.1


class Turns(Struct, frozen=True):
    """At most ``at_once`` processes have a turn at the same time, of all that share a ``folder``. The system frees a
    place when its process ends."""

    folder: Path
    at_once: int

    @contextmanager
    def taken(self, wait: Callable[[], bool]) -> Iterator[bool]:
        """A block with a turn (True). While there is none, ``wait`` is called again and again, and may raise; when it
        returns False, the block is entered without a turn (False)."""
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
