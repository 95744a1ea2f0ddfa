"""Reads the files of a root: regular files only, never through a link, never outside the root, bounded in size.

Paths come from an index or a question and are not trusted. Nor are the folders in them, which may have been replaced
since they were indexed.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, Self

Reason = Literal["not_found", "not_a_file", "outside", "too_large", "unreadable"]

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_BELOW = bool(getattr(os, "O_NOFOLLOW", 0)) and os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
"""Whether the system can open a name relative to an open folder, which no link can divert."""

# Opening a file in a folder needs no permission to list the folder: O_PATH and O_SEARCH ask for none.
_FOLDER_FLAGS = getattr(os, "O_PATH", getattr(os, "O_SEARCH", os.O_RDONLY)) | getattr(os, "O_DIRECTORY", 0)
_FOLDER_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_ROOT_FLAGS = _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)

_KEPT_OPEN = 16
"""The most folders on the way to a file that stay open for the next. Deeper ones are opened again each time."""


class NotRead(NamedTuple):
    """Why a file was not read."""

    reason: Reason
    detail: str


_GONE = NotRead("not_found", "it is gone")
_NOT_A_FILE = NotRead("not_a_file", "it is not a regular file")
_OUTSIDE = NotRead("outside", "its path does not name a place inside the root")


class _Refused(Exception):
    def __init__(self, why: NotRead) -> None:
        self.why = why


class Files(Protocol):
    """The files of an index, from a folder on disk or from git's objects. For one thread."""

    def read(self, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead: ...

    def status(self, path: str) -> os.stat_result | NotRead: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class RootFiles:
    """Reads regular files below one root; fastest in the order of their paths. For one thread.

    Folders stay open meanwhile: use one for a question or a pass over files, not for longer.
    """

    def __init__(self, root: Path | str) -> None:
        self._root = os.fspath(root)
        self._folder: str | None = None
        self._parts: list[str] = []
        self._open: list[int] = []
        self._deep = -1
        self._real = ""

    def read(self, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
        """The file's bytes and the status they were read in; ``path`` is relative to the root, with ``/``."""
        try:
            folder, name = self._enter(path)
            descriptor = os.open(name, _FLAGS, dir_fd=folder)
        except _Refused as refused:
            return refused.why
        except (OSError, ValueError) as error:
            return _reason(error)
        try:
            return _read(descriptor, max_bytes)
        except OSError as error:
            return _reason(error)
        finally:
            os.close(descriptor)

    def status(self, path: str) -> os.stat_result | NotRead:
        """The status of what stands at a path; of a link, its own."""
        try:
            folder, name = self._enter(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except _Refused as refused:
            return refused.why
        except (OSError, ValueError) as error:
            return _reason(error)

    def close(self) -> None:
        """Close the folders. The next file opens them again."""
        self._folder = None
        self._leave_deep()
        while self._open:
            os.close(self._open.pop())
        self._parts.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _enter(self, path: str) -> tuple[int | None, str]:
        """An open folder and the name to look for in it; None and the whole path where folders cannot be opened."""
        folder, slash, name = path.rpartition("/")
        if (slash and not folder) or name in _NO_NAMES:
            raise _Refused(_OUTSIDE)
        if folder != self._folder:
            self._folder = None
            if _BELOW:
                self._go_to(folder)
            else:
                self._check(folder)
            self._folder = folder
        if _BELOW:
            return (self._open[-1] if self._deep < 0 else self._deep), name
        whole = os.path.join(self._real, folder, name)  # noqa: PTH118
        if not _plain([name]):
            raise _Refused(_OUTSIDE)
        if os.path.islink(whole):  # noqa: PTH114
            raise _Refused(_NOT_A_FILE)
        return None, whole

    def _go_to(self, folder: str) -> None:
        parts = folder.split("/") if folder else []
        if not _plain(parts):
            raise _Refused(_OUTSIDE)
        self._leave_deep()
        if not self._open:
            self._open.append(os.open(self._root, _ROOT_FLAGS))
        shared = 0
        for one, other in zip(parts, self._parts, strict=False):
            if one != other:
                break
            shared += 1
        while len(self._parts) > shared:
            os.close(self._open.pop())
            self._parts.pop()
        for name in parts[shared:]:
            self._step(name)

    def _step(self, name: str) -> None:
        below = os.open(name, _FOLDER_FLAGS, dir_fd=self._open[-1] if self._deep < 0 else self._deep)
        if len(self._parts) < _KEPT_OPEN:
            self._open.append(below)
            self._parts.append(name)
        else:
            self._leave_deep()
            self._deep = below

    def _leave_deep(self) -> None:
        if self._deep >= 0:
            os.close(self._deep)
            self._deep = -1

    def _check(self, folder: str) -> None:
        """Make sure that no part of ``folder`` is a link. It may still be replaced before it is used."""
        if not _plain(folder.split("/") if folder else []):
            raise _Refused(_OUTSIDE)
        self._real = os.path.realpath(self._root)
        whole = os.path.normpath(os.path.join(self._real, folder))  # noqa: PTH118
        if os.path.normcase(os.path.realpath(whole)) != os.path.normcase(whole):
            raise _Refused(_GONE)


def stamp_of(status: os.stat_result) -> int:
    """A number for the state of a file, which tells it from other states of the same size. Never negative.

    It combines two times: mtime, of the last change of the content, which anybody can set, and ctime, of the last
    change of anything about the file, which only the system sets. They are hashed, so that a step in one cannot cancel
    a step in the other.
    """
    return (hash((status.st_mtime_ns, status.st_ctime_ns)) ^ TIMELESS) & STAMP_BITS


TIMELESS = hash((0, 0))
"""Makes the stamp 0 for files without times, such as those of a commit."""

STAMP_BITS = (1 << 62) - 1


def read_regular_file(root: Path | str, path: str, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
    """One file of a root, as `RootFiles.read`."""
    with RootFiles(root) as files:
        return files.read(path, max_bytes)


def _plain(parts: list[str]) -> bool:
    """Whether each part is the name of something in the folder before it."""
    if not _NO_NAMES.isdisjoint(parts):
        return False
    return os.name == "posix" or not any("\\" in part or ":" in part for part in parts)


def _read(descriptor: int, max_bytes: int) -> tuple[os.stat_result, bytes] | NotRead:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return _NOT_A_FILE
    size = status.st_size
    if size > max_bytes:
        return _too_large(max_bytes)
    data = os.read(descriptor, size + 1)
    if len(data) <= size:
        return status, data  # a short read of a regular file is its end
    pieces, size = [data], len(data)
    while size <= max_bytes and (piece := os.read(descriptor, min(_READ_MORE, max_bytes + 1 - size))):
        pieces.append(piece)
        size += len(piece)
    return (status, b"".join(pieces)) if size <= max_bytes else _too_large(max_bytes)


def _too_large(max_bytes: int) -> NotRead:
    return NotRead("too_large", f"longer than {max_bytes} bytes")


def _reason(error: OSError | ValueError) -> NotRead:
    if isinstance(error, ValueError):  # a zero byte, or what is no name in the system's encoding
        return _OUTSIDE
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return _GONE  # also where a link has taken the place of a folder
    if error.errno in _IS_LINK:
        return _NOT_A_FILE
    return NotRead("unreadable", error.strerror or type(error).__name__)


_NO_NAMES = frozenset(("", ".", ".."))

_IS_LINK = (errno.ELOOP, getattr(errno, "EMLINK", errno.ELOOP), getattr(errno, "ENXIO", errno.ELOOP))
"""The errors of opening a link, or a pipe or socket without another end; EMLINK on some BSDs."""

_READ_MORE = 1 << 20
"""Bytes that are read at a time when a file has grown since its size was asked for."""
