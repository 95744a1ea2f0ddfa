"""Tells whether the store in a folder can be used, and removes one that cannot, so that it is built anew.

Everything in a store is derived from the files, so nothing is lost with it but work; vectors, which a service may have
been paid for, outlive the loss of the text index. Knows nothing of how a store is filled.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from findling.model import errors
from findling.store.local import batches, checksums, connections, fulltext, fulltext_files, layout, schema
from findling.store.local.layout import DATABASE, FULLTEXT, LOCK, WATCHER
from findling.store.local.lock import WriterLock
from findling.store.local.schema import open_unlinked

# --- rebuilding ---------------------------------------------------------------------------------------------------
# A store that is built beside the one in use, and takes its place when it is whole.
#
# So questions are answered by the old one meanwhile, and whoever is interrupted, or killed, still has it. One that an
# earlier version wrote answers nothing; it lies aside until the new one is whole. Knows nothing of how a store is
# filled.

_FOLDER = "findling-anew-"
"""The prefix of such folders. They lie inside the store that they will replace, so on the same disk."""

_OLD = "old"
"""The folder in it that the old store is moved to. Moving takes a moment whatever its size; deleting comes later."""

_MOMENT_S = 1.0
_LOOK_AGAIN_S = 0.002
"""How long replacing a store may take (a few files are renamed), and the pause between two looks whether it is done."""

_OLDER = "findling-older"
"""The folder that an index of an earlier version lies in until the new one is whole."""

_ROLE = "anew.lock"
"""The lock of whoever builds a new store: one at a time, and nobody else clears up meanwhile."""


@contextmanager
def beside(directory: Path, *, wait_s: float) -> Iterator[Path]:
    """An empty folder for a new store, gone when the block ends with what `take_place` has not taken.

    Raises `IndexBusy` when somebody else writes, or builds beside it, for longer than ``wait_s``, `StorageFull` and
    `IndexUnavailable`.
    """
    WriterLock(directory, wait_s=wait_s).release()  # else a long writer would be met only when the work is done
    role = WriterLock(directory, wait_s=wait_s, name=_ROLE)
    try:
        _clear(directory)
        try:
            folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=directory))
        except OSError as error:
            raise schema.map_os_error(error, directory) from error
        try:
            yield folder
        finally:
            layout.discard(folder)
    finally:
        role.release()


def take_place(directory: Path, folder: Path, *, wait_s: float) -> None:
    """Put what was built in ``folder`` (`beside`) in the place of what is in ``directory``; nobody may have it open.

    A process that comes in between waits for the writer role. If this process is killed in between, the new store is
    lost, and the next run builds it again.
    Raises `IndexBusy` when another process writes for longer than ``wait_s``, and `IndexUnavailable`; then
    the old one is where it was.
    """
    built = _files(folder)
    if folder / DATABASE not in built:
        raise errors.IndexUnavailable(
            f"The new index in {folder} was deleted while it was put in place.", remedy="Try again."
        )
    old = folder / _OLD
    lock = WriterLock(directory, wait_s=wait_s)
    moved: list[tuple[Path, Path]] = []
    try:
        old.mkdir()
        # of the old one the tables go first, of the new one they come last: without them the other files are ignored
        steps = [(path, old / path.name) for path in reversed(_files(directory))]
        steps += [(path, directory / path.name) for path in built]
        for source, target in steps:
            source.rename(target)
            moved.append((source, target))
    except OSError as error:
        for source, target in reversed(moved):
            target.rename(source)
        raise schema.map_os_error(error, directory) from error
    finally:
        lock.release()


def set_aside(directory: Path) -> None:
    """Make room for a new store where an earlier version's stands, which is kept until `forget_older`. The caller has
    the writer role. Raises `IndexUnavailable` and `StorageFull`."""
    older = directory / _OLDER
    try:
        layout.discard(older)
        older.mkdir()
        for path in reversed(_files(directory)):  # the tables first: without them the rest is nobody's
            path.rename(older / path.name)
    except OSError as error:
        raise schema.map_os_error(error, directory) from error


def forget_older(directory: Path) -> None:
    """Delete what `set_aside` has kept: the new store is whole."""
    layout.discard(directory / _OLDER)


def _files(directory: Path) -> list[Path]:
    """A store's files and folders without its locks, the tables last."""
    own = [path for path in directory.iterdir() if layout.is_own(path) and not path.name.startswith((LOCK, WATCHER))]
    return sorted(own, key=lambda path: (path.name.startswith(DATABASE), path.name == DATABASE))


def comes(directory: Path) -> bool:
    """Whether a store stands in a folder where none stood just now: one may be taking another's place."""
    until = time.monotonic() + _MOMENT_S
    while any(directory.glob(f"{_FOLDER}*/{_OLD}")) and time.monotonic() < until:
        if (directory / DATABASE).exists():
            return True
        time.sleep(_LOOK_AGAIN_S)
    return (directory / DATABASE).exists()


def clear_left(directory: Path) -> None:
    """Remove what a process left behind that was killed while it built a store; nothing while one is being built."""
    if not any(directory.glob(f"{_FOLDER}*")):
        return
    try:
        role = WriterLock(directory, wait_s=0.0, name=_ROLE)
    except errors.FindlingError:  # it is in use, or cannot be written: then nothing can be removed either
        return
    try:
        _clear(directory)
    finally:
        role.release()


def _clear(directory: Path) -> None:
    for folder in directory.glob(f"{_FOLDER}*"):
        if not layout.not_a_folder(folder):
            layout.discard(folder)


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
    """Remove what `problem` found damaged, unless another process has: so that everything is built anew or, where only
    the text index was lost, every file is taken in anew and finds its vectors. What an earlier version wrote is set
    aside.

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
            set_aside(directory)
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
    """The journal mode of an existing database, such as ``wal``; '' when it cannot be read."""
    try:
        connection = open_unlinked(database, create=False)
        try:
            row = connection.execute("PRAGMA journal_mode").fetchone()
        finally:
            connection.close()
    except apsw.Error:
        return ""
    return str(row[0]) if row else ""
