"""The writer role: at most one process writes an index; it passes on when its holder ends, however it ends."""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw

from findling import errors
from findling.store.schema import map_error

LOCK = "writer.lock"

_POLL_S = 0.02


class WriterLock:
    """An exclusive transaction on a small database of its own; the system drops it with the process.

    Raises `IndexBusy` when the role is not free within ``wait_s``.
    """

    def __init__(self, directory: Path, *, wait_s: float) -> None:
        path = directory / LOCK
        self._connection = _open(path)
        self._connection.set_busy_timeout(0)
        until = time.monotonic() + wait_s
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError as error:
                if time.monotonic() >= until:
                    self._connection.close()
                    raise errors.IndexBusy(
                        f"Another process is indexing into {directory}.", remedy="Its work will be seen when it ends."
                    ) from error
                time.sleep(_POLL_S)
            except apsw.Error as error:
                self._connection.close()
                raise map_error(error, path) from error

    def release(self) -> None:
        self._connection.close()


def _open(path: Path) -> apsw.Connection:
    """A connection to the lock file, which holds nothing: one that is not a database is made anew."""
    try:
        connection = apsw.Connection(os.fspath(path))
        connection.execute("PRAGMA user_version").fetchone()
    except (apsw.NotADBError, apsw.CorruptError):
        path.unlink(missing_ok=True)
        connection = apsw.Connection(os.fspath(path))
    except apsw.Error as error:
        raise map_error(error, path) from error
    return connection
