"""Opens connections to the SQLite file, and turns failures of reading its rows into typed errors. The only module that
creates tables, which `schema` describes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from findling.model import errors, term_rows
from findling.model.reading import HASH_BYTES
from findling.model.types import SYMBOL_KINDS
from findling.store import parts
from findling.store.local import checksums, layout, schema
from findling.store.local.lock import WriterLock

# --- row check ----------------------------------------------------------------------------------------------------
# Whether the rows of a database are such as findling writes, told by taking every one of them apart.
#
# SQLite's own check says that pages and indexes are whole; what stands in a row it cannot know. This takes seconds for
# a large index: for when reading has failed, and it must be told whether the index is at fault or the program.

_PLAIN_NAME = re.compile(r"\w+", re.ASCII)
_KINDS = frozenset(("", "integer", "text", "blob", "real"))

_FAILURES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
"""The errors that unpacking a damaged row raises."""


def sound(connection: apsw.Connection) -> bool:
    """Whether nothing is wrong with the file, its rows, and what is packed in them. Within a transaction.

    Raises `apsw.Error` where that cannot be told.
    """
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return False
        if any(_holds_other_types(connection, table) for table in _tables(connection)):
            return False
        return all(check(connection) for check in (_meta, _texts, _readings, _vectors))
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, *_FAILURES):
        return False
    except apsw.IOError as error:
        if checksums.differ(error):
            return False
        raise


def _tables(connection: apsw.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in rows if _PLAIN_NAME.fullmatch(name)]


def _columns(connection: apsw.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Names and declared types, in small letters, of the columns that have a type."""
    for row in connection.execute(f"PRAGMA table_info({table})"):
        name, kind = row[1], row[2].lower()
        if not _PLAIN_NAME.fullmatch(name) or kind not in _KINDS:  # these become SQL
            raise ValueError("a column that findling does not make")
        if kind:
            yield name, kind


def _holds_other_types(connection: apsw.Connection, table: str) -> bool:
    other = [f"typeof({name}) NOT IN ('{kind}', 'null')" for name, kind in _columns(connection, table)]
    if not other:
        return False
    return connection.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(other)} LIMIT 1").fetchone() is not None


def _meta(connection: apsw.Connection) -> bool:
    values = dict(connection.execute("SELECT key, value FROM meta"))
    numbers = [values.get(key) for key in ("generation", "next_blob", "next_entry", "next_vector")]
    numbers.append(values.get("only_vectors", 0))
    return isinstance(values.get("identity"), bytes) and all(isinstance(number, int) for number in numbers)


def _texts(connection: apsw.Connection) -> bool:
    """Reading a text that is none raises."""
    for table in _tables(connection):
        if texts := [name for name, kind in _columns(connection, table) if kind == "text"]:
            for _ in connection.execute(f"SELECT {', '.join(texts)} FROM {table}"):
                pass
    return True


def _readings(connection: apsw.Connection) -> bool:
    for terms, symbols, uses, chunks in connection.execute("SELECT terms, symbols, uses, chunks FROM readings"):
        term_rows.unpack(terms)
        if any(symbol.kind not in SYMBOL_KINDS for symbol in parts.symbols(symbols)):
            return False
        parts.uses(uses)
        parts.chunks(chunks)
    return True


def _vectors(connection: apsw.Connection) -> bool:
    """Whole vectors, as many as there are hashes of texts."""
    odd = (
        "SELECT 1 FROM vectors v LEFT JOIN models m ON m.model_id = abs(v.model_id) WHERE m.row_bytes IS NULL "
        f"OR length(v.data) <> length(v.text_hashes) / {HASH_BYTES:d} * m.row_bytes "
        f"OR length(v.text_hashes) % {HASH_BYTES:d} LIMIT 1"
    )
    return connection.execute(odd).fetchone() is None


_LOOK_AGAIN_S = 0.01

_BUSY_MS = 10_000
"""How long a statement waits for another process's transaction; the longest is one batch of the indexer."""

_MMAP_BYTES = 1 << 30
"""Bytes of the file that are mapped into memory if pages have no checksums: reads then need no copy, and this is no
private memory."""

_VERSION_AT = 60
"""Where ``user_version`` stands in a database file."""

_MOST_VERSION = 1 << 20
"""Formats stay below this number; a higher one in a file means damage."""

_MADE_BY = {4: "findling 0.1.0"}


def connect(path: Path, *, create: bool = True) -> apsw.Connection:
    """Open (or create) the database file. Raises the typed errors of ``findling.model.errors`` only.

    A file that is not a database, is damaged, was emptied, or is of an older format raises `IndexDamaged`; of a later
    format, `IndexNewer`. A file that never had any is given its tables.
    """
    if foreign := layout.foreign(path.parent):
        raise schema.IndexDamaged(foreign)
    if layout.emptied(path.parent):
        raise schema.IndexDamaged(f"The index at {path} is empty.")
    try:
        connection = schema.open_unlinked(path, create=create)
        connection.set_busy_timeout(_BUSY_MS)
        if checksums.missing(connection):  # to each of the two, what the other writes looks like damage
            connection.close()
            raise errors.IndexUnavailable(
                f"The index at {path} has checksums, and this installation of apsw comes without cksumvfs.",
                remedy="Install apsw from its wheel, or keep an index of its own with --cache.",
            )
        if _size(path) == 0:
            checksums.begin(connection)
        _use_log(connection)
        connection.execute(f"PRAGMA synchronous=NORMAL; PRAGMA mmap_size={_MMAP_BYTES}; PRAGMA temp_store=MEMORY")
        version = schema.scalar(connection, "PRAGMA user_version")
        if version == 0:
            _create(connection)
            version = schema.scalar(connection, "PRAGMA user_version")
        known = (
            schema.scalar(connection, "SELECT value FROM meta WHERE key='identity'")
            if version == schema.FORMAT_VERSION
            else None
        )
    except apsw.Error as error:
        if checksums.differ(error) and (written := version_in_header(path)) > schema.FORMAT_VERSION:
            raise _newer(path, written) from error  # written by a program without checksums
        raise schema.map_error(error, path) from error
    if version > schema.FORMAT_VERSION:
        connection.close()
        raise _newer(path, version)
    if version == schema.FORMAT_VERSION and not isinstance(known, bytes):
        connection.close()
        raise schema.IndexDamaged(f"The index at {path} is damaged.")
    if version != schema.FORMAT_VERSION:
        connection.close()
        raise schema.IndexOlder(f"The index was made by {_MADE_BY.get(version, 'an earlier findling')}.")
    return connection


