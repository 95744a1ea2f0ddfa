"""The SQLite file: its tables, its format version, and how a connection to it is opened.

The only module that may create tables. What the rows mean:

* ``blobs``: one content in one language; ``git_id`` is git's name of it, where there is git. ``chunks`` (`chunk_rows`,
  with the SHA-256 of each one's text unless it is a document's), ``symbols`` (`symbol_rows`), ``terms`` (`term_rows`)
  and ``definitions`` (which contents define a name) belong to it alone.
* ``sections``: what is kept of a document's chunks besides (``chunk_id`` is ``blob_id << CHUNK_BITS | ordinal``): the
  SHA-256 of the text, the headings above it, and where the text itself stands in ``doc_texts``, for the views (`views`)
  and for documents that were converted; code is only ever read from its file. A text goes on to where the next chunk
  begins, so that nothing between them is lost, and begins ``skip`` bytes before the chunk, whose ``size`` bytes follow.
  ``coded``: in the bytes that ``text_codes`` explains (`text_codes`).
* ``entries``: a blob at a path. What also sees the path (text index documents, vectors) belongs to an entry.
* ``manifests`` and ``manifest_files``: which entries, one at a path, stand in a folder or ref, with the size and
  modification time that prove them unchanged. A ref's manifest stands under its commit's id and holds what ``wanted``
  says (the configuration's word on files); its files have no time.
* ``term_counts`` counts files per term (`count_rows`). What manifests have in common is counted once, under the number
  ``counts`` of theirs (below 0), and what one differs by under its own id; the sum of both is its count.
* ``vectors``: an entry's chunk vectors of one model (`vector_codes`), in chunk order, with the hash of each embedded
  text (zeros: it could not be embedded). Under the number of a model below 0 (`begun`) stand those of entries that do
  not have all yet. ``models`` says how they are coded, ``vector_levels`` what the digits of
  those mean that have four bits a dimension, ``docs`` whether documents have any.

Ids of blobs and entries are handed out by ``meta`` counters and never used twice, so that a derived index which
knows an id that the tables do not is merely ahead, never wrong. ``meta`` also holds the random ``identity`` of this
file, which derived indexes repeat: one that was made for another file of the same name is not used.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import apsw

from findling import errors
from findling.store import layout, views
from findling.store.layout import DATABASE as DATABASE
from findling.store.layout import FULLTEXT as FULLTEXT
from findling.store.layout import TRIGRAMS as TRIGRAMS


class IndexDamaged(errors.IndexUnavailable):
    """The store cannot be trusted and has to be built anew; whoever owns it does so by itself."""


class CutOtherwise(errors.IndexBusy):
    """Another process has filled the store meanwhile, and cuts files by other sizes."""


FORMAT_VERSION = 3
"""History: 1, the first. 2: definitions in one row a file, vectors at four bits a dimension, paths stored once.
3: chunks in one row a file, shorter rows and texts of documents, small pages."""

CONVERTED = "converted"
"""In place of an encoding: the file's bytes are no text, and ``sections`` has the only one that there is."""

CHUNK_BITS = 12
"""A unit id is ``entry_id << CHUNK_BITS | chunk ordinal``; 4,095 chunks are far above the cap of a file."""

CHUNK_KINDS = ("function", "class", "block", "fixed", "section")
"""Told by their place in the table; new ones go to the end."""

FILE_UNIT = (1 << CHUNK_BITS) - 1
"""The ordinal that stands for a file as a whole in the text index."""

Coding = Literal["four_bits", "float16"]

FOUR_BITS: Coding = "four_bits"
FLOAT16: Coding = "float16"
"""How a model's vectors are kept (`vector_codes`)."""

HASH_BYTES = 8
"""Of the SHA-256 of each embedded text; enough that two texts at one path never share it."""

UNLISTED = -1
"""In place of a skipped file's modification time: listing leaves it out, by its name, size or type."""

UNREAD = -2
"""In place of a skipped file's modification time: it could not be read, so it is tried again."""

FAILED = -3
"""Less the file's own time (ns), the same: its worker died or ran out of time twice. The next run over the whole folder
tries it again, and so does a question once the file is changed."""

_BUSY_MS = 10_000
"""How long a statement waits for another process's transaction; the longest is one batch of the indexer."""

_MMAP_BYTES = 1 << 30
"""Reads go through the page cache instead of being copied; not private memory."""

_NO_ROOM_BYTES = 1 << 16
"""SQLite reports some writes to a full disk as other failures; with less room than this they are no mystery."""

SHORT_HASH = "substr(hash, 1, 8)"
SHORT_GIT_ID = "substr(git_id, 1, 8)"
"""What contents are indexed by: of hashes, the first bytes find them as quickly as all."""

_PAGE_BYTES = 1024
"""Most tables of most repositories are small, and no page belongs to two of them."""

