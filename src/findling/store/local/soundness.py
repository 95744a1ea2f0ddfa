"""Can the store in a folder be used, and how one that cannot is removed so that it is built anew.

Everything in a store is derived from the files, so nothing is lost with it but work; vectors, which a service may have
been paid for, outlive the loss of the text index. Knows nothing of how a store is filled.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from findling.model import errors
from findling.store.local import batches, checksums, connections, fulltext, fulltext_files, layout, rebuilding, schema
from findling.store.local.layout import DATABASE, FULLTEXT, LOCK
from findling.store.local.lock import WriterLock
from findling.store.local.schema import open_unlinked

_LOOKS = 3

_KEPT = layout.NOT_DERIVED | {LOCK}


def problem(directory: Path) -> str:
    """Why the store has to be built anew, '' when it is sound or when there is none.

    Raises `IndexNewer`, `IndexBusy` and, when the folder's permissions forbid it, `IndexUnavailable`.
    """
    found = ""
    for _ in range(_LOOKS):
        standing = layout.file_id(directory / DATABASE)
        of_tables, of_text = _problems(directory)
        found = of_tables or of_text
        if not found or layout.file_id(directory / DATABASE) == standing:
            break  # else another store took this one's place between the looks at its parts
    return found


def _problems(directory: Path, *, read: bool = False) -> tuple[str, str]:
    """What is wrong with the tables, and what with the text index beside them; ``read`` as `fulltext_files.usable`."""
    if foreign := layout.foreign(directory):
        return foreign, ""
    database = directory / DATABASE
    if not database.exists():
        return "", ""
    try:
        connection, _ = connections.connect_to_read(database)
    except schema.IndexDamaged as damage:
        return damage.message, ""
    try:
        filled = connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is not None
        identity = schema.identity(connection)
    except apsw.Error as error:
        mapped = schema.map_error(error, database)
        if isinstance(mapped, schema.IndexDamaged):
            return mapped.message, ""
        raise mapped from error
    finally:
        connection.close()
    if filled and not fulltext_files.usable(directory / FULLTEXT, identity, read=read):
        return "", f"The text index at {directory / FULLTEXT} is missing or damaged."
    return "", ""


def format_of(directory: Path) -> int | None:
    """The format of the index in a folder; None where there is none, or it cannot be asked."""
    try:
        connection = schema.open_unlinked(directory / DATABASE, create=False)
        try:
            row: Any = connection.execute("PRAGMA user_version").fetchone()
        finally:
            connection.close()
    except apsw.Error as error:
        return connections.version_in_header(directory / DATABASE) if checksums.differ(error) else None
    return int(row[0])


def is_older(directory: Path) -> bool:
    """Whether an earlier version of findling wrote the index in a folder, so that it is built anew though sound."""
    version = format_of(directory)
    return version is not None and 0 != version < schema.FORMAT_VERSION


def mend(directory: Path, *, wait_s: float, met: bool = False, unless: Callable[[], bool] = lambda: False) -> None:
    """Do away with what `problem` says, unless another process has: so that everything is built anew or, where only the
    text index was lost, every file is taken in anew and finds its vectors. What an earlier version wrote is set aside.

    ``met``: damage was met that a look may not show, so that what seems sound goes as well. ``unless`` and what is
    raised: as `remove`.
    """
    lock = WriterLock(directory, wait_s=wait_s)
    try:
        if unless():
            return
        of_tables, of_text = _problems(directory, read=True)
        if of_text and not of_tables:
            _forget_text(directory)
        elif of_tables and is_older(directory):
            rebuilding.set_aside(directory)
        elif of_tables or met:
            _discard(directory)
    finally:
        lock.release()


def _forget_text(directory: Path) -> None:
    """Let every file be taken in anew, into an empty text index. First the tables: else, after a crash in between, an
    empty text index would pass for theirs."""
    connection = connections.connect(directory / DATABASE)
    try:
        with connections.rows_of(directory / DATABASE), connection:
            rows: list[Any] = connection.execute("SELECT manifest_id FROM manifests").fetchall()
            for (manifest_id,) in rows:
                batches.drop(connection, manifest_id)
            connection.execute("UPDATE entries SET docs = docs | ?", (schema.WITHOUT_TEXT,))
            connection.execute("UPDATE meta SET value=value+1 WHERE key='generation'")
            identity = schema.identity(connection)
    except apsw.Error as error:
        raise schema.map_error(error, directory / DATABASE) from error
    finally:
        connection.close()
    fulltext.create(directory / FULLTEXT, identity)


def remove(directory: Path, *, wait_s: float, unless: Callable[[], bool] = lambda: False) -> None:
    """Delete everything derived; the folder itself, its configuration and whatever else somebody put there stay.

    ``unless`` is asked once no other process writes: it may have built the store anew meanwhile. Raises `IndexBusy`
    when that takes longer than ``wait_s``.
    """
    lock = WriterLock(directory, wait_s=wait_s)
    try:
        if unless():
            return
        _discard(directory)
    finally:
        lock.release()


def _discard(directory: Path) -> None:
    try:
        # The tables first: what is left without them belongs to no identity, so a crash in between does no harm.
        layout.discard(directory / DATABASE)
        for path in list(directory.iterdir()):
            if layout.is_own(path) and path.name not in _KEPT and not path.name.startswith(LOCK):
                layout.discard(path)
    except OSError as error:
        raise errors.IndexUnavailable(
            f"The index at {directory} cannot be removed: {error.strerror}.", remedy="Check the folder's permissions."
        ) from error


# --- sqlite check -------------------------------------------------------------------------------------------------
# What this machine's SQLite can do, tried on a database of its own. Touches no store.


class SqliteCheck(NamedTuple):
    """``wal``: a database with a write-ahead log could be written and read back."""

    version: str
    wal: bool


def check_sqlite() -> SqliteCheck:
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
