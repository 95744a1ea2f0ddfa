"""The writer role: at most one process writes an index; it passes on when its holder ends, however it ends."""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from findling.model import errors
from findling.store.local import layout
from findling.store.local.layout import LOCK as LOCK
from findling.store.local.schema import map_error, open_unlinked

_POLL_S = 0.02


class WriterLock:
    """An exclusive transaction on a small database of its own; the system drops it with the process.

    Raises `IndexBusy` when the role is not free within ``wait_s``. ``name``: another role's file.
    """

    def __init__(self, directory: Path, *, wait_s: float, name: str = LOCK) -> None:
        path = directory / name
        self._path = path
        self._connection = _open(path)
        self._connection.set_busy_timeout(0)
        until = time.monotonic() + wait_s
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                break
            except apsw.BusyError as error:
                if time.monotonic() >= until:
                    self._connection.close()
                    raise errors.IndexBusy(
                        f"Another process is writing the index in {directory}.", remedy="Try again when it has ended."
                    ) from error
                time.sleep(_POLL_S)
            except apsw.Error as error:
                self._connection.close()
                raise map_error(error, path) from error

        self._inode = layout.file_id(path)

    @property
    def stands(self) -> bool:
        """Whether it still keeps others out: its file may have been deleted with the index."""
        return self._inode is not None and layout.file_id(self._path) == self._inode

    def release(self) -> None:
        self._connection.close()


def _open(path: Path) -> apsw.Connection:
    """A connection to the lock file, which holds nothing: one that is not a database is made anew."""
    try:
        for suffix in layout.SQLITE_SUFFIXES:
            beside = path.with_name(path.name + suffix)
            if layout.not_a_file(beside):
                layout.discard(beside)
        try:
            connection = open_unlinked(path)
            connection.execute("PRAGMA user_version").fetchone()
        except (apsw.NotADBError, apsw.CorruptError):
            path.unlink(missing_ok=True)
            connection = open_unlinked(path)
    except apsw.Error as error:
        raise map_error(error, path) from error
    except OSError as error:
        raise errors.IndexUnavailable(
            f"The index at {path.parent} cannot be opened for writing.", remedy="Check the folder's permissions."
        ) from error
    return connection