_LARGE_PAGE_BYTES = 8192
"""Of a large index: a row a file fits its pages better, a twentieth less in all."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE blobs (
  blob_id INTEGER PRIMARY KEY, hash BLOB NOT NULL, language TEXT NOT NULL, kind TEXT NOT NULL,
  size INTEGER NOT NULL, lines INTEGER NOT NULL, chunks INTEGER NOT NULL, symbols INTEGER NOT NULL,
  encoding TEXT NOT NULL, generated INTEGER NOT NULL,
  body_terms INTEGER NOT NULL, name_terms INTEGER NOT NULL,
  problem TEXT NOT NULL DEFAULT '', git_id BLOB
);
CREATE INDEX idx_embeddings_hash ON blobs({short_hash});
CREATE INDEX blobs_git ON blobs({short_git_id}) WHERE git_id IS NOT NULL;
CREATE TABLE chunks (
  blob_id INTEGER PRIMARY KEY, lines BLOB NOT NULL, places BLOB NOT NULL, hashes BLOB NOT NULL
);
CREATE TABLE sections (
  chunk_id INTEGER PRIMARY KEY, content_hash BLOB NOT NULL, headings TEXT NOT NULL, skip INTEGER NOT NULL,
  size INTEGER NOT NULL, coded INTEGER NOT NULL, place INTEGER NOT NULL, length INTEGER NOT NULL
);
CREATE TABLE doc_texts (blob_id INTEGER PRIMARY KEY, texts BLOB NOT NULL);
CREATE INDEX idx_content_hash ON sections(substr(content_hash, 1, 8));
CREATE TABLE text_codes (code BLOB PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE symbols (blob_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE definitions (
  squashed TEXT NOT NULL, blob_id INTEGER NOT NULL, PRIMARY KEY (squashed, blob_id)
) WITHOUT ROWID;
CREATE TABLE terms (blob_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE entries (
  entry_id INTEGER PRIMARY KEY, blob_id INTEGER NOT NULL, docs INTEGER NOT NULL, path TEXT NOT NULL
);
CREATE INDEX entries_blob ON entries(blob_id);
CREATE INDEX idx_embeddings_path ON entries(path);
CREATE INDEX idx_doc_path ON entries(path) WHERE docs;
CREATE TABLE manifests (
  manifest_id INTEGER PRIMARY KEY, root TEXT NOT NULL, ref TEXT NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0, pending INTEGER NOT NULL DEFAULT 0, synced_at TEXT NOT NULL DEFAULT '',
  files INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0, body_terms INTEGER NOT NULL DEFAULT 0,
  name_terms INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0, wanted TEXT NOT NULL DEFAULT '',
  UNIQUE(root, ref)
);
CREATE TABLE manifest_files (
  manifest_id INTEGER NOT NULL, entry_id INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  PRIMARY KEY (manifest_id, entry_id)
) WITHOUT ROWID;
CREATE TABLE skipped_files (
  manifest_id INTEGER NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, PRIMARY KEY (manifest_id, path)
) WITHOUT ROWID;
CREATE TABLE term_counts (
  manifest_id INTEGER NOT NULL, bucket INTEGER NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (manifest_id, bucket)
) WITHOUT ROWID;
CREATE TABLE models (
  model_id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL, dimensions INTEGER NOT NULL,
  coding TEXT NOT NULL, row_bytes INTEGER NOT NULL, docs INTEGER NOT NULL
);
CREATE INDEX idx_model ON models(name);
CREATE TABLE vector_levels (
  model_id INTEGER NOT NULL, digit TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (model_id, digit)
) WITHOUT ROWID;
CREATE TABLE vectors (
  vector_id INTEGER PRIMARY KEY AUTOINCREMENT, entry_id INTEGER NOT NULL, model_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL, text_hashes BLOB NOT NULL, data BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_entry ON vectors(entry_id, model_id);
""".replace("{short_hash}", SHORT_HASH).replace("{short_git_id}", SHORT_GIT_ID)

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

_TABLE_NAMES = tuple(re.findall(r"CREATE TABLE (\w+)", _TABLES))


def begun(model_id: int) -> int:
    """The number that a model's vectors of entries stand under that do not have all yet."""
    return -model_id


def connect(path: Path) -> apsw.Connection:
    """Open (or create) the database file. Raises the typed errors of ``findling.errors`` only.

    A file that is not a database, is damaged, or is of an older format raises `IndexDamaged`; of a later
    format, `IndexNewer`. An empty file is given its tables.
    """
    if foreign := layout.foreign(path.parent):
        raise IndexDamaged(foreign)
    try:
        connection = open_unlinked(path, create=True)
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")  # of an empty file; any other keeps its own
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous=NORMAL; PRAGMA mmap_size={_MMAP_BYTES}; PRAGMA temp_store=MEMORY")
        version = _scalar(connection, "PRAGMA user_version")
        if version == 0:
            _create(connection)
            version = _scalar(connection, "PRAGMA user_version")
        known = (
            _scalar(connection, "SELECT value FROM meta WHERE key='identity'") if version == FORMAT_VERSION else None
        )
    except apsw.Error as error:
        raise map_error(error, path) from error
    if version > FORMAT_VERSION:
        connection.close()
        raise errors.IndexNewer(
            f"The index at {path} has format {version}; this findling reads up to {FORMAT_VERSION}.",
            remedy="Update findling, or delete the index to build it anew.",
        )
    if version == FORMAT_VERSION and not isinstance(known, bytes):
        connection.close()
        raise IndexDamaged(f"The index at {path} is damaged.")
    if version != FORMAT_VERSION:
        connection.close()
        raise IndexDamaged(f"The index at {path} has the older format {version}.")
    return connection


