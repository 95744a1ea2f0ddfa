"""What stands in a store's folder, and whether it is what its name says: a repository may bring links along instead.

A link is never followed, and what stands in the way is removed itself, never what it leads to.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from findling.model import errors

DATABASE = "index.db"
FULLTEXT = "fulltext"
LOCK = "writer.lock"
WATCHER = "watcher.lock"

NOT_DERIVED = frozenset((".gitignore", "config.toml", "config.json"))
"""What is the user's own and stays when the store is built anew."""

_FILES = (DATABASE, LOCK, "dense-")
"""What the names of files begin with."""

_FOLDERS = (FULLTEXT, "trigrams")
"""The second is of earlier formats."""

SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""A database and the files that SQLite keeps beside it."""


def not_a_file(path: Path) -> bool:
    """Whether something that is no regular file stands there; nothing at all is fine."""
    mode = _mode(path)
    return mode is not None and not stat.S_ISREG(mode)


def not_a_folder(path: Path) -> bool:
    """Whether something that is no folder stands there; nothing at all is fine."""
    mode = _mode(path)
    return mode is not None and not stat.S_ISDIR(mode)


def holds_other_than_files(folder: Path) -> bool:
    """Whether a folder of the store has links, folders or devices in it."""
    try:
        with os.scandir(folder) as entries:
            return not all(entry.is_file(follow_symlinks=False) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return False


def foreign(directory: Path) -> str:
    """What in a store's folder is not of the type that its name says, in words; '' when there is nothing of that sort.

    Raises `IndexUnavailable` for a folder that cannot be looked into.
    """
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name not in NOT_DERIVED and not _expected(entry):
                    return f"{entry.path} is, or holds, a link or something else that findling did not put there."
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise errors.IndexUnavailable(
            f"The index at {directory} cannot be read: {error.strerror}.", remedy="Check the folder's permissions."
        ) from error
    return ""


def emptied(directory: Path) -> bool:
    """Whether a database has lost its content: it has no byte, and its text index still stands beside it."""
    try:
        return (directory / DATABASE).stat().st_size == 0 and (directory / FULLTEXT).is_dir()
    except OSError:
        return False


def file_id(path: Path) -> tuple[int, int] | None:
    """What identifies a file, even when another one takes its name; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def bytes_on_disk(directory: Path) -> int:
    """Size of everything in a store's folder; 0 where there is none."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):  # merged away meanwhile
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
    return total


def is_own(path: Path) -> bool:
    """Whether this may be removed: findling uses the name, or it is neither a file nor a folder, so not a user's."""
    if path.name in _FOLDERS or path.name.startswith((*_FILES, WATCHER)):
        return True
    return not_a_file(path) and not_a_folder(path)


def _expected(entry: os.DirEntry[str]) -> bool:
    is_folder = entry.is_dir(follow_symlinks=False)
    if entry.name == FULLTEXT:
        return is_folder and not holds_other_than_files(Path(entry.path))
    return entry.is_file(follow_symlinks=False) or (is_folder and not entry.name.startswith(_FILES))


def discard(path: Path) -> None:
    """Remove a file, a link or a folder with what is in it. Raises OSError when a file stays.

    In a folder, files that another process has open may stay, on systems that keep these.
    """
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
