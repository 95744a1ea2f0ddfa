"""The SQLite file: what its rows mean, its format version, and what its failures are called.

`connections` opens it, and makes its tables (``tables.sql``):

* ``blobs``: one content in one language; ``git_id`` is git's name of it, where there is git. ``readings`` has what is
  known of it (`reading`) in parts, each packed by itself (`parts`, `term_rows`), so that only what is asked for is
  unpacked; of a converted document (a PDF) also its text, for all other text is only ever read from its file.
* ``definitions`` says which contents define a name, in the key under which its spellings meet.
* ``entries``: a blob at a path. What also sees the path (text index documents, vectors) belongs to an entry.
* ``manifests`` and ``manifest_files``: which entries, one at a path, stand in a folder or ref, with the size and the
  times that prove them unchanged (in ``mtime_ns``: `files.stamp_of`). A ref's manifest stands under its commit's id
  and holds what ``wanted`` says (the configuration's word on files); its files have no time.
* ``term_counts`` counts files per term key. What manifests have in common is counted once, under the number ``counts``
  of theirs (below 0), and what one differs by under its own id; the sum of both is its count.
* ``vectors``: an entry's chunk vectors of one model (`vector_codes`), in chunk order, with the hash of each embedded
  text (zeros: it could not be embedded). Under the number of a model below 0 (`begun`) stand those of entries that do
  not have all yet. ``models`` says how they are coded, ``docs`` whether documents have any.

Ids of blobs, entries and vectors are handed out by ``meta`` counters and never used twice, so that a derived index
which knows an id that the tables do not is merely ahead, never wrong. ``meta`` also holds the random ``identity`` of
this file, which derived indexes repeat: one that was made for another file of the same name is not used; and under
``tree:`` and a manifest's id what the listing depended on that it comes from (`TreeState`).
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw

from findling.model import errors
from findling.model.reading import read_by
from findling.store.local import checksums
from findling.store.local.layout import DATABASE as DATABASE
from findling.store.local.layout import FULLTEXT as FULLTEXT


class IndexDamaged(errors.IndexUnavailable):
    """The store cannot be trusted and has to be built anew; whoever owns it does so by itself."""


class TextIndexLost(IndexDamaged):
    """The text index is not there, or a look at its files shows that they are damaged."""


class IndexOlder(IndexDamaged):
    """Nothing is wrong with the store, but an earlier version wrote it; it is built anew as well."""


class CutOtherwise(errors.IndexBusy):
    """Another process has filled the store meanwhile, and cuts files by other sizes."""


READ_OTHERWISE = "read otherwise"
"""In place of the sizes that files were cut by: they are to be read again in any case."""


FORMAT_VERSION = 10
"""An index of another format is built anew."""


WITHOUT_TEXT = 2
"""Added to an entry's ``docs`` when the text index it stands in is lost: it is taken in again as another one, which
takes its vectors over."""


UNLISTED = -1
"""Stands for the modification time of a skipped file that a listing leaves out by its name, size or type."""

UNREAD = -2
"""In place of a skipped file's modification time: it could not be read, so it is tried again."""

FAILED = -3
"""Less the file's own time (ns), the same: its worker died or ran out of time twice. The next run over the whole folder
tries it again, and so does a question once the file is changed."""

_NO_ROOM_BYTES = 1 << 16
"""SQLite reports some writes to a full disk as other failures; with less room than this they are no mystery."""

FILE_STATES = (
    "SELECT e.path, m.size, m.mtime_ns FROM manifest_files m CROSS JOIN entries e USING (entry_id) "
    "WHERE m.manifest_id=?"
)
"""(path, size, mtime_ns) of a manifest's indexed files."""

FILE_STATES_BELOW = (
    "SELECT e.path, m.size, m.mtime_ns FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
    "WHERE m.manifest_id=? AND e.path>=? AND e.path<=?"
)
"""The same of those whose path is in a range."""

SKIPPED_STATES = f"SELECT path, size, mtime_ns FROM skipped_files WHERE manifest_id=? AND mtime_ns<>{UNLISTED}"
"""The same of the files that were skipped for their content."""


def begun(model_id: int) -> int:
    """The number that a model's vectors of entries stand under that do not have all yet."""
    return -model_id