def connect_to_read(path: Path) -> tuple[apsw.Connection, bool]:
    """As `connect`; on a full disk, where SQLite cannot even make the file that readers meet in, the last good state
    without it. Then, so says the flag, nothing may write meanwhile: use the connection for one question."""
    try:
        return connect(path), False
    except errors.StorageFull:
        if _size(path) == 0 or _size(path.with_name(f"{path.name}-wal")):  # pages that only a log has would be missed
            raise
    from urllib.parse import quote

    uri = f"file:{quote(_unlinked(path))}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(uri, flags=flags)
        connection.execute("PRAGMA temp_store=MEMORY")
        version = _scalar(connection, "PRAGMA user_version")
    except apsw.Error as error:
        raise map_error(error, path) from error
    if version != FORMAT_VERSION:  # it would be built anew, for which there is no room
        connection.close()
        raise full(path.parent)
    return connection, True


def open_unlinked(path: Path, *, create: bool = True) -> apsw.Connection:
    """A connection to the file itself: a link in its place is not followed. Raises `apsw.Error`."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return apsw.Connection(_unlinked(path), flags=flags)


def _unlinked(path: Path) -> str:
    # SQLite refuses a link anywhere in the path; those above the store are the user's own.
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def identity(connection: apsw.Connection) -> bytes:
    """The 16 bytes that tell this file from any other that stood or will stand in its place."""
    return bytes(_scalar(connection, "SELECT value FROM meta WHERE key='identity'"))


def chunking(connection: apsw.Connection) -> str:
    """The sizes that the files were cut by (`findling.ingest.chunks`), '' for the default ones."""
    return str(_scalar(connection, "SELECT value FROM meta WHERE key='chunking'") or "")


def enlarge_pages(connection: apsw.Connection) -> None:
    """Large pages for an index without files that is to become large; left as it is while others have it open."""
    connection.set_busy_timeout(0)
    try:
        connection.execute("PRAGMA journal_mode=DELETE")  # pages cannot change their size beside a log of them
        connection.execute(f"PRAGMA page_size={_LARGE_PAGE_BYTES}")
        connection.execute("VACUUM")
    except (apsw.BusyError, apsw.LockedError):
        pass  # it is only an economy
    finally:
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("PRAGMA journal_mode=WAL")


def _create(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _scalar(connection, "PRAGMA user_version") == 0:  # another process may have been first
            connection.execute(_TABLES)
            connection.execute(views.statements(CHUNK_BITS))
            connection.execute("INSERT INTO meta VALUES ('generation', 0), ('next_blob', 1), ('next_entry', 1)")
            connection.execute("INSERT INTO meta VALUES ('identity', randomblob(16))")
            connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _scalar(connection: apsw.Connection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    return row[0] if row else None


_NOT_OF_OURS = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What reading rows raises that hold something else than was written: no text, another type, a length too large."""


@contextmanager
def rows_of(connection: apsw.Connection, path: Path) -> Iterator[None]:
    """Failures while rows are read and used leave as findling's own; damage among them as `IndexDamaged`."""
    try:
        yield
    except apsw.Error as error:
        raise map_error(error, path) from error
    except _NOT_OF_OURS as error:
        if _shows_damage(connection, error):
            raise IndexDamaged(f"The index at {path} is damaged.") from error
        raise


def _shows_damage(connection: apsw.Connection, error: Exception) -> bool:
    """Whether an error that may as well be a mistake of ours comes of what stands in the file."""
    if isinstance(error, UnicodeEncodeError):  # that is of what is asked or written
        return False
    if isinstance(error, UnicodeDecodeError) or _raised_in_store(error):
        return True
    try:
        sound = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        return not sound or any(_holds_other_types(connection, table) for table in _TABLE_NAMES)
    except (apsw.Error, ValueError):
        return True


def _holds_other_types(connection: apsw.Connection, table: str) -> bool:
    columns = [(row[1], row[2].lower()) for row in connection.execute(f"PRAGMA table_info({table})") if row[2]]
    other = " OR ".join(f"typeof({name}) NOT IN ('{kind}', 'null')" for name, kind in columns)
    return connection.execute(f"SELECT 1 FROM {table} WHERE {other} LIMIT 1").fetchone() is not None


def _raised_in_store(error: Exception) -> bool:
    module = ""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("findling."):
            module = name
        trace = trace.tb_next
    return module.startswith("findling.store.")


_LACKS_OURS = re.compile(r"no such table|no such column|has no column named|already exists")
"""What SQLite says of a statement when the file holds other tables than those that `_create` makes."""


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
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.SQLError):
        return IndexDamaged(f"The index at {path} is damaged.")
    if isinstance(error, apsw.IOError) and _is_full(path.parent):
        return full(path.parent)
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


def _is_full(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free < _NO_ROOM_BYTES
    except OSError:
        return False
