"""Reading one file of a root: bounded, regular files only, with the state that proves it unchanged later."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from findling.types import FileState, SkippedFile

_RACY_NS = 20_000_000
"""A file younger than this when read may change again within its timestamp's step; it is looked at again."""


def read_file(root: Path, path: str, max_bytes: int) -> tuple[FileState, bytes] | SkippedFile:
    """A regular file's bytes and the state they were read in. Never follows a link, never blocks on a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(os.path.join(root, path), flags)  # noqa: PTH118 - once per file of a whole tree
    except (FileNotFoundError, NotADirectoryError):
        return SkippedFile(path, "not_found", "it is gone")
    except OSError as error:
        return SkippedFile(path, "unreadable", error.strerror or str(error))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return SkippedFile(path, "not_a_file", "it is not a regular file")
        data = b""
        while len(data) <= max_bytes:
            piece = os.read(descriptor, max(65536, status.st_size + 1 - len(data)))
            if not piece:
                break
            data = data + piece if data else piece
    except OSError as error:
        return SkippedFile(path, "unreadable", error.strerror or str(error))
    finally:
        os.close(descriptor)
    mtime_ns = status.st_mtime_ns
    if time.time_ns() - mtime_ns < _RACY_NS:
        mtime_ns -= 1
    return FileState(path, status.st_size, mtime_ns), data
