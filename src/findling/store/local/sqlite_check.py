"""What this machine's SQLite can do, tried on a database of its own. Touches no store."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import apsw

from findling.store.local.schema import open_unlinked


class SqliteCheck(NamedTuple):
    """``wal``: a database with a write-ahead log could be written and read back."""

    version: str
    wal: bool


def check() -> SqliteCheck:
    """Raises OSError when there is no folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="findling-") as folder:
        try:
            connection = apsw.Connection(str(Path(folder) / "check.db"))
            try:
                mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()
                connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
                read_back = connection.execute("SELECT x FROM t").fetchone()
            finally:
                connection.close()
        except apsw.Error:
            return SqliteCheck(apsw.sqlite_lib_version(), False)
    return SqliteCheck(apsw.sqlite_lib_version(), mode == ("wal",) and read_back == (1,))


def journal_mode(database: Path) -> str:
    """Of an existing database, such as ``wal``; '' when it cannot be asked."""
    try:
        connection = open_unlinked(database, create=False)
        try:
            row = connection.execute("PRAGMA journal_mode").fetchone()
        finally:
            connection.close()
    except apsw.Error:
        return ""
    return str(row[0]) if row else ""