def open_unlinked(path: Path, *, create: bool = True) -> apsw.Connection:
    """A connection to the file itself: a link in its place is not followed. Raises `apsw.Error`."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return apsw.Connection(real_path(path), flags=flags, vfs=checksums.way())


def real_path(path: Path) -> str:
    # SQLite refuses a link anywhere in the path; those above the store are the user's own.
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118


def identity(connection: apsw.Connection) -> bytes:
    """The 16 bytes that tell this file from any other that stood or will stand in its place."""
    return bytes(scalar(connection, "SELECT value FROM meta WHERE key='identity'"))


def chunking(connection: apsw.Connection) -> str:
    """The sizes that the files were cut by (`findling.reading.chunks`), '' for the default ones.

    `READ_OTHERWISE` where another version than ours read them, or masked their secrets.
    """
    if scalar(connection, "SELECT value FROM meta WHERE key='read_by'") != read_by():
        return READ_OTHERWISE
    return str(scalar(connection, "SELECT value FROM meta WHERE key='chunking'") or "")


def size(connection: apsw.Connection) -> int:
    """Bytes of the tables' file, without its log."""
    return int(scalar(connection, "PRAGMA page_count")) * int(scalar(connection, "PRAGMA page_size"))


_BATCH = 500
"""Ids per statement."""


def batches(ids: Iterable[int]) -> Iterator[str]:
    """The ids as SQL lists. They are integers of our own, so they need no binding."""
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        yield ",".join([f"{key:d}" for key in wanted[start : start + _BATCH]])


def tree_key(manifest_id: int) -> str:
    """The key under which ``meta`` holds what the last listing of a manifest's folder depended on."""
    return f"tree:{manifest_id}"


def scalar(connection: apsw.Connection, sql: str, *values: Any) -> Any:
    """The first value of the first row, None where there is none."""
    row = connection.execute(sql, values).fetchone()
    return row[0] if row else None


_LACKS_OURS = re.compile(r"no such table|no such column|has no column named|already exists")
"""What SQLite says of a statement when the file holds other tables than ours."""


_FAILED_WRITES = (
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_FSYNC,
    apsw.SQLITE_IOERR_TRUNCATE,
    apsw.SQLITE_IOERR_SHMSIZE,
)


def map_error(error: apsw.Error, path: Path) -> errors.FindlingError:
    """A SQLite failure as findling's own error. Raises ``error`` itself where a statement is at fault, not the file."""
    if isinstance(error, apsw.SQLError) and not _LACKS_OURS.search(str(error)):
        raise error
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_CANTOPEN_SYMLINK:
        return IndexDamaged(f"{path} is a link.")
    if isinstance(error, apsw.FullError):
        return full(path.parent)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return errors.IndexBusy(f"Another process is writing the index at {path.parent}.", remedy="Try again.")
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        return errors.IndexUnavailable(
            f"The index at {path.parent} cannot be opened for writing.",
            remedy="Check the folder's permissions, or use --cache to keep the index in your cache folder.",
        )
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.SQLError) or checksums.differ(error):
        return IndexDamaged(f"The index at {path} is damaged.")
    if isinstance(error, apsw.IOError) and is_full(path.parent):
        return full(path.parent)
    if getattr(error, "extendedresult", 0) in _FAILED_WRITES:
        return errors.IndexUnavailable(
            f"The index at {path} cannot be written: {error}; it keeps its last good state.",
            remedy="Check the disk, and the limit on the size of files (ulimit -f).",
        )
    return errors.IndexUnavailable(f"The index at {path} cannot be read: {error}")


def map_os_error(error: OSError, directory: Path) -> errors.FindlingError:
    """A failed write of a derived file as findling's own error."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return full(directory)
    return errors.IndexUnavailable(f"The index at {directory} cannot be written: {error.strerror}")


def full(directory: Path) -> errors.StorageFull:
    """The error for a disk without room."""
    return errors.StorageFull(
        f"The disk that holds {directory} is full; the index keeps its last good state.",
        remedy="Free some room and run the command again.",
    )


def is_full(directory: Path) -> bool:
    """Whether the disk of a folder has no room for anything more."""
    try:
        return shutil.disk_usage(directory).free < _NO_ROOM_BYTES
    except OSError:
        return False
