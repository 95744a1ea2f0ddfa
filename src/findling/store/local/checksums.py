"""A checksum on every page of a database, so that what a disk has changed is not taken for what was written.

SQLite itself sees damage only where it breaks the structure of a page. Its extension ``cksumvfs``, which comes with
apsw, keeps eight bytes at the end of each page and compares them when the page is read. Where it is missing there are
no checksums. A database that has none stays as it is; any SQLite reads one that has some.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import apsw

_BYTES = 8
"""Bytes reserved at the end of each page. The extension takes this number as the sign that pages have checksums."""

PLAIN = apsw.vfs_names()[0]
_CHECKED = "cksmvfs"
"""The VFS by which files are read and written without the extension, and with it."""

_ENDINGS = (".so", ".dylib", ".dll")


@cache
def available() -> bool:
    """Whether databases that are opened from now on have their checksums compared."""
    folder = Path(apsw.__file__).with_name("sqlite_extra_binaries")
    found = [file for ending in _ENDINGS if (file := folder / f"cksumvfs{ending}").is_file()]
    if not found:
        return False
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(os.fspath(found[0]))
    except apsw.Error:
        return False
    finally:
        connection.close()
        apsw.set_default_vfs(PLAIN)  # whoever else uses SQLite in this process asked for none
    return True


def way() -> str:
    """The VFS by which databases are opened."""
    return _CHECKED if available() else PLAIN


def missing(connection: apsw.Connection) -> bool:
    """Whether a database has checksums that nobody here could write."""
    return not available() and connection.reserve_bytes() == _BYTES


def begin(connection: apsw.Connection) -> None:
    """Let a database without tables have checksums, where there can be any."""
    if available():
        connection.reserve_bytes(reserve=_BYTES)


def differ(error: apsw.Error) -> bool:
    """Whether SQLite has failed because a page is not what was written."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