def _use_log(connection: apsw.Connection) -> None:
    """Turn the write-ahead log on. Retries, as SQLite does not wait when several processes do this at once."""
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(_LOOK_AGAIN_S)


def version_in_header(path: Path) -> int:
    """The format version in the file's first bytes, even if SQLite cannot open it; 0 if there is none."""
    try:
        with path.open("rb") as file:
            head = file.read(_VERSION_AT + 4)
    except OSError:
        return 0
    version = int.from_bytes(head[_VERSION_AT:], "big")
    return version if head.startswith(b"SQLite format 3\0") and version < _MOST_VERSION else 0


def _newer(path: Path, version: int) -> errors.IndexNewer:
    return errors.IndexNewer(
        f"The index at {path} has format {version}; this findling reads up to {schema.FORMAT_VERSION}.",
        remedy="Update findling, or delete the index to rebuild it.",
    )


def connect_to_read(path: Path) -> tuple[apsw.Connection, bool]:
    """As `connect`, and False. If the disk is too full for the file that SQLite's readers share, the last good state is
    opened without that file, and True: nothing may write while it is open, so use it for one question only."""
    try:
        return _connect_standing(path), False
    except errors.StorageFull:
        if _size(path) == 0 or _size(path.with_name(f"{path.name}-wal")):  # pages that only a log has would be missed
            raise
    from urllib.parse import quote

    uri = f"file:{quote(schema.real_path(path))}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(uri, flags=flags, vfs=checksums.way())
        connection.execute("PRAGMA temp_store=MEMORY")
        version = schema.scalar(connection, "PRAGMA user_version")
    except apsw.Error as error:
        raise schema.map_error(error, path) from error
    if version != schema.FORMAT_VERSION:  # it would be built anew, for which there is no room
        connection.close()
        raise schema.full(path.parent)
    return connection, True


def _connect_standing(path: Path) -> apsw.Connection:
    """As `connect`, but a missing file is created only while holding the writer role, since another process may be
    about to move a new store into this place (`rebuilding`)."""
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        standing = layout.file_id(path)
        try:
            if path.exists():
                return connect(path, create=False)
        except errors.FindlingError:
            # what stands there now may be another one, which came while this one was being opened
            same = path.exists() and layout.file_id(path) == standing
            if same or time.monotonic() >= until:
                raise
        try:
            role = WriterLock(path.parent, wait_s=0.0)
        except errors.IndexBusy:
            if time.monotonic() >= until:
                raise
            time.sleep(_LOOK_AGAIN_S)
            continue
        try:
            return connect(path)
        finally:
            role.release()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def shrink(connection: apsw.Connection) -> None:
    """Give the room of deleted rows back to the disk, if the disk has room for a copy and nobody reads."""
    connection.execute("PRAGMA temp_store=FILE")  # the copy would be as large as the index
    connection.set_busy_timeout(0)  # a reader may take long, and a question may wait for this
    with suppress(apsw.FullError, apsw.BusyError, apsw.LockedError, apsw.IOError):  # shrinking can wait
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.set_busy_timeout(_BUSY_MS)
    connection.execute("PRAGMA temp_store=MEMORY")


def _create(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if schema.scalar(connection, "PRAGMA user_version") == 0:  # another process may have been first
            connection.execute(Path(__file__).with_name("tables.sql").read_text("utf-8"))
            connection.execute(
                "INSERT INTO meta VALUES ('generation', 0), ('next_blob', 1), ('next_entry', 1), ('next_vector', 1)"
            )
            connection.execute("INSERT INTO meta VALUES ('identity', randomblob(16))")
            connection.execute(f"PRAGMA user_version={schema.FORMAT_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_NOT_OF_OURS = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
"""The errors that damaged rows cause when they are used: invalid text, a value of another type, too large a length."""


@contextmanager
def rows_of(path: Path) -> Iterator[None]:
    """Turns errors that reading rows raises into findling's own; damage becomes `IndexDamaged`."""
    try:
        yield
    except apsw.Error as error:
        raise schema.map_error(error, path) from error
    except _NOT_OF_OURS as error:
        if _shows_damage(path, error):
            raise schema.IndexDamaged(f"The index at {path} is damaged.") from error
        raise


def _shows_damage(path: Path, error: Exception) -> bool:
    """Whether damage in the file caused an error, and not a bug in findling: a check of every row decides."""
    if isinstance(error, UnicodeEncodeError):  # the request or the written value caused it, not the file
        return False
    try:
        connection = schema.open_unlinked(path, create=False)  # a connection that does not see the open transaction
        try:
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)  # a damaged schema must not open other files
            connection.execute("BEGIN")
            return not sound(connection)
        finally:
            connection.close()
    except apsw.Error:
        return False  # the disk does not answer, or another process is in the way: that proves no damage
